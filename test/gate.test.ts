import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { TOOL_NAMES, WRITE_TOOLS } from '../src/tools/effects.ts'
import { onPostgres } from './database.ts'
import { DOORS, type Door } from './doors.ts'
import { grantFor } from './grant.ts'
import { type RunningServer, startServer } from './running.ts'

/**
 * Ways round the approval gate (spec: gate), by every door and with every credential of an agent: nothing closes, and what was
 * refused is on record. The numbers are those of the contract. What OAuth adds to the doors is in gate-oauth.test.ts.
 */
interface Way {
  says: string
  /** Brings about what the way needs, as a worker who may write; gives the ids by name. */
  given?: (at: Setup) => Promise<Record<string, string>>
  calls: (ids: Record<string, string>) => [tool: string, input: Record<string, unknown>][]
  /** Whether the last call itself must be refused to a token that may write. */
  refused: boolean
}

interface Setup {
  gated(title?: string, more?: object): Promise<string>
  autoOk(): Promise<string>
  call(tool: string, input: object): Promise<Record<string, any>>
  signOff(task: string): Promise<void>
  autoOkProject(): Promise<string>
}

const one = async (at: Setup) => ({ id: await at.gated() })

const WAYS: Way[] = [
  {
    says: '1 update with a status',
    given: one,
    calls: ({ id }) => [['update_task', { id, status: 'done' }]],
    refused: true,
  },
  ...['Done', 'done ', 'DONE', 'completed', 'closed', 'cancelled'].map(
    (status): Way => ({
      says: `2 update with the status "${status}"`,
      given: one,
      calls: ({ id }) => [['update_task', { id, status }]],
      refused: true,
    }),
  ),
  {
    says: '3 bulk, one gated among many',
    given: async (at) => ({ id: await at.gated(), other: await at.autoOk() }),
    calls: ({ id, other }) => [['update_tasks', { ids: [other, id], patch: { status: 'done' } }]],
    refused: true,
  },
  {
    says: '4 archive the project',
    given: async (at) => {
      const { id: project } = await at.call('create_project', { name: `Project ${Math.random()}` })
      return { project, id: await at.gated('In it', { project_id: project }) }
    },
    calls: ({ project }) => [['archive_project', { id: project }]],
    refused: true,
  },
  { says: '4 delete it', given: one, calls: ({ id }) => [['delete_task', { id }]], refused: false },
  {
    says: '5 the parent by its last child',
    given: async (at) => {
      const id = await at.gated('Parent')
      return { id, child: (await at.call('create_task', { title: 'Child', parent_id: id })).id }
    },
    calls: ({ child }) => [['complete_task', { id: child }]],
    refused: false,
  },
  {
    says: '5 the parent over its open child',
    given: async (at) => {
      const id = await at.gated('Parent')
      await at.call('create_task', { title: 'Child', parent_id: id })
      return { id }
    },
    calls: ({ id }) => [['complete_task', { id }]],
    refused: true,
  },
  {
    says: '5 the last step',
    given: async (at) => {
      const id = await at.gated('Stepwise', { steps: [{ title: 'The only one' }] })
      return { id, step: (await at.call('get_task', { id })).steps[0].id }
    },
    calls: ({ step }) => [['set_step_status', { id: step, status: 'done' }]],
    refused: false,
  },
  {
    says: '6 trash and restore',
    given: one,
    calls: ({ id }) => [
      ['delete_task', { id }],
      ['restore_from_trash', { ids: [id] }],
    ],
    refused: false,
  },
  {
    says: '7 the next occurrence of a signed-off one',
    given: async (at) => {
      const task = await at.gated('Weekly', { due: '2030-01-07', recurrence: 'every monday' })
      await at.signOff(task)
      return { id: (await at.call('list_tasks', { sort: 'created', limit: 1 })).tasks[0].id }
    },
    calls: ({ id }) => [['complete_task', { id }]],
    refused: false,
  },
  {
    says: '8 merge into an auto-OK task',
    given: async (at) => ({ id: await at.gated(), free: await at.autoOk() }),
    calls: ({ id, free }) => [['merge_tasks', { id: free, duplicates: [id] }]],
    refused: true,
  },
  {
    says: '9 create as done',
    calls: () => [['create_task', { title: 'Born done', status: 'done' }]],
    refused: true,
  },
  ...['auto_ok', 'approved', 'approver', 'confirm', 'force', 'skip_approval', 'actor'].map(
    (argument): Way => ({
      says: `10, 22, 40 complete with ${argument}`,
      given: one,
      calls: ({ id }) => [['complete_task', { id, [argument]: argument === 'approver' ? 'U1' : true }]],
      refused: true,
    }),
  ),
  {
    says: '10 a project’s default',
    given: async (at) => ({
      project: (await at.call('create_project', { name: `Project ${Math.random()}` })).id,
    }),
    calls: ({ project }) => [['update_project', { id: project, auto_ok_default: true }]],
    refused: true,
  },
  {
    says: '11 move to a project whose default is auto-OK',
    given: async (at) => ({ id: await at.gated(), project: await at.autoOkProject() }),
    calls: ({ id, project }) => [
      ['update_task', { id, project_id: project }],
      ['complete_task', { id }],
    ],
    refused: false,
  },
  {
    says: '15 again after reopening',
    given: async (at) => {
      const id = await at.gated()
      await at.signOff(id)
      return { id }
    },
    calls: ({ id }) => [
      ['reopen_task', { id }],
      ['complete_task', { id }],
    ],
    refused: false,
  },
  {
    says: '15 another target than was asked',
    given: async (at) => {
      const id = await at.gated()
      await at.call('complete_task', { id })
      return { id }
    },
    calls: ({ id }) => [['cancel_task', { id, reason: 'Never mind.' }]],
    refused: true,
  },
  {
    says: '31 with __proto__',
    given: one,
    calls: ({ id }) => [['complete_task', JSON.parse(`{"id":"${id}","__proto__":{"auto_ok":true}}`)]],
    refused: true,
  },
  {
    says: '31 with constructor',
    given: one,
    calls: ({ id }) => [['complete_task', { id, constructor: 'person' }]],
    refused: true,
  },
  {
    says: '42 rewrite an auto-OK task',
    given: async (at) => ({ id: await at.autoOk() }),
    calls: ({ id }) => [
      ['update_task', { id, title: 'Something else' }],
      ['complete_task', { id }],
    ],
    refused: false,
  },
  {
    says: 'complete it, plainly',
    given: one,
    calls: ({ id }) => [['complete_task', { id }]],
    refused: false,
  },
  {
    says: 'cancel it, plainly',
    given: one,
    calls: ({ id }) => [['cancel_task', { id, reason: 'x' }]],
    refused: false,
  },
  {
    says: '5 a run that succeeded',
    given: async (at) => {
      const id = await at.gated()
      return { id, run: (await at.call('start_run', { task_id: id })).run.id }
    },
    calls: ({ run }) => [['finish_run', { id: run, outcome: 'succeeded' }]],
    refused: false,
  },
]

