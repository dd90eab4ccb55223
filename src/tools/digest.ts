import { z } from 'zod'
import type { ActorId } from '../model/actor.ts'
import { notFound } from '../model/error.ts'
import { formatId } from '../model/id.ts'
import { partyNames } from '../store/actor.ts'
import {
  blockedTasks,
  type DigestScope,
  deletionsByAgents,
  householdOf,
  LOOKED,
  likelyDuplicates,
  loopsSince,
  openQuestions,
  overdueTasks,
  pendingSignOffs,
  stalledRuns,
} from '../store/digest.ts'
import type { ReadTx } from '../store/handle.ts'
import { newsFor } from '../store/news.ts'
import { newestNote } from '../store/note.ts'
import { newestNews } from '../store/notification.ts'
import { projectNamedOrMeant, projectsLike } from '../store/project-name.ts'
import { openRunsOf } from '../store/run.ts'
import { instant, waitSeconds } from './fields.ts'
import { newsRows } from './news-row.ts'
import { fitted } from './piece.ts'
import { read } from './tool.ts'
import { clockOf, moment, priorityName, signOffPage, sparse, start } from './view.ts'

/** How many rows a section shows; it counts the rest. */
const ROWS = 5

/** How far back deletions and loops are told of where the caller does not say since when, in milliseconds. */
const RECENT_MS = 7 * 86_400_000

/** Which news is which section of the digest; the rest are `news`. */
const SECTIONS: Record<string, string> = {
  approved: 'decisions',
  rejected: 'decisions',
  request_stale: 'decisions',
  request_withdrawn: 'decisions',
  answered: 'answers',
  commented: 'comments',
}

/** News whose matter has a section of its own in the digest of a person, of the account or of a project. */
const SHOWN_ANYWAY = new Set(['approval_requested', 'asked', 'trashed', 'loop_damped', 'blocked'])

export const digestTools = {
  get_digest: read({
    title: 'Get the digest',
    does: 'What needs you now: decisions, answers, comments, unfinished runs; for a person or scope account also sign-offs, questions, stalled runs, overdue, blocked, deletions, loops, likely duplicates. Marks nothing as seen. wait_seconds holds until there is news.',
    toolset: 'me',
    input: z.strictObject({
      since: instant('backward').optional(),
      scope: z.string().max(200).optional().describe('me, account or a project.'),
      wait_seconds: waitSeconds,
    }),
    output: z.looseObject({ today: z.string(), time_zone: z.string(), new: z.int() }),
    http: 'GET /digest',
    example: { scope: 'me' },
    // A wish to stop is news that must not wait.
    pending: (digest) => digest.new === 0 && digest.stop !== true,
    run: async (tx, { since, scope: said }) => {
      const scope = await readScope(tx, said ?? 'me')
      const overview = tx.actor.kind === 'person' || (said !== undefined && said !== 'me')
      const news = (await newestNews(tx, since === undefined, LOOKED)).filter(
        (each) =>
          (since === undefined || each.at >= since) &&
          (scope.project === undefined || each.project === scope.project),
      )
      const sections = [
        ...(await newsSections(tx, news, overview)),
        await unfinished(tx),
        ...(overview ? await overviewSections(tx, scope, since ?? tx.now - RECENT_MS) : []),
      ].filter((section) => section.count > 0)
      const upTo = formatId('notification', Math.max(0, ...news.map((each) => each.id)))
      const shownSections = sections.map(({ name, ...section }) => [name, shown(section)] as const)
      const digest = {
        ...clockOf(tx),
        scope: said ?? 'me',
        ...(since === undefined ? {} : { since: moment(since) }),
        new: news.length,
        ...(await newsFor(tx)),
        ...(news.some((each) => each.read_at === null)
          ? { when_seen: `mark_notifications_read {"up_to":"${upTo}"}` }
          : {}),
        ...Object.fromEntries(shownSections),
      }
      // The counts still tell of the rows that are taken off.
      fitted(
        digest,
        sections.map((section) => section.rows),
      )
      return digest
    },
  }),
}

interface Section {
  name: string
  count: number
  rows: Record<string, unknown>[]
  /** The call that lists the whole. */
  all?: string
}

/** What a section says: how many, the first of them, and where the rest is. */
function shown({ count, rows, all }: Omit<Section, 'name'>): Record<string, unknown> {
  const more = count > rows.length && all
  return { ...(count >= LOOKED ? { at_least: count } : { count }), rows, ...(more ? { all } : {}) }
}

async function readScope(tx: ReadTx, said: string): Promise<DigestScope> {
  const word = said.trim().toLowerCase()
  if (word === 'me') return { mine: await householdOf(tx, tx.actor.owner) }
  if (word === 'account') return {}
  const project = await projectNamedOrMeant(tx, said)
  if (project) return { project: project.id }
  throw notFound(`There is no project "${said.slice(0, 80)}".`, {
    allowed: ['me', 'account', ...(await projectsLike(tx, said))],
    next: 'list_projects shows them all.',
  })
}

