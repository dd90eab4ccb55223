import type { Handlers } from './process.ts'
import { fillBare } from './store.ts'

/** Fills stores in a process of its own, since recording the driver changes it for good. */
export const handlers = (): Handlers => ({
  fill: ({ dir, size }: { dir: string; size: number }) => fillBare(dir, size),
})
