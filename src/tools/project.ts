import { z } from 'zod'
import { invalid } from '../model/error.ts'
import { forecast } from '../model/forecast.ts'
import { formatId } from '../model/id.ts'
import { partyNames } from '../store/actor.ts'
import { projectProgress } from '../store/progress.ts'
import {
  archiveProject,
  editProject,
  insertProject,
  listProjects,
  PROJECT_LIMITS,
  projectById,
  projectInTrash,
  trashProject,
  unarchiveProject,
} from '../store/project.ts'
import { openCount, type ProjectCounts, projectCounts, projectSummary } from '../store/project-summary.ts'
import type { Row } from '../store/tables.ts'
import { clearable, expectedVersion, idempotencyKey, idOf, line, page, text } from './fields.ts'
import { staleNotes } from './task-answer.ts'
import { definedOnly } from './task-input.ts'
import { destroy, read, write } from './tool.ts'
import { clockOf, listAnswer, moment, sparse } from './view.ts'

const stored = z.looseObject({ id: z.string(), name: z.string(), version: z.int() })
const projectId = idOf('project')

const DAY_MS = 86_400_000

export const projectTools = {
  list_projects: read({
    title: 'List projects',
    does: 'Projects with counts of open, waiting (part of open) and closed tasks.',
    toolset: 'projects',
    input: z.strictObject({ include_archived: z.boolean().optional(), ...page }),
    output: z.looseObject({ showing: z.int(), projects: z.array(z.looseObject({ id: z.string() })) }),
    http: 'GET /projects',
    example: {},
    run: async (tx, { include_archived, ...page }) => {
      const found = await listProjects(tx, include_archived ?? false, page)
      const rows = []
      for (const project of found.rows) {
        rows.push({
          id: formatId('project', project.id),
          name: project.name,
          ...(project.archived_at === null ? {} : { archived: true }),
          ...countsView(await projectCounts(tx, project.id)),
          version: project.version,
        })
      }
      return listAnswer(tx, found, 'projects', rows)
    },
  }),

  get_project: read({
    title: 'Get a project',
    does: 'One project: description, defaults, members, labels, counts, likely duplicates.',
    toolset: 'projects',
    noun: 'project',
    input: z.strictObject({ id: projectId }),
    output: stored,
    http: 'GET /projects/:id',
    example: { id: 'P1' },
    run: async (tx, { id }) => {
      const project = await projectById(tx, id)
      const { members, labels, duplicates } = await projectSummary(tx, id)
      const name = await partyNames(tx)
      return {
        ...echo(project),
        ...clockOf(tx),
        ...countsView(await projectCounts(tx, id)),
        ...sparse({
          created: moment(project.created_at),
          created_by: name(project.created_by),
          members: members.slice(0, 50).map((each) => ({ who: name(each.id), open_tasks: each.tasks })),
          labels: labels.map((label) => ({ name: label.name, open_tasks: label.tasks })),
          likely_duplicates: duplicates.slice(0, 20).map((ids) =>
            ids
              .slice(0, 10)
              .map((each) => formatId('task', each))
              .join(', '),
          ),
        }),
        more: [`list_tasks {"project_id":"${formatId('project', id)}"}`],
      }
    },
  }),

  get_project_progress: read({
    title: 'Get a project’s progress',
    does: 'Per day opened, closed, waiting; forecast of the finish from the pace so far.',
    toolset: 'projects',
    noun: 'project',
    input: z.strictObject({
      id: projectId,
      days: z.int().min(1).max(180).optional().describe('30 by default.'),
    }),
    output: z.looseObject({ id: z.string(), open: z.int(), forecast: z.looseObject({}) }),
    http: 'GET /projects/:id/progress',
    example: { id: 'P1', days: 14 },
    run: async (tx, { id, days = 30 }) => {
      const project = await projectById(tx, id)
      const series = await projectProgress(tx, project, days)
      const clock = clockOf(tx)
      const open = await openCount(tx, id)
      const sum = (column: 'opened' | 'closed') => series.reduce((n, day) => n + day[column], 0)
      // The pace of a project younger than the window is that of its own days.
      const lived = Math.min(days, Math.max(1, (tx.now - project.created_at) / DAY_MS))
      return {
        id: formatId('project', id),
        name: project.name,
        ...clock,
        open,
        opened: sum('opened'),
        closed: sum('closed'),
        forecast: {
          ...forecast(open, sum('closed'), lived, clock.today),
          ...(open > 0 && sum('opened') > sum('closed') ? { note: 'more is opened than closed' } : {}),
        },
        per_day: series,
      }
    },
  }),

  create_project: write({
    title: 'Create a project',
    does: 'Add a project. Where the name is taken it gets a number: list_projects first.',
    toolset: 'projects',
    input: z.strictObject({
      name: line(PROJECT_LIMITS.name),
      description: text(PROJECT_LIMITS.description).optional(),
      idempotency_key: idempotencyKey,
    }),
    output: stored,
    http: 'POST /projects',
    example: { name: 'Office move', description: 'Out by March.' },
    run: async (tx, { name, description }) => {
      const { project, twin } = await insertProject(tx, { name, description })
      return {
        ...echo(project),
        ...(twin
          ? {
              likely_duplicate_of: `${formatId('project', twin.id)} ${twin.name}`,
              next: `If you meant ${formatId('project', twin.id)}, use it, and delete_project this one.`,
            }
          : {}),
      }
    },
  }),

  update_project: destroy({
    title: 'Update a project',
    does: 'Change a project’s name or description.',
    toolset: 'projects',
    noun: 'project',
    convergent: true,
    input: z.strictObject({
      id: projectId,
      name: line(PROJECT_LIMITS.name).optional(),
      description: clearable(text(PROJECT_LIMITS.description)),
      expected_version: expectedVersion,
    }),
    output: stored,
    http: 'PATCH /projects/:id',
    example: { id: 'P1', description: 'Everything on www.' },
    run: async (tx, { id, name, description, expected_version }) => {
      const patch = definedOnly({ name, description: description === null ? '' : description })
      return edited(await editProject(tx, await projectById(tx, id), patch, expected_version))
    },
  }),

  archive_project: write({
    title: 'Archive a project',
    does: 'A finished project, kept; refused while tasks that need sign-off are open in it.',
    toolset: 'projects',
    noun: 'project',
    convergent: true,
    input: z.strictObject({ id: projectId }),
    output: stored,
    http: 'POST /projects/:id/archive',
    example: { id: 'P2' },
    run: async (tx, { id }) => edited(await archiveProject(tx, await projectById(tx, id))),
  }),

  unarchive_project: write({
    title: 'Unarchive a project',
    does: 'Bring an archived project back.',
    toolset: 'projects',
    noun: 'project',
    convergent: true,
    input: z.strictObject({ id: projectId }),
    output: stored,
    http: 'POST /projects/:id/unarchive',
    example: { id: 'P1' },
    run: async (tx, { id }) => edited(await unarchiveProject(tx, await projectById(tx, id))),
  }),

  delete_project: destroy({
    title: 'Delete a project',
    does: 'A project AND its tasks to the Trash; its name must be repeated exactly. Finished: archive_project.',
    toolset: 'projects',
    noun: 'project',
    convergent: true,
    input: z.strictObject({ id: projectId, name: z.string() }),
    output: z.looseObject({ id: z.string(), trash: z.string() }),
    http: 'DELETE /projects/:id',
    example: { id: 'P1', name: 'Website' },
    run: async (tx, { id, name }) => {
      const gone = await projectInTrash(tx, id)
      const project = gone ?? (await projectById(tx, id))
      const shown = formatId('project', id)
      if (project.name !== name) {
        throw invalid(`${shown} is not called "${name.slice(0, 80)}"; nothing was deleted.`, {
          allowed: [project.name],
          next: 'Look at it with get_project. Only if it is the one, repeat its name exactly.',
        })
      }
      if (gone) return { id: shown, name, trash: formatId('trash', gone.trash!), already: true }
      const { entry, tasks, stale } = await trashProject(tx, project)
      const trash = formatId('trash', entry)
      return {
        id: shown,
        name,
        trash,
        tasks,
        next: `restore_from_trash {"ids":["${trash}"]} brings back the project and its ${tasks} tasks.`,
        ...staleNotes(stale),
      }
    },
  }),
}

function countsView(counts: ProjectCounts): Record<string, unknown> {
  const { open, waiting, closed, atLeast } = counts
  return { open, waiting, closed, ...(atLeast ? { counts_at_least: true } : {}) }
}

function edited({
  project,
  changed,
}: {
  project: Row<'projects'>
  changed: boolean
}): Record<string, unknown> {
  return { ...echo(project), ...(changed ? {} : { already: true }) }
}

/** The project as stored. */
function echo(project: Row<'projects'>): Record<string, unknown> {
  return {
    id: formatId('project', project.id),
    name: project.name,
    ...sparse({
      description: project.description,
      archived: project.archived_at === null ? undefined : moment(project.archived_at),
    }),
    auto_ok_default: project.auto_ok_default === 1,
    ...(project.second_person === 1 ? { second_person: true } : {}),
    version: project.version,
  }
}
