import { notFound } from '../model/error.ts'
import { formatId } from '../model/id.ts'
import { emit, nextNumber, type ReadTx, sqlOf, type WriteTx } from './handle.ts'
import type { GrantKey } from './oauth-artifact.ts'
import type { Row } from './tables.ts'

/** What a person has consented to. */
export type GrantFields = Pick<
  Row<'grants'>,
  'agent' | 'person' | 'client' | 'client_name' | 'returns_to' | 'resource' | 'scopes' | 'expires_at'
> & { presets?: readonly string[]; projects?: readonly number[] }

/** Writes a consent down, and gives its number. */
export async function createGrant(tx: WriteTx, fields: GrantFields): Promise<number> {
  const id = await nextNumber(tx, 'grant')
  const { presets, projects, ...rest } = fields
  await sqlOf(tx)
    .insertInto('grants')
    .values({
      account: tx.account,
      id,
      ...rest,
      presets: presets ? JSON.stringify(presets) : null,
      projects: projects ? JSON.stringify(projects) : null,
      revoked_at: null,
      created_at: tx.now,
    })
    .execute()
  await emit(tx, {
    kind: 'agent_changed',
    object: formatId('agent', fields.agent),
    data: { change: 'granted', grant: formatId('grant', id), client: fields.client_name },
  })
  return id
}

/** A grant that holds, in whatever account; undefined where it never was, was revoked or is over. */
export function goodGrant(tx: ReadTx, { account, grant }: GrantKey): Promise<Row<'grants'> | undefined> {
  return sqlOf(tx)
    .selectFrom('grants')
    .selectAll()
    .where('account', '=', account)
    .where('id', '=', grant)
    .where('revoked_at', 'is', null)
    .where('expires_at', '>', tx.now)
    .executeTakeFirst()
}

/** An access token by the hash of its text, with its grant and its agent, in whatever account. */
export function accessTokenByHash(tx: ReadTx, hash: string) {
  return sqlOf(tx)
    .selectFrom('oauth_artifacts as o')
    .innerJoin('grants as r', (join) =>
      join.onRef('r.account', '=', 'o.grant_account').onRef('r.id', '=', 'o.of_grant'),
    )
    .innerJoin('agents as g', (join) =>
      join.onRef('g.account', '=', 'r.account').onRef('g.id', '=', 'r.agent'),
    )
    .innerJoin('people as p', (join) =>
      join.onRef('p.account', '=', 'r.account').onRef('p.id', '=', 'r.person'),
    )
    .innerJoin('accounts as a', 'a.id', 'r.account')
    .select(['r.account', 'r.id as grant', 'r.agent as id', 'r.scopes as granted', 'r.presets', 'r.projects'])
    .select(['o.scopes', 'o.audience', 'o.expires_at', 'r.expires_at as grant_expires_at'])
    .select(['g.name', 'g.owner', 'p.role', 'a.zone as account_zone', 'p.zone as owner_zone'])
    .where('o.account', '=', tx.account)
    .where('o.kind', '=', 'AccessToken')
    .where('o.hash', '=', hash)
    .where('r.revoked_at', 'is', null)
    .where('p.left_at', 'is', null)
    .executeTakeFirst()
}

/** A grant as people see it. */
export type GrantView = Row<'grants'> & { agent_name: string; last_used_at: number | null }

/** The grants of the account, or those of one person's agents. Newest first. */
export function grantsOf(tx: ReadTx, person?: number): Promise<GrantView[]> {
  return sqlOf(tx)
    .selectFrom('grants as r')
    .innerJoin('agents as g', (join) =>
      join.onRef('g.account', '=', 'r.account').onRef('g.id', '=', 'r.agent'),
    )
    .leftJoin('grant_use as u', (join) =>
      join.onRef('u.account', '=', 'r.account').onRef('u.of_grant', '=', 'r.id'),
    )
    .selectAll('r')
    .select(['g.name as agent_name', 'u.last_used_at'])
    .where('r.account', '=', tx.account)
    .$if(person !== undefined, (query) => query.where('g.owner', '=', person!))
    .orderBy('r.id', 'desc')
    .limit(500)
    .execute()
}

/** Writes down when grants were last used. Apart from the account's content; nobody but people reads it. */
export async function touchGrants(
  tx: WriteTx,
  uses: readonly { grant: number; at: number }[],
): Promise<void> {
  for (const { grant, at } of uses) {
    await sqlOf(tx)
      .insertInto('grant_use')
      .values({ account: tx.account, of_grant: grant, last_used_at: at })
      .onConflict((oc) => oc.columns(['account', 'of_grant']).doUpdateSet({ last_used_at: at }))
      .execute()
  }
}

/** A grant of the account, whether it holds or not. */
export async function grantById(tx: ReadTx, id: number): Promise<Row<'grants'>> {
  const grant = await sqlOf(tx)
    .selectFrom('grants')
    .selectAll()
    .where('account', '=', tx.account)
    .where('id', '=', id)
    .executeTakeFirst()
  if (grant) return grant
  throw notFound(`There is no grant ${formatId('grant', id)}.`, { next: 'list_grants shows them all.' })
}

/** Revokes a grant: whatever was issued under it is refused from now on. */
export async function revokeGrant(tx: WriteTx, id: number): Promise<{ already: boolean }> {
  const grant = await grantById(tx, id)
  if (grant.revoked_at !== null) return { already: true }
  await revoke(tx, grant)
  return { already: false }
}

/** Revokes every grant of an agent. Returns their numbers. */
export async function revokeGrantsOf(tx: WriteTx, agent: number): Promise<number[]> {
  const grants = await sqlOf(tx)
    .selectFrom('grants')
    .selectAll()
    .where('account', '=', tx.account)
    .where('agent', '=', agent)
    .where('revoked_at', 'is', null)
    .orderBy('id')
    .execute()
  for (const grant of grants) await revoke(tx, grant)
  return grants.map(({ id }) => id)
}

async function revoke(tx: WriteTx, { account, id, agent }: Row<'grants'>): Promise<void> {
  await sqlOf(tx)
    .updateTable('grants')
    .set({ revoked_at: tx.now })
    .where('account', '=', account)
    .where('id', '=', id)
    .execute()
  await emit(tx, {
    kind: 'agent_changed',
    object: formatId('agent', agent),
    data: { change: 'grant_revoked', grant: formatId('grant', id) },
  })
}
