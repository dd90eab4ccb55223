import type { ActorId } from '../model/actor.ts'
import { conflict } from '../model/error.ts'
import { formatId } from '../model/id.ts'
import { emit, nextNumber, type ReadTx, sqlOf, transactionOf, type WriteTx } from './handle.ts'
import { KEY_MS } from './reply.ts'
import type { Row } from './tables.ts'

/** What is about to be written outside. */
interface SaveIntent {
  connector: string
  title: string
  place: string | null
  task: number | null
  key: string | null
  args_hash: string
}

/**
 * The caller's save of unknown outcome that this call repeats: the one with its key or, without a key, an equal one. Throws
 * `conflict` where the key stands for another save. A save that has arrived answers by its stored reply (reply.ts).
 */
export async function repeatedSave(
  tx: ReadTx,
  key: string | null,
  argsHash: string,
): Promise<Row<'context_saves'> | undefined> {
  const found = await sqlOf(tx)
    .selectFrom('context_saves')
    .selectAll()
    .where('account', '=', tx.account)
    .where('actor', '=', tx.actor.id as ActorId)
    .where('state', '=', 'intended')
    .where('at', '>', tx.now - KEY_MS)
    .where('key', key === null ? 'is' : '=', key)
    .$if(key === null, (query) => query.where('args_hash', '=', argsHash))
    .orderBy('id', 'desc')
    .limit(1)
    .executeTakeFirst()
  if (found && found.args_hash !== argsHash) {
    throw conflict(`The idempotency key "${key}" was used for another save.`, {
      next: 'Use a new key for a new save; the same key only repeats the same one.',
    })
  }
  return found
}

/** Writes down that something is about to be written outside, before it is. Its mark is unique, whatever happens. */
export async function intendSave(tx: WriteTx, intent: SaveIntent): Promise<Row<'context_saves'>> {
  const row: Row<'context_saves'> = {
    account: tx.account,
    id: await nextNumber(tx, 'save'),
    ...intent,
    mark: transactionOf(tx),
    state: 'intended',
    uri: null,
    actor: tx.actor.id as ActorId,
    at: tx.now,
  }
  await sqlOf(tx).insertInto('context_saves').values(row).execute()
  return row
}

/** Writes down that nothing was saved. */
export async function saveFailed(tx: WriteTx, save: Row<'context_saves'>): Promise<void> {
  await settle(tx, save, { state: 'failed', uri: null })
}

/** Writes down where it was saved. */
export async function saveArrived(
  tx: WriteTx,
  save: Row<'context_saves'>,
  uri: string,
  task: Row<'tasks'> | undefined,
): Promise<void> {
  await settle(tx, save, { state: 'saved', uri })
  await emit(tx, {
    kind: 'context_saved',
    task: task?.id ?? null,
    project: task?.project ?? null,
    object: formatId('save', save.id),
    data: { connector: save.connector, uri, title: save.title },
  })
}

async function settle(
  tx: WriteTx,
  save: Row<'context_saves'>,
  outcome: Pick<Row<'context_saves'>, 'state' | 'uri'>,
): Promise<void> {
  await sqlOf(tx)
    .updateTable('context_saves')
    .set(outcome)
    .where('account', '=', tx.account)
    .where('id', '=', save.id)
    .where('state', '=', 'intended')
    .execute()
}
