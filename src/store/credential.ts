import { conflict, invalid, notFound } from '../model/error.ts'
import { formatId } from '../model/id.ts'
import { fold } from '../model/suggest.ts'
import { emit, nextNumber, type ReadTx, sqlOf, type WriteTx } from './handle.ts'
import type { Row } from './tables.ts'

/** Words that mean somebody by themselves, so that nobody can be called so. */
const RESERVED = ['me', 'owner', 'nobody', 'none', 'unassigned', 'everybody', 'all', 'system']

/**
 * Adds an agent owned by a person. Work is handed out by name, so a name is nobody else's, person or agent, and can't be
 * taken for an id or for a word such as `me`.
 */
export async function createAgent(
  tx: WriteTx,
  fields: { name: string; owner: number },
): Promise<Row<'agents'>> {
  await checkAgentName(tx, fields.name)
  const twin = await agentNamed(tx, fields.name)
  if (twin) {
    throw conflict(`${formatId('agent', twin.id)} is already called "${twin.name}".`, {
      next: 'Give another name.',
    })
  }
  const id = await nextNumber(tx, 'agent')
  const row = { account: tx.account, id, ...fields, stop_at: null, stop_by: null, created_at: tx.now }
  await sqlOf(tx).insertInto('agents').values(row).execute()
  await emit(tx, {
    kind: 'agent_changed',
    object: formatId('agent', id),
    data: { name: fields.name, change: 'created' },
  })
  return row
}

async function checkAgentName(tx: ReadTx, name: string): Promise<void> {
  if (!/^[\p{L}\p{N}][\p{L}\p{N}\p{M} ._-]{0,59}$/u.test(name)) {
    throw invalid(`"${name.slice(0, 80)}" can’t be an agent’s name.`, {
      allowed: [
        '1 to 60 letters, digits, spaces, dots, dashes and underscores, beginning with a letter or digit',
      ],
    })
  }
  refuseReserved(name)
  const people = await sqlOf(tx)
    .selectFrom('people')
    .select(['id', 'name'])
    .where('account', '=', tx.account)
    .execute()
  const person = people.find((each) => fold(each.name) === fold(name))
  if (person)
    throw conflict(`${formatId('person', person.id)} is called "${person.name}".`, {
      next: 'Give another name.',
    })
}

/** Refuses a name that is taken for an id, or for a word such as `me`. */
export function refuseReserved(name: string): void {
  if (RESERVED.includes(fold(name)) || /^[a-z]\d+$/i.test(name)) {
    throw invalid(`"${name}" means something else, so nobody can be called so.`, {
      next: 'Give another name.',
    })
  }
}

export async function agentNamed(tx: ReadTx, name: string): Promise<Row<'agents'> | undefined> {
  const agents = await sqlOf(tx).selectFrom('agents').selectAll().where('account', '=', tx.account).execute()
  return agents.find((agent) => fold(agent.name) === fold(name))
}

export async function agentById(tx: ReadTx, id: number): Promise<Row<'agents'>> {
  const agent = await sqlOf(tx)
    .selectFrom('agents')
    .selectAll()
    .where('account', '=', tx.account)
    .where('id', '=', id)
    .executeTakeFirst()
  if (!agent)
    throw notFound(`There is no agent ${formatId('agent', id)}.`, { next: 'list_members names them all.' })
  return agent
}

/** What a token is narrowed to, and for how long it is good. */
export interface TokenFields {
  agent: number
  prefix: string
  hash: string
  scopes: 'read' | 'read write'
  presets?: readonly string[]
  projects?: readonly number[]
  expires_at?: number
}

export async function createToken(tx: WriteTx, fields: TokenFields, by: string): Promise<number> {
  const id = await nextNumber(tx, 'token')
  await sqlOf(tx)
    .insertInto('tokens')
    .values({
      account: tx.account,
      id,
      agent: fields.agent,
      prefix: fields.prefix,
      hash: fields.hash,
      scopes: fields.scopes,
      presets: fields.presets ? JSON.stringify(fields.presets) : null,
      projects: fields.projects ? JSON.stringify(fields.projects) : null,
      expires_at: fields.expires_at ?? null,
      revoked_at: null,
      created_at: tx.now,
      created_by: by,
    })
    .execute()
  await emit(tx, {
    kind: 'agent_changed',
    object: formatId('agent', fields.agent),
    data: { change: 'token_created', token: formatId('token', id) },
  })
  return id
}

/** A token by the hash of its text, with its agent, in whatever account: the credential decides the account. */
export function tokenByHash(tx: ReadTx, hash: string) {
  return sqlOf(tx)
    .selectFrom('tokens as t')
    .innerJoin('agents as g', (join) =>
      join.onRef('g.account', '=', 't.account').onRef('g.id', '=', 't.agent'),
    )
    .innerJoin('people as p', (join) =>
      join.onRef('p.account', '=', 't.account').onRef('p.id', '=', 'g.owner'),
    )
    .innerJoin('accounts as a', 'a.id', 't.account')
    .select([
      't.account',
      't.id',
      't.agent',
      't.scopes',
      't.presets',
      't.projects',
      't.expires_at',
      't.revoked_at',
    ])
    .select(['g.name', 'g.owner', 'a.zone as account_zone', 'p.zone as owner_zone'])
    .where('t.hash', '=', hash)
    .executeTakeFirst()
}

/** An agent with its owner's zone, for actors that no token stands for (`donectl mcp` on its own folder). */
export function agentWithOwner(tx: ReadTx, id: number) {
  return sqlOf(tx)
    .selectFrom('agents as g')
    .innerJoin('people as p', (join) =>
      join.onRef('p.account', '=', 'g.account').onRef('p.id', '=', 'g.owner'),
    )
    .innerJoin('accounts as a', 'a.id', 'g.account')
    .select(['g.account', 'g.id', 'g.name', 'g.owner', 'a.zone as account_zone', 'p.zone as owner_zone'])
    .where('g.account', '=', tx.account)
    .where('g.id', '=', id)
    .executeTakeFirst()
}

