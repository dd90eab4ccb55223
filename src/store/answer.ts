import { conflict } from '../model/error.ts'
import { formatId } from '../model/id.ts'
import { shownRecord } from './conflict.ts'
import { emit, sqlOf, type WriteTx } from './handle.ts'
import { notify } from './notification.ts'
import { endHold } from './question.ts'
import type { Row } from './tables.ts'

/** A person's answer; the agent that asked hears of it. An answer stands: a second, other one is refused. */
export async function answerQuestion(
  tx: WriteTx,
  question: Row<'questions'>,
  answer: string,
): Promise<{ question: Row<'questions'>; already: boolean }> {
  const object = formatId('question', question.id)
  if (question.answered_at !== null) {
    if (question.answer === answer && question.answered_by === tx.actor.id) return { question, already: true }
    throw conflict(`${object} was answered by ${question.answered_by}.`, {
      current: shownRecord({ id: object, answer: question.answer }),
      next: 'Add what is missing with comment_on_task.',
    })
  }
  const answered = {
    answer,
    answered_by: tx.actor.id as Row<'questions'>['answered_by'],
    answered_at: tx.now,
  }
  await sqlOf(tx)
    .updateTable('questions')
    .set(answered)
    .where('account', '=', tx.account)
    .where('id', '=', question.id)
    .execute()
  await endHold(tx, question)
  const event = await emit(tx, { kind: 'answered', task: question.task, object })
  await notify(tx, [question.asked_by], 'answered', event, question.task, object)
  return { question: { ...question, ...answered }, already: false }
}
