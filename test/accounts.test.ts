import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { addAccount } from '../src/auth/accounts.ts'
import { actorOfSession, actorOfToken } from '../src/auth/actor.ts'
import { issueSignInLink, issueToken, signIn } from '../src/auth/console.ts'
import type { Actor } from '../src/model/actor.ts'
import { peopleCall } from '../src/people/call.ts'
import { PEOPLE_CATALOG } from '../src/people/catalog.ts'
import { TOOL_NAMES, toolNamed } from '../src/tools/effects.ts'
import { canariesIn, type HiddenWorld, neverWas, newHiddenWorld } from './hidden.ts'
import { type Client, type HttpWorld, newHttpWorld } from './http.ts'
import { callsOf } from './narrowed-calls.ts'
import { type Snapshot, snapshot } from './observer.ts'
import { type Input, probesOf, put, saidBy, streamed, wordsOf } from './probes.ts'

/**
 * Three accounts of one installation know nothing of each other (spec: product, "Who acts"). Whoever names what another
 * account has is told the same, byte by byte, as who names what never was. Generated from the catalogues.
 */
interface Stranger {
  name: string
  account: number
  agent: Actor
  token: string
  person: Actor
  browser: Client
}

let made: HiddenWorld
let door: HttpWorld
const strangers: Stranger[] = []
let before: Snapshot
let probes = 0

beforeAll(async () => {
  made = await newHiddenWorld()
  door = await newHttpWorld(made.world)
  for (const name of ['Beta', 'Gamma']) strangers.push(await newStranger(name))
  before = await snapshot(made.world)
})
afterAll(async () => {
  console.log(`accounts: ${probes} probes, each told like what never was`)
  await door.close()
})

async function newStranger(name: string): Promise<Stranger> {
  const { done } = made.world
  const account = await addAccount(done.store, { name, owner: 'Olga', zone: 'Europe/Madrid' })
  const token = await issueToken(done.store, account, 'scout', { scopes: 'read write' })
  const link = await issueSignInLink(done.store, account)
  const session = await signIn(done, link.slice('/sign-in/'.length))
  const browser = await door.browser(await issueSignInLink(done.store, account))
  return {
    name,
    account,
    agent: (await actorOfToken(done.store, token))!,
    token,
    person: (await actorOfSession(done.store, session!.secret))!,
    browser,
  }
}

/** Everything of the first account that has a number. */
const ids = () => Object.values(made.hidden).flat()

/** Names each of these ids, and what never was, at each place; whoever asks must be told the same. */
async function probe(calls: readonly Input[], ask: (input: Input) => Promise<Record<string, unknown>>) {
  const told = async (input: Input) => {
    const said = await saidBy(ask(input))
    return wordsOf(input).reduce((text, word) => text.replaceAll(word, '(said)'), said)
  }
  for (const { input, place } of probesOf(calls)) {
    for (const id of ids()) {
      const seen = await told(put(input, place, id))
      expect(canariesIn(seen), `${id} for ${place.join('.')}`).toEqual([])
      expect(seen, `${id} for ${place.join('.')}`).toBe(await told(put(input, place, neverWas(id))))
      probes++
    }
  }
}

/** Rows of one account, by table and key. */
const rowsOf = (all: Snapshot, account: number) =>
  [...all].flatMap(([table, rows]) =>
    [...rows.values()].filter((row) => row.account === account).map((row) => ({ table, ...row })),
  )

describe.each(['Beta', 'Gamma'])('to %s the first account is not there', (name) => {
  const stranger = () => strangers.find((each) => each.name === name)!

  it.each(TOOL_NAMES)('by %s', async (tool) => {
    const { agent } = stranger()
    await probe(callsOf(tool), (input) => made.world.done.call(agent, tool, input))
  })

  it.each(Object.keys(PEOPLE_CATALOG))('by %s', async (operation) => {
    const call = peopleCall(made.world.done)
    const { example } = PEOPLE_CATALOG[operation as keyof typeof PEOPLE_CATALOG]
    await probe([example], (input) => call(stranger().person, operation, input))
  })

  it('by any address', async () => {
    const { token, browser } = stranger()
    const agent = door.agent(token)
    const addresses = TOOL_NAMES.flatMap((tool) => toolNamed(tool)!.http ?? [])
      .filter((http) => /^GET .*:id/.test(http))
      .map((http) => [agent, `/api${http.slice(4)}`] as const)
    const pages = ['/sign-off/:id', '/questions/:id', '/files/:id'].map((path) => [browser, path] as const)
    for (const [client, path] of [...addresses, ...pages]) {
      for (const id of ids()) {
        const [seen, absent] = await Promise.all(
          [id, neverWas(id)].map(async (each) => {
            const { status, text } = await client.get(path.replace(':id', each))
            return [status, text.replaceAll(each, '(id)')]
          }),
        )
        expect(seen, `${path} with ${id}`).toEqual(absent)
        probes++
      }
    }
  })

  it('by lists, the digest and the stream of events, from its beginning', async () => {
    const { token, agent } = stranger()
    for (const tool of TOOL_NAMES.filter((each) => /^(list|get_digest|get_me|fleet|search$)/.test(each))) {
      const said = await saidBy(made.world.done.call(agent, tool, toolNamed(tool)!.example))
      expect(canariesIn(said), tool).toEqual([])
      expect(said, tool).not.toMatch(/Website|builder|Ana\b/)
    }
    expect(canariesIn(await streamed(door, token))).toEqual([])
  })
})

it('and what was tried has changed nothing there', async () => {
  expect(probes).toBeGreaterThanOrEqual(3000)
  expect(rowsOf(await snapshot(made.world), 1)).toEqual(rowsOf(before, 1))
})
