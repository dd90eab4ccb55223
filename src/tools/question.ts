import { z } from 'zod'
import { invalid } from '../model/error.ts'
import { formatId, formatIdOr } from '../model/id.ts'
import { LIMITS } from '../model/task.ts'
import { partyNamed, partyNames } from '../store/actor.ts'
import type { ReadTx } from '../store/handle.ts'
import { insertQuestion, type QuestionOnTask, questionById, questionsPage } from '../store/question.ts'
import { checkLength, taskById } from '../store/task.ts'
import { idempotencyKey, idOf, line, page, party, taskId, waitSeconds } from './fields.ts'
import { sizeOf } from './text.ts'
import { read, write } from './tool.ts'
import { listAnswer, MOST_CHARACTERS, moment, sparse, start } from './view.ts'

const question = z.looseObject({ id: z.string(), state: z.string(), text: z.string() })

export const questionTools = {
  list_questions: read({
    title: 'List questions',
    does: 'Questions put to people, newest first, open or answered.',
    toolset: 'approvals',
    input: z.strictObject({
      state: z.enum(['open', 'answered']).optional(),
      task_id: taskId.optional(),
      ...page,
    }),
    output: z.looseObject({ today: z.string(), showing: z.int(), questions: z.array(question) }),
    http: 'GET /questions',
    example: { state: 'open' },
    run: async (tx, { state, task_id, ...page }) => {
      if (task_id !== undefined) await taskById(tx, task_id)
      const filter = { answered: state && state === 'answered', task: task_id }
      const found = await questionsPage(tx, filter, page)
      const name = await partyNames(tx)
      return listAnswer(
        tx,
        found,
        'questions',
        found.rows.map((each) => questionRow(each, name, 200)),
      )
    },
  }),

  get_question: read({
    title: 'Get a question',
    does: 'One question, its choices, its answer. wait_seconds holds until it is answered.',
    toolset: 'approvals',
    noun: 'question',
    input: z.strictObject({ id: idOf('question'), wait_seconds: waitSeconds }),
    output: question,
    http: 'GET /questions/:id',
    example: { id: 'Q1' },
    pending: (question) => question.state === 'open',
    run: async (tx, { id }) => whole(tx, await questionById(tx, id)),
  }),

  ask_question: write({
    title: 'Ask a person',
    does: 'Ask a person to decide, tell or permit; the task can wait for the answer, and your claim on it then stays. The only way to ask for permission.',
    toolset: 'approvals',
    input: z.strictObject({
      text: z.string(),
      to: party.optional().describe('A person; your owner by default.'),
      task_id: taskId.optional(),
      choices: z.array(line(500).min(1)).max(20).optional(),
      hold_task: z.boolean().optional(),
      idempotency_key: idempotencyKey,
    }),
    output: question,
    http: 'POST /questions',
    example: { text: 'May I restart the staging server?', task_id: 'T2', choices: ['Yes', 'No'] },
    run: async (tx, { text, to, task_id, choices, hold_task }) => {
      if (text.trim() === '') throw invalid('The question is empty.', { next: 'Say what you need to know.' })
      checkLength('question', text, LIMITS.question)
      const of = await partyNamed(tx, to ?? 'owner')
      if (of === null) throw invalid('A question needs somebody to answer it.', { allowed: ['owner'] })
      const asked = await insertQuestion(tx, {
        text,
        of,
        task: task_id === undefined ? null : await taskById(tx, task_id),
        choices: choices?.length ? choices : null,
        holds: hold_task ?? true,
      })
      return whole(tx, asked)
    },
  }),
}

/** How much of a question and of its answer is shown: every question whole that is made of words. */
const SHOWN = [12_000, 6000, 2000]

async function whole(tx: ReadTx, asked: QuestionOnTask): Promise<Record<string, unknown>> {
  const id = formatId('question', asked.id)
  const name = await partyNames(tx)
  // Line breaks and control characters take more room in an answer than they have characters.
  const rows = SHOWN.map((characters) => questionRow(asked, name, characters))
  return {
    ...(rows.find((row) => sizeOf(row) <= MOST_CHARACTERS - 1000) ?? rows.at(-1)!),
    ...(asked.answered_at === null
      ? {
          next: `get_question {"id":"${id}","wait_seconds":50} waits for the answer; else take other work: get_next_task.`,
        }
      : {}),
  }
}

function questionRow(
  asked: QuestionOnTask,
  name: (id: string | null) => string | undefined,
  characters: number,
): Record<string, unknown> & { text: string } {
  const text = start(asked.text, characters)
  const answer = asked.answer === null ? undefined : start(asked.answer, characters)
  return {
    ...sparse({
      id: formatId('question', asked.id),
      state: asked.answered_at === null ? 'open' : 'answered',
      task: formatIdOr('task', asked.task),
      title: asked.title && start(asked.title, 60).text,
      by: name(asked.asked_by),
      of: name(asked.asked_of),
      at: moment(asked.asked_at),
    }),
    text: text.text,
    ...sparse({
      length: text.total,
      choices: asked.choices && (JSON.parse(asked.choices) as string[]),
      holds_task: asked.holds_task === 1,
      answer: answer?.text,
      answer_length: answer?.total,
      answered_by: name(asked.answered_by),
      answered: asked.answered_at && moment(asked.answered_at),
    }),
  }
}
