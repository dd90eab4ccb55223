import { describe, expect, it } from 'vitest'
import { TOOL_NAMES } from '../tools/effects.ts'
import { allowedTools } from '../tools/guard.ts'
import { NARROWINGS } from '../tools/presets.ts'
import type { JsonSchema } from '../tools/schema.ts'
import { instructionsFor } from './instructions.ts'
import { promptNamed, promptsFor } from './prompts.ts'
import { listFrom, narrowingFrom } from './tool-file.ts'
import { toolFile, toolsListFor } from './tool-list.ts'

const ALL = ['read', 'write'] as const
const READ = ['read'] as const

/** Tokens as hosts count them, near enough: a quarter of the characters. */
const tokens = (value: unknown) => JSON.stringify(value).length / 4

describe('what a list costs', () => {
  it.each([
    ['all', 18_000],
    ['reader', 6_500],
    ['worker', 4_000],
  ])('%s stays under %i tokens', (preset, most) => {
    expect(tokens({ tools: toolsListFor(ALL, undefined, [preset]) })).toBeLessThanOrEqual(most)
  })

  it('instructions stay under 1,900 characters', () => {
    for (const preset of NARROWINGS)
      for (const scopes of [ALL, READ])
        expect(
          instructionsFor(toolsListFor(scopes, undefined, [preset]).map((tool) => tool.name)).length,
        ).toBeLessThanOrEqual(1900)
  })
})

describe('every tool of the list', () => {
  const tools = toolsListFor(ALL)

  it('is described whole', () => {
    for (const tool of tools) {
      expect(Object.keys(tool)).toEqual(['name', 'title', 'description', 'inputSchema', 'annotations'])
      expect(tool.name).toMatch(/^[a-z][a-z_]{0,39}$/)
      expect(tool.title.length).toBeGreaterThan(0)
      expect(tool.annotations.title).toBe(tool.title)
      for (const hint of ['readOnlyHint', 'destructiveHint', 'idempotentHint', 'openWorldHint'] as const)
        expect(typeof tool.annotations[hint]).toBe('boolean')
      expect(tool.annotations.readOnlyHint && tool.annotations.destructiveHint).toBe(false)
    }
    expect(new Set(tools.map((tool) => tool.name)).size).toBe(tools.length)
  })

  it('has a schema that every host can read', () => {
    for (const { name, inputSchema } of tools) {
      expect(inputSchema.type, name).toBe('object')
      expect(inputSchema.anyOf, `${name}: a choice at the root`).toBeUndefined()
      for (const [path, schema] of walk(inputSchema, name)) {
        expect(
          FORBIDDEN.filter((key) => key in schema),
          path,
        ).toEqual([])
        expect(Array.isArray(schema.type), `${path}: more than one type`).toBe(false)
        if (schema.type === 'array') expect(schema.items, `${path}: an array without items`).toBeDefined()
        for (const key of Object.keys(schema.properties ?? {}))
          expect(key, path).toMatch(/^[a-zA-Z0-9_.-]{1,40}$/)
      }
    }
  })

  it('can’t be changed by whoever gets it', () => {
    expect(Object.isFrozen(tools)).toBe(true)
    expect(Object.isFrozen(tools[0]!.inputSchema.properties)).toBe(true)
    expect(toolsListFor(ALL)).toBe(tools)
  })
})

/** Words of JSON Schema that some bridge refuses (facts: MCP hosts, schema traps). */
const FORBIDDEN = [
  '$schema',
  '$ref',
  '$defs',
  'definitions',
  'oneOf',
  'allOf',
  'not',
  'const',
  'prefixItems',
  'propertyNames',
  'patternProperties',
  'exclusiveMinimum',
  'exclusiveMaximum',
  'multipleOf',
  'uniqueItems',
  'format',
  'pattern',
]

function* walk(schema: JsonSchema, path: string): Generator<[string, JsonSchema]> {
  yield [path, schema]
  for (const [name, each] of Object.entries(schema.properties ?? {})) yield* walk(each, `${path}.${name}`)
  if (schema.items) yield* walk(schema.items, `${path}[]`)
  for (const each of schema.anyOf ?? []) yield* walk(each, `${path}|`)
}

describe('a preset', () => {
  it('lists what can be called, and nothing else, for each scope', () => {
    for (const preset of NARROWINGS) {
      for (const scopes of [ALL, READ]) {
        expect(toolsListFor(scopes, undefined, [preset]).map((tool) => tool.name)).toEqual(
          allowedTools({ scopes }, [preset]),
        )
      }
    }
  })

  it('narrows the same, written down and from the catalogue', () => {
    const file = JSON.parse(JSON.stringify(toolFile())) as ReturnType<typeof toolFile>
    const narrowings = [
      undefined,
      ...NARROWINGS.map((name) => [name]),
      ['worker', 'planner'],
      ['me', 'reader'],
    ]
    for (const scopes of [ALL, READ])
      for (const credential of narrowings)
        for (const connection of narrowings)
          expect(listFrom(file, scopes, credential, connection)).toEqual(
            toolsListFor(scopes, credential, connection),
          )
    expect(narrowingFrom(file, ' Worker,planner')).toEqual(['worker', 'planner'])
    expect(() => narrowingFrom(file, '__proto__')).toThrow('There is no preset')
  })

  it('called worker can be run unasked: it destroys nothing and stays inside', () => {
    for (const { name, annotations } of toolsListFor(ALL, undefined, ['worker']))
      expect(annotations, name).toMatchObject({ destructiveHint: false, openWorldHint: false })
  })
})

describe('words', () => {
  const named = (text: string) => TOOL_NAMES.filter((name) => new RegExp(`\\b${name}\\b`).test(text))

  it('of the instructions name only tools of the list that goes with them', () => {
    for (const preset of NARROWINGS) {
      for (const scopes of [ALL, READ]) {
        const names = toolsListFor(scopes, undefined, [preset]).map((tool) => tool.name)
        const text = instructionsFor(names)
        // `search` is also a word of English, but is never used as one.
        expect(
          named(text).filter((name) => !names.includes(name)),
          `${preset}: ${text}`,
        ).toEqual([])
        expect(text).not.toMatch(/[{}]/)
        expect(text).toContain('material')
      }
    }
  })

  it('of the instructions carry the whole way of work where the tools are there', () => {
    const text = instructionsFor(EVERY_NAMED)
    for (const word of [
      '`me`',
      '`owner`',
      'awaiting_approval is success',
      'stop: true',
      'unread: N',
      'null clears',
      'idempotency_key',
      'only way to ask',
    ])
      expect(text).toContain(word)
  })

  it('of a prompt name only tools that it needs', () => {
    const names = new Set(EVERY_NAMED)
    const prompts = promptsFor(names).prompts
    expect(prompts.map((prompt) => prompt.name)).toEqual(['plan_a_task', 'daily_review', 'hand_over'])
    for (const { name } of prompts) {
      const { messages } = promptNamed(names, name, { task: 'T1' })
      const used = named(JSON.stringify(messages))
      for (const tool of used) {
        const without = new Set([...names].filter((each) => each !== tool))
        expect(promptsFor(without).prompts.map((prompt) => prompt.name)).not.toContain(name)
      }
    }
  })
})

/** The tools that instructions and prompts may speak of. */
const EVERY_NAMED = [
  'get_digest',
  'list_my_tasks',
  'get_next_task',
  'start_run',
  'decompose_task',
  'set_step_status',
  'log_run_event',
  'heartbeat_run',
  'attach_artifact',
  'complete_task',
  'release_task',
  'ask_question',
  'block_task',
  'update_task',
  'search',
  'create_task',
  'get_task',
]
