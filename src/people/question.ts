import { z } from 'zod'
import { formatId, formatIdOr } from '../model/id.ts'
import { LIMITS } from '../model/task.ts'
import { partyNames } from '../store/actor.ts'
import { answerQuestion } from '../store/answer.ts'
import { openQuestions } from '../store/digest.ts'
import type { ReadTx } from '../store/handle.ts'
import { questionById } from '../store/question.ts'
import type { Row } from '../store/tables.ts'
import { idOf } from '../tools/fields.ts'
import { read, write } from '../tools/tool.ts'
import { moment, sparse } from '../tools/view.ts'
import { forPeople } from './operation.ts'

export const questionOperations = {
  list_open_questions: forPeople(
    'viewer',
    read({
      title: 'List open questions',
      does: 'Questions of agents that wait for an answer, oldest first, 100 at most.',
      toolset: 'approvals',
      input: z.strictObject({}),
      output: z.looseObject({ questions: z.array(z.looseObject({ id: z.string() })) }),
      http: 'GET /questions',
      example: {},
      run: async (tx) => {
        const waiting = await openQuestions(tx, {})
        return { questions: await Promise.all(waiting.map((each) => view(tx, each, each.title))) }
      },
    }),
  ),

  answer_question: forPeople(
    'member',
    write({
      title: 'Answer a question',
      does: 'Answers what an agent asked: one of its choices, by text or number, or your own words. The agent is told. An answer stands.',
      toolset: 'approvals',
      noun: 'question',
      convergent: true,
      input: z.strictObject({ id: idOf('question'), answer: z.string().trim().min(1).max(LIMITS.comment) }),
      output: z.looseObject({ id: z.string(), answer: z.string() }),
      http: 'POST /questions/:id/answer',
      example: { id: 'Q1', answer: 'Yes, go ahead.' },
      run: async (tx, { id, answer }) => {
        const question = await questionById(tx, id)
        const done = await answerQuestion(tx, question, chosen(question, answer))
        return { ...(await view(tx, done.question)), ...(done.already ? { already: true } : {}) }
      },
    }),
  ),
}

/** The choices of a question, where it has any. */
function choicesOf(question: Row<'questions'>): string[] {
  return question.choices === null ? [] : (JSON.parse(question.choices) as string[])
}

/** `2` means the second choice. */
function chosen(question: Row<'questions'>, answer: string): string {
  return (/^[1-9]\d?$/.test(answer) ? choicesOf(question)[Number(answer) - 1] : undefined) ?? answer
}

async function view(
  tx: ReadTx,
  question: Row<'questions'>,
  title?: string | null,
): Promise<Record<string, unknown>> {
  const name = await partyNames(tx)
  return sparse({
    id: formatId('question', question.id),
    task: formatIdOr('task', question.task),
    task_title: title,
    text: question.text,
    choices: choicesOf(question),
    asked_by: name(question.asked_by),
    asked_of: name(question.asked_of),
    asked_at: moment(question.asked_at),
    answer: question.answer,
    answered_by: name(question.answered_by),
    answered_at: question.answered_at && moment(question.answered_at),
  })
}
