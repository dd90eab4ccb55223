import { sql } from 'kysely'
import type { ActorId } from '../model/actor.ts'
import { notFound } from '../model/error.ts'
import { formatId } from '../model/id.ts'
import { emit, inNumbers, nextNumber, type ReadTx, sqlOf, type WriteTx } from './handle.ts'
import { type Page, type PageInput, pageOf } from './page.ts'
import { insertRow } from './row.ts'
import type { Row } from './tables.ts'

/**
 * Leaves news for people and agents, once each. Never for the author: nobody is set off by what they did themselves
 * (spec: product, "Agents at work").
 */
export async function notify(
  tx: WriteTx,
  recipients: readonly (ActorId | null | undefined)[],
  kind: string,
  event: number,
  task: number | null,
  object?: string,
): Promise<void> {
  const others = new Set(recipients.filter((each): each is ActorId => each != null && each !== tx.actor.id))
  for (const recipient of others) {
    await insertRow(tx, 'notifications', {
      account: tx.account,
      id: await nextNumber(tx, 'notification'),
      recipient,
      kind,
      event,
      task,
      object: object ?? null,
      at: tx.now,
      read_at: null,
    })
  }
}

/** A notification with what it tells of. */
export type News = Row<'notifications'> & {
  by: string | null
  data: string | null
  title: string | null
  project: number | null
}

/** News without a task that concerns its recipient alone and no project. */
const PERSONAL = ['answered', 'agent_changed', 'stop_asked'] as const

/** The caller's own news; of a narrowed credential only news of its projects, and what concerns the caller alone. */
export function newsOf(tx: ReadTx, unreadOnly: boolean) {
  const { projects } = tx.actor
  return sqlOf(tx)
    .selectFrom('notifications as n')
    .leftJoin('events as e', (join) =>
      join.onRef('e.account', '=', 'n.account').onRef('e.id', '=', 'n.event'),
    )
    .leftJoin('tasks as t', (join) => join.onRef('t.account', '=', 'n.account').onRef('t.id', '=', 'n.task'))
    .selectAll('n')
    .select(['e.actor as by', 'e.data', 't.title', 't.project'])
    .where('n.account', '=', tx.account)
    .where('n.recipient', '=', tx.actor.id as ActorId)
    .$if(unreadOnly, (query) => query.where('n.read_at', 'is', null))
    .$if(projects !== undefined, (query) =>
      query.where((eb) =>
        eb.or([
          eb('t.project', 'in', inNumbers(tx, projects!)),
          eb.and([
            eb('n.task', 'is', null),
            eb.or([eb('e.project', 'in', inNumbers(tx, projects!)), eb('n.kind', 'in', [...PERSONAL])]),
          ]),
        ]),
      ),
    )
}

export function newsPage(tx: ReadTx, unreadOnly: boolean, page: PageInput): Promise<Page<News>> {
  return pageOf(tx, newsOf(tx, unreadOnly), { by: [sql`n.id`], direction: 'desc' }, page)
}

/** The newest of the caller's news: as many as a digest looks at, however many there are. */
export function newestNews(tx: ReadTx, unreadOnly: boolean, limit: number): Promise<News[]> {
  return newsOf(tx, unreadOnly).orderBy('n.id', 'desc').limit(limit).execute()
}

/**
 * Marks the caller's news read up to one of them. News that a narrowed credential does not see stays unread. Returns how
 * many were marked.
 */
export async function markRead(tx: WriteTx, upTo: number): Promise<number> {
  const known = await newsOf(tx, false).where('n.id', '=', upTo).executeTakeFirst()
  if (!known) {
    throw notFound(`You have no notification ${formatId('notification', upTo)}.`, {
      next: 'list_notifications shows yours.',
    })
  }
  const unread = await newsOf(tx, true).where('n.id', '<=', upTo).execute()
  if (unread.length === 0) return 0
  await sqlOf(tx)
    .updateTable('notifications')
    .set({ read_at: tx.now })
    .where('account', '=', tx.account)
    .where(
      'id',
      'in',
      inNumbers(
        tx,
        unread.map((each) => each.id),
      ),
    )
    .execute()
  await emit(tx, {
    kind: 'notifications_read',
    data: { up_to: formatId('notification', upTo), marked: unread.length },
  })
  return unread.length
}

/** What was said in the comments, decisions and answers that news tells of, by the public id of each. */
export async function wordsBehind(
  tx: ReadTx,
  news: readonly { object: string | null }[],
): Promise<Map<string, string>> {
  const numbers = (letter: string) =>
    inNumbers(
      tx,
      news.flatMap(({ object }) => (object?.startsWith(letter) ? [Number(object.slice(1))] : [])),
    )
  const comments = await sqlOf(tx)
    .selectFrom('comments')
    .select(['id', 'text'])
    .where('account', '=', tx.account)
    .where('id', 'in', numbers('C'))
    .where('trash', 'is', null)
    .execute()
  const requests = await sqlOf(tx)
    .selectFrom('requests')
    .select(['id', 'note as text'])
    .where('account', '=', tx.account)
    .where('id', 'in', numbers('A'))
    .execute()
  const questions = await sqlOf(tx)
    .selectFrom('questions')
    .select(['id', sql<string>`COALESCE(answer, text)`.as('text')])
    .where('account', '=', tx.account)
    .where('id', 'in', numbers('Q'))
    .execute()
  const said = [
    ...comments.map(({ id, text }) => [formatId('comment', id), text] as const),
    ...requests.map(({ id, text }) => [formatId('request', id), text] as const),
    ...questions.map(({ id, text }) => [formatId('question', id), text] as const),
  ]
  return new Map(said.flatMap(([id, text]) => (text ? [[id, text] as const] : [])))
}
