import { mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { actorOfSession, actorOfToken } from '../src/auth/actor.ts'
import { ensureAccount, issueSignInLink, issueToken, signIn } from '../src/auth/console.ts'
import { type Done, openDone } from '../src/done.ts'
import type { Actor } from '../src/model/actor.ts'
import { AppError } from '../src/model/error.ts'
import { setAutoOk } from '../src/store/policy.ts'
import { taskById } from '../src/store/task.ts'
import { toolNamed } from '../src/tools/effects.ts'
import { sizeOf } from '../src/tools/text.ts'
import { MOST_CHARACTERS } from '../src/tools/view.ts'
import { type DatabaseOptions, newDatabase } from './database.ts'
import { type Lookout, lookoutOn } from './look.ts'
import { type Pattern, removeAtExit, takePlace } from './place.ts'

/** Monday, 30 November 2026, 09:00 in Madrid. */
const MONDAY = Date.parse('2026-11-30T08:00:00Z')

/** Somebody at work in a test: calls tools and gets structured content. */
export interface Worker {
  actor: Actor
  token?: string
  /** Calls a tool; throws the AppError of a refusal. */
  call(name: string, input?: Record<string, unknown>): Promise<Record<string, any>>
  /** Calls a tool that must be refused, and gives the refusal. */
  refused(name: string, input?: Record<string, unknown>): Promise<AppError>
}

/** A Done on a temporary folder with a clock of its own; the account is in Madrid, its owner is Ana. */
export interface World extends Pick<Lookout, 'look' | 'looked'> {
  dir: string
  /** Its database, where that is not the one in the folder. */
  database: DatabaseOptions
  done: Done
  account: number
  ana: Worker
  scout: Worker
  builder: Worker
  reader: Worker
  /** Another agent by name; scopes and narrowing as given. */
  agent(
    name: string,
    options?: { scopes?: 'read' | 'read write'; presets?: string[]; projects?: number[] },
  ): Promise<Worker>
  /** Who holds a token that was issued in this world, or in the one that it is a copy of. */
  holderOf(token: string): Promise<Worker>
  /** Ana's word that a task may close without a person. */
  autoOk(task: string): Promise<void>
  /** Moves the clock forward. */
  pass(ms: number): void
  /** A fresh sign-in of Ana, for decisions after the clock moved. */
  signInAgain(): Promise<Worker>
  /** Another Done on the same data, as another process has one. */
  another(): Promise<Done>
  /** Done when the world closes. */
  atEnd(cleanUp: () => void): void
  close(): Promise<void>
  /** Closes it, and gives what copies of it begin with. */
  toSeed(): Promise<Seed>
}

/** What a refusal may say, beside the record as it stands, in characters. */
const MOST_OF_REFUSAL = 2000

/** Refusals are read whole by a model that wanted something else: they are short, and the record in them is no whole one. */
function checkRefusal(name: string, { message, details }: AppError): void {
  const { current = {}, ...rest } = details
  const size = JSON.stringify({ message, ...rest }).length
  if (size > MOST_OF_REFUSAL) throw new Error(`${name} was refused in ${size} characters: ${message}`)
  const whole = size + JSON.stringify(current).length
  if (whole > MOST_CHARACTERS) throw new Error(`${name} was refused with a record of ${whole} characters.`)
}

/** What a world begins with, made once a process and then copied. */
interface Seed extends Pattern {
  /** Where its clock stands. */
  now: number
  account: number
  ana: Actor
  agents: Record<'scout' | 'builder' | 'reader', { actor: Actor; token: string }>
}

let first: Promise<Seed> | undefined

async function makeSeed(): Promise<Seed> {
  const dir = mkdtempSync(join(tmpdir(), 'done-seed-'))
  removeAtExit(dir)
  const database = await newDatabase()
  const done = await openDone({ dataDir: dir, ...database, site: () => '', clock: () => MONDAY })
  const account = await ensureAccount(done.store, { owner: 'Ana', zone: () => 'Europe/Madrid' })
  const { secret } = (await signInWith(done, account))!
  const agent = async (name: string, scopes: 'read' | 'read write') => {
    const token = await issueToken(done.store, account, name, { scopes })
    return { actor: (await actorOfToken(done.store, token))!, token }
  }
  const made: Seed = {
    dir,
    database,
    now: MONDAY,
    account,
    ana: (await actorOfSession(done.store, secret))!,
    agents: {
      scout: await agent('scout', 'read write'),
      builder: await agent('builder', 'read write'),
      reader: await agent('reader', 'read'),
    },
  }
  await done.close()
  return made
}

async function signInWith(done: Done, account: number) {
  const link = await issueSignInLink(done.store, account)
  return signIn(done, link.slice('/sign-in/'.length))
}

export async function newWorld(): Promise<World> {
  first ??= makeSeed()
  return worldFrom(await first)
}

/** Worlds in a state that is brought about once a process: each is a copy, and `made` what is known of all of them. */
export function worldsAfter<T>(
  bringAbout: (world: World) => Promise<T>,
): () => Promise<{ world: World; made: T }> {
  let state: Promise<{ seed: Seed; made: T }> | undefined
  const make = async () => {
    const world = await newWorld()
    const made = await bringAbout(world)
    return { made, seed: await world.toSeed() }
  }
  return async () => {
    state ??= make()
    const { seed, made } = await state
    return { made, world: await worldFrom(seed) }
  }
}

async function worldFrom(seed: Seed): Promise<World> {
  const { account, ana, agents } = seed
  let { now } = seed
  const { dir, database, done, giveBack, leave } = await takePlace(seed, () => now)
  const lookout = lookoutOn(dir, database)
  const cleanUps: (() => void)[] = []

  function worker(actor: Actor, token?: string): Worker {
    const call = async (name: string, input: Record<string, unknown> = {}) => {
      const output = await done.call(actor, name, input).catch((error: unknown) => {
        if (error instanceof AppError) checkRefusal(name, error)
        throw error
      })
      if (sizeOf(output) > MOST_CHARACTERS) throw new Error(`${name} answered ${sizeOf(output)} characters.`)
      const shape = toolNamed(name)?.output.safeParse(output)
      if (shape && !shape.success) throw new Error(`${name} answered another shape: ${shape.error.message}`)
      return output
    }
    return {
      actor,
      ...(token ? { token } : {}),
      call,
      async refused(name, input) {
        try {
          await call(name, input)
        } catch (error) {
          if (error instanceof AppError) return error
          throw error
        }
        throw new Error(`${name} was not refused.`)
      },
    }
  }

  const agent: World['agent'] = async (name, options = {}) => {
    const { scopes = 'read write', presets, projects } = options
    const token = await issueToken(done.store, account, name, {
      scopes,
      ...(presets ? { presets } : {}),
      ...(projects ? { projects } : {}),
    })
    return holderOf(token)
  }

  const holderOf = async (token: string) => worker((await actorOfToken(done.store, token))!, token)

  const signInAgain = async () => {
    const { secret } = (await signInWith(done, account))!
    return worker((await actorOfSession(done.store, secret))!)
  }

  return {
    dir,
    database,
    done,
    account,
    ana: worker(ana),
    scout: worker(agents.scout.actor, agents.scout.token),
    builder: worker(agents.builder.actor, agents.builder.token),
    reader: worker(agents.reader.actor, agents.reader.token),
    agent,
    holderOf,
    signInAgain,
    async autoOk(task) {
      const { actor } = await signInAgain()
      await done.store.write(actor, 'set_auto_ok', async (tx) => {
        await setAutoOk(tx, await taskById(tx, Number(task.slice(1))), true)
      })
    },
    pass(ms) {
      now += ms
    },
    another: () => openDone({ dataDir: dir, ...database, site: () => '', clock: () => now }),
    look: lookout.look,
    looked: lookout.looked,
    atEnd: (cleanUp) => void cleanUps.push(cleanUp),
    async close() {
      for (const cleanUp of cleanUps) cleanUp()
      lookout.close()
      await giveBack()
    },
    async toSeed() {
      lookout.close()
      await leave()
      return { dir, database, now, account, ana, agents }
    },
  }
}
