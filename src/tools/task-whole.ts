import { formatId, formatIdOr } from '../model/id.ts'
import { isClosed } from '../model/task.ts'
import { partyNames } from '../store/actor.ts'
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
import { newestRequestOf } from '../store/request.ts'
import { lastRunEvents, newestRunOf, runState } from '../store/run.ts'
import { sees, shownIds, shownTask } from '../store/sight.ts'
import { stepsOf } from '../store/step.ts'
import type { NoteKind, Row } from '../store/tables.ts'
import { childrenOf } from '../store/task.ts'
import { partsOf } from '../store/task-parts.ts'
import { possible } from './possible.ts'
import { fits } from './text.ts'
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
const SHOWN = {
  description: 6000,
  comment: 800,
  artifact: 300,
  event: 300,
  note: 1000,
  goal: 1000,
  question: 1000,
  step: 200,
  title: 90,
}

/** How many of what can be hundreds are shown. */
const MOST = { links: 30, subtasks: 100, questions: 5, comments: 5 }

/** How long a task can be, so that what start_run adds to it fits as well. */
const ROOM = MOST_CHARACTERS - 3000

/**
 * One task whole, in the order of need, since a host that cuts takes the end: news, what the caller can do and why not the
 * rest, the gate, fields, plan, surroundings, evidence, talk, and the literal next calls. The run is the newest, or the caller's
 * own where that is given.
 */
