/** Lets through so many tries of one caller in a time; more are refused until it has passed. */
export interface Limit {
  /** Seconds to wait; 0 where the try may go on. */
  try(caller: string): number
}

/** Callers that are remembered at once; far more than ever try at the same time. */
const MOST = 10_000

export function limitOf(tries: number, ms: number, now: () => number = Date.now): Limit {
  const seen = new Map<string, { count: number; until: number }>()
  return {
    try(caller) {
      const time = now()
      const found = seen.get(caller)
      if (found && found.until > time) {
        found.count++
        return found.count > tries ? Math.ceil((found.until - time) / 1000) : 0
      }
      if (seen.size >= MOST)
        for (const [each, { until }] of seen) if (until <= time || seen.size >= MOST) seen.delete(each)
      seen.set(caller, { count: 1, until: time + ms })
      return 0
    },
  }
}
