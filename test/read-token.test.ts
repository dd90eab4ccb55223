import { Agent, request } from 'node:http'
import fc from 'fast-check'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { addAccount } from '../src/auth/accounts.ts'
import { issueToken } from '../src/auth/console.ts'
import { PEOPLE_ADDRESSES, TOOL_ADDRESSES } from '../src/http/rest.ts'
import { AppError } from '../src/model/error.ts'
import { peopleCall } from '../src/people/call.ts'
import { type Command, commands, type Sent } from './fuzz.ts'
import { newHiddenWorld } from './hidden.ts'
import { type HttpWorld, newHttpWorld } from './http.ts'
import { difference, isEmpty, snapshot } from './observer.ts'
import { times } from './times.ts'
import type { Worker, World } from './world.ts'

/**
 * Whoever has a read token tries to write: every tool and operation that writes, with what their schemas take and with
 * garbage, through every door in this process, and with all that has ever made a server take one request for another.
 */
const SEED = 20_261_201
const TRIES = times(500, 5000)
const WRITES = [...TOOL_ADDRESSES, ...PEOPLE_ADDRESSES].filter(({ tool }) => tool.effect !== 'read')

let world: World
let door: HttpWorld

beforeAll(async () => {
  const made = await newHiddenWorld()
  world = made.world
  door = await newHttpWorld(world)
  for (const name of ['Beta', 'Gamma']) {
    const account = await addAccount(world.done.store, { name, owner: 'Olga', zone: 'Europe/Madrid' })
    await issueToken(world.done.store, account, 'scout', { scopes: 'read write' })
  }
})
afterAll(async () => {
  agent.destroy()
  await door.close()
})

/** Sends exactly these lines, on one of a few connections. */
const agent = new Agent({ keepAlive: true, maxSockets: 8 })
function send({ method, path, headers, body }: Sent): Promise<{ status: number; text: string }> {
  return new Promise((resolve, reject) => {
    const lines = [['Host', door.host], ...headers]
    const length = body === undefined ? [] : ['Content-Length', String(Buffer.byteLength(body))]
    const asked = request(
      {
        port: door.server.port,
        host: '127.0.0.1',
        method,
        path,
        agent,
        headers: [...lines.flat(), ...length],
      },
      (answer) => {
        const parts: Buffer[] = []
        answer.on('data', (part) => parts.push(part))
        answer.on('end', () =>
          resolve({ status: answer.statusCode ?? 0, text: Buffer.concat(parts).toString() }),
        )
        answer.on('error', reject)
      },
    )
    asked.on('error', reject)
    asked.end(body)
  })
}

/** Makes a try. Gives how it was refused, or that it was let in: a read by GET may be. */
async function tried(command: Command, by: Worker): Promise<string> {
  if ('sent' in command) {
    const { status, text } = await send(command.sent)
    const code = /"code":"(\w+)"/.exec(text)?.[1] ?? /"code":(-\d+)/.exec(text)?.[1]
    return status >= 500 ? 'fault' : (code ?? (status < 400 ? 'let in' : String(status)))
  }
  const call = command.door === 'call' ? world.done.call : peopleCall(world.done)
  try {
    await call(by.actor, command.name, command.input, { presets: command.presets })
    return 'let in'
  } catch (error) {
    if (!(error instanceof AppError)) throw error
    return error.code
  }
}

async function tryAll(by: Worker, tries: number, seed: number): Promise<Map<string, number>> {
  const made = fc.sample(commands(WRITES, by.token!), { numRuns: tries, seed })
  const came = new Map<string, number>()
  for (let i = 0; i < made.length; i += 8) {
    const eight = made.slice(i, i + 8)
    const results = await Promise.all(eight.map((command) => tried(command, by)))
    for (const [j, result] of results.entries()) {
      if (result === 'fault') throw new Error(`A fault of ours (seed ${seed}): ${JSON.stringify(eight[j])}`)
      came.set(result, (came.get(result) ?? 0) + 1)
    }
  }
  return came
}

const told = (came: ReadonlyMap<string, number>) =>
  [...came]
    .sort((a, b) => b[1] - a[1])
    .map(([code, n]) => `${n} ${code}`)
    .join(', ')

it(`${TRIES} writes by a read token change no row of any account`, { timeout: 600_000 }, async () => {
  const before = await snapshot(world)
  const accounts = new Set([...before.get('accounts')!.values()].map(({ id }) => id))
  expect(accounts.size).toBe(3)
  const from = performance.now()
  const came = await tryAll(world.reader, TRIES, SEED)
  const seconds = ((performance.now() - from) / 1000).toFixed(1)
  console.log(`read token: ${TRIES} fuzzed writes (seed ${SEED}) in ${seconds} s: ${told(came)}`)
  expect(difference(before, await snapshot(world))).toSatisfy(isEmpty)
  expect(came.get('scope') ?? 0).toBeGreaterThan(TRIES / 4)
})

it('the same by a token that may write change a lot, so it was the token that was refused', async () => {
  const before = await snapshot(world)
  const came = await tryAll(world.scout, 300, SEED)
  const { added, replaced } = difference(before, await snapshot(world))
  console.log(`write token: 300 of the same: ${told(came)}`)
  expect(added.length).toBeGreaterThan(5)
  expect(replaced.length).toBeGreaterThan(0)
})
