import { VERSION } from '../version.ts'

/**
 * What we say in the revision 2026-07-28 of the protocol, and the words it is said with: apart from the SDK, which the
 * direct ways (direct.ts, stdio.ts) do without, since loading it takes longer than their first answer.
 */
export const REVISION = '2026-07-28'

/** Keys of a request's `_meta` (2026-07-28, basic: "per-request metadata"), named as the SDK names them. */
export const PROTOCOL_VERSION_META_KEY = 'io.modelcontextprotocol/protocolVersion'
export const CLIENT_INFO_META_KEY = 'io.modelcontextprotocol/clientInfo'
export const CLIENT_CAPABILITIES_META_KEY = 'io.modelcontextprotocol/clientCapabilities'

/** Key of a result's `_meta` under which the server says who it is. */
export const SERVER_INFO_META_KEY = 'io.modelcontextprotocol/serverInfo'

/** Who we say we are. */
export const SERVER_INFO = Object.freeze({ name: 'done', title: 'Done', version: VERSION })

/**
 * How a client may keep a list: for so many milliseconds, since a change of rights is told at once to whoever listens, and
 * for itself alone, since what a credential may see is in every list.
 */
export const KEPT = Object.freeze({ ttlMs: 300_000, cacheScope: 'private' } as const)

/** What we can do for a client that changes are told to. */
export const TOLD = Object.freeze({
  tools: { listChanged: true },
  resources: { subscribe: true },
  prompts: {},
  completions: {},
})
