import { z } from 'zod'
import { isObject } from '../model/json.ts'

/** The part of JSON Schema that hosts agree on, and that we send: see spec/effects, "Portable schemas". */
export interface JsonSchema {
  type?: string
  description?: string
  properties?: Record<string, JsonSchema>
  required?: string[]
  additionalProperties?: boolean
  items?: JsonSchema
  enum?: unknown[]
  anyOf?: JsonSchema[]
  default?: unknown
}

const KEPT = [
  'type',
  'description',
  'properties',
  'required',
  'additionalProperties',
  'items',
  'enum',
  'anyOf',
  'default',
] as const

/**
 * The schema of a tool's arguments as hosts get it. Bounds, patterns and formats are left out: some bridges refuse them,
 * they cost tokens, and the server checks them anyway with an error that says what is allowed.
 */
export function inputSchema(input: z.ZodObject): JsonSchema {
  return portable(z.toJSONSchema(input, { io: 'input', unrepresentable: 'any' }) as JsonSchema)
}

/** The schema of an answer, for OpenAPI. */
export function outputSchema(output: z.ZodObject): JsonSchema {
  return portable(z.toJSONSchema(output, { io: 'input', unrepresentable: 'any' }) as JsonSchema)
}

function portable(given: JsonSchema): JsonSchema {
  const schema = oneTypeEach(given)
  const kept: Record<string, unknown> = {}
  for (const key of KEPT) {
    const value = schema[key]
    if (value === undefined) continue
    if (key === 'properties') {
      kept[key] = Object.fromEntries(
        Object.entries(schema.properties!).map(([name, each]) => [name, portable(each)]),
      )
    } else if (key === 'items') kept[key] = portable(schema.items!)
    else if (key === 'anyOf') kept[key] = schema.anyOf!.map(portable)
    else if (key === 'additionalProperties') kept[key] = value !== false
    else kept[key] = value
  }
  return kept as JsonSchema
}

/** zod writes "or null" as a list of types, which bridges refuse; a choice of two says the same. */
function oneTypeEach(schema: JsonSchema): JsonSchema {
  const types: unknown = schema.type
  if (!Array.isArray(types)) return schema
  const { type: _, description, ...rest } = schema
  const anyOf = types.map((type) => (type === 'null' ? { type } : { ...rest, type }))
  return { ...(description === undefined ? {} : { description }), anyOf }
}

/**
 * Reads numbers, booleans, arrays and objects that a client sent as strings, and ids sent as numbers, by what the schema
 * says is meant. Anything else is left for the validator to refuse.
 */
export function coerce(schema: JsonSchema | undefined, value: unknown): unknown {
  if (!schema || value === null || value === undefined) return value
  if (schema.anyOf) {
    const other = schema.anyOf.find((each) => each.type !== 'null')
    return coerce(other, value)
  }
  switch (schema.type) {
    case 'integer':
    case 'number':
      return typeof value === 'string' && /^\s*-?\d+(\.\d+)?\s*$/.test(value) ? Number(value) : value
    case 'boolean':
      return value === 'true' ? true : value === 'false' ? false : value
    case 'string':
      return typeof value === 'number' && Number.isFinite(value) ? String(value) : value
    case 'array': {
      const list = typeof value === 'string' ? (parsed(value, Array.isArray) ?? [value]) : value
      return Array.isArray(list) ? list.map((each) => coerce(schema.items, each)) : list
    }
    case 'object': {
      const object = typeof value === 'string' ? (parsed(value, isObject) ?? value) : value
      if (!isObject(object) || !schema.properties) return object
      return Object.fromEntries(
        Object.entries(object).map(([name, each]) => [name, coerce(own(schema.properties!, name), each)]),
      )
    }
    default:
      return value
  }
}

/** A property of its own, so that `__proto__` and `constructor` mean nothing. */
function own<T>(record: Record<string, T>, name: string): T | undefined {
  return Object.hasOwn(record, name) ? record[name] : undefined
}

function parsed(text: string, fits: (value: unknown) => boolean): unknown {
  try {
    const value: unknown = JSON.parse(text)
    return fits(value) ? value : undefined
  } catch {
    return undefined
  }
}
