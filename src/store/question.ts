import { sql } from 'kysely'
import type { ActorId } from '../model/actor.ts'
import { invalid, notFound } from '../model/error.ts'
import { formatId } from '../model/id.ts'
import { isClosed } from '../model/task.ts'
import { accountOf } from './account.ts'
import { parties } from './actor.ts'
import { emit, nextNumber, type ReadTx, readQuery, sqlOf, type WriteTx } from './handle.ts'
import { notify } from './notification.ts'
import { type Page, type PageInput, pageOf } from './page.ts'
import { insertRow } from './row.ts'
import type { Row } from './tables.ts'

/**
 * How long a claim lasts while its task is held for an answer, in milliseconds. People answer in hours and days, not in
 * the ten minutes of a lease; after a week without an answer the task is free again, and the question stays.
 */
export const HOLD_MS = 7 * 86_400_000

const openOnTask = readQuery((db, p: { account: number; task: number }) =>
  db
    .selectFrom('questions')
    .selectAll()
    .where('account', '=', p.account)
    .where('task', '=', p.task)
    .where('answered_at', 'is', null)
    .orderBy('id'),
)

/** A task's questions that nobody has answered yet. */
export function openQuestionsOf(tx: ReadTx, task: number): Promise<Row<'questions'>[]> {
  return openOnTask(tx, { account: tx.account, task })
}

/** A question with what its task is called. */
export type QuestionOnTask = Row<'questions'> & { title: string | null }

/** A page of questions, newest first: of tasks that the caller can see, and without a task those of its own. */
export function questionsPage(
  tx: ReadTx,
  filter: { answered?: boolean | undefined; task?: number | undefined },
  page: PageInput,
): Promise<Page<QuestionOnTask>> {
  const query = visibleQuestions(tx)
    // An open question of a task in the Trash waits for nobody.
    .where((eb) => eb.or([eb('q.answered_at', 'is not', null), eb('t.trash', 'is', null)]))
    .$if(filter.answered === true, (each) => each.where('q.answered_at', 'is not', null))
    .$if(filter.answered === false, (each) => each.where('q.answered_at', 'is', null))
    .$if(filter.task !== undefined, (each) => each.where('q.task', '=', filter.task!))
  return pageOf(tx, query, { by: [sql`q.id`], direction: 'desc' }, page)
}

/** One question, by number; `not_found` where the caller can't see it. */
export async function questionById(tx: ReadTx, id: number): Promise<QuestionOnTask> {
  const question = await visibleQuestions(tx).where('q.id', '=', id).executeTakeFirst()
  if (question) return question
  throw notFound(`There is no question ${formatId('question', id)}.`, {
    next: 'list_questions shows them all.',
  })
}

/** Questions on tasks that the caller can see, and those of its own that are on none. */
export function visibleQuestions(tx: ReadTx) {
  const { projects } = tx.actor
  return sqlOf(tx)
    .selectFrom('questions as q')
    .leftJoin('tasks as t', (join) => join.onRef('t.account', '=', 'q.account').onRef('t.id', '=', 'q.task'))
    .selectAll('q')
    .select('t.title')
    .where('q.account', '=', tx.account)
    .$if(projects !== undefined, (query) =>
      query.where((eb) =>
        eb.or([
          eb('t.project', 'in', [...projects!]),
          eb.and([eb('q.task', 'is', null), eb('q.asked_by', '=', tx.actor.id as ActorId)]),
        ]),
      ),
    )
}

/** What is asked, of whom. */
interface NewQuestion {
  text: string
  of: ActorId
  task: Row<'tasks'> | null
  choices: readonly string[] | null
  /** Whether the task waits for the answer. */
  holds: boolean
}

/**
 * Puts a question before a person, who hears of it. Where the task waits for the answer, the caller's claim on it does not
 * lapse meanwhile.
 */
export async function insertQuestion(tx: WriteTx, question: NewQuestion): Promise<QuestionOnTask> {
  await requirePerson(tx, question.of)
  const { task } = question
  const holds = question.holds && task !== null && !isClosed(task.status)
  const row: Row<'questions'> = {
    account: tx.account,
    id: await nextNumber(tx, 'question'),
    task: task?.id ?? null,
    text: question.text,
    choices: question.choices && JSON.stringify(question.choices),
    asked_by: tx.actor.id as ActorId,
    asked_of: question.of,
    holds_task: holds ? 1 : 0,
    answer: null,
    answered_by: null,
    answered_at: null,
    asked_at: tx.now,
  }
  await insertRow(tx, 'questions', row)
  if (holds) await leaseUntil(tx, row, tx.now + HOLD_MS)
  const object = formatId('question', row.id)
  const event = await emit(tx, {
    kind: 'asked',
    task: row.task,
    project: task?.project ?? null,
    object,
    data: { of: question.of },
  })
  await notify(tx, [question.of], 'asked', event, row.task, object)
  return { ...row, title: task?.title ?? null }
}

/**
 * Once a question is answered, the agent that waited has one ordinary lease to go on with the task, unless it waits for
 * another answer still.
 */
export async function endHold(tx: WriteTx, question: Row<'questions'>): Promise<void> {
  if (question.holds_task === 0 || question.task === null) return
  const open = await openQuestionsOf(tx, question.task)
  if (
    open.some(
      (each) => each.holds_task === 1 && each.asked_by === question.asked_by && each.id !== question.id,
    )
  )
    return
  const { lease_ms } = await accountOf(tx)
  const until = tx.now + lease_ms
  await leaseUntil(tx, question, until)
  await sqlOf(tx)
    .updateTable('runs')
    .set({ lease_until: until })
    .where('account', '=', tx.account)
    .where('task', '=', question.task)
    .where('agent', '=', question.asked_by)
    .where('ended_at', 'is', null)
    .execute()
}

/** Sets the end of the asking agent's live claim on the question's task. */
async function leaseUntil(tx: WriteTx, question: Row<'questions'>, until: number): Promise<void> {
  await sqlOf(tx)
    .updateTable('tasks')
    .set({ claim_until: until })
    .where('account', '=', tx.account)
    .where('id', '=', question.task)
    .where('claimed_by', '=', question.asked_by)
    .where('claim_until', '>', tx.now)
    .execute()
}

/** Questions go to people: an agent can't grant what only a person may, and two agents could ask in circles. */
async function requirePerson(tx: ReadTx, id: ActorId): Promise<void> {
  if (id.startsWith('U') && id !== tx.actor.id) return
  const people = (await parties(tx)).filter((party) => party.kind === 'person' && party.id !== tx.actor.id)
  throw invalid(
    id === tx.actor.id ? 'You can’t ask yourself.' : `${id} is an agent; questions go to people.`,
    {
      allowed: people.slice(0, 10).map((person) => `${person.id} ${person.name}`),
      next: 'To tell an agent something, comment_on_task.',
    },
  )
}
