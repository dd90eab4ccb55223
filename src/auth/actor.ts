import {
  type Actor,
  type ActorId,
  type AgentActor,
  IDLE_MS,
  type PersonActor,
  type Role,
  type Scope,
} from '../model/actor.ts'
import { formatId } from '../model/id.ts'
import { agentWithOwner, sessionByHash, tokenByHash } from '../store/credential.ts'
import { accessTokenByHash } from '../store/grant.ts'
import type { Store } from '../store/store.ts'
import { systemActor } from '../tools/access.ts'
import { remembered } from './remembered.ts'
import { hashSecret } from './secret.ts'

/** Credentials are looked up before the account is known: it is the credential that names it. */
const nobody = systemActor(0)

/**
 * The agent behind a token. Undefined where the token never was, was revoked or has expired: the three look the same. The
 * object is frozen, and the same one at each request for as long as nothing of the credential changes.
 */
export function actorOfToken(store: Store, token: string): Promise<AgentActor | undefined> {
  const hash = hashSecret(token)
  return remembered(store).tokens(hash, async () => {
    const row = await store.read(nobody, 'auth', (tx) => tokenByHash(tx, hash))
    if (!row || row.revoked_at !== null) return undefined
    const actor: AgentActor = {
      ...agentActor({ ...row, id: row.agent }),
      scopes: row.scopes.split(' ') as Scope[],
      credential: `token:${row.id}`,
      ...narrowingOf(row),
    }
    return { actor: shared(actor), expires: row.expires_at }
  })
}

/**
 * The agent behind an access token of OAuth, where it is good for `audience` (RFC 8707): the client has it for that resource
 * and no other. Undefined where it never was, is over or for elsewhere, or its grant holds no longer. What its person may
 * not do themselves it may not do either. Frozen, as by a token.
 */
async function actorOfAccessToken(
  store: Store,
  token: string,
  isAudience: (resource: string) => boolean,
): Promise<AgentActor | undefined> {
  const hash = hashSecret(token)
  const known = await remembered(store).accessTokens(hash, async () => {
    const row = await store.read(nobody, 'auth', (tx) => accessTokenByHash(tx, hash))
    // One without a scope is for a resource to which nobody has consented.
    if (!row?.scopes) return undefined
    const writes = [row.scopes, row.granted].every((each) => each?.split(' ').includes('write'))
    const actor: GrantActor = {
      ...agentActor(row),
      scopes: writes ? scopesOf(row.role) : ['read'],
      credential: `grant:${row.grant}`,
      audience: row.audience ?? '',
      ...narrowingOf(row),
    }
    return { actor: shared(actor), expires: Math.min(row.expires_at ?? 0, row.grant_expires_at) }
  })
  return known && isAudience(known.audience) ? known : undefined
}

/** The agent behind what a request brings as its bearer token: one of Done's own, or an access token that is good here. */
export async function actorOfBearer(
  store: Store,
  token: string,
  isAudience: (resource: string) => boolean,
): Promise<AgentActor | undefined> {
  return token.startsWith('done_') ? actorOfToken(store, token) : actorOfAccessToken(store, token, isAudience)
}

/** Whom an access token stands for, and the one resource it is good for. */
export interface GrantActor extends AgentActor {
  readonly audience: string
}

/**
 * The person behind a session's secret. Undefined where it never was, has ended, has expired or was left unused for too long.
 * Frozen, as by a token.
 */
export function actorOfSession(store: Store, secret: string): Promise<PersonActor | undefined> {
  const hash = hashSecret(secret)
  return remembered(store).sessions(hash, async () => {
    const row = await store.read(nobody, 'auth', (tx) => sessionByHash(tx, hash))
    if (!row || row.revoked_at !== null) return undefined
    const actor: PersonActor = {
      kind: 'person',
      id: formatId('person', row.person) as ActorId,
      account: row.account,
      name: row.name,
      owner: formatId('person', row.person) as ActorId,
      zone: row.own_zone ?? row.account_zone,
      role: row.role,
      scopes: scopesOf(row.role),
      credential: `session:${row.id}`,
      session: Object.freeze({ id: row.id, began: row.began, signedInAt: row.signed_in_at }),
    }
    const idle = Math.max(row.last_used_at ?? 0, row.signed_in_at) + IDLE_MS
    return { actor: shared(actor), expires: Math.min(row.expires_at, idle) }
  })
}

/** Frozen, since requests that run at the same time share it. */
function shared<A extends Actor>(actor: A): A {
  for (const part of [actor.scopes, actor.presets, actor.projects]) Object.freeze(part)
  return Object.freeze(actor)
}

/** An agent that acts without a token: the one of `donectl mcp` on a folder that its user owns. */
export async function actorOfAgent(store: Store, account: number, agent: number): Promise<AgentActor> {
  const row = await store.read(systemActor(account), 'auth', (tx) => agentWithOwner(tx, agent))
  if (!row) throw new Error(`There is no agent ${agent}.`)
  return { ...agentActor(row), scopes: ['read', 'write'], credential: 'stdio' }
}

type AgentRow = NonNullable<Awaited<ReturnType<typeof agentWithOwner>>>

/** Who an agent is, whatever the credential by which it comes. */
function agentActor(row: AgentRow): Omit<AgentActor, 'scopes' | 'credential'> {
  return {
    kind: 'agent',
    id: formatId('agent', row.id) as ActorId,
    account: row.account,
    name: row.name,
    owner: formatId('person', row.owner) as ActorId,
    zone: row.owner_zone ?? row.account_zone,
  }
}

/** What a credential is narrowed to, as its row has it. */
function narrowingOf(row: { presets: string | null; projects: string | null }) {
  return {
    ...(row.presets === null ? {} : { presets: JSON.parse(row.presets) as string[] }),
    ...(row.projects === null ? {} : { projects: JSON.parse(row.projects) as number[] }),
  }
}

/** What a session may do by its person's role: a viewer reads; members and owners also write. */
export function scopesOf(role: Role): Scope[] {
  return role === 'viewer' ? ['read'] : ['read', 'write']
}