/** A way for each different list of tools called. */
const ONE_OF_EACH = [...new Map(WAYS.map((way) => [toolsOf(way), way])).values()]

function toolsOf({ calls }: Way): string {
  return calls({})
    .map(([tool]) => tool)
    .join()
}

/** A token that may write, one that may read, and what a host was given over OAuth to read and write. */
type Credential = 'write token' | 'read token' | 'grant to write'

/**
 * The command line starts a process for each call, which takes longer than all other doors together, and longer still on
 * PostgreSQL. What it hands on is the same on both engines, so that all ways go through it on one of them; and a read token
 * is refused by the tool's name, before anything else of a call is looked at.
 */
function waysThrough(door: string, credential: Credential): Way[] {
  return door === 'command line' && (onPostgres() || credential === 'read token') ? ONE_OF_EACH : WAYS
}

/** A grant is good over HTTP alone. */
function credentialsThrough(door: string): Credential[] {
  if (door === 'command line' && onPostgres()) return ['write token']
  const overHttp = door === 'MCP HTTP' || door === 'REST'
  return ['write token', 'read token', ...(overHttp ? (['grant to write'] as const) : [])]
}

let server: RunningServer
/** Of one agent, so that a way is not refused for being somebody else's claim or request. */
let secrets: Record<Credential, string>
let worker: Door
let setup: Setup
const tally = { ways: 0, refusals: 0 }

beforeAll(async () => {
  server = await startServer()
  const site = { origin: server.site }
  const grant = await grantFor(site, await server.session(), {
    resource: server.site,
    access: 'write',
    agent: 'worker',
  })
  secrets = {
    'write token': await server.token('worker', 'write'),
    'read token': await server.token('worker', 'read'),
    'grant to write': grant.access,
  }
  worker = await DOORS['MCP HTTP']!(server, secrets['write token'])
  setup = await setupWith(server, worker)
})
afterAll(async () => {
  await worker.close()
  await server.stop()
  console.log(
    `gate: ${tally.ways} ways by door and credential, ${tally.refusals} refusals recorded, 0 closed`,
  )
})

