import { nearest } from '../model/suggest.ts'
import { annotationsFor, TOOL_NAMES, toolNamed } from '../tools/effects.ts'
import { scopeOf } from '../tools/guard.ts'
import { schemaOf } from '../tools/parse.ts'

/** `donectl tools`: the catalogue, or one tool with its arguments; all of it from the sets that the guard asks. */
export async function run([name]: string[]): Promise<number> {
  if (name === undefined) {
    for (const each of TOOL_NAMES)
      console.log(`${each.padEnd(26)} ${kind(each).padEnd(12)} ${toolNamed(each)!.does}`)
    return 0
  }
  const tool = toolNamed(name)
  if (!tool) {
    const near = nearest(name, TOOL_NAMES)
    console.error(
      `There is no tool "${name}".${near.length > 0 ? ` Near: ${near.join(', ')}.` : ''} donectl tools lists them all.`,
    )
    return 2
  }
  const schema = schemaOf(tool)
  console.log(`${name}: ${tool.title}\n\n${tool.does}\n`)
  console.log(`Scope: ${scopeOf(name)}. ${kind(name)}.`)
  console.log(`Hints: ${JSON.stringify(annotationsFor(name))}\n`)
  for (const [argument, { type, enum: values, anyOf, description }] of Object.entries(
    schema.properties ?? {},
  )) {
    const said =
      values?.join(' | ') ?? type ?? anyOf?.map((each) => each.enum?.join(' | ') ?? each.type).join(' | ')
    const needed = schema.required?.includes(argument) ? '' : ' (optional)'
    console.log(`  --${argument}  ${said}${needed}${description ? `  ${description}` : ''}`)
  }
  console.log(`\nExample: donectl call ${name} '${JSON.stringify(tool.example)}'`)
  return 0
}

function kind(name: string): string {
  const { readOnlyHint, destructiveHint, openWorldHint } = annotationsFor(name)
  const effect = readOnlyHint ? 'reads' : destructiveHint ? 'destructive' : 'adds'
  return openWorldHint ? `${effect}, open` : effect
}
