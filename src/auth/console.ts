import { randomBytes, randomUUID } from 'node:crypto'
import { existsSync, linkSync, mkdirSync, readFileSync, unlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { AgentActor } from '../model/actor.ts'
import { DEFAULT_LEASE_MS } from '../model/task.ts'
import { createAccount, firstAccount } from '../store/account.ts'
import {
  accountOwner,
  agentNamed,
  createAgent,
  createSignInLink,
  createToken,
  signInLinkByHash,
  type TokenFields,
  useSignInLink,
} from '../store/credential.ts'
import { projectById } from '../store/project.ts'
import type { Store } from '../store/store.ts'
import { systemActor } from '../tools/access.ts'
import { actorOfAgent } from './actor.ts'
import { type Keeper, takeCode, wrongCode } from './second-factor.ts'
import { hashSecret, newSecret } from './secret.ts'
import { type Begun, beginSession } from './sign-in.ts'

/** How long a one-time sign-in link is good, in milliseconds. */
export const LINK_MS = 15 * 60_000

/** The operator at the console of the host: makes the account, links and tokens, and never signs off. */
const FIRST = 1

/**
 * Makes the account and its owner where the folder is fresh, in one transaction: of several processes that start at once
 * one makes it. Returns the account's number.
 */
export function ensureAccount(store: Store, settings: { owner: string; zone(): string }): Promise<number> {
  return store.write(systemActor(FIRST), 'setup', async (tx) => {
    const found = await firstAccount(tx)
    if (found) return found.id
    await createAccount(tx, {
      name: 'Done',
      zone: settings.zone(),
      owner: settings.owner,
      leaseMs: DEFAULT_LEASE_MS,
    })
    return FIRST
  })
}

/** The agent of that name, made under the account's owner where there is none yet. */
export async function ensureAgent(store: Store, account: number, name: string): Promise<AgentActor> {
  const id = await store.write(systemActor(account), 'setup', async (tx) => {
    const found = await agentNamed(tx, name)
    if (found) return found.id
    const owner = await accountOwner(tx)
    return (await createAgent(tx, { name, owner: owner.id })).id
  })
  return actorOfAgent(store, account, id)
}

/** Makes a token for the agent of that name (made where there is none). The text is returned once and kept nowhere. */
export async function issueToken(
  store: Store,
  account: number,
  name: string,
  fields: Pick<TokenFields, 'scopes' | 'presets' | 'projects' | 'expires_at'>,
  by = 'console',
): Promise<string> {
  const agent = await ensureAgent(store, account, name)
  await store.read(systemActor(account), 'token', async (tx) => {
    for (const project of fields.projects ?? []) await projectById(tx, project)
  })
  const token = newSecret('done')
  await store.write(systemActor(account), 'token', (tx) =>
    createToken(
      tx,
      { ...fields, agent: Number(agent.id.slice(1)), prefix: token.slice(0, 9), hash: hashSecret(token) },
      by,
    ),
  )
  return token
}

/** The path of a one-time sign-in link for the account's owner. */
export async function issueSignInLink(store: Store, account: number): Promise<string> {
  const secret = newSecret('in')
  await store.write(systemActor(account), 'signin-link', async (tx) => {
    const owner = await accountOwner(tx)
    await createSignInLink(tx, {
      hash: hashSecret(secret),
      person: owner.id,
      began: 'console_link',
      wants_code: 0,
      expires_at: tx.now + LINK_MS,
    })
  })
  return `/sign-in/${secret}`
}

/** What a one-time link leads to, while it is good; reads only, so that a look does not use it up. */
export function linkOf(store: Store, link: string) {
  return store.read(systemActor(0), 'sign-in', (tx) => signInLinkByHash(tx, hashSecret(link)))
}

/**
 * Exchanges a one-time link, and a code where it wants one, for a session's secret. Undefined where the link is not good (any
 * more). Throws where the code is wrong, which does not use the link up.
 */
export async function signIn(keeper: Keeper, link: string, code = ''): Promise<Begun | undefined> {
  const { store } = keeper
  const held = await linkOf(store, link)
  if (!held) return undefined
  if (held.wants_code && !(await takeCode(keeper, held, code))) throw wrongCode()
  const used = await store.write(systemActor(0), 'sign-in', (tx) => useSignInLink(tx, held.hash))
  return used && beginSession(store, used, used.began)
}

/**
 * The key that seals sign-offs, which lies beside the database and not in it: `given`, else the data folder's, which is made
 * with mode 0600 where the data are new. Data without their key are refused, since nothing they say of sign-offs could be
 * checked.
 */
export function sealKey(dir: string, given: string | undefined, isNew: boolean): Buffer {
  const path = join(dir, 'seal.key')
  if (given === undefined && isNew) {
    mkdirSync(dir, { recursive: true, mode: 0o700 })
    makeKey(path)
  }
  const text = given ?? (existsSync(path) ? readFileSync(path, 'utf8').trim() : '')
  if (!/^[0-9a-f]{64}$/.test(text)) {
    throw new Error(
      given !== undefined
        ? 'DONE_SEAL_KEY is no key: give the 64 hexadecimal digits of seal.key.'
        : `${path} is missing or holds no key. Sign-offs can’t be checked without it: restore it from a backup, or copy it from where the data were begun.`,
    )
  }
  return Buffer.from(text, 'hex')
}

/** Whole or not at all, and once: of several processes that begin on one folder, the first one's key is the key. */
function makeKey(path: string): void {
  const draft = `${path}.${randomUUID()}`
  writeFileSync(draft, randomBytes(32).toString('hex'), { flag: 'wx', mode: 0o600 })
  try {
    linkSync(draft, path)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error
  } finally {
    unlinkSync(draft)
  }
}
