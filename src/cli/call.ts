import { openDone } from '../done.ts'
import { AppError } from '../model/error.ts'
import { textOf } from '../tools/text.ts'
import { localAgent } from './agent.ts'
import { settings } from './options.ts'

/** `donectl call`: a tool, on the data folder itself. Arguments are flags, or one JSON object. */
export async function run(args: string[]): Promise<number> {
  const { tool, input, json, data } = readCall(args)
  if (!tool) {
    console.error('Usage: donectl call TOOL [--argument VALUE …] [--json]. donectl tools lists them.')
    return 2
  }
  const config = settings(data === undefined ? {} : { data })
  const done = openDone({ dataDir: config.dataDir, site: () => config.site })
  try {
    const actor = await localAgent(done, config, process.env.DONE_TOKEN)
    const output = await done.call(actor, tool, input)
    console.log(json ? JSON.stringify(output, null, 2) : textOf(output))
    return 0
  } catch (error) {
    if (!(error instanceof AppError)) throw error
    const { gate, ...details } = error.details
    const refusal = { code: error.code, message: error.message, ...details }
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

/** Every flag but ours is an argument of the tool; what it may be is the tool's schema to say. */
function readCall(args: readonly string[]): Said {
  const said: Omit<Said, 'input'> = { tool: undefined, json: false, data: undefined }
  const input: [string, unknown][] = []
  const rest = [...args]
  while (rest.length > 0) {
    const word = rest.shift()!
    if (word === '--json') said.json = true
    else if (word.startsWith('--')) {
      const [name = '', ...value] = word.slice(2).split('=')
      const text =
        value.length > 0 ? value.join('=') : rest[0]?.startsWith('--') === false ? rest.shift()! : 'true'
      if (name === 'data') said.data = text
      else input.push([name.replaceAll('-', '_'), text === 'null' ? null : text])
    } else if (said.tool === undefined) said.tool = word
    else if (word.startsWith('{')) input.push(...Object.entries(JSON.parse(word) as object))
    else throw new Error(`"${word}" is neither --argument VALUE nor a JSON object.`)
  }
  // Not by assignment: an argument called __proto__ is an argument like any other.
  return { ...said, input: Object.fromEntries(input) }
}
