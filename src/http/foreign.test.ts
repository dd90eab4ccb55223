import { Agent, request } from 'node:http'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type HttpWorld, newHttpWorld } from '../../test/http.ts'
import { mcpMessage } from '../../test/mcp-call.ts'
import { difference, isEmpty, snapshot } from '../../test/observer.ts'
import { type Route, unsafeRoutes } from '../../test/routes.ts'
import { times } from '../../test/times.ts'

/**
 * Every unsafe route, with the cookie of an owner who has just signed in, from wherever a request can come (gate, way 25).
 * What is ours is said here by the rules themselves, not by the code that is tested.
 */

/** The values of a header, one a line; none where it is absent. */
type Lines = readonly string[]

interface Sender {
  says: string
  host: Lines
  origin: Lines
  site: Lines
  mode?: string
  dest?: string
}

/** `ours`; `elsewhere`; `silent` where a browser of before Fetch Metadata, or no browser at all, says nothing of where from. */
type Whence = 'ours' | 'elsewhere' | 'silent'

let door: HttpWorld
let routes: Route[]
let cookie: string
const agent = new Agent({ keepAlive: true, maxSockets: 8 })

beforeAll(async () => {
  door = await newHttpWorld()
  cookie = (await door.browser()).headers.cookie!
  routes = unsafeRoutes(door)
})
afterAll(async () => {
  agent.destroy()
  await door.close()
})

/** Who may send. Names and ports are those of the server of this test. */
function senders(port: number): Sender[] {
  const own = `127.0.0.1:${port}`
  const here = `http://${own}`
  const made = new Map<string, Sender>()
  const add = (host: Lines, origin: Lines, site: Lines, more: Partial<Sender> = {}) => {
    const says = JSON.stringify({ host, origin, site, ...more }).replaceAll(String(port), 'PORT')
    made.set(says, { says, host, origin, site, ...more })
  }
  const origins: Lines[] = [
    [],
    [''],
    [here],
    ['null'],
    [`http://localhost:${port}`],
    [`http://[::1]:${port}`],
    [`http://127.0.0.1:${port + 1}`],
    ['http://127.0.0.1'],
    [`https://${own}`],
    [`ws://${own}`],
    [`http://sub.localhost:${port}`],
    [`http://${own}.evil.example`],
    [`http://evil.example:${port}`],
    ['https://evil.example'],
    [`${here}/`],
    [`${here}/account`],
    [`http://127.0.0.1.:${port}`],
    [`HTTP://${own}`],
    [`http://owner@${own}`],
    [`http://2130706433:${port}`],
    [`http://127.1:${port}`],
    [own],
    ['file://'],
    ['chrome-extension://abcdefghijklmnop'],
    [here, here],
    [here, 'https://evil.example'],
    ['https://evil.example', here],
    [`${here} https://evil.example`],
  ]
  const sites: Lines[] = [
    [],
    [''],
    ['same-origin'],
    ['same-site'],
    ['cross-site'],
    ['none'],
    ['Same-Origin'],
    ['same-origin;a=b'],
    ['"same-origin"'],
    ['nonsense'],
    ['same-origin', 'cross-site'],
    ['same-origin', 'same-origin'],
  ]
  const hosts: Lines[] = [
    [],
    [''],
    [`localhost:${port}`],
    [`LocalHost:${port}`],
    [`[::1]:${port}`],
    ['127.0.0.1'],
    [`127.0.0.1:${port + 1}`],
    ['localhost'],
    [`localhost.:${port}`],
    ['evil.example'],
    [`evil.example:${port}`],
    [`127.0.0.1.evil.example:${port}`],
    [`owner@${own}`],
    [`127.1:${port}`],
    [own, 'evil.example'],
    ['evil.example', own],
    [own, own],
    [`${own}, evil.example`],
  ]
  for (const origin of origins) for (const site of sites.slice(0, times(3, 6))) add([own], origin, site)
  for (const site of sites) for (const origin of [here, 'null']) add([own], [origin], site)
  for (const host of hosts) {
    const name = host.find((each) => each !== own)?.toLowerCase() ?? own
    for (const site of [[], ['same-origin']]) add(host, [`http://${name}`], site)
    add(host, [here], ['same-origin'])
  }
  for (const [mode, dest] of [
    ['navigate', 'document'],
    ['navigate', 'iframe'],
    ['no-cors', 'image'],
    ['cors', 'empty'],
    ['websocket', 'empty'],
    ['nonsense', 'nonsense'],
  ] as const)
    for (const site of ['same-origin', 'cross-site', 'none'])
      add([own], site === 'cross-site' ? ['https://evil.example'] : [here], [site], { mode, dest })
  return [...made.values()]
}

