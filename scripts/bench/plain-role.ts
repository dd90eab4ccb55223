import { callers } from './figures.ts'
import type { Handlers } from './process.ts'
import { openPlain } from './record-postgres.ts'
import { textsOf, type Where } from './store.ts'

/** Connections of the plain transactions. */
export const PLAIN_POOL = 10

/** Creates tasks on PostgreSQL in plain transactions, in a process of its own. */
export async function handlers(where: Where): Promise<Handlers> {
  const plain = await openPlain(where, PLAIN_POOL)
  let made = 0
  return {
    statements: async () => plain.statements,
    async run({ atOnce, calls }: { atOnce: number; calls: number }): Promise<{ ms: number }> {
      const began = performance.now()
      await callers(atOnce, calls, () => plain.create(textsOf(++made)))
      return { ms: performance.now() - began }
    },
  }
}
