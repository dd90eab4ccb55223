import { sql } from 'kysely'
import { type ActorId, FRESH_MS, type PersonActor } from '../model/actor.ts'
import { type Assertion, type Decided, isSignedBy } from '../model/assertion.ts'
import { AppError, conflict } from '../model/error.ts'
import { formatId } from '../model/id.ts'
import { type ClosedStatus, isClosed } from '../model/task.ts'
import { ownerOf } from './actor.ts'
import { FREE, refuseIfHeld } from './claim.ts'
import { parentsChanged, pendingRequest, putBack } from './content.ts'
import { openDependencies } from './dependency.ts'
import { emit, nextNumber, type ReadTx, readQuery, sealOf, transactionOf, type WriteTx } from './handle.ts'
import { addNote } from './note.ts'
import { notify } from './notification.ts'
import { passkeysOf } from './passkey.ts'
import { makeSuccessor, type Successor } from './recurrence.ts'
import { insertRow, updateById } from './row.ts'
import { endOwnRun, endRuns } from './run.ts'
import { refuseFirstPerson } from './second-person.ts'
import { requireLiveSession } from './session.ts'
import { sees, shownTask } from './sight.ts'
import type { Row } from './tables.ts'
import { childrenOf, taskById, updateRow } from './task.ts'

/** What came of finishing work: the task closed, or a person was asked. */
export interface Finished {
  task: Row<'tasks'>
  /** The request that now waits, where the task needs a person. */
  request?: Row<'requests'>
  /** The next occurrence of a recurring task, or why there is none although its rule goes on. */
  next?: Successor
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
    const theirs = task.auto_ok === 1 || tx.actor.kind === 'person'
    await addNote(tx, { task: task.id, kind: noteKind }, theirs ? note : null)
    return { task, already: true }
  }
  if (isClosed(task.status)) {
    throw conflict(`${id} is ${task.status}.`, { next: 'Call reopen_task first if it has to change.' })
  }
  const pending = await pendingRequest(tx, task.id)
  // Once a person was asked, a person decides, even where the task could have closed on its own.
  const closesNow = !ask && (tx.actor.kind === 'person' || (task.auto_ok === 1 && !pending))
  if (pending && !closesNow) {
    if (pending.target === target) {
      // Who asked may correct what they said; what the sign-off is bound to stays as it is.
      const added =
        pending.asked_by === tx.actor.id && (await addNote(tx, { task: task.id, kind: noteKind }, note))
      return { task, request: pending, already: !added }
    }
    throw conflict(`${formatId('request', pending.id)} already asks to have ${id} ${pending.target}.`, {
      gate: true,
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

/** A person's decision to close exactly what was asked. Bound to version and hash, which the person's page carried. */
export async function approve(
  tx: WriteTx,
  request: Row<'requests'>,
  seen: { version: number; hash: string },
  assertion?: Assertion,
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
  return { ...(await close(tx, task, request.target, request, assertion)), already: false }
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

/** Gate G2: a person who may decide, with a session that is {@link requireFreshSession fresh}. */
export function requireFreshPerson(tx: ReadTx): asserts tx is ReadTx & { actor: PersonActor } {
  if (tx.actor.kind === 'person' && tx.actor.role === 'viewer') {
    throw new AppError('people_only', 'A viewer can read, not decide.', { allowed: ['member', 'owner'] })
  }
  requireFreshSession(tx)
}

/** A person's own session, signed in again within the last 15 minutes. */
export function requireFreshSession(tx: ReadTx): asserts tx is ReadTx & { actor: PersonActor } {
  if (tx.actor.kind !== 'person') {
    throw new AppError('people_only', 'Only a person, signed in with their own session, can do this.', {
      next: 'Ask a person; complete_task or ask_question puts it before them.',
    })
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
  const name = (each: {
    id: number
    title: string
    status: string
    trash: number | null
    project: number | null
  }) =>
    sees(tx, each.project)
      ? `${formatId('task', each.id)} ${each.title} (${each.trash === null ? each.status : `in the Trash, ${formatId('trash', each.trash)}`})`
      : shownTask(tx, each)
  throw new AppError(
    'blocked',
    `${id} can’t close: of its dependencies ${waits.length} and of its subtasks ${children.length} are open.`,
    {
      written: false,
      gate: true,
      allowed: [...waits, ...children].slice(0, 10).map(name),
      next: waits.some((each) => each.trash !== null && sees(tx, each.project))
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
  await insertRow(tx, 'requests', request)
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
  assertion?: Assertion,
): Promise<Omit<Finished, 'already'>> {
  if (task.auto_ok === 0 || request?.target === target) await signOff(tx, task, target, request, assertion)
  const approved = request?.target === target
  if (request) await settle(tx, request, approved ? 'approved' : 'withdrawn', null)
  await endRuns(tx, task, target === 'done' ? 'succeeded' : 'cancelled')
  const closed = await updateRow(tx, task.id, {
    status: target,
    closed_at: tx.now,
    closed_by: tx.actor.id as ActorId,
    blocked_by: null,
    ...FREE,
  })
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
  const next = await makeSuccessor(tx, closed)
  return {
    task: closed,
    ...(request ? { request: { ...request, state: approved ? 'approved' : 'withdrawn' } } : {}),
    ...(next ? { next } : {}),
  }
}

async function signOff(
  tx: WriteTx,
  task: Row<'tasks'>,
  target: ClosedStatus,
  request: Row<'requests'> | undefined,
  assertion: Assertion | undefined,
): Promise<void> {
  requireFreshPerson(tx)
  await requireLiveSession(tx)
  await refuseFirstPerson(tx, task)
  await requireSignature(tx, decidedBy(task, target, request), assertion)
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
    assertion: assertion ? JSON.stringify(assertion) : null,
    tx: transactionOf(tx),
    at: tx.now,
  }
  await insertRow(tx, 'sign_offs', { ...row, seal: sealOf(tx, sealedText(row)) })
}

/** What a sign-off is about, as a passkey signs it. Without a request there was no page on which to sign. */
function decidedBy(task: Row<'tasks'>, target: ClosedStatus, request: Row<'requests'> | undefined): Decided {
  const { account, id, content_version: version, content_hash: hash } = task
  return { account, request: request?.id ?? 0, task: id, version, hash, target }
}

/** A person who has a passkey signs off by it and not otherwise: a session alone is what somebody could take from them. */
async function requireSignature(
  tx: ReadTx & { actor: PersonActor },
  decided: Decided,
  assertion: Assertion | undefined,
): Promise<void> {
  const own = await passkeysOf(tx, Number(tx.actor.id.slice(1)))
  if (own.length === 0 && !assertion) return
  const passkey = own.find(({ credential }) => credential === assertion?.credential)
  if (assertion && passkey && (await isSignedBy(passkey, assertion, decided))) return
  throw new AppError(
    'people_only',
    assertion
      ? 'The signature is not one of your passkeys over exactly this.'
      : 'You have a passkey, so you sign off by it.',
    {
      next: 'Ask for sign-off where nobody has asked yet, open the page of the request and approve there.',
    },
  )
}

/** What a sign-off's seal is made over: every column but the seal, in this order. */
export function sealedText(row: Omit<Row<'sign_offs'>, 'seal'>): string {
  return JSON.stringify([
    row.account,
    row.id,
    row.task,
    row.request,
    row.content_version,
    row.content_hash,
    row.target,
    row.approver,
    row.session,
    row.began,
    row.policy,
    row.assertion,
    row.tx,
    row.at,
  ])
}

async function settle(
  tx: WriteTx,
  request: Row<'requests'>,
  state: 'approved' | 'rejected' | 'withdrawn',
  note: string | null,
): Promise<void> {
  const decided = { decided_by: tx.actor.id as ActorId, decided_at: tx.now }
  await updateById(tx, 'requests', request.id, { state, note, ...decided })
}

function refuseDecided(request: Row<'requests'>): void {
  if (request.state === 'pending') return
  const became = request.state === 'stale' ? 'voided by a change' : request.state
  const by = request.decided_by === null ? '' : ` by ${request.decided_by}`
  throw conflict(`${formatId('request', request.id)} was ${became}${by}.`, {
    gate: true,
    next: 'Only a pending request can be decided; the list of sign-offs shows those.',
  })
}

const blockedByTask = readQuery((db, p: { account: number; task: number }) =>
  db
    .selectFrom('tasks')
    .selectAll()
    .where('account', '=', p.account)
    .where('blocked_by', '=', p.task)
    .where('status', '=', sql.lit('blocked'))
    .orderBy('id'),
)

const assignedDependents = readQuery((db, p: { account: number; task: number }) =>
  db
    .selectFrom('dependencies as d')
    .innerJoin('tasks as t', (join) => join.onRef('t.account', '=', 'd.account').onRef('t.id', '=', 'd.task'))
    .select(['t.id', 't.assignee', 't.project'])
    .where('d.account', '=', p.account)
    .where('d.depends_on', '=', p.task)
    .where('d.removed_at', 'is', null)
    .where('t.trash', 'is', null)
    .where('t.status', 'not in', ['done', 'cancelled'])
    .where('t.assignee', 'is not', null)
    .orderBy('t.id'),
)

/** A block that named this task lifts itself, and whoever waited for it hears of it. */
async function liftBlocks(tx: WriteTx, task: Row<'tasks'>): Promise<void> {
  const blocked = await blockedByTask(tx, { account: tx.account, task: task.id })
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
  const dependents = await assignedDependents(tx, { account: tx.account, task: task.id })
  if (dependents.length === 0) return
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
