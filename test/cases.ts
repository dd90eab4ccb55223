import type { Worker, World } from './world.ts'

/** One call of a tool in a state of the account, for the proofs over the whole catalogue (spec: effects, "Proof"). */
interface Case {
  /** What the state and the call are, in words. */
  says: string
  /** Brings the account into the state and gives the call's arguments. */
  given: (world: World) => Promise<Record<string, unknown>>
  /** Who calls; scout where nothing is said. */
  by?: (world: World) => Worker
}

/** At least five cases a tool. Of a destructive tool at least one must replace or hide something. */
export type Cases = Record<string, readonly Case[]>
