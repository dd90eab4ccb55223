import { sql } from 'kysely'
import { notFound } from '../model/error.ts'
import { formatId } from '../model/id.ts'
import { type ReadTx, readQuery, sqlOf } from './handle.ts'
import { type Page, type PageInput, pageOf } from './page.ts'
import type { RequestState, Row } from './tables.ts'

/** A request by number, of a task that the caller can see. One that it can't see reads like one that never was. */
export async function requestById(tx: ReadTx, id: number): Promise<Row<'requests'>> {
  const request = await requestsInSight(tx).selectAll('r').where('r.id', '=', id).executeTakeFirst()
  if (request) return request
  throw notFound(`There is no request ${formatId('request', id)}.`, {
    next: 'list_approvals shows them all.',
  })
}

/** A request with what its task is called and whether that lies in the Trash. */
export type AskedRequest = Row<'requests'> & { title: string; trash: number | null }

/** A page of requests on tasks that the caller can see, newest first. A pending one of a task in the Trash waits for nobody. */
export function requestsPage(
  tx: ReadTx,
  filter: { states?: readonly RequestState[] | undefined; task?: number | undefined },
  page: PageInput,
): Promise<Page<AskedRequest>> {
  const query = requestsInSight(tx)
    .selectAll('r')
    .select(['t.title', 't.trash'])
    .where((eb) => eb.or([eb('r.state', '<>', 'pending'), eb('t.trash', 'is', null)]))
    .$if(filter.states !== undefined, (each) => each.where('r.state', 'in', [...filter.states!]))
    .$if(filter.task !== undefined, (each) => each.where('r.task', '=', filter.task!))
  return pageOf(tx, query, { by: [sql`r.id`], direction: 'desc' }, page)
}

/** Requests on tasks that the caller can see, be they in the Trash or not. */
export function requestsInSight(tx: ReadTx) {
  const { projects } = tx.actor
  return sqlOf(tx)
    .selectFrom('requests as r')
    .innerJoin('tasks as t', (join) => join.onRef('t.account', '=', 'r.account').onRef('t.id', '=', 'r.task'))
    .where('r.account', '=', tx.account)
    .$if(projects !== undefined, (query) => query.where('t.project', 'in', [...projects!]))
}

const newestOfTask = readQuery((db, p: { account: number; task: number }) =>
  db
    .selectFrom('requests')
    .selectAll()
    .where('account', '=', p.account)
    .where('task', '=', p.task)
    .orderBy('id', 'desc')
    .limit(1),
)

/** The newest request of a task, decided or not. */
export async function newestRequestOf(tx: ReadTx, task: number): Promise<Row<'requests'> | undefined> {
  return (await newestOfTask(tx, { account: tx.account, task }))[0]
}

/** Requests that waited for a person when their tasks went to the Trash with an entry. They come back with it. */
export async function pendingInEntry(tx: ReadTx, entry: number): Promise<number[]> {
  const rows = await requestsInSight(tx)
    .select('r.id')
    .where('r.state', '=', 'pending')
    .where('t.trash', '=', entry)
    .orderBy('r.id')
    .limit(100)
    .execute()
  return rows.map(({ id }) => id)
}