describe.each(Object.keys(DOORS))('through %s', (doorName) => {
  describe.each(credentialsThrough(doorName))('with a %s', (credential) => {
    let door: Door
    beforeAll(async () => {
      door = await DOORS[doorName]!(server, secrets[credential])
    })
    afterAll(() => door.close())

    it.each(waysThrough(doorName, credential))('$says', async (way) => {
      const ids = (await way.given?.(setup)) ?? {}
      const before = await record()
      let last: string | undefined
      let refusals = 0
      for (const [tool, input] of way.calls(ids)) {
        last = (await door.call(tool, input)).code
        if (last) refusals++
      }
      if (credential === 'read token') expect(last).toBe('scope')
      else if (way.refused) expect(last).toBeDefined()
      const after = await record()
      expect(after.unsigned, 'nothing closed without a sign-off of its content').toEqual([])
      expect(after.refusals - before.refusals, 'each refusal is on record').toBe(refusals)
      tally.ways++
      tally.refusals += refusals
    })
  })
})

describe('over the whole catalogue', () => {
  it('no tool approves, copies, undoes, imports, purges, or makes credentials, members or sources', () => {
    const odd = TOOL_NAMES.filter((name) =>
      /approve|sign|copy|undo|revis|import|purge|token|invit|credential|auto|grant|_connector$|_member$|session/.test(
        name,
      ),
    )
    expect(odd).toEqual([])
  })

  it.each([
    'auto_ok',
    'approved',
    'approver',
    'confirm',
    'force',
    'skip_approval',
    'actor',
    'auto_ok_default',
  ])('every write refuses the argument %s', async (argument) => {
    for (const name of WRITE_TOOLS) {
      const { code } = await worker.call(name, { [argument]: true })
      expect(code, name).toBe('unknown_argument')
    }
  })

  it('every write but the step’s refuses a status', async () => {
    for (const name of WRITE_TOOLS) {
      if (name === 'set_step_status') continue
      expect((await worker.call(name, { status: 'done' })).code, name).toBe('unknown_argument')
    }
  })
})

/** Gated tasks that are closed without a sign-off of their content, and refusals on record, read from the database itself. */
async function record(): Promise<{ unsigned: unknown[]; refusals: number }> {
  const unsigned = await server.look(
    `SELECT t.id, t.closed_by FROM tasks t WHERE t.status IN ('done', 'cancelled') AND t.auto_ok = 0
     AND NOT EXISTS (SELECT 1 FROM sign_offs s WHERE s.account = t.account AND s.task = t.id AND s.target = t.status
       AND s.content_version = t.content_version AND s.content_hash = t.content_hash AND s.approver LIKE 'U%')`,
  )
  const [refusals] = await server.look('SELECT COUNT(*) AS n FROM refusals')
  return { unsigned, refusals: Number(refusals!.n) }
}

async function setupWith(at: RunningServer, door: Door): Promise<Setup> {
  const cookie = await at.session()
  const call = async (tool: string, input: object) => {
    const { code, body } = await door.call(tool, input as Record<string, unknown>)
    if (code) throw new Error(`${tool}: ${JSON.stringify(body)}`)
    return body
  }
  const ask = async (method: string, path: string, body?: object) => {
    const answer = await at.people(cookie, method, path, body)
    if (answer.status >= 400) throw new Error(`${path}: ${JSON.stringify(answer.body)}`)
    return answer.body
  }
  let made = 0
  const gated: Setup['gated'] = async (title = 'Gated', more = {}) =>
    (await call('create_task', { title: `${title} ${++made}`, ...more })).id
  return {
    call,
    gated,
    async autoOk() {
      const id = await gated('Free')
      await ask('PUT', `/tasks/${id}/auto-ok`, { auto_ok: true })
      return id
    },
    async signOff(id) {
      const { request } = await call('complete_task', { id })
      const { form } = await ask('GET', `/sign-offs/${request}`)
      await ask('POST', `/sign-offs/${request}/approve`, {
        version: form.version,
        hash: form.hash,
        nonce: form.nonce,
      })
    },
    async autoOkProject() {
      const { id } = await call('create_project', { name: `Free ${++made}` })
      await ask('PUT', `/projects/${id}/auto-ok`, { auto_ok: true })
      return id
    },
  }
}
