import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { PEOPLE_ADDRESSES, TOOL_ADDRESSES } from '../src/http/rest.ts'
import { FRESH_MS } from '../src/model/actor.ts'
import { grantFor } from './grant.ts'
import { neverWas } from './hidden.ts'
import { type Client, type HttpWorld, linkFor, newHttpWorld } from './http.ts'
import { mcpMessage } from './mcp-call.ts'
import { difference, isEmpty, snapshot } from './observer.ts'
import { type Input, probesOf, put } from './probes.ts'
import { restCall } from './rest-call.ts'

/**
 * `docs/access.md` says who may do what. Here each call is made for real, with each kind of credential, by REST and by MCP;
 * and what the page does not name, other methods at the same addresses, is refused.
 */
interface Row {
  name: string
  rest: string
  needs: string
  fresh: string
  /** By kind of credential what the page says. */
  says: Record<string, string>
}

const KINDS = [
  'read token',
  'write token',
  'grant to read',
  'grant to write',
  'viewer',
  'member',
  'owner',
] as const
const ROWS = documented(readFileSync(join(import.meta.dirname, '../docs/access.md'), 'utf8'))
const ADDRESSES = [...TOOL_ADDRESSES, ...PEOPLE_ADDRESSES]
const TOOLS = new Set(TOOL_ADDRESSES.map(({ name }) => name))

function documented(page: string): Row[] {
  const cellsOf = (line: string) =>
    line
      .slice(2, -2)
      .split(' | ')
      .map((cell) => cell.trim().replaceAll('`', ''))
  let head: string[] = []
  const rows: Row[] = []
  for (const line of page.split('\n').filter((each) => each.startsWith('| '))) {
    const cells = cellsOf(line)
    if (!line.startsWith('| `')) {
      if (!cells[0]!.startsWith('-')) head = cells
      continue
    }
    const {
      REST = '',
      needs = '',
      fresh = '',
      ...says
    } = Object.fromEntries(head.map((name, i) => [name, cells[i]!]))
    rows.push({ name: cells[0]!, rest: REST, needs, fresh, says })
  }
  return rows
}

let door: HttpWorld
const tokens = new Map<string, string>()
const clients = new Map<string, () => Promise<Client>>()
const tally = { rest: 0, mcp: 0, methods: 0 }

beforeAll(async () => {
  door = await newHttpWorld()
  const { world } = door
  tokens.set('read token', world.reader.token!)
  tokens.set('write token', world.scout.token!)
  const { cookie } = (await door.browser()).headers
  for (const access of ['read', 'write'] as const) {
    const given = await grantFor(door, cookie!, { resource: door.origin, access, agent: `For ${access}` })
    tokens.set(`grant to ${access}`, given.access)
  }
  for (const [kind, token] of tokens) clients.set(kind, async () => door.agent(token))
  clients.set('owner', () => door.browser())
  for (const [kind, name] of [
    ['viewer', 'Vera'],
    ['member', 'Max'],
  ] as const)
    clients.set(kind, async () => door.browser(await linkFor(world, name, kind)))
})
afterAll(async () => {
  console.log(
    `access: ${tally.rest} calls over REST and ${tally.mcp} over MCP as documented; ${tally.methods} other methods, none of them a write`,
  )
  await door.close()
})

const known = new Map<string, Client>()
async function clientOf(kind: string): Promise<Client> {
  const client = known.get(kind) ?? (await clients.get(kind)!())
  known.set(kind, client)
  return client
}

/** The example of a call, about things that never were, so that none is taken from those who come after. */
function exampleOf(name: string): Input {
  const { tool } = ADDRESSES.find((each) => each.name === name)!
  return probesOf([tool.example]).reduce(
    (input, { place }) => put(input, place, neverWas(String(at(input, place)))),
    tool.example,
  )
}

const at = (input: unknown, place: readonly (string | number)[]): unknown =>
  place.reduce((value, key) => (value as Record<string, unknown>)[key], input)

function callOf(name: string) {
  const { method, path, body } = restCall(ADDRESSES.find((each) => each.name === name)!, exampleOf(name))
  return { method, path, sent: body ? { body } : {} }
}

/** What an answer says where this caller may not make this call, whatever it is about. */
const REFUSALS = new Set(['scope', 'people_only'])

it('the page has every tool and every operation, at its address, for every kind of credential', () => {
  const stands = (rows: readonly { name: string; rest: string }[]) =>
    rows.map(({ name, rest }) => `${name} ${rest}`)
  expect(stands(ROWS)).toEqual(
    stands(ADDRESSES.map(({ name, method, path }) => ({ name, rest: `${method} ${path}` }))),
  )
  for (const { says } of ROWS) expect(Object.keys(says).slice(1)).toEqual(KINDS)
})

