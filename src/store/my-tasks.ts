import { sql } from 'kysely'
import type { ActorId } from '../model/actor.ts'
import { invalid } from '../model/error.ts'
import { inNumbers, type ReadTx, sqlOf } from './handle.ts'
import { type Page, type PageInput, pageOf } from './page.ts'
import type { Row } from './tables.ts'
import { visibleTasks } from './task.ts'
import { URGENCY } from './task-list.ts'

/** Why a task is the caller's, the most pressing reason first. */
const REASONS = ['sent_back', 'claimed', 'left', 'assigned'] as const
type Reason = (typeof REASONS)[number]

export interface MyTask {
  task: Row<'tasks'>
  reason: Reason
  /** The decision that sent it back. */
  rejection?: Row<'requests'>
  /** The caller's open run on it. */
  run?: Row<'runs'>
}

/** Most tasks that somebody can have begun or have got back before the rest of them is left to other lists. */
const BEGUN = 500

/**
 * The caller's tasks: sent back by a person first, then those it holds, those on which it left a run open, and those
 * assigned to it, each once and by urgency. What is begun is short and sorted as a whole; what is assigned may be long
 * and is read from its index. `dueBefore` is exclusive.
 */
export async function myTasks(
  tx: ReadTx,
  filter: { dueBefore?: string | undefined },
  page: PageInput,
): Promise<Page<MyTask>> {
  const begun = await begunTasks(tx)
  const ids = [...begun.keys()]
  // An expression keeps the planner from walking the whole account by due date: the caller's own tasks are fewer.
  const due = (query: ReturnType<typeof visibleTasks>) =>
    filter.dueBefore === undefined ? query : query.where(sql<boolean>`tasks.due || '' < ${filter.dueBefore}`)
  const limit = Math.min(page.limit ?? 25, 100)
  const from = readPlace(page.cursor)

  const because = (reason: Reason) =>
    inNumbers(
      tx,
      ids.filter((id) => begun.get(id)!.reason === reason),
    )
  const rank = sql`CASE WHEN tasks.id IN ${because('sent_back')} THEN 0 WHEN tasks.id IN ${because('claimed')} THEN 1 ELSE 2 END`
  const first = await pageOf(
    tx,
    due(visibleTasks(tx)).selectAll('tasks').where('tasks.id', 'in', inNumbers(tx, ids)),
    { by: [rank, ...URGENCY.by], direction: 'asc' },
    { limit, cursor: from.part === 'begun' ? from.cursor : undefined },
  )
  const shown = from.part === 'begun' ? first.rows : []
  const rest = await pageOf(
    tx,
    due(visibleTasks(tx))
      .selectAll('tasks')
      .where('tasks.assignee', '=', tx.actor.id as ActorId)
      .where(sql<boolean>`tasks.status NOT IN ('done', 'cancelled')`)
      .where('tasks.id', 'not in', inNumbers(tx, ids)),
    URGENCY,
    // The least page has one row, which is left for the next one where the first part has filled this one.
    { limit: Math.max(limit - shown.length, 1), cursor: from.part === 'assigned' ? from.cursor : undefined },
  )
  const assigned = rest.rows.slice(0, limit - shown.length)
  const rows = [
    ...shown.map((task): MyTask => ({ task, ...begun.get(task.id)! })),
    ...assigned.map((task): MyTask => ({ task, reason: 'assigned' })),
  ]
  const counts = [first, rest].map((part) => part.total ?? part.atLeast!)
  const sum = counts[0]! + counts[1]!
  const exact = first.total !== undefined && rest.total !== undefined
  return {
    rows,
    ...(exact ? { total: sum } : { atLeast: sum }),
    after(index) {
      if (index >= shown.length) return place('assigned', rest.after(index - shown.length))
      const next = first.after(index)
      if (next !== undefined) return place('begun', next)
      return rest.rows.length > 0 ? place('assigned', '') : undefined
    },
  }
}

/** What the caller has begun or got back, by task. */
async function begunTasks(tx: ReadTx): Promise<Map<number, Omit<MyTask, 'task'>>> {
  const me = tx.actor.id as ActorId
  const db = sqlOf(tx)
  const begun = new Map<number, Omit<MyTask, 'task'>>()
  const rejections = await db
    .selectFrom('requests as r')
    .innerJoin('tasks as t', (join) => join.onRef('t.account', '=', 'r.account').onRef('t.id', '=', 'r.task'))
    .selectAll('r')
    .where('r.account', '=', tx.account)
    .where('r.asked_by', '=', me)
    .where('r.state', '=', 'rejected')
    .where('t.trash', 'is', null)
    .where('t.status', 'not in', ['done', 'cancelled', 'awaiting_approval'])
    .where(({ not, exists, selectFrom }) =>
      not(
        exists(
          selectFrom('requests as later')
            .select('later.id')
            .whereRef('later.account', '=', 'r.account')
            .whereRef('later.task', '=', 'r.task')
            .whereRef('later.id', '>', 'r.id'),
        ),
      ),
    )
    .orderBy('r.id', 'desc')
    .limit(BEGUN)
    .execute()
  for (const rejection of rejections) begun.set(rejection.task, { reason: 'sent_back', rejection })
  const runs = await db
    .selectFrom('runs')
    .innerJoin('tasks as t', (join) =>
      join.onRef('t.account', '=', 'runs.account').onRef('t.id', '=', 'runs.task'),
    )
    .selectAll('runs')
    .where('runs.account', '=', tx.account)
    .where('runs.agent', '=', me)
    .where('runs.ended_at', 'is', null)
    .where('t.trash', 'is', null)
    .where('t.status', 'not in', ['done', 'cancelled'])
    .orderBy('runs.id', 'desc')
    .limit(BEGUN)
    .execute()
  const held = await db
    .selectFrom('tasks')
    .select('id')
    .where('account', '=', tx.account)
    .where('claimed_by', '=', me)
    .where('claim_until', '>', tx.now)
    .where('trash', 'is', null)
    .limit(BEGUN)
    .execute()
  for (const { id } of held) if (!begun.has(id)) begun.set(id, { reason: 'claimed' })
  for (const run of runs) begun.set(run.task, { reason: 'left', ...begun.get(run.task), run })
  return begun
}

/** How many open subtasks each of these tasks has; those without one are left out. */
export async function openSubtaskCounts(tx: ReadTx, tasks: readonly number[]): Promise<Map<number, number>> {
  const rows = await sqlOf(tx)
    .selectFrom('tasks')
    .select(({ fn }) => ['parent', fn.countAll<number>().as('count')])
    .where('account', '=', tx.account)
    .where('parent', 'in', inNumbers(tx, tasks))
    .where('trash', 'is', null)
    .where('status', 'not in', ['done', 'cancelled'])
    .groupBy('parent')
    .execute()
  return new Map(rows.map(({ parent, count }) => [parent!, count]))
}

/** In which part a list goes on, and where in it; nothing of it means from the beginning of that part. */
type Place = { part: 'begun' | 'assigned'; cursor?: string | undefined }

function place(part: Place['part'], cursor: string | undefined): string | undefined {
  return cursor === undefined ? undefined : `${part}.${cursor}`
}

function readPlace(cursor: string | undefined): Place {
  if (cursor === undefined) return { part: 'begun' }
  const [, part, rest] = /^(begun|assigned)\.(.*)$/.exec(cursor) ?? []
  if (part === undefined) {
    throw invalid('The cursor is not one that this list gave.', {
      next: 'Leave cursor out to begin at the first page.',
    })
  }
  return { part: part as Place['part'], cursor: rest || undefined }
}
