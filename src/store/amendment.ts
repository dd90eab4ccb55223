import type { ActorId } from '../model/actor.ts'
import {
  type DestroyTx,
  laterQuery,
  logSealOf,
  nextNumber,
  type ReadTx,
  sealOfEvent,
  sqlOf,
} from './handle.ts'
import { digestOf, textOfAmendment, textOfEvent, textOfRequest } from './log.ts'
import { insertRow, updateById } from './row.ts'
import type { Amended, Row } from './tables.ts'

/**
 * Replaces the words of an event by others. The log is sealed over digests of what was first written (chain.ts), so the old
 * and the new one are written down, under a seal of their own: nobody else can change an event and have it pass.
 */
export async function amendEvent(
  tx: DestroyTx,
  event: Row<'events'>,
  words: Partial<Pick<Row<'events'>, 'data' | 'object'>>,
): Promise<void> {
  const amended = { ...event, ...words }
  const { account, id, object, data } = amended
  putWords(tx, { account, id, object, data, seal: sealOfEvent(tx, amended) })
  await recordAmendment(tx, 'event', id, textOfEvent(event), textOfEvent(amended))
}

const putWords = laterQuery((db, p: Pick<Row<'events'>, 'account' | 'id' | 'object' | 'data' | 'seal'>) =>
  db
    .updateTable('events')
    .set({ object: p.object, data: p.data, seal: p.seal })
    .where('account', '=', p.account)
    .where('id', '=', p.id),
)

/** Replaces a request's note by another. */
export async function amendRequest(tx: DestroyTx, request: Row<'requests'>, note: string): Promise<void> {
  await updateById(tx, 'requests', request.id, { note })
  await recordAmendment(
    tx,
    'request',
    request.id,
    textOfRequest(request),
    textOfRequest({ ...request, note }),
  )
}

/** Writes down that a request is about to be removed for good. */
export async function requestRemoved(tx: DestroyTx, request: Row<'requests'>): Promise<void> {
  await recordAmendment(tx, 'request', request.id, textOfRequest(request), undefined)
}

async function recordAmendment(
  tx: DestroyTx,
  subject: Amended,
  number: number,
  was: string,
  became: string | undefined,
): Promise<void> {
  const amendment = {
    account: tx.account,
    id: await nextNumber(tx, 'amendment'),
    subject,
    number,
    was: digestOf(was),
    became: became === undefined ? '' : digestOf(became),
    by: tx.actor.id as ActorId,
    at: tx.now,
  }
  await insertRow(tx, 'amendments', { ...amendment, seal: sealOfAmendment(tx, amendment) })
}

export function sealOfAmendment(tx: ReadTx, amendment: Omit<Row<'amendments'>, 'seal'>): string {
  return logSealOf(tx, 'amendment', textOfAmendment(amendment))
}

/** All amendments of things of a kind whose numbers lie between two, in the order in which they were made. */
export async function amendmentsOf(
  tx: ReadTx,
  subject: Amended,
  first: number,
  last: number,
): Promise<Map<number, Row<'amendments'>[]>> {
  const rows = await sqlOf(tx)
    .selectFrom('amendments')
    .selectAll()
    .where('account', '=', tx.account)
    .where('subject', '=', subject)
    .where('number', '>=', first)
    .where('number', '<=', last)
    .orderBy('id')
    .execute()
  const byNumber = new Map<number, Row<'amendments'>[]>()
  for (const row of rows) byNumber.set(row.number, [...(byNumber.get(row.number) ?? []), row])
  return byNumber
}