export async function createSignInLink(
  tx: WriteTx,
  fields: Pick<Row<'sign_in_links'>, 'hash' | 'person' | 'began' | 'wants_code' | 'expires_at'>,
): Promise<void> {
  await sqlOf(tx)
    .insertInto('sign_in_links')
    .values({ account: tx.account, ...fields, used_at: null, created_at: tx.now })
    .execute()
}

/** A link that could still be used; looking does not use it up. */
export function signInLinkByHash(tx: ReadTx, hash: string): Promise<Row<'sign_in_links'> | undefined> {
  return sqlOf(tx)
    .selectFrom('sign_in_links')
    .selectAll()
    .where('hash', '=', hash)
    .where('used_at', 'is', null)
    .where('expires_at', '>', tx.now)
    .executeTakeFirst()
}

/** Uses a sign-in link up. Undefined where it never was, has expired or was used: the three look the same. */
export async function useSignInLink(
  tx: WriteTx,
  hash: string,
): Promise<Pick<Row<'sign_in_links'>, 'account' | 'person' | 'began'> | undefined> {
  return sqlOf(tx)
    .updateTable('sign_in_links')
    .set({ used_at: tx.now })
    .where('hash', '=', hash)
    .where('used_at', 'is', null)
    .where('expires_at', '>', tx.now)
    .returning(['account', 'person', 'began'])
    .executeTakeFirst()
}

/** Uses up every sign-in link of the account that still holds. Returns how many there were. */
export async function useEveryLink(tx: WriteTx): Promise<number> {
  const used = await sqlOf(tx)
    .updateTable('sign_in_links')
    .set({ used_at: tx.now })
    .where('account', '=', tx.account)
    .where('used_at', 'is', null)
    .where('expires_at', '>', tx.now)
    .returning('hash')
    .execute()
  return used.length
}

export async function createSession(
  tx: WriteTx,
  row: Omit<Row<'sessions'>, 'account' | 'revoked_at'>,
): Promise<void> {
  await sqlOf(tx)
    .insertInto('sessions')
    .values({ account: tx.account, ...row, revoked_at: null })
    .execute()
}

/** A live session by the hash of its secret, with its person. */
export function sessionByHash(tx: ReadTx, hash: string) {
  return sqlOf(tx)
    .selectFrom('sessions as s')
    .innerJoin('people as p', (join) =>
      join.onRef('p.account', '=', 's.account').onRef('p.id', '=', 's.person'),
    )
    .innerJoin('accounts as a', 'a.id', 's.account')
    .leftJoin('session_use as u', (join) =>
      join.onRef('u.account', '=', 's.account').onRef('u.session', '=', 's.id'),
    )
    .select(['s.account', 's.id', 's.person', 's.began', 's.signed_in_at', 's.expires_at', 's.revoked_at'])
    .select('u.last_used_at')
    .select(['p.name', 'p.role', 'p.zone as own_zone', 'a.zone as account_zone'])
    .where('s.hash', '=', hash)
    .where('p.left_at', 'is', null)
    .executeTakeFirst()
}

export async function endSession(tx: WriteTx, id: string): Promise<void> {
  await sqlOf(tx)
    .updateTable('sessions')
    .set({ revoked_at: tx.now })
    .where('account', '=', tx.account)
    .where('id', '=', id)
    .where('revoked_at', 'is', null)
    .execute()
}

export async function revokeToken(tx: WriteTx, id: number): Promise<{ already: boolean }> {
  const token = await sqlOf(tx)
    .selectFrom('tokens')
    .select(['agent', 'revoked_at'])
    .where('account', '=', tx.account)
    .where('id', '=', id)
    .executeTakeFirst()
  if (!token)
    throw notFound(`There is no token ${formatId('token', id)}.`, { next: 'list_tokens shows them all.' })
  if (token.revoked_at !== null) return { already: true }
  await sqlOf(tx)
    .updateTable('tokens')
    .set({ revoked_at: tx.now })
    .where('account', '=', tx.account)
    .where('id', '=', id)
    .execute()
  await emit(tx, {
    kind: 'agent_changed',
    object: formatId('agent', token.agent),
    data: { change: 'token_revoked', token: formatId('token', id) },
  })
  return { already: false }
}

/** Revokes every token of an agent that is not revoked yet. Returns their numbers. */
export async function revokeTokensOf(tx: WriteTx, agent: Row<'agents'>): Promise<number[]> {
  const revoked = await sqlOf(tx)
    .updateTable('tokens')
    .set({ revoked_at: tx.now })
    .where('account', '=', tx.account)
    .where('agent', '=', agent.id)
    .where('revoked_at', 'is', null)
    .returning('id')
    .execute()
  const ids = revoked.map(({ id }) => id).sort((a, b) => a - b)
  if (ids.length > 0) {
    await emit(tx, {
      kind: 'agent_changed',
      object: formatId('agent', agent.id),
      data: { name: agent.name, change: 'revoked', tokens: ids.map((id) => formatId('token', id)) },
    })
  }
  return ids
}

/** The owner of the account, in whose name the console makes agents and links. */
export async function accountOwner(tx: ReadTx): Promise<Row<'people'>> {
  return sqlOf(tx)
    .selectFrom('people')
    .selectAll()
    .where('account', '=', tx.account)
    .where('role', '=', 'owner')
    .where('left_at', 'is', null)
    .orderBy('id')
    .limit(1)
    .executeTakeFirstOrThrow()
}
