import { sql } from 'kysely'
import type { ActorId } from '../model/actor.ts'
import { conflict, notFound } from '../model/error.ts'
import { formatId } from '../model/id.ts'
import { accountOf } from './account.ts'
import { type DestroyTx, emit, inNumbers, type ReadTx, sqlOf, type WriteTx } from './handle.ts'
import { type Page, type PageInput, pageOf } from './page.ts'
import type { Row } from './tables.ts'
import { visibleTasks } from './task.ts'

/** What a link says of its event. Dates are canonical; `ends` is exclusive, as in RFC 5545 (3.6.1). */
type EventDetails = Pick<Row<'calendar_links'>, 'calendar' | 'title' | 'starts' | 'ends' | 'url'>

const DETAILS = ['calendar', 'title', 'starts', 'ends', 'url'] as const

/**
 * Ties a task to a calendar event. The same again changes nothing; the same UID with another detail is a conflict, since
 * this write replaces nothing. What is not given is not compared.
 */
export async function linkEvent(
  tx: WriteTx,
  task: Row<'tasks'>,
  uid: string,
  details: Partial<EventDetails>,
): Promise<{ link: Row<'calendar_links'>; already: boolean }> {
  const stored = await linkOf(tx, task.id, uid)
  if (stored && stored.removed_at === null) {
    const other = DETAILS.filter((name) => details[name] !== undefined && details[name] !== stored[name])
    if (other.length === 0) return { link: stored, already: true }
    throw conflict(
      `${formatId('task', task.id)} is already tied to "${uid}", with another ${other.join(', ')}.`,
      {
        current: Object.fromEntries(DETAILS.map((name) => [name, stored[name] ?? undefined])),
        next: `unlink_calendar_event ${JSON.stringify({ task_id: formatId('task', task.id), uid })} first, then link it anew.`,
      },
    )
  }
  const columns = {
    ...Object.fromEntries(DETAILS.map((name) => [name, details[name] ?? null])),
    removed_at: null,
  } as EventDetails & { removed_at: null }
  const link = await sqlOf(tx)
    .insertInto('calendar_links')
    .values({
      account: tx.account,
      task: task.id,
      uid,
      ...columns,
      created_at: tx.now,
      created_by: tx.actor.id as ActorId,
    })
    .onConflict((oc) => oc.columns(['account', 'task', 'uid']).doUpdateSet(columns))
    .returningAll()
    .executeTakeFirstOrThrow()
  await emit(tx, {
    kind: 'calendar_linked',
    task: task.id,
    project: task.project,
    data: { uid, ...(link.title ? { title: link.title } : {}) },
  })
  return { link, already: false }
}

/**
 * Unties a task from an event. The tombstone keeps the UID, so that a repeat succeeds, and loses the details, so that the
 * event can be linked again as it is by then; the log keeps what it was.
 */
export async function unlinkEvent(
  tx: DestroyTx,
  task: Row<'tasks'>,
  uid: string,
): Promise<{ link: Row<'calendar_links'>; already: boolean }> {
  const stored = await linkOf(tx, task.id, uid)
  if (!stored) throw await notLinked(tx, task, uid)
  if (stored.removed_at !== null) return { link: stored, already: true }
  const gone = {
    ...(Object.fromEntries(DETAILS.map((name) => [name, null])) as EventDetails),
    removed_at: tx.now,
  }
  await sqlOf(tx)
    .updateTable('calendar_links')
    .set(gone)
    .where('account', '=', tx.account)
    .where('task', '=', task.id)
    .where('uid', '=', uid)
    .execute()
  const old = DETAILS.filter((name) => stored[name] !== null)
  await emit(tx, {
    kind: 'calendar_unlinked',
    task: task.id,
    project: task.project,
    data: { uid },
    changes: Object.fromEntries(old.map((name) => [name, [stored[name], null]])),
  })
  return { link: { ...stored, ...gone }, already: false }
}

async function linkOf(tx: ReadTx, task: number, uid: string): Promise<Row<'calendar_links'> | undefined> {
  return sqlOf(tx)
    .selectFrom('calendar_links')
    .selectAll()
    .where('account', '=', tx.account)
    .where('task', '=', task)
    .where('uid', '=', uid)
    .executeTakeFirst()
}

async function notLinked(tx: ReadTx, task: Row<'tasks'>, uid: string) {
  const links = await sqlOf(tx)
    .selectFrom('calendar_links')
    .select('uid')
    .where('account', '=', tx.account)
    .where('task', '=', task.id)
    .where('removed_at', 'is', null)
    .orderBy('uid')
    .limit(10)
    .execute()
  return notFound(`${formatId('task', task.id)} is not tied to an event "${uid.slice(0, 200)}".`, {
    allowed: links.map((link) => link.uid),
    next: `list_calendar_links {"task_id":"${formatId('task', task.id)}"} shows its links.`,
  })
}

/** A link with what its task is called. */
export type LinkOnTask = Row<'calendar_links'> & { task_title: string }

