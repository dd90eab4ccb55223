import { z } from 'zod'
import { formatId } from '../model/id.ts'
import { setAutoOk, setProjectAutoOk, setSecondPerson } from '../store/policy.ts'
import { projectById } from '../store/project.ts'
import { taskById } from '../store/task.ts'
import { idOf, taskId } from '../tools/fields.ts'
import { staleNotes } from '../tools/task-answer.ts'
import { taskRows } from '../tools/task-row.ts'
import { write } from '../tools/tool.ts'
import { forPeople } from './operation.ts'

export const autoOkOperations = {
  set_auto_ok: forPeople(
    'member',
    write({
      title: 'Set auto-OK of a task',
      does: 'Says whether the task may close without a sign-off. A request that waits becomes stale, since what was asked has changed.',
      toolset: 'tasks',
      noun: 'task',
      convergent: true,
      input: z.strictObject({ id: taskId, auto_ok: z.boolean() }),
      output: z.looseObject({ id: z.string(), auto_ok: z.boolean() }),
      http: 'PUT /tasks/:id/auto-ok',
      example: { id: 'T1', auto_ok: false },
      run: async (tx, { id, auto_ok }) => {
        const { task, already, stale } = await setAutoOk(tx, await taskById(tx, id), auto_ok)
        return {
          ...(await taskRows(tx, [task], 'detailed'))[0],
          auto_ok,
          ...(already ? { already: true } : {}),
          ...staleNotes(stale),
        }
      },
    }),
    'fresh',
  ),

  set_project_auto_ok: forPeople(
    'owner',
    write({
      title: 'Set auto-OK of a project’s new tasks',
      does: 'Says whether tasks that are added to the project from now on may close without a sign-off. Tasks in it stay as they are.',
      toolset: 'projects',
      noun: 'project',
      convergent: true,
      input: z.strictObject({ id: idOf('project'), auto_ok: z.boolean() }),
      output: z.looseObject({ id: z.string(), auto_ok_default: z.boolean() }),
      http: 'PUT /projects/:id/auto-ok',
      example: { id: 'P1', auto_ok: false },
      run: async (tx, { id, auto_ok }) => {
        const project = await projectById(tx, id)
        const { already } = await setProjectAutoOk(tx, project, auto_ok)
        return {
          id: formatId('project', id),
          name: project.name,
          auto_ok_default: auto_ok,
          ...(already ? { already: true } : {}),
        }
      },
    }),
    'fresh',
  ),

  set_second_person: forPeople(
    'owner',
    write({
      title: 'Set whether a second person signs off',
      does: 'Says whether, in this project, who signs off must be somebody else than the person whose agents have worked on the task.',
      toolset: 'projects',
      noun: 'project',
      convergent: true,
      input: z.strictObject({ id: idOf('project'), second_person: z.boolean() }),
      output: z.looseObject({ id: z.string(), second_person: z.boolean() }),
      http: 'PUT /projects/:id/second-person',
      example: { id: 'P1', second_person: true },
      run: async (tx, { id, second_person }) => {
        const project = await projectById(tx, id)
        const { already } = await setSecondPerson(tx, project, second_person)
        return {
          id: formatId('project', id),
          name: project.name,
          second_person,
          ...(already ? { already: true } : {}),
        }
      },
    }),
    'fresh',
  ),
}
