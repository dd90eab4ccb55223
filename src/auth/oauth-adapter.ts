import type { Adapter, AdapterPayload } from 'oidc-provider'
import { goodGrant, revokeGrant } from '../store/grant.ts'
import {
  artifactBy,
  dropArtifact,
  dropArtifactsOf,
  type GrantKey,
  keepArtifact,
  putArtifact,
  useArtifact,
} from '../store/oauth-artifact.ts'
import type { Store } from '../store/store.ts'
import type { Row } from '../store/tables.ts'
import { systemActor } from '../tools/access.ts'
import type { Keeper } from './second-factor.ts'
import { hashSecret } from './secret.ts'

/**
 * The one account that the authorization server knows. Who has consented, and to what for which agent, stands in the grant:
 * what the server remembers of a browser then gives nobody anything.
 */
export const SOMEBODY = 'somebody'

/** How long a registration that nobody has consented to is kept, and how long one that somebody has, in milliseconds. */
const CLIENT_MS = { unused: 24 * 3_600_000, used: 400 * 24 * 3_600_000 }

/** Nobody has to know an artifact's kind and number to work with it: what leads to it is its hash alone. */
const installation = systemActor(0)

/** The id of a grant, as the authorization server writes it into what it issues. */
export const grantIdOf = ({ account, grant }: GrantKey): string => `${account}.${grant}`

function grantKeyOf(id: string): GrantKey {
  const [account, grant] = id.split('.').map(Number)
  return { account: account!, grant: grant! }
}

/**
 * Where oidc-provider keeps what it issues. Tokens, codes and clients' ids are only there as hashes, and the rest encrypted.
 * `usedTwice` makes the error for what works once.
 */
export function oauthAdapter(keeper: Keeper, usedTwice: () => Error): (kind: string) => Adapter {
  return (kind) => (kind === 'Grant' ? grants(keeper.store) : artifacts(keeper, kind, usedTwice))
}

/** Grants are made by a person's consent (auth/consent.ts), and only read and revoked from here. */
function grants(store: Store): Adapter {
  return {
    ...unsupported,
    async find(id) {
      const found = await store.read(installation, 'oauth', (tx) => goodGrant(tx, grantKeyOf(id)))
      return found && payloadOf(id, found)
    },
    async destroy(id) {
      const { account, grant } = grantKeyOf(id)
      await store.write(systemActor(account), 'oauth', (tx) => revokeGrant(tx, grant))
    },
  }
}

function payloadOf(id: string, { client, resource, scopes, created_at, expires_at }: Row<'grants'>) {
  return {
    jti: id,
    kind: 'Grant',
    accountId: SOMEBODY,
    clientId: client,
    resources: { [resource]: scopes },
    iat: Math.floor(created_at / 1000),
    exp: Math.floor(expires_at / 1000),
  }
}

function artifacts({ store, secrets }: Keeper, kind: string, usedTwice: () => Error): Adapter {
  const about = (hash: string) => `oauth ${kind} ${hash}`
  const opened = (row: Row<'oauth_artifacts'> | undefined): AdapterPayload | undefined =>
    row && {
      ...(JSON.parse(secrets.open(row.sealed, about(row.hash))) as AdapterPayload),
      ...(row.used_at === null ? {} : { consumed: Math.floor(row.used_at / 1000) }),
    }
  const found = (column: 'hash' | 'other_hash', name: string) =>
    store.read(installation, 'oauth', (tx) => artifactBy(tx, column, kind, hashSecret(name))).then(opened)

  return {
    find: (id) => found('hash', id),
    findByUid: (uid) => found('other_hash', uid),
    findByUserCode: (code) => found('other_hash', code),
    async upsert(id, payload, seconds) {
      const hash = hashSecret(id)
      const { grantId, scope, aud, userCode, uid } = payload
      const grant = grantId === undefined ? undefined : grantKeyOf(grantId)
      const other = userCode ?? (kind === 'Session' ? uid : undefined)
      await store.write(installation, 'oauth', async (tx) => {
        const lasts = seconds === undefined ? CLIENT_MS.unused : seconds * 1000
        await putArtifact(tx, {
          kind,
          hash,
          grant_account: grant?.account ?? null,
          of_grant: grant?.grant ?? null,
          other_hash: other === undefined ? null : hashSecret(other),
          scopes: scope ?? null,
          audience: typeof aud === 'string' ? aud : null,
          sealed: secrets.close(JSON.stringify(payload), about(hash)),
          expires_at: tx.now + lasts,
        })
        // A client is kept for as long as it is used.
        if (grant && payload.clientId)
          await keepArtifact(tx, 'Client', hashSecret(payload.clientId), tx.now + CLIENT_MS.used)
      })
    },
    async consume(id) {
      const first = await store.write(installation, 'oauth', (tx) => useArtifact(tx, kind, hashSecret(id)))
      // Of two that come at the same moment, both have found it unused; only one may go on.
      if (!first) throw usedTwice()
    },
    destroy: (id) => store.write(installation, 'oauth', (tx) => dropArtifact(tx, kind, hashSecret(id))),
    revokeByGrantId: (id) =>
      store.write(installation, 'oauth', (tx) => dropArtifactsOf(tx, kind, grantKeyOf(id))),
  }
}

const never = async (): Promise<never> => {
  throw new Error('The authorization server asks this of no grant.')
}

const unsupported = {
  findByUid: never,
  findByUserCode: never,
  upsert: never,
  consume: never,
  revokeByGrantId: never,
}
