import type { ExpressionBuilder } from 'kysely'
import { type ReadTx, readQuery } from './handle.ts'
import type { Database } from './tables.ts'

type OfTask =
  | 'artifacts'
  | 'comments'
  | 'notes'
  | 'questions'
  | 'requests'
  | 'runs'
  | 'steps'
  | 'task_labels'
  | 'dependencies'

interface Place {
  account: number
  task: number
}

/** Rows that are gone or settled count as well: whoever reads the part leaves them out. */
const partsOfTask = readQuery((db, p: Place) =>
  db.selectNoFrom((eb) => [
    anyOf(eb, 'artifacts', 'task', p).as('artifacts'),
    anyOf(eb, 'comments', 'task', p).as('comments'),
    anyOf(eb, 'notes', 'task', p).as('notes'),
    anyOf(eb, 'questions', 'task', p).as('questions'),
    anyOf(eb, 'requests', 'task', p).as('requests'),
    anyOf(eb, 'runs', 'task', p).as('runs'),
    anyOf(eb, 'steps', 'task', p).as('steps'),
    anyOf(eb, 'task_labels', 'task', p).as('labels'),
    anyOf(eb, 'dependencies', 'task', p).as('waits'),
    anyOf(eb, 'dependencies', 'depends_on', p).as('waited_for'),
    anyOf(eb, 'tasks', 'parent', p).as('children'),
  ]),
)

/** What a task can have. True where it may, so that what is false need not be asked for: most tasks have little of it. */
export type Parts = { [Part in keyof Awaited<ReturnType<typeof partsOfTask>>[number]]: unknown }

/** Which of its parts a task has, in one look. */
export async function partsOf(tx: ReadTx, task: number): Promise<Parts> {
  return (await partsOfTask(tx, { account: tx.account, task }))[0]!
}

function anyOf(
  eb: ExpressionBuilder<Database, never>,
  table: OfTask | 'tasks',
  column: 'task' | 'depends_on' | 'parent',
  { account, task }: Place,
) {
  return eb.exists(
    eb
      .selectFrom(table as 'steps')
      .select('account')
      .where('account', '=', account)
      .where(column as 'task', '=', task),
  )
}