/** A page of links of tasks that the caller can see, by the start of the event; `from` and `to` are local dates, both in. */
export function linksPage(
  tx: ReadTx,
  filter: { task?: number | undefined; from?: string | undefined; to?: string | undefined },
  page: PageInput,
): Promise<Page<LinkOnTask>> {
  const query = visibleLinks(tx)
    .$if(filter.task !== undefined, (each) => each.where('l.task', '=', filter.task!))
    .$if(filter.from !== undefined, (each) =>
      each.where((eb) => eb.or([eb('l.starts', '>=', filter.from!), eb('l.ends', '>', filter.from!)])),
    )
    // Any time of the last day sorts before the character behind the digits.
    .$if(filter.to !== undefined, (each) => each.where('l.starts', '<', `${filter.to}~`))
  return pageOf(
    tx,
    query,
    { by: [sql`COALESCE(l.starts, '~')`, sql`l.task`, sql`l.uid`], direction: 'asc' },
    page,
  )
}

function visibleLinks(tx: ReadTx) {
  return visibleTasks(tx)
    .innerJoin('calendar_links as l', (join) =>
      join.onRef('l.account', '=', 'tasks.account').onRef('l.task', '=', 'tasks.id'),
    )
    .selectAll('l')
    .select('tasks.title as task_title')
    .where('l.account', '=', tx.account)
    .where('l.removed_at', 'is', null)
}

/** The zone in which somebody lives: a person's own or the account's; an agent lives with its owner. */
export async function zoneOf(tx: ReadTx, id: ActorId): Promise<string> {
  const person = id.startsWith('U')
    ? sql<number>`${Number(id.slice(1))}`
    : sql<number>`(SELECT owner FROM agents WHERE account = ${tx.account} AND id = ${Number(id.slice(1))})`
  const found = await sqlOf(tx)
    .selectFrom('people')
    .select('zone')
    .where('account', '=', tx.account)
    .where('id', '=', person)
    .executeTakeFirst()
  return found?.zone ?? (await accountOf(tx)).zone
}

/** Most tasks or events of one kind that an agenda looks at. */
export const AGENDA_ROWS = 80

/** How long an event may last and still be found by its start, in days. */
export const LONGEST_EVENT = 31

/** Somebody's tasks: assigned to them, claimed by them, or to be done by anybody. */
function tasksFor(tx: ReadTx, party: ActorId) {
  return visibleTasks(tx).where((eb) =>
    eb.or([
      eb('tasks.assignee', '=', party),
      eb('tasks.assignee', 'is', null),
      eb.and([eb('tasks.claimed_by', '=', party), eb('tasks.claim_until', '>', tx.now)]),
    ]),
  )
}

/** Open tasks whose due date or planned start lies between two local dates, both in; the first {@link AGENDA_ROWS} and one. */
export function tasksBetween(
  tx: ReadTx,
  party: ActorId,
  column: 'due' | 'scheduled',
  from: string,
  to: string,
): Promise<Row<'tasks'>[]> {
  return tasksFor(tx, party)
    .selectAll('tasks')
    .where(sql<boolean>`tasks.status NOT IN ('done', 'cancelled')`)
    .where(`tasks.${column}`, '>=', from)
    .where(`tasks.${column}`, '<', `${to}~`)
    .orderBy(`tasks.${column}`)
    .orderBy('tasks.id')
    .limit(AGENDA_ROWS + 1)
    .execute()
}

/** Events tied to somebody's tasks that begin between two local dates, both in. */
export function eventsBetween(tx: ReadTx, party: ActorId, from: string, to: string): Promise<LinkOnTask[]> {
  return tasksFor(tx, party)
    .innerJoin('calendar_links as l', (join) =>
      join.onRef('l.account', '=', 'tasks.account').onRef('l.task', '=', 'tasks.id'),
    )
    .selectAll('l')
    .select('tasks.title as task_title')
    .where('l.account', '=', tx.account)
    .where('l.removed_at', 'is', null)
    .where('l.starts', '>=', from)
    .where('l.starts', '<', `${to}~`)
    .orderBy('l.starts')
    .orderBy('l.task')
    .limit(AGENDA_ROWS + 1)
    .execute()
}

/** How far down the index of urgency an agenda looks for tasks without a plan. */
const LOOKED = 1000

/** Somebody's most urgent open tasks that have no planned start and are not among those given. */
export async function mostUrgentUnscheduled(
  tx: ReadTx,
  party: ActorId,
  without: readonly number[],
  limit: number,
): Promise<Row<'tasks'>[]> {
  const urgent = visibleTasks(tx)
    .select('tasks.id')
    .where(sql<boolean>`tasks.status NOT IN ('done', 'cancelled')`)
    .orderBy('tasks.priority')
    .orderBy(sql`COALESCE(tasks.due, '~')`)
    .orderBy('tasks.id')
    .limit(LOOKED)
  return tasksFor(tx, party)
    .selectAll('tasks')
    .where('tasks.id', 'in', urgent)
    .where('tasks.id', 'not in', inNumbers(tx, without))
    .where('tasks.scheduled', 'is', null)
    .where('tasks.status', 'in', ['open', 'in_progress'])
    .orderBy('tasks.priority')
    .orderBy(sql`COALESCE(tasks.due, '~')`)
    .orderBy('tasks.id')
    .limit(limit)
    .execute()
}
