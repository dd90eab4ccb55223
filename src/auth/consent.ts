import type { PersonActor } from '../model/actor.ts'
import { conflict, invalid } from '../model/error.ts'
import { formatId } from '../model/id.ts'
import { agentNamed, createAgent } from '../store/credential.ts'
import { createGrant } from '../store/grant.ts'
import type { WriteTx } from '../store/handle.ts'
import type { GrantKey } from '../store/oauth-artifact.ts'
import { projectById } from '../store/project.ts'
import type { Row } from '../store/tables.ts'
import { NARROWINGS } from '../tools/presets.ts'
import { writeFresh } from './fresh.ts'
import { type Asked, GRANT_MS } from './oauth-server.ts'
import type { Keeper } from './second-factor.ts'

/** What a person lets a client do: at most what it asked for. */
export interface Consent {
  /** The name of the agent as which it acts; made where the person has none of that name. */
  agent: string
  writes: boolean
  /** Presets or toolsets; none means all. */
  presets: readonly string[]
  /** Numbers of projects; none means all. */
  projects: readonly number[]
}

/** Whether a client that asks for these scopes may be given to write by this person. */
export function mayWrite(actor: PersonActor, asked: Asked): boolean {
  return asked.scopes.includes('write') && actor.scopes.includes('write')
}

/**
 * Writes a consent down: the client acts as an agent of the person, never as the person, so that it can't sign off (gate G2).
 * Wants a sign-in within the last 15 minutes, as every credential does.
 */
export function giveConsent(
  keeper: Keeper,
  actor: PersonActor,
  asked: Asked,
  consent: Consent,
): Promise<GrantKey> {
  const { writes, presets, projects } = consent
  if (writes && !mayWrite(actor, asked)) {
    throw invalid(`${actor.scopes.includes('write') ? 'It asked' : 'Your role allows'} to read and no more.`)
  }
  const wrong = presets.find((name) => !NARROWINGS.includes(name))
  if (wrong !== undefined) {
    throw invalid(`There is no preset or toolset "${wrong.slice(0, 80)}".`, { allowed: NARROWINGS })
  }
  return writeFresh(keeper, actor, 'connect_client', async (tx) => {
    for (const project of projects) await projectById(tx, project)
    const agent = await ownAgent(tx, consent.agent, Number(actor.id.slice(1)))
    const grant = await createGrant(tx, {
      agent: agent.id,
      person: agent.owner,
      client: asked.client.id,
      client_name: asked.client.name.slice(0, 200),
      returns_to: asked.returnsTo ?? '',
      resource: asked.resource,
      scopes: writes ? 'read write' : 'read',
      expires_at: tx.now + GRANT_MS,
      ...(presets.length > 0 ? { presets } : {}),
      ...(projects.length > 0 ? { projects } : {}),
    })
    return { account: tx.account, grant }
  })
}

/** The person's agent of that name, made where there is none. Another's agent is theirs to lend. */
async function ownAgent(tx: WriteTx, name: string, owner: number): Promise<Row<'agents'>> {
  const found = await agentNamed(tx, name)
  if (!found) return createAgent(tx, { name: name.trim(), owner })
  if (found.owner === owner) return found
  throw conflict(`${formatId('agent', found.id)} ${found.name} works for somebody else.`, {
    next: 'Give another name.',
  })
}

/** A name for the agent of a client that calls itself so, as far as the letters go. */
export function agentNameFor(client: string): string {
  const name = client
    .normalize('NFC')
    .replace(/[^\p{L}\p{N}\p{M} ._-]+/gu, ' ')
    .replace(/^[^\p{L}\p{N}]+/u, '')
    .replace(/\s+/g, ' ')
    .trim()
    .slice(0, 60)
  return name === '' ? 'Client' : name
}
