import { sql } from 'kysely'
import type { PersonActor } from '../model/actor.ts'
import { AppError } from '../model/error.ts'
import { formatId } from '../model/id.ts'
import { type ReadTx, sqlOf } from './handle.ts'
import { projectById } from './project.ts'
import type { Row } from './tables.ts'

/**
 * The person whose agents have worked on a task may not be the one who signs it off, where its project wants a second one.
 * By the log, so that it counts whatever an agent did there, whether it has asked or not.
 */
export async function refuseFirstPerson(
  tx: ReadTx & { actor: PersonActor },
  task: Row<'tasks'>,
): Promise<void> {
  if (!(await isForSecondPerson(tx, task.project))) return
  const own = await ownAgentsAt(tx, task.id)
  if (own.length === 0) return
  throw new AppError(
    'people_only',
    `In this project a second person signs off, and ${own.map(({ id, name }) => `${formatId('agent', id)} ${name}`).join(', ')}, who worked on ${formatId('task', task.id)}, ${own.length === 1 ? 'is an agent' : 'are agents'} of yours.`,
    { gate: true, retry: false, next: 'Ask another member of the account.' },
  )
}

/** Where a second person is wanted, only a person takes a task away from there: elsewhere one would be enough. */
export async function refuseLeaving(tx: ReadTx, task: Row<'tasks'>): Promise<void> {
  if (tx.actor.kind === 'person' || !(await isForSecondPerson(tx, task.project))) return
  throw new AppError(
    'people_only',
    `${formatId('task', task.id)} is in a project in which a second person signs off, so only a person moves it elsewhere.`,
    { gate: true, retry: false, next: 'Ask a person, or leave it where it is.' },
  )
}

async function isForSecondPerson(tx: ReadTx, project: number | null): Promise<boolean> {
  return project !== null && (await projectById(tx, project)).second_person === 1
}

/** The caller's agents that have done something on a task. */
function ownAgentsAt(tx: ReadTx & { actor: PersonActor }, task: number) {
  return sqlOf(tx)
    .selectFrom('agents as g')
    .select(['g.id', 'g.name'])
    .where('g.account', '=', tx.account)
    .where('g.owner', '=', Number(tx.actor.id.slice(1)))
    .where(({ exists, selectFrom }) =>
      exists(
        selectFrom('events as e')
          .select('e.id')
          .where('e.account', '=', tx.account)
          .where('e.task', '=', task)
          .where('e.actor', '=', sql<string>`'G' || g.id`),
      ),
    )
    .orderBy('g.id')
    .execute()
}
