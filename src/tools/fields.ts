import { z } from 'zod'
import { type Kind, parseId } from '../model/id.ts'
import type { Direction } from '../model/moment.ts'
import { type RuleReading, readRule } from '../model/recurrence.ts'
import { LIMITS, PRIORITIES } from '../model/task.ts'
import { type Reading, readInstant, readWhen } from '../model/when.ts'

/** The arguments that many tools share, so that one word means one thing in all of them. */

/** An id of one of these kinds, read as its number: `T12`, `t12`, `T12 Title`, or `12` where only one kind is meant. */
export const idOf = (...kinds: [Kind, ...Kind[]]) =>
  z.string().transform((text) => parseId(text, ...kinds).number)

export const taskId = idOf('task')
/** A project's id, read by `projectMeant`, which knows the names that a mistaken one is near to. */
export const projectId = z.string()
export const taskIds = z.array(taskId).min(1).max(LIMITS.bulk)

/** An argument that `null` clears. */
export const clearable = <T extends z.ZodType>(field: T) => field.nullable().optional()

export const page = { limit: z.int().min(1).max(100).optional(), cursor: z.string().optional() }
/** How long a read may hold its answer back, in seconds. */
export const waitSeconds = z.int().min(0).max(50).optional()
export const detail = z.enum(['concise', 'detailed']).optional()
export const idempotencyKey = z.string().min(1).max(LIMITS.idempotencyKey).optional()
export const expectedVersion = z.int().optional()

/** A name or id of a person or agent, `me`, `owner` or `nobody`; resolved against the account by the tool. */
export const party = z.string().min(1).max(200)

/** A number among {@link PRIORITIES}, most urgent 0. */
export const priority = z.enum(PRIORITIES).transform((name) => PRIORITIES.indexOf(name))

export const text = (limit: number) => z.string().max(limit)

/** Line breaks, control characters, and marks that turn the direction of writing: none of them has a place in a name. */
const UNSEEN = /[\p{Cc}\u2028\u2029\u202A-\u202E\u2066-\u2069]/u

/** A title or name: one line, in which a reader sees every character that is there. */
export const line = (limit: number) =>
  z
    .string()
    .max(limit)
    .refine((said) => !UNSEEN.test(said), 'it holds a line break, a control character or a direction mark')

const UNREAD = Symbol('unread date')

interface Unread {
  [UNREAD]: (clock: { now: number; zone: string }) => Promise<unknown>
}

/**
 * A date, or a date and time with zone, in ISO form or in words. Arrives at the tool as a {@link Reading}: read in the
 * caller's zone before the transaction opens.
 */
export const when = (direction: Direction) =>
  z.string().transform((said) => unread((clock) => readWhen(said, clock, direction)) as unknown as Reading)

/** A moment, for `since` and `until`: milliseconds since the epoch. */
export const instant = (direction: Direction) =>
  z.string().transform((said) => unread((clock) => readInstant(said, clock, direction)) as unknown as number)

/** A recurrence rule, RFC 5545 or words. Arrives at the tool as a {@link RuleReading}. */
export const rule = z
  .string()
  .max(500)
  .transform((said) => unread(() => readRule(said)) as unknown as RuleReading)

function unread(read: (clock: { now: number; zone: string }) => Promise<unknown>): Unread {
  return { [UNREAD]: read }
}

/** Whether there is a date to read in parsed arguments; in most there is none, and nothing to wait for. */
export function holdsDates(value: unknown): boolean {
  if (typeof value !== 'object' || value === null) return false
  return UNREAD in value || Object.values(value).some(holdsDates)
}

/**
 * Reads the dates in parsed arguments by the caller's clock. Also tells, by argument, what was understood of words, so
 * that the answer can say it and a repeat can use it.
 */
export async function readDates(
  value: unknown,
  clock: { now: number; zone: string },
  understood: Record<string, string>,
  path = '',
): Promise<unknown> {
  if (typeof value !== 'object' || value === null) return value
  if (UNREAD in value) {
    const reading = await (value as Unread)[UNREAD](clock)
    const words = typeof reading === 'object' && (reading as Reading).understood
    if (words) understood[path] = words
    return reading
  }
  if (Array.isArray(value)) {
    return Promise.all(value.map((each, i) => readDates(each, clock, understood, `${path}[${i}]`)))
  }
  const read = await Promise.all(
    Object.entries(value).map(async ([name, each]) => [
      name,
      await readDates(each, clock, understood, path ? `${path}.${name}` : name),
    ]),
  )
  return Object.fromEntries(read)
}
