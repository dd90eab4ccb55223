import { nextNumber, type ReadTx, readQuery, sqlOf, type WriteTx } from './handle.ts'
import { insertRow } from './row.ts'
import { shownIds } from './sight.ts'
import type { NoteKind, Row } from './tables.ts'

/** What a note belongs to; the newest of the same place and kind is the one that reads show. */
export interface NotePlace {
  task: number
  kind: NoteKind
  step?: number | null
  run?: number | null
  /** Only notes of this moment and before, in milliseconds since the epoch. */
  until?: number | undefined
}

/** What stands as the reason of a block by another task where no words were given. */
export const waitsFor = (task: string): string => `${task} has to be finished first.`

/** The newest note of a place and kind, as the caller may read it. */
export async function newestNote(tx: ReadTx, place: NotePlace): Promise<Row<'notes'> | undefined> {
  const note = await storedNote(tx, place)
  const blocker = place.kind === 'block' ? /^T\d+(?= )/.exec(note?.text ?? '')?.[0] : undefined
  if (!note || blocker === undefined || note.text !== waitsFor(blocker)) return note
  return { ...note, text: waitsFor(String((await shownIds(tx, [blocker]))(blocker))) }
}

const newestOnTask = readQuery((db, p: { account: number; task: number; kind: NoteKind }) =>
  db
    .selectFrom('notes')
    .selectAll()
    .where('account', '=', p.account)
    .where('task', '=', p.task)
    .where('kind', '=', p.kind)
    .where('step', 'is', null)
    .orderBy('id', 'desc')
    .limit(1),
)

async function storedNote(tx: ReadTx, place: NotePlace): Promise<Row<'notes'> | undefined> {
  if (place.step == null && place.run == null && place.until === undefined)
    return (await newestOnTask(tx, { account: tx.account, task: place.task, kind: place.kind }))[0]
  return sqlOf(tx)
    .selectFrom('notes')
    .selectAll()
    .where('account', '=', tx.account)
    .where('task', '=', place.task)
    .where('kind', '=', place.kind)
    .where('step', place.step == null ? 'is' : '=', place.step ?? null)
    .$if(place.run != null, (query) => query.where('run', '=', place.run!))
    .$if(place.until !== undefined, (query) => query.where('at', '<=', place.until!))
    .orderBy('id', 'desc')
    .limit(1)
    .executeTakeFirst()
}

/**
 * Adds a reason, note, summary or progress: rows are added, never replaced. The same as the newest again adds nothing.
 * Returns whether a row was added.
 */
export async function addNote(
  tx: WriteTx,
  place: NotePlace,
  text: string | null | undefined,
): Promise<boolean> {
  if (!text) return false
  const newest = await storedNote(tx, place)
  if (newest?.text === text && newest.by === tx.actor.id) return false
  await insertRow(tx, 'notes', {
    account: tx.account,
    id: await nextNumber(tx, 'note'),
    task: place.task,
    kind: place.kind,
    step: place.step ?? null,
    run: place.run ?? null,
    text,
    by: tx.actor.id as Row<'notes'>['by'],
    at: tx.now,
  })
  return true
}
