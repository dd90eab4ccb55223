import { z } from 'zod'
import { PRIORITIES, STATUSES } from '../model/task.ts'
import { partyNamed } from '../store/actor.ts'
import type { ReadTx } from '../store/handle.ts'
import { labelsNamed } from '../store/label.ts'
import { projectMeant } from '../store/project-name.ts'
import { taskById } from '../store/task.ts'
import type { TaskFilter } from '../store/task-list.ts'
import { instant, party, projectId, taskId, when } from './fields.ts'
import { clockOf } from './view.ts'

/** The arguments by which tasks are chosen; a saved view holds them as they were said. */
export const taskFilter = {
  project_id: projectId.optional(),
  status: z.array(z.enum(STATUSES)).optional(),
  assignee: party.optional(),
  claimed_by: party.optional(),
  labels: z.array(z.string()).optional(),
  priority: z.array(z.enum(PRIORITIES)).optional(),
  due_after: when('forward').optional(),
  due_before: when('forward').optional(),
  overdue: z.boolean().optional(),
  parent_id: taskId.optional(),
  updated_since: instant('backward').optional(),
  include_closed: z.boolean().optional(),
}

export const taskFilterInput = z.strictObject(taskFilter)

/**
 * Turns the arguments into a filter of the store: names into ids, "overdue" into the caller's today. What is named and is not
 * there is an error: an empty list would read as if there were no such tasks.
 */
export async function readFilter(tx: ReadTx, input: z.output<typeof taskFilterInput>): Promise<TaskFilter> {
  return {
    project: input.project_id === undefined ? undefined : (await projectMeant(tx, input.project_id)).id,
    status: input.status,
    assignee: input.assignee === undefined ? undefined : await partyNamed(tx, input.assignee),
    claimedBy: input.claimed_by === undefined ? undefined : await partyNamed(tx, input.claimed_by),
    labels: input.labels && (await labelsNamed(tx, input.labels)).map((label) => label.name_key),
    priority: input.priority?.map((name) => PRIORITIES.indexOf(name)),
    dueAfter: input.due_after?.value,
    dueBefore: input.due_before?.value,
    overdueOn: input.overdue ? clockOf(tx).today : undefined,
    parent: input.parent_id === undefined ? undefined : (await taskById(tx, input.parent_id)).id,
    updatedSince: input.updated_since,
    includeClosed: input.include_closed ?? false,
  }
}
