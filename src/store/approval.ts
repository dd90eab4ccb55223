import { sql } from 'kysely'
import type { ActorId, PersonActor } from '../model/actor.ts'
import { AppError, conflict, notFound } from '../model/error.ts'
import { formatId } from '../model/id.ts'
import { type ClosedStatus, isClosed } from '../model/task.ts'
import { ownerOf } from './actor.ts'
import { FREE, refuseIfHeld, statusOf } from './claim.ts'
import { dropRequest, meaningChanged, pendingRequest, putBack, storedTask } from './content.ts'
import { inJson, openDependencies } from './dependency.ts'
import { emit, nextNumber, type ReadTx, sealOf, sqlOf, transactionOf, type WriteTx } from './handle.ts'
import { addNote } from './note.ts'
import { notify } from './notification.ts'
import { type Page, type PageInput, pageOf } from './page.ts'
import { makeSuccessor } from './recurrence.ts'
import { endOwnRun } from './run.ts'
import { requireLiveSession } from './session.ts'
import type { RequestState, Row } from './tables.ts'
import { childrenOf, taskById, updateRow } from './task.ts'

/** How fresh a person's proof of identity must be for a decision (gate G2), in milliseconds. */
export const FRESH_MS = 15 * 60_000

/** What came of finishing work: the task closed, or a person was asked. */
export interface Finished {
  task: Row<'tasks'>
  /** The request that now waits, where the task needs a person. */
  request?: Row<'requests'>
  /** The next occurrence of a recurring task. */
  successor?: Row<'tasks'>
  /** True where everything was already so. */
  already: boolean
}

/**
 * Finishes work on a task, in the only two ways there are: it closes, or a person is asked for sign-off. A person's own
 * session closes and has thereby signed off. `ask` asks even where the task is auto-OK.
 */
export async function finishTask(
  tx: WriteTx,
  task: Row<'tasks'>,
  target: ClosedStatus,
  note: string | undefined,
  ask = false,
): Promise<Finished> {
  const id = formatId('task', task.id)
  const noteKind = target === 'done' ? 'summary' : 'cancel'
  if (task.status === target) {
    await addNote(
      tx,
      { task: task.id, kind: noteKind },
      task.auto_ok === 1 || tx.actor.kind === 'person' ? note : null,
    )
    return { task, already: true }
  }
  if (isClosed(task.status)) {
    throw conflict(`${id} is ${task.status}.`, { next: 'Call reopen_task first if it has to change.' })
  }
  const pending = await pendingRequest(tx, task.id)
  // Once a person was asked, a person decides, even where the task could have closed on its own.
  const closesNow = !ask && (tx.actor.kind === 'person' || (task.auto_ok === 1 && !pending))
  if (pending && !closesNow) {
    if (pending.target === target) return { task, request: pending, already: true }
    throw conflict(`${formatId('request', pending.id)} already asks to have ${id} ${pending.target}.`, {
      next: 'Wait for the decision, or withdraw your own request with reopen_task.',
    })
  }
  await refuseIfHeld(tx, task)
  await refuseUnfinished(tx, task)
  await addNote(tx, { task: task.id, kind: noteKind }, note)
  await endOwnRun(tx, task, target === 'done' ? 'succeeded' : 'cancelled')
  if (closesNow) return { ...(await close(tx, task, target, pending)), already: false }
  return { ...(await askForSignOff(tx, task, target)), already: false }
}

/** A request by number, of a task that the caller can see. One that it can't see reads like one that never was. */
export async function requestById(tx: ReadTx, id: number): Promise<Row<'requests'>> {
  const { projects } = tx.actor
  const request = await sqlOf(tx)
    .selectFrom('requests as r')
    .innerJoin('tasks as t', (join) => join.onRef('t.account', '=', 'r.account').onRef('t.id', '=', 'r.task'))
    .selectAll('r')
    .where('r.account', '=', tx.account)
    .where('r.id', '=', id)
    .$if(projects !== undefined, (query) => query.where('t.project', 'in', [...projects!]))
    .executeTakeFirst()
  if (request) return request
  throw notFound(`There is no request ${formatId('request', id)}.`, {
    next: 'list_approvals shows them all.',
  })
}

/** A request with what its task is called and whether that lies in the Trash. */
export type AskedRequest = Row<'requests'> & { title: string; trash: number | null }

