import { FRESH_MS } from '../model/actor.ts'
import { formatId, formatIdOr } from '../model/id.ts'
import { isClosed } from '../model/task.ts'
import { partyNames } from '../store/actor.ts'
import { artifactsOf } from '../store/artifact.ts'
import { agentById } from '../store/credential.ts'
import { openDependencies } from '../store/dependency.ts'
import { formFor } from '../store/form.ts'
import type { ReadTx } from '../store/handle.ts'
import { newestNote } from '../store/note.ts'
import { projectNames } from '../store/project.ts'
import { openQuestionsOf } from '../store/question.ts'
import { runState } from '../store/run.ts'
import { changesOf, freedBy, runsOf, signOffOf, staleBy } from '../store/sign-off.ts'
import { stepsOf } from '../store/step.ts'
import type { Row } from '../store/tables.ts'
import { childrenOf } from '../store/task.ts'
import { trashEntry } from '../store/trash.ts'
import { moment } from '../tools/view.ts'
import { type NetChange, netChanges } from './changes.ts'

type Name = (id: string | null | undefined) => string | undefined

/** How much of a text artifact stands beside the request; the rest is a file away. */
const EXCERPT = 2000

/**
 * Everything a person needs to decide a request, facts first (design: page, "Sign-off"): what changed since the task was
 * opened, its parts as they are, who did it, what closing frees, and only then the agent's own words. `since` asks in
 * addition for what changed after a moment, such as when a page was shown. Of a task in the Trash it says how it went there;
 * then there is no form, since nothing waits.
 */
export async function signOffFacts(
  tx: ReadTx,
  request: Row<'requests'>,
  task: Row<'tasks'>,
  since = request.asked_at,
) {
  const name: Name = await partyNames(tx)
  const steps = await stepsOf(tx, task.id)
  const artifacts = await artifactsOf(tx, task.id)
  const titles = new Map([
    ...steps.map((step) => [formatId('step', step.id), step.title] as const),
    ...artifacts.map((each) => [formatId('artifact', each.id), each.title] as const),
  ])
  const events = await changesOf(tx, task.id, task.created_at)
  const waits = (await openDependencies(tx, [task.id])).get(task.id) ?? []
  const children = await childrenOf(tx, task.id)
  const signOff = request.state === 'approved' ? await signOffOf(tx, request.id) : undefined
  const stale = request.state === 'stale' ? await staleBy(tx, request) : undefined
  const { asked_by, target, state } = request
  return {
    id: formatId('request', request.id),
    state,
    asks: target,
    asked_by: name(asked_by) ?? asked_by,
    asked_at: moment(request.asked_at),
    ...(await trashFacts(tx, task, name)),
    task: await taskFacts(tx, task, name),
    unchanged: request.content_hash === task.content_hash && request.content_version === task.content_version,
    // Evidence has a row of its own; only what came after the request is news.
    changed: netChanges(
      events.filter((event) => event.kind !== 'artifact_attached'),
      titles,
    ).map((each) => named(each, name)),
    changed_since: netChanges(
      events.filter((event) => event.at > since),
      titles,
    ).map((each) => named(each, name)),
    ...(stale ? { stale: { by: name(stale.by) ?? stale.by, at: moment(stale.at), tool: stale.tool } } : {}),
    steps: steps.map((step) => ({
      id: formatId('step', step.id),
      title: step.title,
      description: step.description,
      status: step.status,
      at: moment(step.updated_at),
    })),
    subtasks: children.map((child) => ({
      id: formatId('task', child.id),
      title: child.title,
      status: child.status,
      closed: isClosed(child.status),
    })),
    evidence: artifacts.map((artifact) => evidence(artifact, name)),
    runs: await runFacts(tx, task, name),
    done_by: { agent: name(asked_by) ?? asked_by, owner: await ownerName(tx, asked_by, name) },
    waits_for: waits.map(({ id, title, trash }) => ({
      id: formatId('task', id),
      title,
      trashed: trash !== null,
    })),
    frees: (await freedBy(tx, task.id)).map(({ id, title }) => ({ id: formatId('task', id), title })),
    questions: (await openQuestionsOf(tx, task.id)).map((question) => ({
      id: formatId('question', question.id),
      text: question.text,
      by: name(question.asked_by) ?? question.asked_by,
    })),
    words: await ownWords(tx, request, task, name),
    ...(request.decided_at === null
      ? {}
      : {
          decision: {
            by: name(request.decided_by) ?? request.decided_by ?? 'Done',
            at: moment(request.decided_at),
            note: request.note,
            began: signOff?.began ?? null,
          },
        }),
    session: sessionFacts(tx),
    ...(state === 'pending' && task.trash === null ? { form: formFor(tx, request, task) } : {}),
  }
}