export async function wholeTask(
  tx: ReadTx,
  task: Row<'tasks'>,
  ofCaller?: Row<'runs'>,
): Promise<Record<string, unknown>> {
  const id = formatId('task', task.id)
  // Asked for together, so that over a network they travel together.
  const [has, newest, projects] = await Promise.all([
    partsOf(tx, task.id),
    newsOn(tx, [task.id]),
    projectNames(tx, [task.project]),
  ])
  const waits = has.waits ? ((await openDependencies(tx, [task.id])).get(task.id) ?? []) : []
  const waiting = has.waited_for ? await dependentsOf(tx, task.id) : []
  // Of a subtask that the caller can't see only that it is open matters here.
  const children = (has.children ? await childrenOf(tx, task.id) : []).filter(
    (child) => sees(tx, child.project) || !isClosed(child.status),
  )
  const request = has.requests ? await newestRequestOf(tx, task.id) : undefined
  const questions = has.questions ? await openQuestionsOf(tx, task.id) : []
  const run = ofCaller ?? (has.runs ? await newestRunOf(tx, task.id) : undefined)
  const lines = run && (await lastRunEvents(tx, run.id, 3))
  const artifacts = has.artifacts ? await artifactsOf(tx, task.id) : []
  const comments = has.comments ? await newestComments(tx, task.id, MOST.comments + 1) : []
  const steps = has.steps ? await stepsOf(tx, task.id) : []
  const rejection = request?.state === 'rejected' && !isClosed(task.status) ? request : undefined
  const noteOf = async (kind: NoteKind) => (has.notes ? newestNote(tx, { task: task.id, kind }) : undefined)
  const block = task.status === 'blocked' ? await noteOf('block') : undefined
  const summary = await noteOf(task.status === 'cancelled' ? 'cancel' : 'summary')
  const name = await partyNames(tx, [
    ...[task.assignee, task.claimed_by, task.closed_by, request?.asked_by, request?.decided_by],
    ...[run?.agent, block?.by, ...questions.map((each) => each.asked_of)],
    ...[...artifacts.map((each) => each.created_by), ...comments.map((each) => each.author)],
  ])
  const { can, cannot } = possible(tx, task, {
    waitsFor: [...new Set(waits.map((each) => shownTask(tx, each)))],
    openSubtasks: children.filter((child) => !isClosed(child.status)).length,
    request: request?.state === 'pending' ? request : undefined,
  })
  const [parent, succeeds, blockedBy] = ['parent', 'succeeds', 'blocked_by'].map((field) =>
    formatIdOr('task', task[field as 'parent']),
  )
  const shown = await shownIds(tx, [parent, succeeds, blockedBy, ...comments.map(({ origin }) => origin)])
  const labels = has.labels ? (await labelsOf(tx, [task.id])).get(task.id) : undefined

  /** The task with its texts to a share of their usual length, and the calls that show the rest of what is cut. */
  const view = (share: number): Record<string, unknown> => {
    const more: string[] = []
    const cut = (text: string, length: keyof typeof SHOWN, rest?: (shown: number) => string) => {
      const part = start(text, Math.ceil(SHOWN[length] * share))
      if (part.total !== undefined && rest) more.push(rest(part.text.length))
      return part
    }
    const some = <T>(list: readonly T[], most: number, call: string): readonly T[] => {
      if (list.length > most) more.push(call)
      return list.slice(0, most)
    }
    const rest = (part: string) => (length: number) =>
      `get_full_text {"id":"${id}","part":"${part}","offset":${length}}`
    const note = request?.note && cut(request.note, 'note', rest('note')).text
    const description = cut(
      task.description,
      'description',
      (length) => `get_full_text {"id":"${id}","offset":${length}}`,
    )
    return sparse({
      id,
      title: task.title,
      status: statusOf(task, tx.now),
      version: task.version,
      ...clockOf(tx),
      news: sparse({
        newest: newest.get(task.id),
        sent_back:
          rejection &&
          sparse({ request: formatId('request', rejection.id), by: name(rejection.decided_by), note }),
      }),
      can,
      cannot,
      gate: task.auto_ok === 0 ? 'closes only with a person’s sign-off' : 'auto-OK: closes without a person',
      page: request?.state === 'pending' ? signOffPage(tx, request.id) : undefined,
      changed_since_sign_off: task.changed_since_sign_off === 1,
      project: projects.get(task.project ?? -1),
      parent: shown(parent),
      priority: priorityName(task.priority),
      due: task.due,
      scheduled: task.scheduled,
      estimate: task.estimate,
      assignee: name(task.assignee),
      claim: name(holderOf(task, tx.now)),
      until: holderOf(task, tx.now) && shortMoment(tx, task.claim_until!),
      labels,
      recurrence: task.recurrence,
      succeeds: shown(succeeds),
      blocked: block && sparse({ reason: cut(block.text, 'note', rest('reason')).text, by: name(block.by) }),
      blocked_by: shown(blockedBy),
      closed: task.closed_at && sparse({ at: moment(task.closed_at), by: name(task.closed_by) }),
      summary: summary && cut(summary.text, 'note', rest('summary')).text,
      description: description.text,
      description_length: description.total,
      steps: steps.map((step) =>
        sparse({
          id: formatId('step', step.id),
          title: cut(step.title, 'step').text,
          status: step.status,
          description: cut(step.description, 'step', () => `get_full_text {"id":"${id}","part":"steps"}`)
            .text,
          version: step.version,
        }),
      ),
      waits_for: some(
        waits,
        MOST.links,
        `list_dependencies {"id":"${id}","direction":"waits_for","depth":1}`,
      ).map((each) =>
        sees(tx, each.project)
          ? {
              id: shownTask(tx, each),
              title: cut(each.title, 'title').text,
              status: each.trash === null ? each.status : 'in the Trash',
            }
          : { id: shownTask(tx, each) },
      ),
      waited_for_by: some(
        waiting,
        MOST.links,
        `list_dependencies {"id":"${id}","direction":"waited_for_by","depth":1}`,
      ).map((each) => shownTask(tx, each)),
      subtasks: some(children, MOST.subtasks, listSubtasks(id)).map((child) =>
        sees(tx, child.project)
          ? {
              id: shownTask(tx, child),
              title: cut(child.title, 'title').text,
              status: statusOf(child, tx.now),
            }
          : { id: shownTask(tx, child) },
      ),
      approval:
        request &&
        sparse({
          id: formatId('request', request.id),
          state: request.state,
          asks: request.target,
          by: name(request.asked_by),
          decided_by: name(request.decided_by),
          note: rejection ? undefined : note,
        }),
      questions: some(questions, MOST.questions, `list_questions {"state":"open","task_id":"${id}"}`).map(
        (question) => {
          const asked = formatId('question', question.id)
          return sparse({
            id: asked,
            text: cut(question.text, 'question', () => `get_question {"id":"${asked}"}`).text,
            asked_of: name(question.asked_of),
          })
        },
      ),
      run: run && runView(tx, run, lines!, name, { request, questions, share }),
      artifacts: artifacts.map((each) =>
        sparse({
          id: formatId('artifact', each.id),
          title: cut(each.title, 'step').text,
          kind: each.kind,
          url: each.url,
          file: each.file_name,
          size: each.size,
          start: each.text === null ? undefined : cut(each.text, 'artifact').text,
          material: true,
          by: name(each.created_by),
        }),
      ),
      comments: some(comments, MOST.comments, `list_comments {"task_id":"${id}"}`).map((comment) => {
        const said = formatId('comment', comment.id)
        const text = cut(
          comment.text,
          'comment',
          (length) => `get_full_text {"id":"${said}","offset":${length}}`,
        )
        return sparse({
          id: said,
          material: text.text,
          length: text.total,
          author: name(comment.author),
          origin: shown(comment.origin),
          at: moment(comment.created_at),
        })
      }),
      more: [...new Set(more)],
    })
  }

  for (const share of SHARES) {
    const whole = view(share)
    if (fits(whole, ROOM)) return whole
    const answer = fitted(whole, id)
    if (fits(answer, ROOM)) return answer
  }
  return fitted(view(SHARES.at(-1)!), id)
}

