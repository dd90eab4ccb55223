/** Who can be named in the account: a person or an agent, by public id. */
export type ActorId = `U${number}` | `G${number}`

export type Scope = 'read' | 'write'

export type Role = 'viewer' | 'member' | 'owner'

/** How fresh a person's proof of identity must be for a decision (gate G2), in milliseconds. */
export const FRESH_MS = 15 * 60_000

/** How long a session lasts that nobody uses, in milliseconds. */
export const IDLE_MS = 7 * 24 * 3_600_000

/** How a session began, shown beside each sign-off. */
export type SessionBegin = 'console_link' | 'password' | 'invitation' | 'passkey'

interface Caller {
  /** The tenant; every query begins with it. */
  readonly account: number
  readonly name: string
  /** The person behind the caller: an agent's owner, a person's own id. */
  readonly owner: ActorId
  /** IANA zone in which the caller's dates are read. */
  readonly zone: string
  readonly scopes: readonly Scope[]
  /** What the access record counts under, such as `token:3`; never a secret. */
  readonly credential: string
  /** Presets or toolsets the credential is narrowed to; absent means all. */
  readonly presets?: readonly string[]
  /** Numbers of the projects the credential is narrowed to; absent means all. */
  readonly projects?: readonly number[]
}

/** A named identity that works with tokens and can never sign off. */
export interface AgentActor extends Caller {
  readonly kind: 'agent'
  readonly id: ActorId
}

/** Somebody signed in, with the session that proves it. */
export interface PersonActor extends Caller {
  readonly kind: 'person'
  readonly id: ActorId
  readonly role: Role
  readonly session: {
    readonly id: string
    readonly began: SessionBegin
    /** Milliseconds since the epoch of the last proof of identity. */
    readonly signedInAt: number
  }
}

/** Done itself: the sweep and the other jobs. It has no credential, so no door can act as it. */
export interface SystemActor extends Caller {
  readonly kind: 'system'
  readonly id: 'system'
}

/**
 * The caller as the credential's row says (gate G3): no header, body or client name can change it.
 */
export type Actor = AgentActor | PersonActor | SystemActor
