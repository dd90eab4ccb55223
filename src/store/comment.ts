import { sql } from 'kysely'
import type { ActorId } from '../model/actor.ts'
import { conflict, invalid, notFound } from '../model/error.ts'
import { formatId } from '../model/id.ts'
import { mentionsIn } from '../model/mention.ts'
import { LIMITS } from '../model/task.ts'
import { ownerOf, parties } from './actor.ts'
import { holderOf } from './claim.ts'
import { versionConflict } from './conflict.ts'
import { pendingRequest } from './content.ts'
import { type DestroyTx, emit, nextNumber, type ReadTx, readQuery, sqlOf, type WriteTx } from './handle.ts'
import { loopPartner, recordLoop } from './loop.ts'
import { notify } from './notification.ts'
import { type Page, type PageInput, pageOf } from './page.ts'
import { insertRow, updateById } from './row.ts'
import { indexText } from './search-index.ts'
import type { Row } from './tables.ts'
import { checkLength, taskById } from './task.ts'
import { newTrashEntry, seesTask, trashed } from './trash.ts'

const newestOnTask = readQuery((db, p: { account: number; task: number; limit: number }) =>
  db
    .selectFrom('comments')
    .selectAll()
    .where('account', '=', p.account)
    .where('task', '=', p.task)
    .where('trash', 'is', null)
    .orderBy('id', 'desc')
    .limit(p.limit),
)

/** The newest comments of a task, newest first. */
export function newestComments(tx: ReadTx, task: number, limit: number): Promise<Row<'comments'>[]> {
  return newestOnTask(tx, { account: tx.account, task, limit })
}

/** A page of a task's comments. */
export function commentsOf(
  tx: ReadTx,
  task: number,
  order: 'newest' | 'oldest',
  page: PageInput,
): Promise<Page<Row<'comments'>>> {
  const query = sqlOf(tx)
    .selectFrom('comments')
    .selectAll()
    .where('account', '=', tx.account)
    .where('task', '=', task)
    .where('trash', 'is', null)
  return pageOf(tx, query, { by: [sql`comments.id`], direction: order === 'newest' ? 'desc' : 'asc' }, page)
}

/** One comment, by number; throws `not_found`, naming the Trash entry if it lies there. */
export async function commentById(tx: ReadTx, id: number): Promise<Row<'comments'>> {
  const comment = await storedComment(tx, id)
  if (comment.trash !== null) throw trashed(formatId('comment', id), comment.trash)
  return comment
}

const commentByNumber = readQuery((db, p: { account: number; id: number }) =>
  db.selectFrom('comments').selectAll().where('account', '=', p.account).where('id', '=', p.id),
)

/** A comment that the caller could see, be it in the Trash or not. */
export async function storedComment(tx: ReadTx, id: number): Promise<Row<'comments'>> {
  const [comment] = await commentByNumber(tx, { account: tx.account, id })
  if (comment && (await seesTask(tx, comment.task))) return comment
  throw notFound(`There is no comment ${formatId('comment', id)}.`, {
    next: 'list_comments shows a task’s comments.',
  })
}

/** A comment as stored, and who heard of it. */
export interface Said {
  comment: Row<'comments'>
  notified: ActorId[]
  /** Words after an `@` that are nobody's name. */
  unknown: string[]
  /** The agent with whom the author goes round in circles: then no agent was notified. */
  damped?: ActorId
  /** The author's own comment of the same words on this task within 48 hours. */
  twin?: number
}

/**
 * Adds a comment and tells those whom it needs: who is mentioned or answered, the assignee, whoever works on the task,
 * people who spoke before and, where a person speaks, agents who did or who wait for sign-off. Where two agents go round
 * in circles it is stored but sets no agent off.
 */
export async function insertComment(
  tx: WriteTx,
  task: Row<'tasks'>,
  said: { text: string; replyTo?: number | undefined },
): Promise<Said> {
  checkText(said.text)
  const answered = said.replyTo === undefined ? undefined : await answeredComment(tx, task, said.replyTo)
  const twin = await sameWords(tx, task.id, said.text)
  const comment: Row<'comments'> = {
    account: tx.account,
    id: await nextNumber(tx, 'comment'),
    task: task.id,
    text: said.text,
    author: tx.actor.id as ActorId,
    origin: null,
    reply_to: answered?.id ?? null,
    trash: null,
    version: 1,
    created_at: tx.now,
    updated_at: tx.now,
  }
  const earlier = await earlierAuthors(tx, task.id)
  await insertRow(tx, 'comments', comment)
  await indexComment(tx, task, comment)
  const object = formatId('comment', comment.id)
  const event = await emit(tx, { kind: 'commented', task: task.id, project: task.project, object })

  const { ids, unknown } = mentionsIn(said.text, [
    ...(await parties(tx)),
    { id: tx.actor.owner, name: 'owner' },
  ])
  const circle = await audience(tx, task, earlier)
  const damped = await loopPartner(tx, task.id)
  const told = new Map<ActorId, string>()
  for (const id of circle) told.set(id, 'commented')
  if (answered) told.set(answered.author, 'replied')
  for (const id of ids) told.set(id as ActorId, 'mentioned')
  told.delete(tx.actor.id as ActorId)
  if (tx.actor.kind === 'agent' && ![...told.keys()].some(isPerson)) {
    told.set(await ownerOf(tx, tx.actor.id), 'commented')
  }
  const notified = [...told].filter(([id]) => !damped || isPerson(id))
  for (const [id, kind] of notified) await notify(tx, [id], kind, event, task.id, object)
  if (damped) await recordLoop(tx, task, damped)
  return {
    comment,
    notified: notified.map(([id]) => id),
    unknown,
    ...(damped ? { damped } : {}),
    ...(twin === undefined ? {} : { twin }),
  }
}

