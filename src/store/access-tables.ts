import { type Defaulted, lifecycle, quoting, record } from './column.ts'

/** Kept apart from the account's content; no answer about content reads from them (spec: effects). */
export const ACCESS_TABLES = {
  access: {
    account: record<number>(),
    credential: record<string>(),
    actor: record<string>(),
    /** As it was called, whether there is such a tool or not. */
    tool: quoting(record<string>()),
    /** Start of the 20 seconds counted. */
    bucket: record<number>(),
    calls: record<number>(),
    refusals: record<number>(),
  },
  refusals: {
    seq: record<Defaulted<number>>(),
    account: record<number>(),
    credential: record<string>(),
    actor: record<string>(),
    tool: quoting(record<string>()),
    code: record<string>(),
    message: quoting(record<string>()),
    /** 1 where the call ran against the approval gate; such rows are kept for 90 days, the rest for one. */
    gate: record<number>(),
    at: record<number>(),
  },
  /** How often somebody tried what is limited, by a hash of who it was. */
  tries: {
    account: record<number>(),
    key: record<string>(),
    count: record<number>(),
    until: record<number>(),
  },
  /** The last batch that each lane of writes has committed; asked where a connection breaks in a commit (postgres-commit). */
  commits: {
    account: record<number>(),
    lane: record<string>(),
    batch: record<number>(),
    at: record<number>(),
  },
  /**
   * What the authorization server keeps of its clients and of requests, codes and tokens under way (auth/oauth-adapter.ts).
   * All of it ends by itself or can be had again.
   */
  oauth_artifacts: {
    /** 0: a client is nobody's before its person has signed in. */
    account: record<number>(),
    kind: record<string>(),
    /** Of what it is found by: a token, a code, a client's id. */
    hash: record<string>(),
    grant_account: record<number | null>(),
    of_grant: record<number | null>(),
    /** Of the other name by which some are found. */
    other_hash: record<string | null>(),
    /** Of an access token: what it is good for, and where. */
    scopes: record<string | null>(),
    audience: record<string | null>(),
    /** The whole of it, encrypted (auth/envelope.ts). */
    sealed: record<string>(),
    used_at: lifecycle<number | null>(),
    expires_at: record<number | null>(),
  },
  session_use: { account: record<number>(), session: record<string>(), last_used_at: record<number>() },
  grant_use: { account: record<number>(), of_grant: record<number>(), last_used_at: record<number>() },
  token_use: { account: record<number>(), token: record<number>(), last_used_at: record<number>() },
} as const