/** The caller's own news, by what it is about. */
async function newsSections(
  tx: ReadTx,
  news: Awaited<ReturnType<typeof newestNews>>,
  overview: boolean,
): Promise<Section[]> {
  const groups = new Map<string, typeof news>([
    ['decisions', []],
    ['answers', []],
    ['comments', []],
    ['news', []],
  ])
  for (const each of news) {
    if (overview && SHOWN_ANYWAY.has(each.kind)) continue
    groups.get(SECTIONS[each.kind] ?? 'news')!.push(each)
  }
  return Promise.all(
    [...groups].map(async ([name, group]) => ({
      name,
      count: group.length,
      rows: await newsRows(tx, group.slice(0, ROWS), 300),
      all: 'list_notifications {"unread_only":true}',
    })),
  )
}

async function unfinished(tx: ReadTx): Promise<Section> {
  const runs = await openRunsOf(tx, tx.actor.id as ActorId, LOOKED)
  return {
    name: 'unfinished_runs',
    count: runs.length,
    all: 'list_runs {"agent_id":"me"}',
    rows: runs.slice(0, ROWS).map((run) => ({
      id: formatId('run', run.id),
      task: formatId('task', run.task),
      title: start(run.title, 60).text,
      state: run.state,
      last_sign: moment(run.last_sign_at),
      next: `start_run {"task_id":"${formatId('task', run.task)}"}`,
    })),
  }
}

/** What a person looks after, beside their own news. */
async function overviewSections(tx: ReadTx, scope: DigestScope, since: number): Promise<Section[]> {
  const name = await partyNames(tx)
  const { today } = clockOf(tx)
  const task = (id: number) => formatId('task', id)
  const titled = (title: string | null) => title && start(title, 60).text
  const section = <T>(
    name: string,
    found: readonly T[],
    all: string,
    row: (each: T) => Record<string, unknown>,
  ) => ({
    name,
    count: found.length,
    all,
    rows: found.slice(0, ROWS).map((each) => sparse(row(each))),
  })
  const blocked = await blockedTasks(tx, scope)
  const reasons = new Map(
    await Promise.all(
      blocked
        .slice(0, ROWS)
        .map(async ({ id }) => [id, await newestNote(tx, { task: id, kind: 'block' })] as const),
    ),
  )
  const narrowed = scope.project === undefined ? '' : `,"project_id":"${formatId('project', scope.project)}"`
  return [
    section(
      'sign_offs',
      await pendingSignOffs(tx, scope),
      'list_approvals {"state":["pending"]}',
      (each) => ({
        id: formatId('request', each.id),
        task: task(each.task),
        title: titled(each.title),
        asks: each.target,
        by: name(each.asked_by),
        at: moment(each.asked_at),
        page: signOffPage(tx, each.id),
        next: `get_approval {"id":"${formatId('request', each.id)}"}`,
      }),
    ),
    section('questions', await openQuestions(tx, scope), 'list_questions {"state":"open"}', (each) => ({
      id: formatId('question', each.id),
      task: each.task === null ? undefined : task(each.task),
      title: titled(each.title),
      by: name(each.asked_by),
      of: name(each.asked_of),
      material: start(each.text, 300).text,
      next: `get_question {"id":"${formatId('question', each.id)}"}`,
    })),
    section('stalled_runs', await stalledRuns(tx, scope), 'list_runs {"state":["stalled"]}', (run) => ({
      id: formatId('run', run.id),
      task: task(run.task),
      title: titled(run.title),
      agent: name(run.agent),
      last_sign: moment(run.last_sign_at),
      next: `get_run {"id":"${formatId('run', run.id)}"}`,
    })),
    section(
      'overdue',
      await overdueTasks(tx, scope, today),
      `list_tasks {"overdue":true${narrowed}}`,
      (each) => ({
        id: task(each.id),
        title: titled(each.title),
        due: each.due,
        priority: each.priority === 2 ? undefined : priorityName(each.priority),
        assignee: name(each.assignee),
        next: `get_task {"id":"${task(each.id)}"}`,
      }),
    ),
    section('blocked', blocked, `list_tasks {"status":["blocked"]${narrowed}}`, (each) => ({
      id: task(each.id),
      title: titled(each.title),
      by: name(reasons.get(each.id)?.by),
      material: start(reasons.get(each.id)?.text ?? '', 300).text,
      next: `get_task {"id":"${task(each.id)}"}`,
    })),
    section('deletions', await deletionsByAgents(tx, scope, since), 'list_trash {}', (entry) => ({
      id: formatId('trash', entry.id),
      kind: entry.kind,
      object: entry.object,
      title: titled(entry.title),
      by: name(entry.by),
      at: moment(entry.at),
      next: `restore_from_trash {"ids":["${formatId('trash', entry.id)}"]}`,
    })),
    section(
      'loops',
      await loopsSince(tx, scope, since),
      'list_activity {"kinds":["loop_damped"]}',
      (loop) => ({
        task: task(loop.task),
        title: titled(loop.title),
        agents: loop.agents.map(name),
        at: moment(loop.at),
        next: `list_comments {"task_id":"${task(loop.task)}"}`,
      }),
    ),
    section(
      'likely_duplicates',
      await likelyDuplicates(tx, scope),
      'list_tasks {"sort":"created"}',
      (group) => {
        const [kept, ...others] = group.slice(0, 10).map((each) => task(each.id))
        return {
          tasks: [kept, ...others],
          title: titled(group[0]!.title),
          next: `merge_tasks ${JSON.stringify({ id: kept, duplicates: others })}`,
        }
      },
    ),
  ]
}
