import { z } from 'zod'
import { invalid } from '../model/error.ts'
import { EVENT_KINDS, type EventKind } from '../model/event.ts'
import { formatId, formatIdOr } from '../model/id.ts'
import { nearest } from '../model/suggest.ts'
import { activityPage } from '../store/activity.ts'
import { partyNamed, partyNames } from '../store/actor.ts'
import type { ReadTx } from '../store/handle.ts'
import { projectMeant } from '../store/project-name.ts'
import { taskById, taskInTrash } from '../store/task.ts'
import { instant, page, party, projectId, taskId } from './fields.ts'
import { read } from './tool.ts'
import { listAnswer, moment, sparse, start } from './view.ts'

export const activityTools = {
  list_activity: read({
    title: 'List activity',
    does: 'Who did what, account-wide, newest first: the event log by task, project, actor, kind, time.',
    toolset: 'me',
    input: z.strictObject({
      task_id: taskId.optional(),
      project_id: projectId.optional(),
      actor: party.optional(),
      kinds: z.array(z.string()).optional(),
      since: instant('backward').optional(),
      until: instant('backward').optional(),
      ...page,
    }),
    output: z.looseObject({
      today: z.string(),
      showing: z.int(),
      events: z.array(z.looseObject({ id: z.string() })),
    }),
    http: 'GET /activity',
    example: { task_id: 'T2' },
    run: async (tx, { task_id, project_id, actor, kinds, since, until, ...page }) => {
      // What was deleted still has a log.
      if (task_id !== undefined && !(await taskInTrash(tx, task_id))) await taskById(tx, task_id)
      const project = project_id === undefined ? undefined : (await projectMeant(tx, project_id)).id
      const filter = {
        task: task_id,
        project,
        actor: actor === undefined ? undefined : await readActor(tx, actor),
        kinds: kinds?.map(readKind),
        since,
        until,
      }
      const found = await activityPage(tx, filter, page)
      const name = await partyNames(tx)
      return listAnswer(
        tx,
        found,
        'events',
        found.rows.map((event) =>
          sparse({
            id: formatId('event', event.id),
            at: moment(event.at),
            by: name(event.actor),
            kind: event.kind,
            task: formatIdOr('task', event.task),
            title: event.title && start(event.title, 60).text,
            project: formatIdOr('project', event.project),
            object: event.object,
            ...shownData(event),
          }),
        ),
      )
    },
  }),
}

/** Who acted: a person, an agent, or `system` for what Done's own jobs did. */
async function readActor(tx: ReadTx, said: string): Promise<string> {
  if (said.trim().toLowerCase() === 'system') return 'system'
  const actor = await partyNamed(tx, said)
  if (actor === null)
    throw invalid('Every event has an actor.', { next: 'Leave actor out to see everybody’s.' })
  return actor
}

function readKind(kind: string): EventKind {
  if ((EVENT_KINDS as readonly string[]).includes(kind)) return kind as EventKind
  const near = nearest(kind, EVENT_KINDS)
  throw invalid(`There is no kind of event "${kind.slice(0, 80)}".`, {
    allowed: near.length > 0 ? near : EVENT_KINDS,
  })
}

/** How much of each value in an event is shown; get_task_history shows field changes in full. */
const SHOWN = 120

/** What an event carries, shortened; words that somebody gave with it are marked as material. */
function shownData(event: { data: string | null; title: string | null }): Record<string, unknown> {
  const { changes, note, reason, text, ...rest } = JSON.parse(event.data ?? '{}') as Record<string, unknown>
  if (rest.title === event.title) delete rest.title
  const material = note ?? reason ?? text
  return {
    changes: changes === undefined ? undefined : JSON.parse(JSON.stringify(changes), cut),
    about: Object.keys(rest).length === 0 ? undefined : JSON.parse(JSON.stringify(rest), cut),
    material: typeof material === 'string' ? start(material, SHOWN).text : undefined,
  }
}

function cut(_key: string, value: unknown): unknown {
  return typeof value === 'string' ? start(value, SHOWN).text : value
}
