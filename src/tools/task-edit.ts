import { z } from 'zod'
import { invalid } from '../model/error.ts'
import { formatId } from '../model/id.ts'
import { LIMITS } from '../model/task.ts'
import type { DestroyTx } from '../store/handle.ts'
import { mergeTasks } from '../store/merge.ts'
import { nextOccurrences } from '../store/recurrence.ts'
import { type Edited, editTask, taskById, tasksByIds } from '../store/task.ts'
import { expectedVersion, rule, taskId, taskIds } from './fields.ts'
import { staleNotes } from './task-answer.ts'
import { readPatch, type TaskPatchInput, taskPatch } from './task-input.ts'
import { taskRows } from './task-row.ts'
import { destroy } from './tool.ts'

const stored = z.looseObject({ id: z.string(), status: z.string(), version: z.int() })

export const taskEditTools = {
  update_task: destroy({
    title: 'Update a task',
    does: 'Change fields (assignee included): absent keeps, null clears, labels replaces the set. Status moves by its verbs. Send expected_version to be safe from lost updates.',
    toolset: 'tasks',
    noun: 'task',
    convergent: true,
    input: z.strictObject({ id: taskId, ...taskPatch, expected_version: expectedVersion }),
    output: stored,
    http: 'PATCH /tasks/:id',
    example: { id: 'T1', priority: 'urgent', due: null },
    run: async (tx, { id, expected_version, ...patch }) => {
      const edited = await editTask(tx, await taskById(tx, id), await readPatch(tx, patch), expected_version)
      return editedAnswer(tx, edited)
    },
  }),

  update_tasks: destroy({
    title: 'Update several tasks',
    does: 'The same patch on up to 100 tasks (ids and patch), or different values for each (updates); all or none.',
    toolset: 'tasks',
    convergent: true,
    input: z.strictObject({
      ids: taskIds.optional(),
      patch: z.strictObject(taskPatch).optional(),
      updates: z
        .array(z.strictObject({ id: taskId, ...taskPatch, expected_version: expectedVersion }))
        .min(1)
        .max(LIMITS.bulk)
        .optional(),
    }),
    output: z.looseObject({ changed: z.int(), tasks: z.array(stored) }),
    http: 'PATCH /tasks',
    example: { ids: ['T1', 'T3'], patch: { priority: 'high' } },
    run: async (tx, { ids, patch, updates }) => {
      const changes = differentTasks(updates, ids, patch)
      const edits: Edited[] = []
      for (const { id, expected_version, ...fields } of changes) {
        edits.push(await editTask(tx, await taskById(tx, id), await readPatch(tx, fields), expected_version))
      }
      const changed = edits.filter((edit) => edit.changed).length
      const tasks = await tasksByIds(
        tx,
        changes.map(({ id }) => id),
      )
      return {
        changed,
        ...(changed === 0 ? { already: true } : {}),
        tasks: await taskRows(tx, tasks),
        ...staleNotes(edits.flatMap((edit) => edit.stale)),
        ...fallen(edits),
      }
    },
  }),

  set_recurrence: destroy({
    title: 'Set a task’s recurrence',
    does: 'Set or clear (null) a rule, RFC 5545 or words ("every monday"); answers the next three dates. Closing makes the next occurrence, counted from due or from completion.',
    toolset: 'tasks',
    noun: 'task',
    convergent: true,
    input: z.strictObject({
      id: taskId,
      rule: rule.nullable(),
      anchor: z.enum(['due', 'completion']).optional(),
    }),
    output: stored,
    http: 'PUT /tasks/:id/recurrence',
    example: { id: 'T1', rule: 'every monday' },
    run: async (tx, { id, rule, anchor }) => {
      const task = await taskById(tx, id)
      const edited = await editTask(tx, task, {
        recurrence: rule?.rule ?? null,
        recurrence_anchor: rule === null ? null : (anchor ?? task.recurrence_anchor ?? 'due'),
      })
      const next = await nextOccurrences(tx, edited.task, 3)
      return {
        ...(await editedAnswer(tx, edited)),
        next_dates: next,
        ...(rule && next.length === 0
          ? { ended: 'The rule has no date in the future: closing makes no next occurrence.' }
          : {}),
      }
    },
  }),

  merge_tasks: destroy({
    title: 'Merge duplicate tasks',
    does: 'Fold duplicates into one task: copies their comments, artifacts, labels, links with author and time, then moves the duplicates to the Trash.',
    toolset: 'tasks',
    noun: 'task',
    convergent: true,
    input: z.strictObject({ id: taskId, duplicates: taskIds }),
    output: stored,
    http: 'POST /tasks/:id/merge',
    example: { id: 'T9', duplicates: ['T10'] },
    run: async (tx, { id, duplicates }) => {
      const { task, merged, moved, stale } = await mergeTasks(tx, await taskById(tx, id), duplicates)
      return {
        ...(await taskRows(tx, [task], 'detailed'))[0]!,
        ...(merged.some((each) => !each.already) ? {} : { already: true }),
        merged: merged.map((each) => ({
          id: formatId('task', each.task),
          trash: formatId('trash', each.entry),
        })),
        ...staleNotes(stale),
        ...fallen(moved),
      }
    },
  }),
}

type Change = TaskPatchInput & { id: number; expected_version?: number | undefined }

/** What is to become of which task; of each once, since of two changes of one a repeat would undo the second. */
function differentTasks(
  updates: readonly Change[] | undefined,
  ids: readonly number[] | undefined,
  patch: TaskPatchInput | undefined,
): readonly Change[] {
  if (updates && (ids || patch)) {
    throw invalid('update_tasks takes ids and patch, or updates, not both.', {
      next: 'Send the one now and the other in a second call.',
    })
  }
  const changes = updates ?? samePatch(ids, patch)
  const seen = new Set<number>()
  for (const { id } of changes) {
    if (seen.has(id)) {
      throw invalid(`${formatId('task', id)} is named twice.`, {
        next: 'Name each task once, with all its changes.',
      })
    }
    seen.add(id)
  }
  return changes
}

/** One patch for many; a relative date would be read once and mean the same day for all, which is rarely meant. */
function samePatch(ids: readonly number[] | undefined, patch: TaskPatchInput | undefined): Change[] {
  if (!ids || !patch) {
    throw invalid('update_tasks needs ids and patch, or updates.', {
      next: 'Give {"ids":[…],"patch":{…}} or {"updates":[{"id":…,…}]}.',
    })
  }
  if (patch.due?.understood || patch.scheduled?.understood) {
    throw invalid('A date in words can’t be set on several tasks at once.', {
      next: 'Give an ISO date, or use updates with a date for each task.',
    })
  }
  return ids.map((id) => ({ id, ...patch }))
}

async function editedAnswer(tx: DestroyTx, edited: Edited): Promise<Record<string, unknown>> {
  return {
    ...(await taskRows(tx, [edited.task], 'detailed'))[0]!,
    ...(edited.changed ? {} : { already: true }),
    ...staleNotes(edited.stale),
    ...fallen([edited]),
  }
}

/** Tells that a standing permission fell with a change of meaning (gate G10). */
function fallen(edits: readonly Edited[]): Record<string, unknown> {
  const ids = edits.filter((edit) => edit.autoOkFell).map((edit) => formatId('task', edit.task.id))
  if (ids.length === 0) return {}
  return {
    auto_ok_fell: `${ids.join(', ')} now needs a person’s sign-off, since its meaning was changed by an agent.`,
  }
}
