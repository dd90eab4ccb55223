import type { ActorId } from '../model/actor.ts'
import { formatId } from '../model/id.ts'
import { ownerOf } from './actor.ts'
import { emit, type ReadTx, sqlOf, type WriteTx } from './handle.ts'
import { notify } from './notification.ts'
import type { Row } from './tables.ts'

/** Two agents may answer each other this often on one task within this time; then they set each other off no more. */
export const LOOP = { rounds: 10, ms: 10 * 60_000 } as const

/**
 * The agent with whom the caller goes round in circles on a task: the two have answered each other more than
 * {@link LOOP} allows, the caller's newest comment included, and no person has spoken in between.
 */
export async function loopPartner(tx: ReadTx, task: number): Promise<ActorId | undefined> {
  if (tx.actor.kind !== 'agent') return undefined
  const self = tx.actor.id
  const recent = await sqlOf(tx)
    .selectFrom('comments')
    .select('author')
    .where('account', '=', tx.account)
    .where('task', '=', task)
    .where('created_at', '>', tx.now - LOOP.ms)
    .where('origin', 'is', null)
    .orderBy('id', 'desc')
    .limit(200)
    .execute()
  const authors = recent.map((comment) => comment.author)
  const person = authors.findIndex((author) => author.startsWith('U'))
  const talk = person < 0 ? authors : authors.slice(0, person)
  return [...new Set(talk)].find((other) => other !== self && answers(talk, self, other) > LOOP.rounds)
}

/** Tells people of a loop, once within {@link LOOP}'s time. */
export async function recordLoop(tx: WriteTx, task: Row<'tasks'>, partner: ActorId): Promise<void> {
  const told = await sqlOf(tx)
    .selectFrom('events')
    .select('id')
    .where('account', '=', tx.account)
    .where('task', '=', task.id)
    .where('kind', '=', 'loop_damped')
    .where('at', '>', tx.now - LOOP.ms)
    .limit(1)
    .executeTakeFirst()
  if (told) return
  const event = await emit(tx, {
    kind: 'loop_damped',
    task: task.id,
    project: task.project,
    data: { agents: [tx.actor.id, partner] },
  })
  const people = [await ownerOf(tx, tx.actor.id as ActorId), await ownerOf(tx, partner)]
  await notify(tx, people, 'loop_damped', event, task.id, formatId('task', task.id))
}

/** How often one of the two spoke after the other. */
function answers(talk: readonly ActorId[], one: ActorId, other: ActorId): number {
  const between = talk.filter((author) => author === one || author === other)
  return between.filter((author, i) => i > 0 && author !== between[i - 1]).length
}
