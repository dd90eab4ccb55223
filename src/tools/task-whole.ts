import { formatId, formatIdOr } from '../model/id.ts'
import { isClosed } from '../model/task.ts'
import { partyNames } from '../store/actor.ts'
import { newestRequestOf } from '../store/approval.ts'
import { artifactsOf } from '../store/artifact.ts'
import { holderOf, statusOf } from '../store/claim.ts'
import { newestComments } from '../store/comment.ts'
import { dependentsOf, openDependencies } from '../store/dependency.ts'
import type { ReadTx } from '../store/handle.ts'
import { labelsOf } from '../store/label.ts'
import { newsOn } from '../store/news.ts'
import { newestNote } from '../store/note.ts'
import { projectNames } from '../store/project.ts'
import { openQuestionsOf } from '../store/question.ts'
import { lastRunEvents, newestRunOf, runState } from '../store/run.ts'
import { stepsOf } from '../store/step.ts'
import type { Row } from '../store/tables.ts'
import { childrenOf } from '../store/task.ts'
import { possible } from './possible.ts'
import { idOrHidden } from './task-row.ts'
import {
  clockOf,
  MOST_CHARACTERS,
  moment,
  priorityName,
  shortMoment,
  signOffPage,
  sparse,
  start,
} from './view.ts'

/** How much of each text is shown; the rest is a call of get_full_text away. */
const SHOWN = { description: 6000, comment: 800, artifact: 300, event: 300, note: 1000, step: 200 }

/**
 * One task whole, in the order of need, since a host that cuts takes the end: news, what the caller can do and why not the
 * rest, the gate, fields, plan, surroundings, evidence, talk, and the literal next calls.
 */
export async function wholeTask(tx: ReadTx, task: Row<'tasks'>): Promise<Record<string, unknown>> {
  const id = formatId('task', task.id)
  const name = await partyNames(tx)
  const waits = (await openDependencies(tx, [task.id])).get(task.id) ?? []
  const children = await childrenOf(tx, task.id)
  const request = await newestRequestOf(tx, task.id)
  const questions = await openQuestionsOf(tx, task.id)
  const run = await newestRunOf(tx, task.id)
  const comments = await newestComments(tx, task.id, 6)
  const rejection = request?.state === 'rejected' && !isClosed(task.status) ? request : undefined
  const block = task.status === 'blocked' ? await newestNote(tx, { task: task.id, kind: 'block' }) : undefined
  const closing = isClosed(task.status) ? task.status : undefined
  const summary = await newestNote(tx, {
    task: task.id,
    kind: closing === 'cancelled' ? 'cancel' : 'summary',
  })
  const openChildren = children.filter((child) => !isClosed(child.status))
  const { can, cannot } = possible(tx, task, {
    waitsFor: waits.map((each) => idOrHidden(tx, each)),
    openSubtasks: openChildren.length,
    request: request?.state === 'pending' ? request : undefined,
  })
  const description = start(task.description, SHOWN.description)
  const shownComments = comments.slice(0, 5)
  const answer = sparse({
    id,
    title: task.title,
    status: statusOf(task, tx.now),
    version: task.version,
    ...clockOf(tx),
    news: sparse({
      newest: (await newsOn(tx, [task.id])).get(task.id),
      sent_back:
        rejection &&
        sparse({
          request: formatId('request', rejection.id),
          by: name(rejection.decided_by),
          note: rejection.note,
        }),
    }),
    can,
    cannot,
    gate: task.auto_ok === 0 ? 'closes only with a person’s sign-off' : 'auto-OK: closes without a person',
    page: request?.state === 'pending' ? signOffPage(tx, request.id) : undefined,
    changed_since_sign_off: task.changed_since_sign_off === 1,
    project: (await projectNames(tx, [task.project])).get(task.project ?? -1),
    parent: formatIdOr('task', task.parent),
    priority: priorityName(task.priority),
    due: task.due,
    scheduled: task.scheduled,
    estimate: task.estimate,
    assignee: name(task.assignee),
    claim: name(holderOf(task, tx.now)),
    until: holderOf(task, tx.now) && shortMoment(tx, task.claim_until!),
    labels: (await labelsOf(tx, [task.id])).get(task.id),
    recurrence: task.recurrence,
    succeeds: formatIdOr('task', task.succeeds),
    blocked: block && sparse({ reason: start(block.text, SHOWN.note).text, by: name(block.by) }),
    blocked_by: formatIdOr('task', task.blocked_by),
    closed: task.closed_at && sparse({ at: moment(task.closed_at), by: name(task.closed_by) }),
    summary: summary && start(summary.text, SHOWN.note).text,
    description: description.text,
    description_length: description.total,
    steps: (await stepsOf(tx, task.id)).map((step) =>
      sparse({
        id: formatId('step', step.id),
        title: start(step.title, SHOWN.step).text,
        status: step.status,
        description: start(step.description, SHOWN.step).text,
        version: step.version,
      }),
    ),
    waits_for: waits.map((each) =>
      sparse({
        id: idOrHidden(tx, each),
        title: idOrHidden(tx, each).startsWith('T') ? each.title : undefined,
        status: each.trash === null ? each.status : 'in the Trash',
      }),
    ),
    waited_for_by: (await dependentsOf(tx, task.id)).map((each) => idOrHidden(tx, each)),
    subtasks: children.map((child) => ({
      id: formatId('task', child.id),
      title: start(child.title, 90).text,
      status: statusOf(child, tx.now),
    })),
    approval:
      request &&
      sparse({
        id: formatId('request', request.id),
        state: request.state,
        asks: request.target,
        by: name(request.asked_by),
        decided_by: name(request.decided_by),
        note: request.note,
      }),
    questions: questions.map((question) =>
      sparse({
        id: formatId('question', question.id),
        text: start(question.text, SHOWN.note).text,
        asked_of: name(question.asked_of),
      }),
    ),
    run: run && (await runView(tx, run, name, request, questions)),
    artifacts: (await artifactsOf(tx, task.id)).map((each) =>
      sparse({
        id: formatId('artifact', each.id),
        title: each.title,
        kind: each.kind,
        url: each.url,
        file: each.file_name,
        size: each.size,
        start: each.text === null ? undefined : start(each.text, SHOWN.artifact).text,
        material: true,
        by: name(each.created_by),
      }),
    ),
    comments: shownComments.map((comment) =>
      sparse({
        id: formatId('comment', comment.id),
        material: start(comment.text, SHOWN.comment).text,
        length: start(comment.text, SHOWN.comment).total,
        author: name(comment.author),
        origin: comment.origin,
        at: moment(comment.created_at),
      }),
    ),
    more: [
      ...(description.total ? [`get_full_text {"id":"${id}","offset":${description.text.length}}`] : []),
      ...shownComments
        .filter((comment) => comment.text.length > SHOWN.comment)
        .map(
          (comment) => `get_full_text {"id":"${formatId('comment', comment.id)}","offset":${SHOWN.comment}}`,
        ),
      ...(comments.length > 5 ? [`list_comments {"task_id":"${id}"}`] : []),
    ],
  })
  return fitted(answer, id)
}

