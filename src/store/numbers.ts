import type { Kind } from '../model/id.ts'
import type { Queries } from './engine.ts'

/** A row of `counters`: the last number that was given of a kind in an account. */
interface Counter {
  account: number
  kind: Kind
  last: number
}

/**
 * The counters of one transaction: each is read once, counted in memory for all jobs of the transaction, which holds off
 * everybody else, and written once before the commit. What a job that is taken back had counted is taken back with it.
 */
export interface Numbers {
  /** Forgets everything, at the beginning of a transaction. */
  begin(): void
  /** Whether a counter has been read. */
  knows(account: number, kind: Kind): boolean
  /** Takes over what a counter's row says. */
  read(counter: Counter): void
  /** Gives so many numbers, of which it returns the first. The counter has been read. */
  give(account: number, kind: Kind, count: number): number
  /** What has been given since the last job is the next one's to build on. */
  keep(): void
  /** Takes back what has been given since the last job. */
  takeBack(): void
  /** The counters that have to be written. */
  changed(): Counter[]
}

export function openNumbers(): Numbers {
  const counters = new Map<string, Counter & { stored: number; kept: number }>()
  const keyOf = (account: number, kind: Kind) => `${account} ${kind}`

  return {
    begin: () => counters.clear(),
    knows: (account, kind) => counters.has(keyOf(account, kind)),
    read({ account, kind, last }) {
      counters.set(keyOf(account, kind), { account, kind, last, stored: last, kept: last })
    },
    give(account, kind, count) {
      const counter = counters.get(keyOf(account, kind))!
      const first = counter.last + 1
      counter.last += count
      return first
    },
    keep() {
      for (const counter of counters.values()) counter.kept = counter.last
    },
    takeBack() {
      for (const counter of counters.values()) counter.last = counter.kept
    },
    changed: () =>
      [...counters.values()]
        .filter(({ last, stored }) => last !== stored)
        .map(({ account, kind, last }) => ({ account, kind, last })),
  }
}

/** Writes down how far a transaction has counted, as the last of it before its commit. */
export function writeNumbers({ db, numbers, later }: Queries): void {
  const counters = numbers.changed()
  if (counters.length === 0) return
  later(
    upsertOf(db, counters),
    counters.flatMap(({ account, kind, last }) => [account, kind, last]),
  )
}

/** By connection, and by how many counters are written: to build the statement takes longer than to run it. */
const compiled = new WeakMap<Queries['db'], Map<number, string>>()

function upsertOf(db: Queries['db'], counters: readonly Counter[]): string {
  const known = compiled.get(db) ?? new Map<number, string>()
  compiled.set(db, known)
  let sql = known.get(counters.length)
  if (sql === undefined) {
    sql = db
      .insertInto('counters')
      .values(counters)
      .onConflict((oc) =>
        oc.columns(['account', 'kind']).doUpdateSet((eb) => ({ last: eb.ref('excluded.last') })),
      )
      .compile().sql
    known.set(counters.length, sql)
  }
  return sql
}
