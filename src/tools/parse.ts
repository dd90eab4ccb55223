import type { z } from 'zod'
import { AppError, invalid } from '../model/error.ts'
import { explainUnknown } from '../model/suggest.ts'
import { readDates } from './fields.ts'
import { coerce, inputSchema, isObject, type JsonSchema } from './schema.ts'
import type { Tool } from './tool.ts'

const schemas = new WeakMap<Tool, JsonSchema>()

/** A tool's argument schema, built once. */
export function schemaOf(tool: Tool): JsonSchema {
  let schema = schemas.get(tool)
  if (!schema) {
    schema = inputSchema(tool.input)
    schemas.set(tool, schema)
  }
  return schema
}

export interface Parsed {
  input: Record<string, unknown>
  /** What was understood of dates in words, by argument. */
  understood: Record<string, string>
}

/**
 * Reads a call's arguments: other spellings of the one id, values sent as strings, then the strict schema, then dates by
 * the caller's clock. Throws `unknown_argument` or `invalid_value`, saying what is allowed or near.
 */
export async function parseInput(
  name: string,
  tool: Tool,
  raw: unknown,
  clock: { now: number; zone: string },
): Promise<Parsed> {
  const schema = schemaOf(tool)
  return parseObject(name, tool.input, schema, withOneId(tool, objectOf(name, raw), schema), clock)
}

/** Reads an object that was said as JSON by a strict schema: values sent as strings, then the schema, then dates. */
export async function parseObject(
  name: string,
  input: z.ZodObject,
  schema: JsonSchema,
  args: Record<string, unknown>,
  clock: { now: number; zone: string },
): Promise<Parsed> {
  const known = Object.keys(schema.properties ?? {})
  for (const argument of Object.keys(args))
    if (!known.includes(argument)) throw unknownArgument(name, argument, known)
  const result = input.safeParse(coerce(schema, args))
  if (!result.success) throw refused(name, result.error.issues[0]!, schema, args)
  const understood: Record<string, string> = {}
  return { input: (await readDates(result.data, clock, understood)) as Record<string, unknown>, understood }
}

function objectOf(name: string, raw: unknown): Record<string, unknown> {
  const given = raw === undefined || raw === null ? {} : coerce({ type: 'object' }, raw)
  if (!isObject(given)) throw invalid(`The arguments of ${name} are an object.`)
  return given
}

/** `id` and `<noun>_id` mean the same where a tool has one object. */
function withOneId(tool: Tool, given: Record<string, unknown>, schema: JsonSchema): Record<string, unknown> {
  const spellings = ['id', `${tool.noun ?? 'task'}_id`]
  const listed = spellings.find((name) => schema.properties && name in schema.properties)
  const other = spellings.find((name) => name !== listed)!
  if (!listed || !Object.hasOwn(given, other) || (schema.properties && other in schema.properties))
    return given
  if (!tool.noun && other !== 'id') return given
  const { [other]: id, ...rest } = given
  if (Object.hasOwn(rest, listed) && rest[listed] !== id) {
    throw invalid(`${listed} and ${other} name different things.`, { next: `Give only ${listed}.` })
  }
  return { ...rest, [listed]: id }
}

function unknownArgument(tool: string, argument: string, known: readonly string[]): AppError {
  const { near, next } = explainUnknown(argument, known)
  const allowed = near.length > 0 ? near : known
  return new AppError('unknown_argument', `${tool} has no argument "${argument.slice(0, 80)}".`, {
    allowed,
    next:
      next ??
      (near.length > 0 ? `Use ${near.join(' or ')}.` : `Its arguments: ${known.join(', ') || 'none'}.`),
    retry: false,
    ...(next ? { gate: true } : {}),
  })
}

/** One issue, in words: where, what is wrong, what is allowed. */
function refused(tool: string, issue: z.core.$ZodIssue, schema: JsonSchema, args: unknown): AppError {
  const where = issue.path.map(String).join('.') || 'the arguments'
  if (issue.code === 'unrecognized_keys') {
    const place = issue.path.reduce<JsonSchema | undefined>(
      (at, key) => (typeof key === 'number' ? at?.items : at?.properties?.[String(key)]),
      schema,
    )
    const error = unknownArgument(tool, issue.keys[0]!, Object.keys(place?.properties ?? {}))
    return new AppError('unknown_argument', `${where}: ${error.message}`, error.details)
  }
  const value = issue.path.reduce<unknown>(
    (at, key) =>
      typeof at === 'object' && at !== null ? (at as Record<PropertyKey, unknown>)[key] : undefined,
    args,
  )
  if (value === undefined && issue.code === 'invalid_type') {
    return invalid(`${tool} needs ${where}.`, { next: `Give ${where}${required(schema)}.` })
  }
  const shown = JSON.stringify(value)?.slice(0, 80) ?? 'nothing'
  if (issue.code === 'invalid_value') {
    return invalid(`${where}: ${shown} is not allowed.`, { allowed: issue.values.map(String) })
  }
  if (issue.code === 'too_big' && issue.origin === 'string') {
    return new AppError('too_large', `${where} is longer than ${issue.maximum} characters.`)
  }
  if (issue.code === 'too_big') return new AppError('too_large', `${where} may be at most ${issue.maximum}.`)
  return invalid(`${where}: ${shown} can’t be read: ${issue.message}.`, {
    next: `Correct ${where} and send the call again.`,
  })
}

const required = (schema: JsonSchema): string =>
  schema.required && schema.required.length > 1 ? ` (needed: ${schema.required.join(', ')})` : ''