/**
 * Where a request comes from.
 *
 * - Host (RFC 9112, 3.2): exactly one, else the request is malformed; of the names under which this server is known, in any
 *   case of letters (RFC 3986, 3.2.2). Any other is somebody's name pointed at us.
 * - Sec-Fetch-Site (Fetch Metadata, 2.4): a structured token (RFC 9651), so its letters have one case and it stands once. Only
 *   `same-origin` says that a page of this origin sent it. `none` says that no page did, so another sign has to speak for it.
 * - Origin (RFC 6454, 6.2 and 7.3; RFC 9110, 7.2): the serialised origin of the page, byte for byte, of scheme, host and port.
 *   `null` says nothing of where from (Fetch, "append a request Origin header": so it is by a referrer policy like ours).
 */
function whence({ host, origin, site }: Sender, port: number): Whence {
  const names = ['127.0.0.1', 'localhost', '[::1]'].map((name) => `${name}:${port}`)
  const [name = ''] = host
  if (host.length !== 1 || !names.includes(name.toLowerCase())) return 'elsewhere'
  const isOrigin = origin.length === 1 && origin[0] === `http://${name.toLowerCase()}`
  const isNamed = origin.length > 0 && !(origin.length === 1 && origin[0] === 'null')
  if (isNamed && !isOrigin) return 'elsewhere'
  if (site.length > 1) return 'elsewhere'
  if (site[0] === 'same-origin') return 'ours'
  if (site.length === 0 && origin.length === 0) return 'silent'
  return isOrigin && (site.length === 0 || site[0] === 'none') ? 'ours' : 'elsewhere'
}

/**
 * Where the cookie is no authority, so that a request which says nothing of where from may be a program's: what begins a
 * session, what programs ask of the authorization server, and `/mcp`. Every other route wants to be told, a new one too.
 */
const takesSilent = ({ path }: Route) =>
  /^\/(sign-in|join|oauth)\//.test(`${path}/`) && path !== '/sign-in/again' ? true : path === '/mcp'

/** Where nothing takes these methods: addresses that answer every method and only say so. */
const isOnlyRead = ({ path }: Route) => path.startsWith('/.well-known/')

interface Reply {
  status: number
  headers: Record<string, unknown>
}

let sent = 0

/** Sends exactly these lines of headers. Each comes from an address of its own, so that no limit of tries says no first. */
function send(
  route: Route,
  sender: Sender,
  more: Record<string, string>,
  method = route.method,
): Promise<Reply> {
  const { host, origin, site, mode, dest } = sender
  const body = route.body ? JSON.stringify(route.body) : 'note=x'
  sent++
  const headers: string[] = [
    ...host.flatMap((each) => ['Host', each]),
    ...origin.flatMap((each) => ['Origin', each]),
    ...site.flatMap((each) => ['Sec-Fetch-Site', each]),
    ...(mode ? ['Sec-Fetch-Mode', mode] : []),
    ...(dest ? ['Sec-Fetch-Dest', dest] : []),
    'Content-Type',
    route.body ? 'application/json' : 'application/x-www-form-urlencoded',
    'Content-Length',
    String(Buffer.byteLength(body)),
    'X-Forwarded-For',
    `10.${(sent >> 16) & 255}.${(sent >> 8) & 255}.${sent & 255}`,
    ...Object.entries(more).flat(),
  ]
  return new Promise((resolve, reject) => {
    const { port } = door.server
    const asked = request({ port, host: '127.0.0.1', path: route.path, method, agent, headers }, (answer) => {
      answer.resume()
      answer.on('end', () => resolve({ status: answer.statusCode ?? 0, headers: answer.headers }))
      answer.on('error', reject)
    })
    asked.on('error', reject)
    asked.end(body)
  })
}

/** In every run a route meets a third of the senders, each its own third, and in the long run all of them. */
const meets = (route: Route) => (_: unknown, i: number) => (i + routes.indexOf(route)) % times(3, 1) === 0

/** Sends all at once that go together; the agent lets a few out at a time. */
const all = <T>(each: readonly T[], run: (one: T) => Promise<void>) => Promise.all(each.map(run))

