/** The name of the one key that the SDK drops from a call's arguments, unread. */
const DROPPED = '__proto__'

/** Arguments with a key that the SDK would drop, by the id of their request. */
export type WholeArguments = Map<unknown, unknown>

/**
 * Keeps a call's arguments as they were sent, where the SDK would hand on others: what is dropped can't be refused, and a
 * door that lets it pass would answer otherwise than the rest (gate, way 31).
 */
export function keepWhole(kept: WholeArguments, message: unknown): void {
  const { id, method, params } = (message ?? {}) as { id?: unknown; method?: unknown; params?: unknown }
  if (method !== 'tools/call') return
  const sent = (params as { arguments?: unknown } | undefined)?.arguments
  if (typeof sent === 'object' && sent !== null && Object.hasOwn(sent, DROPPED)) kept.set(id, sent)
}

/** The arguments of a request: those that were kept for it, or else what the SDK made of them. */
export function takeWhole(kept: WholeArguments, id: unknown, given: unknown): unknown {
  const sent = kept.get(id)
  kept.delete(id)
  return sent ?? given
}
