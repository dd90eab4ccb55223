import { sql } from 'kysely'
import { conflict } from '../model/error.ts'
import { formatId } from '../model/id.ts'
import { hashMeaning, type Meaning } from '../model/meaning.ts'
import { isClosed } from '../model/task.ts'
import { emit, type ReadTx, readQuery, type WriteTx, writeQuery } from './handle.ts'
import { notify } from './notification.ts'
import { updateById } from './row.ts'
import { sees, shownTask } from './sight.ts'
import type { Row } from './tables.ts'

/** The request that a change of meaning has voided (gate G11), for the answer of the write that did it. */
export interface Stale {
  request: number
  task: number
}

/**
 * Refuses a change of meaning that the gate forbids, before anything is written: content of a signed-off task is frozen
 * for tokens (G9), and nobody but the asking agent or a person may void a pending request (G11). Looks at the task and
 * everything it is part of, since a child's meaning is carried up to the root.
 */
export async function guardMeaning(tx: ReadTx, task: Row<'tasks'>): Promise<void> {
  if (tx.actor.kind === 'person') return
  for (const each of await withAncestors(tx, task)) {
    if (isClosed(each.status) && each.auto_ok === 0) {
      const shown = shownTask(tx, each)
      throw conflict(`${shown} was signed off, so its content is frozen.`, {
        gate: true,
        next: sees(tx, each.project)
          ? `Call reopen_task with ${shown} first; comments stay possible.`
          : 'Ask a person to reopen it first; comments stay possible.',
      })
    }
    const pending = await pendingRequest(tx, each.id)
    const own = pending?.asked_by === tx.actor.id && sees(tx, each.project)
    if (pending && tx.actor.kind === 'agent' && !own) {
      throw conflict(
        `This would void ${sees(tx, each.project) ? formatId('request', pending.id) : 'a request'}, which waits for a person’s sign-off of ${shownTask(tx, each)}.`,
        { gate: true, next: 'Use comment_on_task instead, or wait for the decision.' },
      )
    }
  }
}

/**
 * Records that the meaning of a task has changed: version and hash of the task and of everything it is part of, in this
 * transaction, and pending requests on them become stale. `columns` are changes of the task's own row that belong to the
 * same statement, since the database refuses content that changes without its version.
 */
export async function meaningChanged(
  tx: WriteTx,
  task: Row<'tasks'>,
  columns: Partial<Row<'tasks'>> = {},
): Promise<{ task: Row<'tasks'>; stale: Stale[] }> {
  const stale: Stale[] = []
  const changed = await reseal(tx, { ...task, ...columns }, columns, stale)
  let parent = changed.parent
  while (parent !== null) parent = (await reseal(tx, await storedTask(tx, parent), {}, stale)).parent
  if (task.parent !== null && task.parent !== changed.parent) {
    let left: number | null = task.parent
    while (left !== null) left = (await reseal(tx, await storedTask(tx, left), {}, stale)).parent
  }
  return { task: changed, stale }
}

/** Whether a child is closed is part of its parents' meaning. Returns the requests that this has voided. */
export async function parentsChanged(tx: WriteTx, task: Row<'tasks'>): Promise<Stale[]> {
  if (task.parent === null) return []
  return (await meaningChanged(tx, await storedTask(tx, task.parent))).stale
}

/** The hash of a task as it stands in this transaction. */
export async function contentHash(tx: ReadTx, task: Row<'tasks'>): Promise<string> {
  return hashMeaning({ ...task, ...(await partsOf(tx, task.id)) })
}

/** The hash of a task that has no parts yet. */
export function hashOfNew(task: Omit<Meaning, 'steps' | 'artifacts' | 'children'>): string {
  return hashMeaning({ ...task, steps: [], artifacts: [], children: [] })
}

const pendingOnTask = readQuery((db, p: { account: number; task: number }) =>
  db
    .selectFrom('requests')
    .selectAll()
    .where('account', '=', p.account)
    .where('task', '=', p.task)
    // Spelled out, as of every partial index: bound, SQLite would prepare the statement anew at each use.
    .where('state', '=', sql.lit('pending')),
)

/** The task's pending sign-off request, if it has one. */
export async function pendingRequest(tx: ReadTx, task: number): Promise<Row<'requests'> | undefined> {
  return (await pendingOnTask(tx, { account: tx.account, task }))[0]
}

/** Withdraws or voids a pending request and puts the task back to where it was: blocked if it was, else open. */
export async function dropRequest(
  tx: WriteTx,
  request: Row<'requests'>,
  state: 'stale' | 'withdrawn',
): Promise<void> {
  const decided_by = tx.actor.kind === 'system' ? null : tx.actor.id
  await updateById(tx, 'requests', request.id, { state, decided_by, decided_at: tx.now })
  await putBack(tx, request)
  const object = formatId('request', request.id)
  const event = await emit(tx, {
    kind: state === 'stale' ? 'request_stale' : 'request_withdrawn',
    task: request.task,
    object,
  })
  await notify(
    tx,
    [request.asked_by],
    state === 'stale' ? 'request_stale' : 'request_withdrawn',
    event,
    request.task,
    object,
  )
}

