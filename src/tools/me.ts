import { z } from 'zod'
import generated from '../generated/hashes.json' with { type: 'json' }
import type { ActorId } from '../model/actor.ts'
import { formatId } from '../model/id.ts'
import { LIMITS } from '../model/task.ts'
import { accountOf } from '../store/account.ts'
import { partyNames } from '../store/actor.ts'
import { newsFor } from '../store/news.ts'
import { markRead, newestNews, newsPage } from '../store/notification.ts'
import { projectNames } from '../store/project.ts'
import { openRunsOf } from '../store/run.ts'
import { idOf, page } from './fields.ts'
import { newsRows } from './news-row.ts'
import { read, write } from './tool.ts'
import { clockOf, listAnswer, moment, sparse, start } from './view.ts'

export const meTools = {
  get_me: read({
    title: 'Who am I',
    does: 'Who you are here: agent or person, owner, account, scopes, presets, today and zone, limits, open runs, hash of the tool list.',
    toolset: 'me',
    input: z.strictObject({}),
    output: z.looseObject({
      id: z.string(),
      kind: z.string(),
      scopes: z.array(z.string()),
      today: z.string(),
      time_zone: z.string(),
      tools_hash: z.string(),
    }),
    http: 'GET /me',
    example: {},
    run: async (tx) => {
      const { actor } = tx
      const name = await partyNames(tx)
      const account = await accountOf(tx)
      const projects = await projectNames(tx, actor.projects ?? [])
      const runs = await openRunsOf(tx, actor.id as ActorId, 10)
      return {
        id: actor.id,
        name: actor.name,
        kind: actor.kind,
        ...(actor.kind === 'person' ? { role: actor.role } : {}),
        owner: name(actor.owner) ?? actor.owner,
        account: account.name,
        scopes: actor.scopes,
        presets: actor.presets ?? ['all'],
        projects: actor.projects
          ? actor.projects.map((id) => projects.get(id) ?? formatId('project', id))
          : 'all',
        ...clockOf(tx),
        now: moment(tx.now),
        lease_minutes: account.lease_ms / 60_000,
        limits: LIMITS,
        runs: runs.map((run) =>
          sparse({
            id: formatId('run', run.id),
            task: `${formatId('task', run.task)} ${start(run.title, 60).text}`,
            state: run.state,
            last_sign: moment(run.last_sign_at),
          }),
        ),
        ...(await newsFor(tx)),
        tools_hash: generated.tools,
      }
    },
  }),

  list_notifications: read({
    title: 'List notifications',
    does: 'All news for you, newest first, with an unread flag; marks nothing.',
    toolset: 'me',
    input: z.strictObject({ unread_only: z.boolean().optional(), ...page }),
    output: z.looseObject({
      today: z.string(),
      showing: z.int(),
      notifications: z.array(z.looseObject({ id: z.string() })),
    }),
    http: 'GET /notifications',
    example: { unread_only: true },
    run: async (tx, { unread_only, ...page }) => {
      const found = await newsPage(tx, unread_only ?? false, page)
      return listAnswer(tx, found, 'notifications', await newsRows(tx, found.rows, 160))
    },
  }),

  mark_notifications_read: write({
    title: 'Mark notifications read',
    does: 'Mark your notifications read up to one of them, that one included.',
    toolset: 'me',
    convergent: true,
    input: z.strictObject({ up_to: idOf('notification') }),
    output: z.looseObject({ up_to: z.string(), unread: z.int() }),
    http: 'POST /notifications/read',
    example: { up_to: 'N2' },
    run: async (tx, { up_to }) => {
      const marked = await markRead(tx, up_to)
      const left = await newestNews(tx, true, 100)
      return {
        up_to: formatId('notification', up_to),
        marked,
        unread: left.length,
        ...(marked === 0 ? { already: true } : {}),
      }
    },
  }),
}
