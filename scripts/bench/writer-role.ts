import { monitorEventLoopDelay } from 'node:perf_hooks'
import { turn } from './figures.ts'
import type { Handlers } from './process.ts'
import { open, textsOf } from './store.ts'

export interface Wrote {
  created: string[]
  /** Loop delay in milliseconds. */
  p99: number
  max: number
  /** The longest that one call took, in milliseconds. */
  longest: number
}

/** One of several processes that write to the same file. */
export async function handlers({ dir }: { dir: string }): Promise<Handlers> {
  const store = await open({ dir })
  return {
    async write({ callers, ms }: { callers: number; ms: number }): Promise<Wrote> {
      const delay = monitorEventLoopDelay({ resolution: 1 })
      delay.enable()
      const until = performance.now() + ms
      const created: string[] = []
      let longest = 0
      await Promise.all(
        Array.from({ length: callers }, async () => {
          while (performance.now() < until) {
            await turn()
            const began = performance.now()
            const { id } = await store.call('create_task', { ...textsOf(created.length) })
            created.push(String(id))
            longest = Math.max(longest, performance.now() - began)
          }
        }),
      )
      delay.disable()
      return { created, p99: delay.percentile(99) / 1e6, max: delay.max / 1e6, longest }
    },
    close: () => store.done.close(),
  }
}
