import type { z } from 'zod'
import { AppError, invalid } from '../model/error.ts'
import { isObject } from '../model/json.ts'
import { explainUnknown } from '../model/suggest.ts'
import { holdsDates, readDates } from './fields.ts'
import { coerce, inputSchema, type JsonSchema } from './schema.ts'
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
  const given = coerce(schema, args)
  refuseNul(given)
  const result = input.safeParse(given)
  if (!result.success) throw refused(name, result.error.issues[0]!, schema, given)
  const understood: Record<string, string> = {}
  if (!holdsDates(result.data)) return { input: result.data, understood }
  return { input: (await readDates(result.data, clock, understood)) as Record<string, unknown>, understood }
}

/** The character NUL ends a text in many programs, and PostgreSQL keeps none; so it is refused wherever data may move. */
function refuseNul(value: unknown, where = ''): void {
  if (typeof value === 'string') {
    if (value.includes('\0'))
      throw invalid(`${where} holds the character NUL (U+0000).`, { next: 'Send it without.' })
  } else if (typeof value === 'object' && value !== null) {
    for (const [key, each] of Object.entries(value)) refuseNul(each, where ? `${where}.${key}` : key)
  }
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
  const { near, next, gate } = explainUnknown(argument, known)
  const allowed = near.length > 0 ? near : known
  return new AppError('unknown_argument', `${tool} has no argument "${argument.slice(0, 80)}".`, {
    allowed,
    next:
      next ??
      (near.length > 0 ? `Use ${near.join(' or ')}.` : `Its arguments: ${known.join(', ') || 'none'}.`),
    retry: false,
    ...(gate ? { gate } : {}),
  })
}

/** One issue, in words: where, what is wrong, what is allowed. */
function refused(tool: string, issue: z.core.$ZodIssue, schema: JsonSchema, args: unknown): AppError {
  const where = issue.path.map(String).join('.') || 'the arguments'
  if (issue.code === 'unrecognized_keys') {
    const error = unknownArgument(
      tool,
      issue.keys[0]!,
      Object.keys(schemaAt(schema, issue.path)?.properties ?? {}),
    )
    return new AppError('unknown_argument', `${where}: ${error.message}`, error.details)
  }
  const value = issue.path.reduce<unknown>(
    (at, key) =>
      typeof at === 'object' && at !== null ? (at as Record<PropertyKey, unknown>)[key] : undefined,
    args,
  )
  if (value === undefined) {
    return invalid(`${tool} needs ${where}.`, { next: `Give ${where}${required(schema)}.` })
  }
  const shown = JSON.stringify(value)?.slice(0, 80) ?? 'nothing'
  const place = schemaAt(schema, issue.path)
  switch (issue.code) {
    case 'invalid_value':
      return invalid(`${where}: ${shown} is not allowed.`, {
        allowed: issue.values.map(String),
        next: 'Use one of the allowed values.',
      })
    case 'invalid_type':
    case 'invalid_union':
      return invalid(`${where}: ${shown} is not ${inWords(place)}.`, {
        next: `Give ${where} as ${inWords(place)}${place?.description ? ` (${place.description})` : ''}.`,
      })
    case 'too_big':
      return new AppError('too_large', tooMuch(where, issue.origin, Number(issue.maximum)))
    case 'too_small':
      return invalid(
        issue.origin === 'string' || issue.origin === 'array'
          ? `${where} is empty.`
          : `${where} is at least ${issue.minimum}.`,
      )
    default:
      return invalid(`${where}: ${shown} can’t be taken: ${issue.message}.`)
  }
}

function tooMuch(where: string, origin: string, most: number): string {
  if (origin === 'string') return `${where} is longer than ${most} characters.`
  return origin === 'array' ? `${where} holds more than ${most}.` : `${where} is at most ${most}.`
}

/** What a value has to be, as somebody who writes it says it. */
function inWords(schema: JsonSchema | undefined): string {
  if (schema?.anyOf) return schema.anyOf.map(inWords).join(' or ')
  if (schema?.enum) return `one of ${schema.enum.join(', ')}`
  if (schema?.type === 'object' && schema.properties) {
    const names = Object.keys(schema.properties).map((name) =>
      schema.required?.includes(name) ? name : `${name}?`,
    )
    return `an object {${names.slice(0, 8).join(', ')}}`
  }
  if (schema?.type === 'array') return `a list, each ${inWords(schema.items)}`
  const words: Record<string, string> = {
    integer: 'a whole number',
    number: 'a number',
    boolean: 'true or false',
    string: 'a text',
    null: 'null',
    object: 'an object',
  }
  return words[schema?.type ?? ''] ?? 'of the right kind'
}

function schemaAt(schema: JsonSchema, path: readonly PropertyKey[]): JsonSchema | undefined {
  return path.reduce<JsonSchema | undefined>(
    (at, key) => (typeof key === 'number' ? at?.items : at?.properties?.[String(key)]),
    schema,
  )
}

const required = (schema: JsonSchema): string =>
  schema.required && schema.required.length > 1 ? ` (needed: ${schema.required.join(', ')})` : ''
