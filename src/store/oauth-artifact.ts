import { sql } from 'kysely'
import { type ReadTx, readQuery, sqlOf, type WriteTx, writeQuery } from './handle.ts'
import type { Row } from './tables.ts'

/** Something that the authorization server keeps; see the table. */
export type OAuthArtifact = Omit<Row<'oauth_artifacts'>, 'account' | 'used_at'>

/** Which grant something belongs to. */
export interface GrantKey {
  account: number
  grant: number
}

/** Keeps an artifact, in place of the one of that kind and hash. */
export async function putArtifact(tx: WriteTx, artifact: OAuthArtifact): Promise<void> {
  await sqlOf(tx)
    .insertInto('oauth_artifacts')
    .values({ account: tx.account, ...artifact, used_at: null })
    .onConflict((oc) => oc.columns(['account', 'kind', 'hash']).doUpdateSet(artifact))
    .execute()
}

const byHash = readQuery((db, p: { account: number; kind: string; hash: string; now: number }) =>
  db
    .selectFrom('oauth_artifacts')
    .selectAll()
    .where('account', '=', p.account)
    .where('kind', '=', p.kind)
    .where('hash', '=', p.hash)
    .where((eb) => eb.or([eb('expires_at', 'is', null), eb('expires_at', '>', p.now)])),
)

const byOther = readQuery((db, p: { account: number; kind: string; hash: string; now: number }) =>
  db
    .selectFrom('oauth_artifacts')
    .selectAll()
    .where('account', '=', p.account)
    .where('kind', '=', p.kind)
    .where('other_hash', '=', p.hash)
    .where((eb) => eb.or([eb('expires_at', 'is', null), eb('expires_at', '>', p.now)])),
)

/** The artifact of that kind and hash, or other hash; none once its time is over. */
export async function artifactBy(
  tx: ReadTx,
  column: 'hash' | 'other_hash',
  kind: string,
  hash: string,
): Promise<Row<'oauth_artifacts'> | undefined> {
  const find = column === 'hash' ? byHash : byOther
  return (await find(tx, { account: tx.account, kind, hash, now: tx.now }))[0]
}

const use = writeQuery((db, p: { account: number; kind: string; hash: string; now: number }) =>
  db
    .updateTable('oauth_artifacts')
    .set({ used_at: p.now })
    .where('account', '=', p.account)
    .where('kind', '=', p.kind)
    .where('hash', '=', p.hash)
    .where('used_at', 'is', null)
    .returning('hash'),
)

/** Uses an artifact up; false where somebody else was faster, or there is none. */
export async function useArtifact(tx: WriteTx, kind: string, hash: string): Promise<boolean> {
  const { rows } = await use(tx, { account: tx.account, kind, hash, now: tx.now })
  return rows.length > 0
}

/** Removes one artifact. */
export async function dropArtifact(tx: WriteTx, kind: string, hash: string): Promise<void> {
  await sqlOf(tx)
    .deleteFrom('oauth_artifacts')
    .where('account', '=', tx.account)
    .where('kind', '=', kind)
    .where('hash', '=', hash)
    .execute()
}

/** Removes the artifacts of that kind that belong to a grant. */
export async function dropArtifactsOf(
  tx: WriteTx,
  kind: string,
  { account, grant }: GrantKey,
): Promise<void> {
  await sqlOf(tx)
    .deleteFrom('oauth_artifacts')
    .where('account', '=', tx.account)
    .where('kind', '=', kind)
    .where('grant_account', '=', account)
    .where('of_grant', '=', grant)
    .execute()
}

/** Forgets what was issued to clients, and what is under way; the clients stay known. Says how many could still be used. */
export async function forgetIssued(tx: WriteTx): Promise<number> {
  const dropped = await sqlOf(tx)
    .deleteFrom('oauth_artifacts')
    .where('account', '=', tx.account)
    .where('kind', '<>', 'Client')
    .returning(['kind', 'expires_at', 'used_at'])
    .execute()
  return dropped.filter(
    ({ kind, expires_at, used_at }) =>
      kind === 'RefreshToken' && used_at === null && (expires_at ?? 0) > tx.now,
  ).length
}

/** Moves the end of an artifact's time, in milliseconds since the epoch; never to an earlier one. */
export async function keepArtifact(tx: WriteTx, kind: string, hash: string, until: number): Promise<void> {
  await sqlOf(tx)
    .updateTable('oauth_artifacts')
    .set({ expires_at: until })
    .where('account', '=', tx.account)
    .where('kind', '=', kind)
    .where('hash', '=', hash)
    .where('expires_at', '<', until)
    .execute()
}

/** Forgets up to `limit` artifacts whose time is over, and says how many. */
export async function expireArtifacts(tx: WriteTx, limit: number): Promise<number> {
  const { numAffectedRows } = await sql`DELETE FROM oauth_artifacts WHERE (account, kind, hash) IN
    (SELECT account, kind, hash FROM oauth_artifacts WHERE expires_at <= ${tx.now} LIMIT ${limit})`.execute(
    sqlOf(tx),
  )
  return Number(numAffectedRows)
}
