import { AppError, tellRefusal } from '../model/error.ts'
import { toolNamed } from '../tools/effects.ts'
import { schemaOf } from '../tools/parse.ts'
import { textOf } from '../tools/text.ts'
import { localAgent } from './agent.ts'
import { settings } from './options.ts'
import { openHere } from './place.ts'

/** `donectl call`: a tool, on the data folder itself. Arguments are flags, or one JSON object. */
export async function run(args: string[]): Promise<number> {
  const { tool, input, json, data } = readCall(args)
  if (!tool) {
    console.error('Usage: donectl call TOOL [--argument VALUE …] [--json]. donectl tools lists them.')
    return 2
  }
  const config = settings(data === undefined ? {} : { data })
  const done = await openHere(config)
  try {
    const actor = await localAgent(done, config, process.env.DONE_TOKEN)
    const output = await done.call(actor, tool, input)
    console.log(json ? JSON.stringify(output, null, 2) : textOf(output))
    return 0
  } catch (error) {
    if (!(error instanceof AppError)) throw error
    const refusal = { ...tellRefusal(error) }
    console.error(json ? JSON.stringify({ error: refusal }, null, 2) : textOf(refusal))
    return 1
  } finally {
    await done.close()
  }
}

interface Said {
  tool: string | undefined
  input: Record<string, unknown>
  json: boolean
  data: string | undefined
}

/** Every flag but ours is an argument of the tool; what it may be is the tool's schema to say. A repeated one is a list. */
function readCall(args: readonly string[]): Said {
  const said: Omit<Said, 'input'> = { tool: undefined, json: false, data: undefined }
  const input = new Map<string, unknown>()
  const put = (name: string, value: unknown) =>
    input.set(name, input.has(name) ? [input.get(name), value].flat() : value)
  const rest = [...args]
  while (rest.length > 0) {
    const word = rest.shift()!
    if (word === '--json') said.json = true
    else if (word.startsWith('--')) {
      const [name = '', ...value] = word.slice(2).split('=')
      const text = value.length > 0 ? value.join('=') : valueBehind(said.tool, name, rest)
      if (name === 'data') said.data = text
      else put(name.replaceAll('-', '_'), text === 'null' ? null : text)
    } else if (said.tool === undefined) said.tool = word
    else for (const [name, value] of Object.entries(objectIn(word))) put(name, value)
  }
  // Not by assignment: an argument called __proto__ is an argument like any other.
  return { ...said, input: Object.fromEntries(input) }
}

/** What stands behind a flag. Only a flag that is true or false may stand alone, and then means true. */
function valueBehind(tool: string | undefined, name: string, rest: string[]): string {
  if (rest[0] !== undefined && !rest[0].startsWith('--')) return rest.shift()!
  const argument = name.replaceAll('-', '_')
  const type = tool && toolNamed(tool) && schemaOf(toolNamed(tool)!).properties?.[argument]?.type
  if (type === 'boolean') return 'true'
  throw new Error(`--${name} needs a value, as in --${name} VALUE or --${name}=VALUE.`)
}

function objectIn(word: string): object {
  try {
    const value: unknown = JSON.parse(word)
    if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value
  } catch {
    // Said below, for whatever is no object.
  }
  throw new Error(`"${word.slice(0, 80)}" is neither --argument VALUE nor a JSON object.`)
}