describe.each(ROWS)('$name', ({ name, says }) => {
  it('is by REST what the page says', async () => {
    const { method, path, sent } = callOf(name)
    for (const kind of KINDS) {
      const answer = await (await clientOf(kind)).send(method, path, sent)
      const refused = says[kind] !== 'yes'
      const code = answer.json.error?.code
      expect([kind, answer.status === 403, REFUSALS.has(code)], answer.text).toEqual([kind, refused, refused])
      expect([401, 405, 500], `${kind}: ${answer.text}`).not.toContain(answer.status)
      tally.rest++
    }
    // Whoever may has ended their session by that.
    if (name === 'sign_out') known.clear()
  })

  it('is by MCP what the page says', async () => {
    const message = mcpMessage(name, exampleOf(name))
    for (const kind of KINDS) {
      const token = tokens.get(kind)
      const secret = token ?? (await clientOf(kind)).headers.cookie!.split('=')[1]!
      const headers = { ...message.headers, authorization: `Bearer ${secret}` }
      const answer = await door.nobody.send('POST', '/mcp', { headers, body: message.body })
      tally.mcp++
      if (!token) expect(answer.status, 'a person’s session is no bearer’s').toBe(401)
      else if (!TOOLS.has(name)) expect(answer.json.error.code, 'there is no such tool').toBe(-32602)
      else {
        const { result } = answer.json
        const refused = answer.status === 403 || REFUSALS.has(result.structuredContent.error?.code)
        expect([kind, refused], answer.text).toEqual([kind, says[kind] !== 'yes'])
        // A host that came by OAuth is told so that it can ask its person for more.
        const stepsUp = String(answer.headers['www-authenticate']).includes('insufficient_scope')
        expect([kind, stepsUp]).toEqual([kind, refused && kind.startsWith('grant')])
      }
    }
  })
})

it('what is good for the MCP endpoint alone is nobody in REST', async () => {
  const { cookie } = (await door.browser()).headers
  const { access } = await grantFor(door, cookie!, {
    resource: `${door.origin}/mcp`,
    access: 'write',
    agent: 'For MCP',
  })
  const message = mcpMessage('get_me', {})
  const headers = { ...message.headers, authorization: `Bearer ${access}` }
  const answer = await door.nobody.send('POST', '/mcp', { headers, body: message.body })
  expect(answer.json.result.structuredContent.name).toBe('For MCP')
  for (const { name } of ROWS) {
    const { method, path, sent } = callOf(name)
    expect([name, (await door.agent(access).send(method, path, sent)).status]).toEqual([name, 401])
  }
})

it('no other method at an address is let in, by whoever may do the most', async () => {
  const before = await snapshot(door.world)
  const patterns = ADDRESSES.map(({ method, path }) => ({
    method,
    pattern: new RegExp(`^${path.replace(/:\w+/g, '[^/]+')}$`),
  }))
  const METHODS = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'PROPFIND', 'PURGE', 'QUERY', 'TRACE']
  const most = await Promise.all(['owner', 'write token'].map(clientOf))
  for (const { name } of ROWS) {
    const [path = ''] = callOf(name).path.split('?')
    const own = new Set(patterns.flatMap(({ method, pattern }) => (pattern.test(path) ? [method] : [])))
    for (const method of METHODS) {
      if (own.has((method === 'HEAD' ? 'GET' : method) as 'GET')) continue
      for (const client of most) {
        const body = method === 'GET' || method === 'HEAD' || method === 'TRACE' ? undefined : exampleOf(name)
        const { status } = await client.send(method, path, body ? { body } : {})
        expect([method, path, [404, 405].includes(status)]).toEqual([method, path, true])
        tally.methods++
      }
    }
    const options = await most[0]!.send('OPTIONS', path)
    expect([options.status, options.text]).toEqual([204, ''])
  }
  expect(difference(before, await snapshot(door.world))).toSatisfy(isEmpty)
})

// The clock is moved, so it comes last.
describe('a sign-in of more than 15 minutes ago', () => {
  beforeAll(async () => {
    await clientOf('owner')
    door.world.pass(FRESH_MS + 1000)
  })

  it.each(ROWS.filter(({ name }) => name !== 'sign_out'))('$name', async ({ name, fresh }) => {
    const owner = known.get('owner')!
    const { method, path, sent } = callOf(name)
    const answer = await owner.send(method, path, sent)
    expect(answer.json?.error?.code === 'people_only', answer.text).toBe(fresh === 'yes')
  })
})