/** A page of requests on tasks that the caller can see, newest first. A pending one of a task in the Trash waits for nobody. */
export function requestsPage(
  tx: ReadTx,
  filter: { states?: readonly RequestState[] | undefined; task?: number | undefined },
  page: PageInput,
): Promise<Page<AskedRequest>> {
  const { projects } = tx.actor
  const query = sqlOf(tx)
    .selectFrom('requests as r')
    .innerJoin('tasks as t', (join) => join.onRef('t.account', '=', 'r.account').onRef('t.id', '=', 'r.task'))
    .selectAll('r')
    .select(['t.title', 't.trash'])
    .where('r.account', '=', tx.account)
    .where((eb) => eb.or([eb('r.state', '<>', 'pending'), eb('t.trash', 'is', null)]))
    .$if(projects !== undefined, (each) => each.where('t.project', 'in', [...projects!]))
    .$if(filter.states !== undefined, (each) => each.where('r.state', 'in', [...filter.states!]))
    .$if(filter.task !== undefined, (each) => each.where('r.task', '=', filter.task!))
  return pageOf(tx, query, { by: [sql`r.id`], direction: 'desc' }, page)
}

/** The newest request of a task, decided or not. */
export function newestRequestOf(tx: ReadTx, task: number): Promise<Row<'requests'> | undefined> {
  return sqlOf(tx)
    .selectFrom('requests')
    .selectAll()
    .where('account', '=', tx.account)
    .where('task', '=', task)
    .orderBy('id', 'desc')
    .limit(1)
    .executeTakeFirst()
}

/** A person's decision to close exactly what was asked. Bound to version and hash, which the person's page carried. */
export async function approve(
  tx: WriteTx,
  request: Row<'requests'>,
  seen: { version: number; hash: string },
): Promise<Finished> {
  requireFreshPerson(tx)
  const task = await taskById(tx, request.task)
  const again = request.state === 'approved' && request.decided_by === tx.actor.id
  if (again && task.status === request.target) return { task, request, already: true }
  refuseDecided(request)
  const asked = { version: request.content_version, hash: request.content_hash }
  const stored = { version: task.content_version, hash: task.content_hash }
  for (const [of, is] of [
    ['page', seen],
    ['request', asked],
  ] as const) {
    if (is.version !== stored.version || is.hash !== stored.hash) {
      throw conflict(`${formatId('task', task.id)} is not what the ${of} shows any more.`, {
        gate: true,
        next: 'Open the page of the sign-off again and look at what it says now.',
      })
    }
  }
  await refuseUnfinished(tx, task)
  return { ...(await close(tx, task, request.target, request)), already: false }
}

/** A person's decision to send the work back, with a note that the agent finds first. */
export async function reject(tx: WriteTx, request: Row<'requests'>, note: string): Promise<Finished> {
  requireFreshPerson(tx)
  const task = await taskById(tx, request.task)
  const again = request.state === 'rejected' && request.decided_by === tx.actor.id && request.note === note
  if (again) return { task, request, already: true }
  refuseDecided(request)
  await settle(tx, request, 'rejected', note)
  await addNote(tx, { task: task.id, kind: 'reject' }, note)
  await putBack(tx, request)
  const object = formatId('request', request.id)
  const event = await emit(tx, {
    kind: 'rejected',
    task: task.id,
    project: task.project,
    object,
    data: { note },
  })
  await notify(tx, [request.asked_by, task.assignee], 'rejected', event, task.id, object)
  return {
    task: await taskById(tx, task.id),
    request: { ...request, state: 'rejected', note },
    already: false,
  }
}

/** Back to open. An agent withdraws only its own request; reopening a closed task is everybody's who may write. */
export async function reopenTask(
  tx: WriteTx,
  task: Row<'tasks'>,
  reason: string | undefined,
): Promise<{ task: Row<'tasks'>; already: boolean }> {
  const pending = await pendingRequest(tx, task.id)
  if (pending) {
    if (tx.actor.kind === 'agent' && pending.asked_by !== tx.actor.id) {
      throw conflict(`${formatId('request', pending.id)} was asked by ${pending.asked_by}, not by you.`, {
        next: 'Only who asked, or a person, can withdraw it. Use comment_on_task.',
      })
    }
    await dropRequest(tx, pending, 'withdrawn')
    await addNote(tx, { task: task.id, kind: 'reopen' }, reason)
    return { task: await updateRow(tx, task.id, { status: 'open', blocked_by: null }), already: false }
  }
  if (!isClosed(task.status)) {
    if (statusOf(task, tx.now) === 'open') return { task, already: true }
    throw conflict(`${formatId('task', task.id)} is ${task.status}, not closed.`, {
      next: task.status === 'blocked' ? 'unblock_task lifts a block.' : 'release_task gives it back.',
    })
  }
  if (task.parent !== null) {
    const parent = await storedTask(tx, task.parent)
    if (isClosed(parent.status)) {
      throw conflict(`${formatId('task', parent.id)}, of which it is a part, is ${parent.status}.`, {
        next: `Call reopen_task with ${formatId('task', parent.id)} first.`,
      })
    }
  }
  await addNote(tx, { task: task.id, kind: 'reopen' }, reason)
  const open = {
    status: 'open',
    closed_at: null,
    closed_by: null,
    changed_since_sign_off: 0,
    ...FREE,
  } as const
  const reopened = await updateRow(tx, task.id, open)
  const event = await emit(tx, {
    kind: 'reopened',
    task: task.id,
    project: task.project,
    ...(reason ? { data: { reason } } : {}),
  })
  await notify(tx, [task.assignee, task.closed_by], 'reopened', event, task.id)
  await parentsChanged(tx, reopened)
  return { task: reopened, already: false }
}

