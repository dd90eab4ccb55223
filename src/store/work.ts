import type { ActorId } from '../model/actor.ts'
import { AppError, conflict, invalid } from '../model/error.ts'
import { formatId } from '../model/id.ts'
import { isClosed } from '../model/task.ts'
import { alreadyClaimed, type Claim, FREE, holderOf, refuseIfHeld, takeClaim } from './claim.ts'
import { pendingRequest } from './content.ts'
import { openDependencies, refuseCycle } from './dependency.ts'
import { emit, type ReadTx, type WriteTx } from './handle.ts'
import { addNote, newestNote, waitsFor } from './note.ts'
import { notify } from './notification.ts'
import { endRun, openRunOf } from './run.ts'
import { sees, shownTask, shownTasks } from './sight.ts'
import type { Row } from './tables.ts'
import { taskById, updateRow } from './task.ts'

/** What a verb of work did; `already` where everything was so before, and then nothing was written. */
export interface Moved {
  task: Row<'tasks'>
  already: boolean
}

/** Reserves a task. The holder's own repeat changes nothing, not even the lease; after the lapse it is a new claim. */
export async function claimTask(tx: WriteTx, task: Row<'tasks'>): Promise<Moved> {
  if (holderOf(task, tx.now) === tx.actor.id) return { task, already: true }
  const claim = await claimFree(tx, task)
  const event = await emit(tx, {
    kind: 'claimed',
    task: task.id,
    project: task.project,
    ...(claim.lapsed ? { data: { lapsed: claim.lapsed } } : {}),
  })
  await notify(tx, [claim.lapsed], 'lease_lapsed', event, task.id)
  return { task: await taskById(tx, task.id), already: false }
}

/** Takes the claim of a task that nobody holds, or says what stands in the way and what to do. */
export async function claimFree(tx: WriteTx, task: Row<'tasks'>): Promise<Claim> {
  await refuseUnready(tx, task)
  return takeClaim(tx, task)
}

/** Refuses a task on which the caller can't begin now: closed, awaiting a person, held, blocked, or waiting for others. */
async function refuseUnready(tx: ReadTx, task: Row<'tasks'>): Promise<void> {
  await refuseSettled(tx, task)
  const holder = holderOf(task, tx.now)
  if (holder && holder !== tx.actor.id) throw await alreadyClaimed(tx, task)
  const id = formatId('task', task.id)
  if (task.status === 'blocked') {
    const reason = await newestNote(tx, { task: task.id, kind: 'block' })
    throw new AppError('blocked', `${id} is blocked: ${reason?.text.slice(0, 500) ?? 'no reason is given'}`, {
      written: false,
      next: `Once that is settled, unblock_task {"id":"${id}"}; else take other work: get_next_task.`,
    })
  }
  const waits = (await openDependencies(tx, [task.id])).get(task.id) ?? []
  if (waits.length === 0) return
  throw new AppError('blocked', `${id} waits for ${waits.length} tasks that are not finished.`, {
    written: false,
    allowed: waits
      .slice(0, 10)
      .map((each) =>
        sees(tx, each.project) ? `${formatId('task', each.id)} ${each.title}` : shownTask(tx, each),
      ),
    next: 'Do one of these first, or take other work: get_next_task. remove_dependency if the order no longer holds.',
  })
}

/** Refuses a task whose work is over for now: closed, or put before a person. */
async function refuseSettled(tx: ReadTx, task: Row<'tasks'>): Promise<void> {
  const id = formatId('task', task.id)
  if (isClosed(task.status)) {
    throw conflict(`${id} is ${task.status}.`, {
      next: 'Take other work: get_next_task. If it has to be done again, reopen_task first.',
    })
  }
  if (task.status !== 'awaiting_approval') return
  const request = await pendingRequest(tx, task.id)
  throw conflict(
    `${id} waits for a person’s decision${request ? ` on ${formatId('request', request.id)}` : ''}.`,
    { next: 'Take other work: get_next_task. Who asked can withdraw the request with reopen_task.' },
  )
}

/**
 * Gives a task back for others: frees the claim, ends the holder's run, keeps the note. Others than the holder are
 * refused, persons excepted, who may take a task away from anybody.
 */