/** A run as tasks and run tools show it, with the last lines of its log. */
export async function runView(
  tx: ReadTx,
  run: Row<'runs'>,
  name: (id: string | null) => string | undefined,
  request: Row<'requests'> | undefined,
  questions: readonly Row<'questions'>[],
): Promise<Record<string, unknown>> {
  const waits =
    (request?.state === 'pending' && request.asked_by === run.agent) ||
    questions.some((each) => each.asked_by === run.agent && each.holds_task === 1)
  return sparse({
    id: formatId('run', run.id),
    agent: name(run.agent),
    state: runState(run, tx.now, waits),
    goal: run.goal,
    progress: run.progress,
    started: moment(run.started_at),
    last_sign: moment(run.last_sign_at),
    ended: run.ended_at && moment(run.ended_at),
    last_events: (await lastRunEvents(tx, run.id, 3)).map((event) => ({
      seq: event.seq,
      kind: event.kind,
      material: start(event.text, SHOWN.event).text,
    })),
  })
}

/** Which parts give way first where a task is too long for one answer, and how each is reached instead. */
const GIVES_WAY = [
  ['comments', (id: string) => `list_comments {"task_id":"${id}"}`],
  ['artifacts', (id: string) => `get_full_text {"id":"${id}","part":"artifacts"}`],
  ['subtasks', (id: string) => `list_tasks {"parent_id":"${id}"}`],
  ['steps', (id: string) => `get_full_text {"id":"${id}","part":"steps"}`],
] as const

/** Shortens lists from the end of the answer until it fits, saying the literal next call for each that was cut. */
function fitted(answer: Record<string, unknown>, id: string): Record<string, unknown> {
  const more = [...((answer.more as string[] | undefined) ?? [])]
  for (const [part, call] of GIVES_WAY) {
    let list = answer[part] as unknown[] | undefined
    if (!list || lengthOf(answer) <= MOST_CHARACTERS - 2000) continue
    while (list.length > 1 && lengthOf({ ...answer, [part]: list }) > MOST_CHARACTERS - 2000) {
      list = list.slice(0, Math.ceil(list.length * 0.7) - 1)
    }
    answer[part] = list
    more.push(call(id))
  }
  return more.length > 0 ? { ...answer, more } : answer
}

const lengthOf = (value: unknown): number => JSON.stringify(value).length