/** Gate G2: a person's own session, signed in again within the last 15 minutes. */
export function requireFreshPerson(tx: ReadTx): asserts tx is ReadTx & { actor: PersonActor } {
  if (tx.actor.kind !== 'person') {
    throw new AppError('people_only', 'Only a person, signed in with their own session, can do this.', {
      next: 'Ask a person; complete_task or ask_question puts it before them.',
    })
  }
  if (tx.actor.role === 'viewer') {
    throw new AppError('people_only', 'A viewer can read, not decide.', { allowed: ['member', 'owner'] })
  }
  if (tx.now - tx.actor.session.signedInAt > FRESH_MS) {
    throw new AppError('people_only', 'This needs a sign-in within the last 15 minutes.', {
      next: 'Sign in again and repeat it.',
    })
  }
}

/** A task can't close while subtasks or dependencies are open; names them. */
async function refuseUnfinished(tx: ReadTx, task: Row<'tasks'>): Promise<void> {
  const waits = (await openDependencies(tx, [task.id])).get(task.id) ?? []
  const children = (await childrenOf(tx, task.id)).filter((child) => !isClosed(child.status))
  if (waits.length + children.length === 0) return
  const id = formatId('task', task.id)
  const visible = (project: number | null) =>
    tx.actor.projects === undefined || tx.actor.projects.includes(project ?? -1)
  const name = (each: {
    id: number
    title: string
    status: string
    trash: number | null
    project: number | null
  }) =>
    visible(each.project)
      ? `${formatId('task', each.id)} ${each.title} (${each.trash === null ? each.status : `in the Trash, ${formatId('trash', each.trash)}`})`
      : 'a task you can’t see'
  throw new AppError(
    'blocked',
    `${id} can’t close: ${waits.length} dependencies and ${children.length} subtasks are open.`,
    {
      written: false,
      allowed: [...waits, ...children].slice(0, 10).map(name),
      next: waits.some((each) => each.trash !== null)
        ? 'A trashed dependency still blocks: restore it, or remove_dependency.'
        : 'Finish or cancel these first, or remove_dependency if the order no longer holds.',
    },
  )
}

async function askForSignOff(
  tx: WriteTx,
  task: Row<'tasks'>,
  target: ClosedStatus,
): Promise<{ task: Row<'tasks'>; request: Row<'requests'> }> {
  const request: Row<'requests'> = {
    account: tx.account,
    id: await nextNumber(tx, 'request'),
    task: task.id,
    target,
    state: 'pending',
    content_version: task.content_version,
    content_hash: task.content_hash,
    former_status: task.status === 'blocked' ? 'blocked' : 'open',
    asked_by: tx.actor.id as ActorId,
    asked_at: tx.now,
    decided_by: null,
    decided_at: null,
    note: null,
  }
  await sqlOf(tx).insertInto('requests').values(request).execute()
  const waiting = await updateRow(tx, task.id, { status: 'awaiting_approval', ...FREE })
  const object = formatId('request', request.id)
  const event = await emit(tx, {
    kind: 'approval_requested',
    task: task.id,
    project: task.project,
    object,
    data: { target },
  })
  const person = task.assignee?.startsWith('U') ? task.assignee : null
  await notify(
    tx,
    [await ownerOf(tx, request.asked_by), person],
    'approval_requested',
    event,
    task.id,
    object,
  )
  return { task: waiting, request }
}

/**
 * The only function that sets a closed status (gate G6): decision and closing in one transaction. For a task that is not
 * auto-OK it inserts the person's sign-off first, without which the database refuses the update.
 */
