import { z } from 'zod'
import { readRule } from '../model/recurrence.ts'
import { LIMITS } from '../model/task.ts'
import { partyNamed } from '../store/actor.ts'
import type { ReadTx } from '../store/handle.ts'
import type { NewTask } from '../store/task.ts'
import { idOf, party, priority, taskId, text, when } from './fields.ts'

/** A step as it is given when a plan is made. */
export const newStep = z.strictObject({
  title: text(LIMITS.step),
  description: text(LIMITS.description).optional(),
})

/** The arguments that describe a new task. */
export const newTask = {
  title: text(LIMITS.title),
  description: text(LIMITS.description).optional(),
  project_id: idOf('project').optional(),
  parent_id: taskId.optional(),
  priority: priority.optional(),
  due: when('forward').optional(),
  scheduled: when('forward').optional(),
  estimate: z.int().min(0).max(1_000_000).optional().describe('Minutes.'),
  labels: z.array(z.string()).max(LIMITS.labels).optional(),
  assignee: party.optional(),
  depends_on: z.array(taskId).max(LIMITS.bulk).optional(),
  recurrence: z.string().max(500).optional(),
  steps: z.array(newStep).max(LIMITS.steps).optional(),
}

const newTaskInput = z.strictObject(newTask)

/** Turns the arguments into a task's fields: names into ids, words into a rule. */
export async function readNewTask(tx: ReadTx, input: z.output<typeof newTaskInput>): Promise<NewTask> {
  const { project_id, parent_id, due, scheduled, assignee, recurrence, ...rest } = input
  return {
    ...definedOnly(rest),
    title: input.title,
    ...(project_id === undefined ? {} : { project: project_id }),
    ...(parent_id === undefined ? {} : { parent: parent_id }),
    ...(due === undefined ? {} : { due: due.value }),
    ...(scheduled === undefined ? {} : { scheduled: scheduled.value }),
    ...(assignee === undefined ? {} : { assignee: await partyNamed(tx, assignee) }),
    ...(recurrence === undefined
      ? {}
      : { recurrence: (await readRule(recurrence)).rule, recurrence_anchor: 'due' as const }),
  }
}

/** Without the entries that are undefined, which `exactOptionalPropertyTypes` tells from absent ones. */
export function definedOnly<T extends object>(record: T): { [K in keyof T]: Exclude<T[K], undefined> } {
  return Object.fromEntries(Object.entries(record).filter(([, value]) => value !== undefined)) as {
    [K in keyof T]: Exclude<T[K], undefined>
  }
}
