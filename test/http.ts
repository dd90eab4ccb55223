import { type IncomingHttpHeaders, request } from 'node:http'
import { issueSignInLink, LINK_MS } from '../src/auth/console.ts'
import { hashSecret, newSecret } from '../src/auth/secret.ts'
import { openDoors } from '../src/doors.ts'
import type { HttpServer } from '../src/http/server.ts'
import type { Role } from '../src/model/actor.ts'
import type { Outbound } from '../src/outbound/client.ts'
import { createPerson } from '../src/store/account.ts'
import { createSignInLink } from '../src/store/credential.ts'
import { newWorld, type World } from './world.ts'

/** What a request got back. */
interface Answer {
  status: number
  headers: IncomingHttpHeaders
  text: string
  json: any
}

interface Sent {
  headers?: Record<string, string>
  /** An object goes as JSON, a string as it is. */
  body?: unknown
}

/** Somebody who sends requests with one credential. */
export interface Client {
  send(method: string, path: string, sent?: Sent): Promise<Answer>
  get(path: string): Promise<Answer>
  post(path: string, body?: unknown): Promise<Answer>
  /** Sends a form as the browser does from a page of ours. */
  form(path: string, fields: Record<string, string>): Promise<Answer>
  headers: Record<string, string>
}

/** A world with its server, reached through real sockets. */
export interface HttpWorld {
  world: World
  server: HttpServer
  host: string
  origin: string
  /** Whoever sends these headers. */
  client(headers: Record<string, string>): Client
  nobody: Client
  /** How a browser asks that has opened Done as localhost; there is no passkey for a bare address. */
  named: Record<'host' | 'origin' | 'sec-fetch-site', string>
  /** With an agent's token. */
  agent(token: string): Client
  /** Sends a form as a browser does in which nobody is signed in. */
  enter(path: string, fields: Record<string, string>): Promise<Answer>
  /** A browser with the session that an answer has begun. */
  browserOf(answer: Answer): Client
  /** A person's browser, freshly signed in through the page. */
  browser(link?: string): Promise<Client>
  close(): Promise<void>
}

/**
 * @param given a world to put the server before; a new one by default
 * @param ask how the server asks others
 */
export async function newHttpWorld(given?: World, ask?: Outbound): Promise<HttpWorld> {
  const world = given ?? (await newWorld())
  const server = await openDoors({
    done: world.done,
    config: {
      host: '127.0.0.1',
      port: 0,
      site: 'http://127.0.0.1:0',
      trustedProxies: ['127.0.0.1'],
      allowOutbound: [],
    },
    ...(ask ? { ask } : {}),
  })
  const host = `127.0.0.1:${server.port}`
  const origin = `http://${host}`

  function client(headers: Record<string, string>): Client {
    const all = (method: string, path: string, sent: Sent = {}) =>
      send(server.port, method, path, { ...sent, headers: { host, ...headers, ...sent.headers } })
    return {
      headers,
      send: all,
      get: (path) => all('GET', path),
      post: (path, body = {}) => all('POST', path, { body }),
      form: (path, fields) =>
        all('POST', path, {
          headers: { 'content-type': 'application/x-www-form-urlencoded' },
          body: new URLSearchParams(fields).toString(),
        }),
    }
  }

  const page = { origin, 'sec-fetch-site': 'same-origin' }

  function browserOf({ headers }: Answer): Client {
    const [cookie = ''] = (headers['set-cookie']?.[0] ?? '').split(';')
    return client({ ...page, cookie })
  }

  const name = `localhost:${server.port}`

  return {
    world,
    server,
    named: { host: name, origin: `http://${name}`, 'sec-fetch-site': 'same-origin' },
    host,
    origin,
    client,
    nobody: client({}),
    agent: (token) => client({ authorization: `Bearer ${token}` }),
    enter: client(page).form,
    browserOf,
    async browser(link) {
      const path = link ?? (await issueSignInLink(world.done.store, world.account))
      const signedIn = await client(page).send('POST', path)
      if (signedIn.status !== 303) throw new Error(`Signing in answered ${signedIn.status}.`)
      return browserOf(signedIn)
    },
    async close() {
      await server.close()
      await world.close()
    },
  }
}

/** One request as it is: fetch would set or refuse some of the headers that matter here. */
function send(port: number, method: string, path: string, { headers = {}, body }: Sent): Promise<Answer> {
  const text = body === undefined ? undefined : typeof body === 'string' ? body : JSON.stringify(body)
  const type = text === undefined || typeof body === 'string' ? {} : { 'content-type': 'application/json' }
  return new Promise((resolve, reject) => {
    const sent = request(
      {
        port,
        host: '127.0.0.1',
        method,
        path,
        agent: false,
        setHost: false,
        headers: {
          ...type,
          ...(text === undefined ? {} : { 'content-length': Buffer.byteLength(text) }),
          ...headers,
        },
      },
      (response) => {
        const parts: Buffer[] = []
        response.on('data', (part) => parts.push(part))
        response.on('error', reject)
        response.on('end', () => {
          const answer = Buffer.concat(parts).toString()
          const { statusCode: status = 0, headers } = response
          resolve({
            status,
            headers,
            text: answer,
            json: /json/.test(headers['content-type'] ?? '') && answer ? JSON.parse(answer) : undefined,
          })
        })
      },
    )
    sent.on('error', reject)
    sent.end(text)
  })
}

/** The hidden fields of the approving form of a page. */
export function formOf(page: string): { version: string; hash: string; nonce: string } {
  const field = (name: string) => new RegExp(`name="${name}" value="([^"]*)"`).exec(page)?.[1] ?? ''
  return { version: field('version'), hash: field('hash'), nonce: field('nonce') }
}

/** A sign-in link for somebody new in the world's account. */
export async function linkFor(world: World, name: string, role: Role): Promise<string> {
  const secret = newSecret('in')
  await world.done.store.write(world.ana.actor, 'test', async (tx) => {
    const person = await createPerson(tx, { name, role })
    await createSignInLink(tx, {
      hash: hashSecret(secret),
      person: Number(person.slice(1)),
      began: 'console_link',
      wants_code: 0,
      expires_at: tx.now + LINK_MS,
    })
  })
  return `/sign-in/${secret}`
}