async function close(
  tx: WriteTx,
  task: Row<'tasks'>,
  target: ClosedStatus,
  request: Row<'requests'> | undefined,
): Promise<{ task: Row<'tasks'>; request?: Row<'requests'>; successor?: Row<'tasks'> }> {
  if (task.auto_ok === 0 || request?.target === target) await signOff(tx, task, target, request)
  if (request) await settle(tx, request, request.target === target ? 'approved' : 'withdrawn', null)
  const closed = await updateRow(tx, task.id, {
    status: target,
    closed_at: tx.now,
    closed_by: tx.actor.id as ActorId,
    blocked_by: null,
    ...FREE,
  })
  const approved = request?.target === target
  const event = await emit(tx, {
    kind: approved ? 'approved' : 'closed',
    task: task.id,
    project: task.project,
    ...(request ? { object: formatId('request', request.id) } : {}),
    data: { status: target },
  })
  await notify(
    tx,
    [request?.asked_by, task.assignee, task.claimed_by],
    approved ? 'approved' : 'closed',
    event,
    task.id,
  )
  await liftBlocks(tx, task)
  await parentsChanged(tx, closed)
  const successor = await makeSuccessor(tx, closed)
  return {
    task: closed,
    ...(request ? { request: { ...request, state: 'approved' } } : {}),
    ...(successor ? { successor } : {}),
  }
}

async function signOff(
  tx: WriteTx,
  task: Row<'tasks'>,
  target: ClosedStatus,
  request: Row<'requests'> | undefined,
): Promise<void> {
  requireFreshPerson(tx)
  await requireLiveSession(tx)
  const row = {
    account: tx.account,
    id: await nextNumber(tx, 'sign_off'),
    task: task.id,
    request: request?.id ?? null,
    content_version: task.content_version,
    content_hash: task.content_hash,
    target,
    approver: tx.actor.id,
    session: tx.actor.session.id,
    began: tx.actor.session.began,
    policy: 'person',
    tx: transactionOf(tx),
    at: tx.now,
  }
  await sqlOf(tx)
    .insertInto('sign_offs')
    .values({ ...row, seal: sealOf(tx, JSON.stringify(row)) })
    .execute()
}

async function settle(
  tx: WriteTx,
  request: Row<'requests'>,
  state: 'approved' | 'rejected' | 'withdrawn',
  note: string | null,
): Promise<void> {
  await sqlOf(tx)
    .updateTable('requests')
    .set({ state, note, decided_by: tx.actor.id as ActorId, decided_at: tx.now })
    .where('account', '=', tx.account)
    .where('id', '=', request.id)
    .execute()
}

function refuseDecided(request: Row<'requests'>): void {
  if (request.state === 'pending') return
  const by = request.decided_by === null ? '' : ` by ${request.decided_by}`
  throw conflict(`${formatId('request', request.id)} is ${request.state}${by}.`, {
    gate: true,
    next: 'Only a pending request can be decided; the task’s page shows the newest.',
  })
}

/** A block that named this task lifts itself, and whoever waited for it hears of it. */
async function liftBlocks(tx: WriteTx, task: Row<'tasks'>): Promise<void> {
  const blocked = await sqlOf(tx)
    .selectFrom('tasks')
    .selectAll()
    .where('account', '=', tx.account)
    .where('blocked_by', '=', task.id)
    .where('status', '=', 'blocked')
    .execute()
  for (const each of blocked) {
    await updateRow(tx, each.id, { status: 'open', blocked_by: null })
    const event = await emit(tx, {
      kind: 'unblocked',
      task: each.id,
      project: each.project,
      data: { by: formatId('task', task.id) },
    })
    await notify(tx, [each.assignee], 'unblocked', event, each.id)
  }
  const dependents = await sqlOf(tx)
    .selectFrom('dependencies as d')
    .innerJoin('tasks as t', (join) => join.onRef('t.account', '=', 'd.account').onRef('t.id', '=', 'd.task'))
    .select(['t.id', 't.assignee', 't.project'])
    .where('d.account', '=', tx.account)
    .where('d.depends_on', '=', task.id)
    .where('d.removed_at', 'is', null)
    .where('t.trash', 'is', null)
    .where('t.status', 'not in', ['done', 'cancelled'])
    .where('t.assignee', 'is not', null)
    .execute()
  const waiting = await openDependencies(
    tx,
    dependents.map((each) => each.id),
  )
  for (const ready of dependents.filter((each) => !waiting.has(each.id))) {
    const event = await emit(tx, {
      kind: 'unblocked',
      task: ready.id,
      project: ready.project,
      data: { by: formatId('task', task.id) },
    })
    await notify(tx, [ready.assignee], 'unblocked', event, ready.id)
  }
}

/** Whether a child is closed is part of its parents' meaning. */
async function parentsChanged(tx: WriteTx, task: Row<'tasks'>): Promise<void> {
  if (task.parent === null) return
  const [parent] = await sqlOf(tx)
    .selectFrom('tasks')
    .selectAll()
    .where('account', '=', tx.account)
    .where('id', 'in', inJson([task.parent]))
    .execute()
  if (parent) await meaningChanged(tx, parent)
}
