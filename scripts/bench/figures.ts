import { randomInt } from 'node:crypto'

const VOCABULARY = Array.from({ length: 3000 }, (_, i) => `w${(i * 7919).toString(36)}`)

/** Random words of lower-case ASCII, which every store keeps as they are. */
export function words(count: number): string {
  return Array.from({ length: count }, () => VOCABULARY[randomInt(VOCABULARY.length)]).join(' ')
}

/** Milliseconds that something took. */
export async function timed(run: () => Promise<unknown>): Promise<number> {
  const start = performance.now()
  await run()
  return performance.now() - start
}

export const median = (values: readonly number[]): number => quantile(values, 0.5)

/** The value below which that share of the values lies. */
export function quantile(values: readonly number[], share: number): number {
  const sorted = [...values].sort((a, b) => a - b)
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN
}

/** Three significant digits at most, with thousands apart. */
export function figure(value: number): string {
  const digits = value >= 100 ? 0 : value >= 10 ? 1 : 2
  return Number(value.toFixed(digits)).toLocaleString('en')
}

export const count = (value: number): string => value.toLocaleString('en')

export const times = (ratio: number): string => `${figure(ratio)}x`

/** The next turn of the event loop: callers in the same process come in one, as requests do, and so never keep it from turning. */
export const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve))

/** As many callers at once as said, each calling again when it is answered, until all calls are made. */
export async function callers(
  atOnce: number,
  calls: number,
  run: (i: number) => Promise<unknown>,
): Promise<void> {
  let next = 0
  await Promise.all(
    Array.from({ length: atOnce }, async () => {
      while (next < calls) await run(next++)
    }),
  )
}