export async function releaseTask(tx: WriteTx, task: Row<'tasks'>, note: string | undefined): Promise<Moved> {
  await refuseIfHeld(tx, task)
  if (isClosed(task.status)) return { task, already: true }
  const freed = await freeTask(tx, task)
  const noted = await addNote(tx, { task: task.id, kind: 'release' }, note)
  if (!freed && !noted) return { task, already: true }
  const event = await emit(tx, {
    kind: 'released',
    task: task.id,
    project: task.project,
    data: { ...(task.claimed_by ? { holder: task.claimed_by } : {}), ...(note ? { note } : {}) },
  })
  await notify(tx, [task.claimed_by], 'released', event, task.id)
  return { task: await taskById(tx, task.id), already: false }
}

/**
 * Says that nobody can go on: for a reason outside, or until another task is finished, at whose closing the block lifts
 * itself. Frees the claim and ends the run, as releasing does.
 */
export async function blockTask(
  tx: WriteTx,
  task: Row<'tasks'>,
  reason: string | undefined,
  by: number | undefined,
): Promise<Moved> {
  await refuseSettled(tx, task)
  await refuseIfHeld(tx, task)
  const blocker = by === undefined ? undefined : await blockerOf(tx, task, by)
  const noted = await addNote(
    tx,
    { task: task.id, kind: 'block' },
    reason ?? waitsFor(formatId('task', blocker!.id)),
  )
  const stands = task.status === 'blocked' && (by === undefined || task.blocked_by === by)
  if (stands && !noted) return { task, already: true }
  const freed = (await freeTask(tx, task)) ? task.claimed_by : null
  const blocked = await updateRow(tx, task.id, {
    status: 'blocked',
    ...(by === undefined ? {} : { blocked_by: by }),
  })
  const event = await emit(tx, {
    kind: 'blocked',
    task: task.id,
    project: task.project,
    data: { ...(reason ? { reason } : {}), ...(by === undefined ? {} : { by: formatId('task', by) }) },
  })
  // A reason outside is for a person to clear away; another task is not.
  const person = tx.actor.kind === 'agent' && by === undefined ? tx.actor.owner : null
  await notify(tx, [freed, task.assignee, person], 'blocked', event, task.id)
  return { task: blocked, already: false }
}

/** The task that has to be finished first. It must be open, and not itself wait for the one it blocks. */
async function blockerOf(tx: ReadTx, task: Row<'tasks'>, by: number): Promise<Row<'tasks'>> {
  const blocker = await taskById(tx, by)
  const id = formatId('task', task.id)
  if (isClosed(blocker.status)) {
    throw invalid(`${formatId('task', by)} is ${blocker.status}, so ${id} need not wait for it.`, {
      next: 'Give the reason instead, or go on with the task.',
    })
  }
  if (task.blocked_by === by) return blocker
  if (task.status === 'blocked' && task.blocked_by !== null) {
    const [other] = await shownTasks(tx, [task.blocked_by])
    throw conflict(`${id} is already blocked by ${other}.`, {
      next: `To wait for more than one task, add_dependency {"id":"${id}","depends_on":["${formatId('task', by)}"]}.`,
    })
  }
  await refuseCycle(tx, task.id, by, 'block')
  return blocker
}

/** Lifts a block; dependencies stay. A task that is not blocked stays as it is. */
export async function unblockTask(tx: WriteTx, task: Row<'tasks'>): Promise<Moved> {
  if (task.status !== 'blocked') {
    const pending = await pendingRequest(tx, task.id)
    // A sign-off that is not given would bring the block back, so "already lifted" would be a lie.
    if (pending?.former_status === 'blocked') await refuseSettled(tx, task)
    return { task, already: true }
  }
  const block = await newestNote(tx, { task: task.id, kind: 'block' })
  const open = await updateRow(tx, task.id, { status: 'open', blocked_by: null })
  const event = await emit(tx, { kind: 'unblocked', task: task.id, project: task.project })
  await notify(tx, [task.assignee, block?.by], 'unblocked', event, task.id)
  return { task: open, already: false }
}

/**
 * Frees the claim, a lapsed one included, and ends the caller's run; where a person takes the task away, the holder's too.
 * Another agent's stalled run stays open, since it may still report. Returns whether there was anything of these.
 */
async function freeTask(tx: WriteTx, task: Row<'tasks'>): Promise<boolean> {
  const workers = new Set([tx.actor.id as ActorId])
  if (tx.actor.kind === 'person' && task.claimed_by !== null) workers.add(task.claimed_by)
  let ended = false
  for (const worker of workers) {
    const run = await openRunOf(tx, task.id, worker)
    if (!run) continue
    await endRun(tx, run, task, 'cancelled')
    ended = true
  }
  if (task.claimed_by === null) return ended
  await updateRow(tx, task.id, {
    ...FREE,
    ...(task.status === 'in_progress' ? { status: 'open' } : {}),
  })
  return true
}
