import { conflict } from '../model/error.ts'
import { formatId } from '../model/id.ts'
import { isClosed } from '../model/task.ts'
import { requireFreshPerson } from './approval.ts'
import { meaningChanged, type Stale } from './content.ts'
import { emit, sqlOf, type WriteTx } from './handle.ts'
import type { Row } from './tables.ts'

/** A person's word on whether a task may close without a person (gate G2). Frozen once the task is closed (G1). */
export async function setAutoOk(
  tx: WriteTx,
  task: Row<'tasks'>,
  autoOk: boolean,
): Promise<{ task: Row<'tasks'>; already: boolean; stale: Stale[] }> {
  requireFreshPerson(tx)
  const value = autoOk ? 1 : 0
  if (task.auto_ok === value) return { task, already: true, stale: [] }
  if (isClosed(task.status)) {
    throw conflict(`${formatId('task', task.id)} is ${task.status}.`, { next: 'Reopen it first.' })
  }
  const changed = await meaningChanged(tx, task, { auto_ok: value, version: task.version + 1 })
  await emit(tx, {
    kind: 'updated',
    task: task.id,
    project: task.project,
    changes: { auto_ok: [!autoOk, autoOk] },
  })
  return { ...changed, already: false }
}

/** A person's word on whether a second person signs off in a project: not the one for whom an agent has worked there. */
export async function setSecondPerson(
  tx: WriteTx,
  project: Row<'projects'>,
  wanted: boolean,
): Promise<{ already: boolean }> {
  requireFreshPerson(tx)
  const value = wanted ? 1 : 0
  if (project.second_person === value) return { already: true }
  await setPolicy(tx, project, { second_person: value })
  return { already: false }
}

/** A person's word on whether new tasks of a project may close without a person. Existing ones stay as they are. */
export async function setProjectAutoOk(
  tx: WriteTx,
  project: Row<'projects'>,
  autoOk: boolean,
): Promise<{ already: boolean }> {
  requireFreshPerson(tx)
  const value = autoOk ? 1 : 0
  if (project.auto_ok_default === value) return { already: true }
  await setPolicy(tx, project, { auto_ok_default: value })
  return { already: false }
}

async function setPolicy(
  tx: WriteTx,
  project: Row<'projects'>,
  policy: Partial<Pick<Row<'projects'>, 'auto_ok_default' | 'second_person'>>,
): Promise<void> {
  await sqlOf(tx)
    .updateTable('projects')
    .set({ ...policy, version: project.version + 1, updated_at: tx.now })
    .where('account', '=', tx.account)
    .where('id', '=', project.id)
    .execute()
  const changes = Object.entries(policy).map(([name, value]) => [name, [value === 0, value === 1]])
  await emit(tx, {
    kind: 'project_updated',
    project: project.id,
    changes: Object.fromEntries(changes),
  })
}