/** What {@link signOffFacts} tells. Times are ISO 8601 in UTC, as everywhere outside; names are `G1 scout`. */
export type SignOffFacts = Awaited<ReturnType<typeof signOffFacts>>

/** The figures of a request in a list: bad news stands in the line itself. */
export async function inBrief(tx: ReadTx, request: Row<'requests'> & { title: string }, name: Name) {
  const steps = await stepsOf(tx, request.task)
  const evidence = await artifactsOf(tx, request.task)
  const runs = await runsOf(tx, request.task)
  return {
    id: formatId('request', request.id),
    task: formatId('task', request.task),
    title: request.title,
    asks: request.target,
    asked_by: name(request.asked_by) ?? request.asked_by,
    asked_at: moment(request.asked_at),
    steps: steps.length,
    steps_finished: steps.filter((step) => step.status === 'done' || step.status === 'skipped').length,
    steps_failed: steps.filter((step) => step.status === 'failed').length,
    runs_failed: runs.filter((run) => run.outcome === 'failed').length,
    evidence: evidence.length,
    frees: (await freedBy(tx, request.task)).length,
  }
}

/** A request in a list of what waits. */
export type Brief = Awaited<ReturnType<typeof inBrief>>

/** By whom and with what the task went to the Trash; from there it comes back with its request. */
async function trashFacts(tx: ReadTx, task: Row<'tasks'>, name: Name) {
  const entry = task.trash === null ? undefined : await trashEntry(tx, task.trash)
  if (!entry) return {}
  const { id, object, title, by, at } = entry
  return {
    trashed: { id: formatId('trash', id), object, title, by: name(by) ?? by, at: moment(at) },
  }
}

async function taskFacts(tx: ReadTx, task: Row<'tasks'>, name: Name) {
  return {
    id: formatId('task', task.id),
    title: task.title,
    status: task.status,
    description: task.description,
    project: (await projectNames(tx, [task.project])).get(task.project ?? -1) ?? null,
    parent: formatIdOr('task', task.parent) ?? null,
    assignee: name(task.assignee) ?? null,
    due: task.due,
    recurrence: task.recurrence,
    auto_ok: task.auto_ok === 1,
    content_version: task.content_version,
    created_by: name(task.created_by) ?? task.created_by,
    created_at: moment(task.created_at),
  }
}

function named(change: NetChange, name: Name) {
  return { ...change, at: moment(change.at), by: change.by.map((id) => name(id) ?? id) }
}

function evidence(artifact: Row<'artifacts'>, name: Name) {
  const { title, kind, url, file_name, media_type, size, sha256, origin, text } = artifact
  return {
    id: formatId('artifact', artifact.id),
    title,
    kind,
    url,
    file_name,
    media_type,
    size,
    sha256,
    origin,
    text: text === null ? null : text.slice(0, EXCERPT),
    cut: text !== null && text.length > EXCERPT,
    by: name(artifact.created_by) ?? artifact.created_by,
    at: moment(artifact.created_at),
  }
}

async function runFacts(tx: ReadTx, task: Row<'tasks'>, name: Name) {
  return (await runsOf(tx, task.id)).map((run) => ({
    id: formatId('run', run.id),
    agent: name(run.agent) ?? run.agent,
    state: runState(run, tx.now, task.status === 'awaiting_approval'),
    started_at: moment(run.started_at),
    ended_at: run.ended_at === null ? null : moment(run.ended_at),
  }))
}

async function ownerName(tx: ReadTx, id: string, name: Name): Promise<string | null> {
  if (!id.startsWith('G')) return null
  const { owner } = await agentById(tx, Number(id.slice(1)))
  return name(formatId('person', owner)) ?? formatId('person', owner)
}

/** What the asker said of the work, as its newest summary or reason. */
async function ownWords(tx: ReadTx, request: Row<'requests'>, task: Row<'tasks'>, name: Name) {
  const kind = request.target === 'done' ? 'summary' : 'cancel'
  const note = await newestNote(tx, { task: task.id, kind })
  return note ? [{ text: note.text, by: name(note.by) ?? note.by, at: moment(note.at) }] : []
}

/** How the sign-in began, when, and whether it is new enough for a decision (gate G2). */
function sessionFacts(tx: ReadTx) {
  if (tx.actor.kind !== 'person') return null
  const { began, signedInAt } = tx.actor.session
  return {
    began,
    signed_in_at: moment(signedInAt),
    fresh: tx.now - signedInAt <= FRESH_MS,
    may_decide: tx.actor.role !== 'viewer',
  }
}