const blockAgain = writeQuery((db, p: { account: number; task: number }) =>
  db
    .updateTable('tasks')
    .set({ status: 'blocked' })
    .where('account', '=', p.account)
    .where('id', '=', p.task)
    .where('status', '=', sql.lit('awaiting_approval')),
)

const openAgain = writeQuery((db, p: { account: number; task: number }) =>
  db
    .updateTable('tasks')
    .set({ status: 'open', blocked_by: null })
    .where('account', '=', p.account)
    .where('id', '=', p.task)
    .where('status', '=', sql.lit('awaiting_approval')),
)

/**
 * Puts a task that was before a person back to where it was: blocked if it was and what blocks it is not closed by now, else
 * open.
 */
export async function putBack(tx: WriteTx, request: Row<'requests'>): Promise<void> {
  const task = await storedTask(tx, request.task)
  const blocker = task.blocked_by === null ? undefined : await storedTask(tx, task.blocked_by)
  const blocked = request.former_status === 'blocked' && !(blocker && isClosed(blocker.status))
  await (blocked ? blockAgain : openAgain)(tx, { account: tx.account, task: request.task })
}

async function reseal(
  tx: WriteTx,
  task: Row<'tasks'>,
  columns: Partial<Row<'tasks'>>,
  stale: Stale[],
): Promise<Row<'tasks'>> {
  const seal = {
    content_version: task.content_version + 1,
    content_hash: await contentHash(tx, task),
    updated_at: tx.now,
    ...(isClosed(task.status) && task.auto_ok === 0 ? { changed_since_sign_off: 1 } : {}),
  }
  // The same parts in the same state, as after a move there and back within one call.
  if (seal.content_hash === task.content_hash && Object.keys(columns).length === 0) return task
  await updateById(tx, 'tasks', task.id, { ...columns, ...seal })
  const pending = await pendingRequest(tx, task.id)
  if (pending) {
    await dropRequest(tx, pending, 'stale')
    if (sees(tx, task.project)) stale.push({ request: pending.id, task: task.id })
  }
  return pending ? storedTask(tx, task.id) : { ...task, ...columns, ...seal }
}

/** The task and what it is part of, nearest first. */
async function withAncestors(tx: ReadTx, task: Row<'tasks'>): Promise<Row<'tasks'>[]> {
  const chain = [task]
  for (let parent = task.parent; parent !== null; parent = chain.at(-1)!.parent)
    chain.push(await storedTask(tx, parent))
  return chain
}

const taskByNumber = readQuery((db, p: { account: number; id: number }) =>
  db.selectFrom('tasks').selectAll().where('account', '=', p.account).where('id', '=', p.id),
)

/** The row itself, whoever may see it: an ancestor outside a credential's projects still counts for the gate. */
export async function storedTask(tx: ReadTx, task: number): Promise<Row<'tasks'>> {
  const [stored] = await taskByNumber(tx, { account: tx.account, id: task })
  if (!stored) throw new Error(`Task ${task} is gone.`)
  return stored
}

const stepsInMeaning = readQuery((db, p: { account: number; task: number }) =>
  db
    .selectFrom('steps')
    .select(['id', 'title', 'description', 'position', 'status'])
    .where('account', '=', p.account)
    .where('task', '=', p.task)
    .where('trash', 'is', null)
    .orderBy('id'),
)

const artifactsInMeaning = readQuery((db, p: { account: number; task: number }) =>
  db
    .selectFrom('artifacts')
    .select(['id', 'title', 'kind', 'url', 'sha256'])
    .where('account', '=', p.account)
    .where('task', '=', p.task)
    .where('trash', 'is', null)
    .orderBy('id'),
)

const childrenInMeaning = readQuery((db, p: { account: number; task: number }) =>
  db
    .selectFrom('tasks')
    .select(['id', 'content_version', 'status'])
    .where('account', '=', p.account)
    .where('parent', '=', p.task)
    .where('trash', 'is', null)
    .orderBy('id'),
)

async function partsOf(tx: ReadTx, task: number): Promise<Pick<Meaning, 'steps' | 'artifacts' | 'children'>> {
  const values = { account: tx.account, task }
  const steps = await stepsInMeaning(tx, values)
  const artifacts = await artifactsInMeaning(tx, values)
  const children = await childrenInMeaning(tx, values)
  return {
    steps,
    artifacts,
    children: children.map(({ status, ...child }) => ({ ...child, closed: isClosed(status) })),
  }
}
