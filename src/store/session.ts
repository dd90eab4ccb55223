import { AppError } from '../model/error.ts'
import { formatId } from '../model/id.ts'
import { type ReadTx, sqlOf } from './handle.ts'
import type { Row } from './tables.ts'

/** The sessions that still hold: a person's own, or everybody's. Newest sign-in first. */
export function liveSessions(tx: ReadTx, person?: number): Promise<Row<'sessions'>[]> {
  return sqlOf(tx)
    .selectFrom('sessions')
    .selectAll()
    .where('account', '=', tx.account)
    .where('revoked_at', 'is', null)
    .where('expires_at', '>', tx.now)
    .$if(person !== undefined, (query) => query.where('person', '=', person!))
    .orderBy('signed_in_at', 'desc')
    .limit(200)
    .execute()
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
