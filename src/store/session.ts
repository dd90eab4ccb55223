import { sql } from 'kysely'
import { IDLE_MS } from '../model/actor.ts'
import { AppError } from '../model/error.ts'
import { formatId } from '../model/id.ts'
import { emit, type ReadTx, sqlOf, type WriteTx } from './handle.ts'
import type { Row } from './tables.ts'

/** The sessions that still hold: a person's own, or everybody's. Newest sign-in first. */
export function liveSessions(tx: ReadTx, person?: number): Promise<Row<'sessions'>[]> {
  const used = sql<number>`CASE WHEN u.last_used_at > s.signed_in_at THEN u.last_used_at ELSE s.signed_in_at END`
  return sqlOf(tx)
    .selectFrom('sessions as s')
    .leftJoin('session_use as u', (join) =>
      join.onRef('u.account', '=', 's.account').onRef('u.session', '=', 's.id'),
    )
    .selectAll('s')
    .where('s.account', '=', tx.account)
    .where('s.revoked_at', 'is', null)
    .where('s.expires_at', '>', tx.now)
    .where(used, '>', tx.now - IDLE_MS)
    .$if(person !== undefined, (query) => query.where('s.person', '=', person!))
    .orderBy('s.signed_in_at', 'desc')
    .orderBy('s.id')
    .limit(200)
    .execute()
}

/** Writes down when sessions were last used, by which they end when nobody uses them. */
export async function touchSessions(
  tx: WriteTx,
  uses: readonly { session: string; at: number }[],
): Promise<void> {
  for (const { session, at } of uses) {
    await sqlOf(tx)
      .insertInto('session_use')
      .values({ account: tx.account, session, last_used_at: at })
      .onConflict((oc) => oc.columns(['account', 'session']).doUpdateSet({ last_used_at: at }))
      .execute()
  }
}

/** One session of the account, whether it still holds or not. */
export function sessionById(tx: ReadTx, id: string): Promise<Row<'sessions'> | undefined> {
  return sqlOf(tx)
    .selectFrom('sessions')
    .selectAll()
    .where('account', '=', tx.account)
    .where('id', '=', id)
    .executeTakeFirst()
}

/** Ends the sessions of a person, but the one to keep. */
export async function endSessionsOf(tx: WriteTx, person: number, keep = ''): Promise<void> {
  await sqlOf(tx)
    .updateTable('sessions')
    .set({ revoked_at: tx.now })
    .where('account', '=', tx.account)
    .where('person', '=', person)
    .where('id', '<>', keep)
    .where('revoked_at', 'is', null)
    .execute()
}

/** Ends every session of the account. Returns how many there were. */
export async function endEverySession(tx: WriteTx): Promise<number> {
  const ended = await sqlOf(tx)
    .updateTable('sessions')
    .set({ revoked_at: tx.now })
    .where('account', '=', tx.account)
    .where('revoked_at', 'is', null)
    .where('expires_at', '>', tx.now)
    .returning('person')
    .execute()
  for (const person of [...new Set(ended.map((each) => each.person))].sort((a, b) => a - b))
    await emit(tx, { kind: 'session_ended', object: formatId('person', person) })
  return ended.length
}

/**
 * Refuses where the caller's session has ended, or its person's role has changed, since the request came in. Asked in the
 * transaction of a decision, so that a session which is being ended decides nothing more (gate, ways 17 and 23).
 */
export async function requireLiveSession(tx: ReadTx): Promise<void> {
  const { actor } = tx
  if (actor.kind !== 'person') return
  const session = await sessionById(tx, actor.session.id)
  const holds = session && session.revoked_at === null && session.expires_at > tx.now
  const person = await sqlOf(tx)
    .selectFrom('people')
    .select('role')
    .where('account', '=', tx.account)
    .where('id', '=', session?.person ?? -1)
    .executeTakeFirst()
  if (holds && formatId('person', session.person) === actor.id && person?.role === actor.role) return
  throw new AppError('people_only', 'This session has ended.', { next: 'Sign in again and repeat it.' })
}