/** How much of its usual length each text gets, the first that fits. */
const SHARES = [1, 0.5, 0.2, 0.05]

const listSubtasks = (id: string): string => `list_tasks {"parent_id":"${id}","include_closed":true}`

type Name = (id: string | null) => string | undefined

/** A run as tasks show it, with the last lines of its log. */
function runView(
  tx: ReadTx,
  run: Row<'runs'>,
  lines: readonly Row<'run_events'>[],
  name: Name,
  around: { request: Row<'requests'> | undefined; questions: readonly Row<'questions'>[]; share: number },
): Record<string, unknown> {
  const { request, questions, share } = around
  const waits =
    (request?.state === 'pending' && request.asked_by === run.agent) ||
    questions.some((each) => each.asked_by === run.agent && each.holds_task === 1)
  return sparse({
    id: formatId('run', run.id),
    agent: name(run.agent),
    state: runState(run, tx.now, waits),
    goal: run.goal && start(run.goal, Math.ceil(SHOWN.goal * share)).text,
    progress: run.progress,
    started: moment(run.started_at),
    last_sign: moment(run.last_sign_at),
    ended: run.ended_at && moment(run.ended_at),
    last_events: lines.map((event) => ({
      seq: event.seq,
      kind: event.kind,
      material: start(event.text, Math.ceil(SHOWN.event * share)).text,
    })),
  })
}

/** Which parts give way first where a task is too long for one answer, and how each is reached instead. */
const GIVES_WAY = [
  ['comments', (id: string) => `list_comments {"task_id":"${id}"}`],
  ['artifacts', (id: string) => `get_full_text {"id":"${id}","part":"artifacts"}`],
  ['subtasks', listSubtasks],
  ['steps', (id: string) => `get_full_text {"id":"${id}","part":"steps"}`],
  ['labels', (id: string) => `get_task_history {"id":"${id}"}`],
] as const

/** Shortens lists from the end of the answer until it fits, saying the literal next call for each that was cut. */
function fitted(answer: Record<string, unknown>, id: string): Record<string, unknown> {
  const more = new Set((answer.more as string[] | undefined) ?? [])
  for (const [part, call] of GIVES_WAY) {
    let list = answer[part] as unknown[] | undefined
    if (!list || list.length < 2 || fits(answer, ROOM)) continue
    more.add(call(id))
    while (list.length > 1 && !fits({ ...answer, [part]: list, more: [...more] }, ROOM)) {
      list = list.slice(0, Math.ceil(list.length * 0.7) - 1)
    }
    answer[part] = list
  }
  return more.size > 0 ? { ...answer, more: [...more] } : answer
}
