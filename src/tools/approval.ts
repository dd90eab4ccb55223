import { z } from 'zod'
import { formatId } from '../model/id.ts'
import { LIMITS } from '../model/task.ts'
import { partyNames } from '../store/actor.ts'
import { finishTask } from '../store/approval.ts'
import type { ReadTx } from '../store/handle.ts'
import { newestNote } from '../store/note.ts'
import { type AskedRequest, requestById, requestsPage } from '../store/request.ts'
import { signOffOf } from '../store/sign-off.ts'
import { taskById, taskInTrash } from '../store/task.ts'
import { shownEntry } from '../store/trash.ts'
import { idOf, page, taskId, text, waitSeconds } from './fields.ts'
import { finishedAnswer } from './task-answer.ts'
import { read, write } from './tool.ts'
import { listAnswer, moment, signOffPage, sparse, start } from './view.ts'

const STATES = ['pending', 'approved', 'rejected', 'stale', 'withdrawn'] as const

export const approvalTools = {
  list_approvals: read({
    title: 'List sign-off requests',
    does: 'Sign-off requests, newest first: pending, approved, rejected, stale, withdrawn; with the note of the person who decided.',
    toolset: 'approvals',
    input: z.strictObject({ state: z.array(z.enum(STATES)).optional(), task_id: taskId.optional(), ...page }),
    output: z.looseObject({
      today: z.string(),
      showing: z.int(),
      approvals: z.array(z.looseObject({ id: z.string() })),
    }),
    http: 'GET /approvals',
    example: { state: ['pending'] },
    run: async (tx, { state, task_id, ...page }) => {
      if (task_id !== undefined) await taskById(tx, task_id)
      const found = await requestsPage(tx, { states: state, task: task_id }, page)
      const name = await partyNames(tx)
      return listAnswer(
        tx,
        found,
        'approvals',
        found.rows.map((request) => requestRow(tx, request, name, 200)),
      )
    },
  }),

  get_approval: read({
    title: 'Get a sign-off request',
    does: 'One request: what exactly was asked, decision, note, page where a person decides. wait_seconds holds until it is decided.',
    toolset: 'approvals',
    noun: 'request',
    input: z.strictObject({ id: idOf('request'), wait_seconds: waitSeconds }),
    output: z.looseObject({ id: z.string(), state: z.string(), task: z.string() }),
    http: 'GET /approvals/:id',
    example: { id: 'A1' },
    pending: (request) => request.state === 'pending',
    run: async (tx, { id }) => {
      const request = await requestById(tx, id)
      const task = (await taskInTrash(tx, request.task)) ?? (await taskById(tx, request.task))
      const name = await partyNames(tx)
      const summary = await newestNote(tx, {
        task: task.id,
        kind: request.target === 'done' ? 'summary' : 'cancel',
        // What was said for this request, not for one that was asked after it.
        until: request.decided_at ?? undefined,
      })
      const signOff = await signOffOf(tx, id)
      return {
        ...requestRow(tx, { ...request, title: task.title, trash: task.trash }, name, 10_000),
        ...sparse({
          in_trash: task.trash === null ? undefined : ((await shownEntry(tx, task.trash)) ?? true),
          task_status: task.status,
          content_version: request.content_version,
          content_hash: request.content_hash,
          // What a person would look at now is no longer what was asked.
          changed_since: task.content_version !== request.content_version,
          material: summary && start(summary.text, 2000).text,
          author: summary && name(summary.by),
          signed_off: signOff && {
            by: name(signOff.approver),
            session_began: signOff.began,
            at: moment(signOff.at),
          },
          next: NEXT[request.state](formatId('task', task.id)),
        }),
      }
    },
  }),

  request_approval: write({
    title: 'Request a sign-off',
    does: 'Ask a person to sign off finished work, also where it is auto-OK. Sign-off CLOSES the task; for permission use ask_question.',
    toolset: 'approvals',
    noun: 'task',
    convergent: true,
    input: z.strictObject({
      task_id: taskId,
      for: z.enum(['done', 'cancelled']).optional(),
      summary: text(LIMITS.comment).optional(),
    }),
    output: z.looseObject({ id: z.string(), status: z.string(), version: z.int() }),
    http: 'POST /tasks/:task_id/request-approval',
    example: { task_id: 'T6', summary: 'Ready; please look at the new address.' },
    run: async (tx, { task_id, for: target, summary }) => {
      const task = await taskById(tx, task_id)
      return finishedAnswer(tx, await finishTask(tx, task, target ?? 'done', summary, true))
    },
  }),
}

/** What to do now, by the state of a request. */
const NEXT: Record<AskedRequest['state'], (task: string) => string> = {
  pending: () => 'A person decides on that page. Take other work meanwhile: get_next_task.',
  approved: () => 'The task is closed. Take other work: get_next_task.',
  rejected: (task) => `Do what the note says, then complete_task {"id":"${task}"} asks again.`,
  stale: (task) => `The task changed after it was asked. complete_task {"id":"${task}"} asks again.`,
  withdrawn: (task) => `get_task {"id":"${task}"} shows how the task stands.`,
}

function requestRow(
  tx: ReadTx,
  request: AskedRequest,
  name: (id: string | null) => string | undefined,
  noteCharacters: number,
): Record<string, unknown> {
  const decided = request.state === 'approved' || request.state === 'rejected'
  return sparse({
    id: formatId('request', request.id),
    state: request.state,
    task: formatId('task', request.task),
    title: start(request.title, 90).text,
    asks: request.target,
    by: name(request.asked_by),
    at: moment(request.asked_at),
    decided_by: decided ? name(request.decided_by) : undefined,
    decided: request.decided_at && moment(request.decided_at),
    note: request.note && start(request.note, noteCharacters).text,
    page: request.state === 'pending' ? signOffPage(tx, request.id) : undefined,
  })
}
