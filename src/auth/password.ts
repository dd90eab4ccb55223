import { invalid } from '../model/error.ts'
import { fold } from '../model/suggest.ts'

/**
 * Argon2id with 19 MiB, two passes, one lane: the least that OWASP's cheat sheet on storing passwords names. A hash takes
 * some 30 ms of a thread beside ours; never ask for one inside a transaction.
 */
const COST = { algorithm: 2, memoryCost: 19_456, timeCost: 2, parallelism: 1 } as const

// Loaded by whoever signs in: nothing else needs the native code.
const argon2 = () => import('@node-rs/argon2')

/** How a password is kept. */
export async function hashPassword(password: string): Promise<string> {
  return (await argon2()).hash(password, COST)
}

/** Whether a password is the one of this hash. Where there is no hash it takes as long, and is not. */
export async function isPassword(hash: string | undefined, password: string): Promise<boolean> {
  if (password.length > LONGEST) return false
  const right = await (await argon2()).verify(hash ?? (await nobodysHash()), password)
  return right && hash !== undefined
}

let nobodys: Promise<string> | undefined

/** Of no password, so that a name which nobody has costs the time of one that somebody has. */
function nobodysHash(): Promise<string> {
  nobodys ??= hashPassword(crypto.randomUUID())
  return nobodys
}

const SHORTEST = 12
const LONGEST = 200

/** Refuses a password that is guessed too soon: short, made of few characters, or holding a name of its person. */
export function checkPassword(password: string, names: readonly string[]): void {
  const length = [...password].length
  if (length < SHORTEST || password.length > LONGEST) {
    throw invalid(`A password has ${SHORTEST} to ${LONGEST} characters; this has ${length}.`, {
      next: 'Four words that do not belong together are long enough.',
    })
  }
  if (new Set(fold(password)).size < 5) {
    throw invalid('This password repeats a few characters.', {
      next: 'Use words that do not belong together.',
    })
  }
  const inside = names.find((name) => name.length > 2 && fold(password).includes(fold(name)))
  if (inside !== undefined) {
    throw invalid(`This password holds "${inside}".`, { next: 'Use words that say nothing of you.' })
  }
}
