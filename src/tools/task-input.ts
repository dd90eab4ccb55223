import { z } from 'zod'
import { LIMITS, PRIORITIES } from '../model/task.ts'
import { partyNamed } from '../store/actor.ts'
import type { ReadTx } from '../store/handle.ts'
import { projectMeant } from '../store/project-name.ts'
import type { NewTask, TaskPatch } from '../store/task.ts'
import { clearable, line, party, priority, projectId, rule, taskId, text, when } from './fields.ts'

/** A step as it is given when a plan is made. */
export const newStep = z.strictObject({
  title: line(LIMITS.step),
  description: text(LIMITS.description).optional(),
})

/** The arguments that describe a new task. */
export const newTask = {
  title: line(LIMITS.title),
  description: text(LIMITS.description).optional(),
  project_id: projectId.optional(),
  parent_id: taskId.optional(),
  priority: priority.optional(),
  due: when('forward').optional(),
  scheduled: when('forward').optional(),
  estimate: z.int().min(0).max(1_000_000).optional().describe('Minutes.'),
  labels: z.array(z.string()).max(LIMITS.labels).optional(),
  assignee: party.optional(),
  depends_on: z.array(taskId).max(LIMITS.bulk).optional(),
  recurrence: rule.optional(),
  steps: z.array(newStep).max(LIMITS.steps).optional(),
}

const newTaskInput = z.strictObject(newTask)

/** Turns the arguments into a task's fields: names into ids, words into a rule. */
export async function readNewTask(tx: ReadTx, input: z.output<typeof newTaskInput>): Promise<NewTask> {
  const { project_id, parent_id, due, scheduled, assignee, recurrence, ...rest } = input
  return {
    ...definedOnly(rest),
    title: input.title,
    ...(project_id === undefined ? {} : { project: (await projectMeant(tx, project_id)).id }),
    ...(parent_id === undefined ? {} : { parent: parent_id }),
    ...(due === undefined ? {} : { due: due.value }),
    ...(scheduled === undefined ? {} : { scheduled: scheduled.value }),
    ...(assignee === undefined ? {} : { assignee: await partyNamed(tx, assignee) }),
    ...(recurrence === undefined ? {} : { recurrence: recurrence.rule, recurrence_anchor: 'due' as const }),
  }
}

/** The arguments that change a task: absent keeps, null clears, labels replace the set. */
export const taskPatch = {
  title: line(LIMITS.title).optional(),
  description: clearable(text(LIMITS.description)),
  project_id: clearable(projectId),
  parent_id: clearable(taskId),
  priority: clearable(priority),
  due: clearable(when('forward')),
  scheduled: clearable(when('forward')),
  estimate: clearable(z.int().min(0).max(1_000_000)),
  labels: clearable(z.array(z.string()).max(LIMITS.labels)),
  assignee: clearable(party),
}

const taskPatchInput = z.strictObject(taskPatch)
export type TaskPatchInput = z.output<typeof taskPatchInput>

/** Turns the arguments into a change of a task's fields. */
export async function readPatch(tx: ReadTx, input: TaskPatchInput): Promise<TaskPatch> {
  const { title, description, project_id, parent_id, priority, due, scheduled, estimate, labels, assignee } =
    input
  return definedOnly({
    title,
    description: description === null ? '' : description,
    project: project_id == null ? project_id : (await projectMeant(tx, project_id)).id,
    parent: parent_id,
    priority: priority === null ? PRIORITIES.indexOf('normal') : priority,
    due: due === null ? null : due?.value,
    scheduled: scheduled === null ? null : scheduled?.value,
    estimate,
    labels: labels === null ? [] : labels,
    assignee: assignee == null ? assignee : await partyNamed(tx, assignee),
  })
}

/** Without the entries that are undefined, which `exactOptionalPropertyTypes` tells from absent ones. */
export function definedOnly<T extends object>(record: T): { [K in keyof T]: Exclude<T[K], undefined> } {
  return Object.fromEntries(Object.entries(record).filter(([, value]) => value !== undefined)) as {
    [K in keyof T]: Exclude<T[K], undefined>
  }
}
