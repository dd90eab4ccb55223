import type { Changes } from '../model/event.ts'
import { formatId } from '../model/id.ts'
import { openDependencies } from './dependency.ts'
import { type ReadTx, sqlOf } from './handle.ts'
import type { Row } from './tables.ts'

/** The sign-off that used a request up. */
export function signOffOf(tx: ReadTx, request: number): Promise<Row<'sign_offs'> | undefined> {
  return sqlOf(tx)
    .selectFrom('sign_offs')
    .selectAll()
    .where('account', '=', tx.account)
    .where('request', '=', request)
    .orderBy('id', 'desc')
    .limit(1)
    .executeTakeFirst()
}

/** A change of a task or of one of its parts, as its event recorded it. */
export interface RecordedChange {
  kind: string
  /** The part, such as `S4`; null for the task itself. */
  object: string | null
  changes: Changes
  title: string | null
  by: string
  at: number
  tool: string
}

/** The events that tell of a change which a person who signs off would want to see. */
const CHANGING = [
  'updated',
  'labelled',
  'unlabelled',
  'step_added',
  'step_updated',
  'step_moved',
  'artifact_attached',
  'trashed',
  'restored',
  'merged',
]

/** The changes of a task since a moment, oldest first; the newest 500. */
export async function changesOf(tx: ReadTx, task: number, since: number): Promise<RecordedChange[]> {
  const rows = await sqlOf(tx)
    .selectFrom('events')
    .select(['kind', 'object', 'data', 'actor', 'at', 'tool'])
    .where('account', '=', tx.account)
    .where('task', '=', task)
    .where('kind', 'in', CHANGING)
    .where('at', '>=', since)
    .orderBy('id', 'desc')
    .limit(500)
    .execute()
  return rows.reverse().map(({ data, actor, ...row }) => {
    const said = JSON.parse(data ?? '{}') as { changes?: Changes; title?: string }
    return { ...row, by: actor, changes: said.changes ?? {}, title: said.title ?? null }
  })
}

/** Who made a request stale, when and by which tool. */
export async function staleBy(
  tx: ReadTx,
  request: Row<'requests'>,
): Promise<{ by: string; at: number; tool: string } | undefined> {
  const event = await sqlOf(tx)
    .selectFrom('events')
    .select(['actor', 'at', 'tool'])
    .where('account', '=', tx.account)
    .where('task', '=', request.task)
    .where('kind', '=', 'request_stale')
    .where('object', '=', formatId('request', request.id))
    .limit(1)
    .executeTakeFirst()
  return event && { by: event.actor, at: event.at, tool: event.tool }
}

/** Every run on a task, oldest first. */
export function runsOf(tx: ReadTx, task: number): Promise<Row<'runs'>[]> {
  return sqlOf(tx)
    .selectFrom('runs')
    .selectAll()
    .where('account', '=', tx.account)
    .where('task', '=', task)
    .orderBy('id')
    .limit(100)
    .execute()
}

/** Open tasks that wait for this one and for nothing else, or are blocked by it: what its closing sets free. */
export async function freedBy(
  tx: ReadTx,
  task: number,
): Promise<{ id: number; title: string; status: string }[]> {
  const waiting = await sqlOf(tx)
    .selectFrom('tasks as t')
    .select(['t.id', 't.title', 't.status'])
    .where('t.account', '=', tx.account)
    .where('t.trash', 'is', null)
    .where('t.status', 'not in', ['done', 'cancelled'])
    .where((eb) =>
      eb.or([
        eb.and([eb('t.blocked_by', '=', task), eb('t.status', '=', 'blocked')]),
        eb(
          't.id',
          'in',
          eb
            .selectFrom('dependencies as d')
            .select('d.task')
            .where('d.account', '=', tx.account)
            .where('d.depends_on', '=', task)
            .where('d.removed_at', 'is', null),
        ),
      ]),
    )
    .orderBy('t.id')
    .limit(100)
    .execute()
  const open = await openDependencies(
    tx,
    waiting.map((each) => each.id),
  )
  return waiting.filter((each) => (open.get(each.id) ?? []).every((on) => on.id === task))
}