describe('with the cookie of an owner who has just signed in', () => {
  it('nothing from elsewhere is let in by any unsafe route, and no row changes', {
    timeout: 300_000,
  }, async () => {
    const { port } = door.server
    const combinations = senders(port).filter((each) => whence(each, port) !== 'ours')
    const before = await snapshot(door.world)
    const tally = { elsewhere: 0, silent: 0 }
    for (const route of routes) {
      const met = combinations.filter(meets(route))
      expect(met.length).toBeGreaterThanOrEqual(40)
      await all(met, async (sender) => {
        const from = whence(sender, port)
        if (from === 'silent' && takesSilent(route)) return
        tally[from === 'silent' ? from : 'elsewhere']++
        const { status, headers } = await send(route, sender, { Cookie: cookie })
        // 400: a request without one Host that can be read is none; 405: nothing there takes the method, from whomever.
        const refusals = [400, 403, 405, ...(route.path === '/mcp' ? [401] : isOnlyRead(route) ? [404] : [])]
        expect(refusals, `${route.method} ${route.path} from ${sender.says}`).toContain(status)
        if (status === 400) expect(sender.host, sender.says).not.toEqual([door.host])
        expect(headers['access-control-allow-origin']).toBeUndefined()
      })
    }
    expect(difference(before, await snapshot(door.world))).toSatisfy(isEmpty)
    expect(combinations.filter((each) => whence(each, port) === 'elsewhere').length).toBeGreaterThanOrEqual(
      40,
    )
    console.log(
      `foreign: ${routes.length} unsafe routes, ${combinations.length} combinations; ${tally.elsewhere} requests from elsewhere and ${tally.silent} that did not say, none let in`,
    )
  })

  it('none is asked for beforehand by a page of another origin (CORS)', async () => {
    const sender = {
      says: '',
      host: [door.host],
      origin: ['https://evil.example'],
      site: ['cross-site'],
      mode: 'cors',
    }
    await all(routes, async (route) => {
      const asks = {
        Cookie: cookie,
        'Access-Control-Request-Method': route.method,
        'Access-Control-Request-Headers': 'authorization,content-type',
      }
      const { headers } = await send(route, sender, asks, 'OPTIONS')
      const allowed = Object.keys(headers).filter((name) => name.startsWith('access-control-allow'))
      expect([route.path, allowed]).toEqual([route.path, []])
    })
  })

  it('what comes from a page of ours is let in', { timeout: 300_000 }, async () => {
    const { port } = door.server
    const ours = senders(port).filter((each) => whence(each, port) === 'ours' && each.mode === undefined)
    expect(ours.length).toBeGreaterThanOrEqual(5)
    // No cookie opens `/mcp`, from wherever it comes.
    for (const route of routes.filter(({ path }) => path !== '/mcp')) {
      for (const sender of ours.filter(meets(route))) {
        let { status } = await send(route, sender, { Cookie: cookie })
        if (status === 401) {
          // It has been signed out by one of these requests; whoever signs in so often has to wait.
          door.world.pass(60_000)
          cookie = (await door.browser()).headers.cookie!
          ;({ status } = await send(route, sender, { Cookie: cookie }))
        }
        expect(status, `${route.method} ${route.path} from ${sender.says}`).not.toBe(403)
      }
    }
  })
})

it('a page of another origin can do nothing at the MCP endpoint, even with a token', async () => {
  const { port } = door.server
  const { headers, body } = mcpMessage('create_task', { title: 'From a page' })
  const { 'content-type': _, ...rest } = headers
  const route = { method: 'POST', path: '/mcp', body }
  const before = await snapshot(door.world)
  const bearer = { ...rest, authorization: `Bearer ${door.world.scout.token}` }
  // Browsers put an Origin on every POST (Fetch, "append a request Origin header"), so that is what decides here.
  const pages = senders(port).filter(({ origin }) => origin.length > 0)
  await all(pages, async (sender) => {
    const asked = { ...sender, site: [] }
    if (whence(asked, port) === 'ours') return
    expect([400, 403], sender.says).toContain((await send(route, asked, bearer)).status)
  })
  expect(difference(before, await snapshot(door.world))).toSatisfy(isEmpty)
  const own = { says: 'ours', host: [door.host], origin: [door.origin], site: ['same-origin'] }
  expect((await send(route, own, bearer)).status).toBe(200)
  expect((await send(route, { ...own, origin: [], site: [] }, bearer)).status).toBe(200)
})
