import { isObject } from '../model/json.ts'
import type { Regular } from './direct.ts'
import { CLIENT_CAPABILITIES_META_KEY, PROTOCOL_VERSION_META_KEY, REVISION } from './revision.ts'

/**
 * Which era a connection is of. Its first message decides; the SDK knows the same rule (its "opening exchange") but not what
 * was answered without it.
 */
export function eraOf() {
  let era: 'modern' | 'old' | undefined
  let told = false
  return {
    /** Whether everything is the SDK's, as the protocol was before 2026-07-28. */
    isOld: () => era === 'old',
    /** A request that is answered directly; asking what the server is decides nothing yet. */
    saw({ method }: Regular) {
      if (method !== 'server/discover') era = 'modern'
    },
    /** What the SDK has to hear before a message that is handed on to it. */
    before(message: unknown): string | undefined {
      if (era === undefined && isOld(message)) era = 'old'
      if (era !== 'modern' || told) return undefined
      told = true
      return OPENS_MODERN
    },
  }
}

/** A request or notification that does not say by itself which revision it is of. */
function isOld(message: unknown): boolean {
  if (!isObject(message) || typeof message.method !== 'string') return false
  const meta = isObject(message.params) ? message.params._meta : undefined
  return message.method === 'initialize' || !isObject(meta) || !(PROTOCOL_VERSION_META_KEY in meta)
}

/** A message that opens a connection as one of 2026-07-28 and asks for nothing: it takes back what was never asked. */
const OPENS_MODERN = JSON.stringify({
  jsonrpc: '2.0',
  method: 'notifications/cancelled',
  params: {
    requestId: '',
    _meta: { [PROTOCOL_VERSION_META_KEY]: REVISION, [CLIENT_CAPABILITIES_META_KEY]: {} },
  },
})