/** Changes the caller's own comment; the old text stays in the history. Compares before it checks the version. */
export async function editComment(
  tx: DestroyTx,
  comment: Row<'comments'>,
  text: string,
  expectedVersion?: number,
): Promise<{ comment: Row<'comments'>; changed: boolean }> {
  if (comment.author !== tx.actor.id) throw notYours(comment, 'change')
  if (comment.text === text) return { comment, changed: false }
  if (expectedVersion !== undefined && expectedVersion !== comment.version) {
    const id = formatId('comment', comment.id)
    const current = { id, version: comment.version, text: comment.text }
    throw versionConflict(current, `get_full_text {"id":"${id}"}`)
  }
  checkText(text)
  const task = await taskById(tx, comment.task)
  const edited = { ...comment, text, version: comment.version + 1, updated_at: tx.now }
  await updateById(tx, 'comments', comment.id, { text, version: edited.version, updated_at: tx.now })
  await indexComment(tx, task, edited)
  await emit(tx, {
    kind: 'comment_updated',
    task: task.id,
    project: task.project,
    object: formatId('comment', comment.id),
    changes: { text: [comment.text, text] },
  })
  return { comment: edited, changed: true }
}

/** Moves a comment to the Trash: one's own, or as an owner of the account anybody's. */
export async function trashComment(tx: DestroyTx, comment: Row<'comments'>): Promise<number> {
  const isOwner = tx.actor.kind === 'person' && tx.actor.role === 'owner'
  if (comment.author !== tx.actor.id && !isOwner) throw notYours(comment, 'delete')
  const task = await taskById(tx, comment.task)
  const entry = await newTrashEntry(tx, {
    kind: 'comment',
    object: formatId('comment', comment.id),
    title: comment.text,
    task: task.id,
    project: task.project,
  })
  await updateById(tx, 'comments', comment.id, { trash: entry })
  return entry
}

function checkText(text: string): void {
  if (text.trim() === '') throw invalid('The text is empty.', { next: 'Say what others should know.' })
  checkLength('comment', text, LIMITS.comment)
}

async function answeredComment(tx: ReadTx, task: Row<'tasks'>, id: number): Promise<Row<'comments'>> {
  const comment = await commentById(tx, id)
  if (comment.task === task.id) return comment
  throw invalid(`${formatId('comment', id)} is not a comment on ${formatId('task', task.id)}.`, {
    next: `list_comments {"task_id":"${formatId('task', task.id)}"} shows those that are.`,
  })
}

const newestOfSameWords = readQuery(
  (db, p: { account: number; task: number; author: ActorId; after: number; text: string }) =>
    db
      .selectFrom('comments')
      .select('id')
      .where('account', '=', p.account)
      .where('task', '=', p.task)
      .where('author', '=', p.author)
      .where('trash', 'is', null)
      .where('created_at', '>', p.after)
      .where('text', '=', p.text)
      .orderBy('id', 'desc')
      .limit(1),
)

async function sameWords(tx: ReadTx, task: number, text: string): Promise<number | undefined> {
  const author = tx.actor.id as ActorId
  const after = tx.now - 48 * 3_600_000
  const [twin] = await newestOfSameWords(tx, { account: tx.account, task, author, after, text })
  return twin?.id
}

/** Who spoke on a task lately. */
async function earlierAuthors(tx: ReadTx, task: number): Promise<ActorId[]> {
  return [...new Set((await newestComments(tx, task, 50)).map((comment) => comment.author))]
}

/** Who should hear of a comment without being named. Agents are not set off by other agents' talk with people. */
async function audience(tx: ReadTx, task: Row<'tasks'>, earlier: readonly ActorId[]): Promise<ActorId[]> {
  const asked = tx.actor.kind === 'person' ? (await pendingRequest(tx, task.id))?.asked_by : undefined
  const spoke = earlier.filter((author) => tx.actor.kind === 'person' || isPerson(author))
  return [task.assignee, holderOf(task, tx.now), asked, ...spoke].filter(
    (each): each is ActorId => each != null,
  )
}

const isPerson = (id: ActorId): boolean => id.startsWith('U')

function notYours(comment: Row<'comments'>, act: string) {
  const id = formatId('comment', comment.id)
  return conflict(`${id} is ${comment.author}’s, so you can’t ${act} it.`, {
    next: `Answer it: comment_on_task {"task_id":"${formatId('task', comment.task)}","reply_to":"${id}","text":"…"}.`,
  })
}

async function indexComment(tx: WriteTx, task: Row<'tasks'>, comment: Row<'comments'>): Promise<void> {
  await indexText(tx, 'comment', comment.id, { task: task.id, project: task.project }, [comment.text])
}
