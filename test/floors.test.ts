import { readdirSync, readFileSync } from 'node:fs'
import { dirname, join, relative, resolve } from 'node:path'
import { expect, it } from 'vitest'

const SRC = resolve(import.meta.dirname, '../src')

/** What each folder may import, apart from itself. Types count: a door that names a row of the store has come too far. */
const MAY_IMPORT: Record<string, readonly string[]> = {
  model: [],
  store: ['model'],
  tools: ['model', 'store'],
  people: ['model', 'store', 'tools', 'auth'],
  auth: ['model', 'store', 'tools', 'outbound'],
  jobs: ['model', 'store', 'tools'],
  events: ['model', 'store'],
  outbound: ['model'],
  connectors: ['model', 'outbound'],
  mcp: ['model', 'tools', 'auth', 'events'],
  http: ['model', 'tools', 'people', 'auth', 'events', 'outbound'],
  cli: ['*'],
  '.': ['*'],
}

/** The only files that may be imported by whom; a tool that could import the handle could write SQL. */
const RESERVED: readonly { module: string; name: string; only: readonly string[] }[] = [
  { module: 'store/handle.ts', name: 'sqlOf', only: ['store'] },
  { module: 'store/handle.ts', name: 'openHandle', only: ['store'] },
  { module: 'kysely', name: '', only: ['store'] },
]

const files = readdirSync(SRC, { recursive: true, withFileTypes: true })
  .filter((entry) => entry.isFile() && entry.name.endsWith('.ts'))
  .map((entry) => join(entry.parentPath, entry.name))

it('lets every folder import only what lies below it', () => {
  const wrong = files.flatMap((file) =>
    importsOf(file)
      .filter(({ to }) => to !== undefined && !allowed(file, to))
      .map(({ to }) => `${relative(SRC, file)} imports ${relative(SRC, to!)}`),
  )
  expect(wrong).toEqual([])
})

it('keeps SQL in the store', () => {
  const wrong = files.flatMap((file) =>
    RESERVED.filter(({ only }) => !only.includes(folderOf(file))).flatMap(({ module, name }) =>
      importsOf(file)
        .filter(
          ({ from, to, names }) =>
            (to ? relative(SRC, to) === module : from === module) && (!name || names.includes(name)),
        )
        .map(() => `${relative(SRC, file)} imports ${name || module}`),
    ),
  )
  expect(wrong).toEqual([])
})

it('knows every folder', () => {
  expect(Object.keys(MAY_IMPORT).sort()).toEqual([...new Set(files.map(folderOf))].sort())
})

function allowed(file: string, target: string): boolean {
  const [from, to] = [folderOf(file), folderOf(target)]
  // A test stands beside the code it tests and may look anywhere.
  if (from === to || file.endsWith('.test.ts')) return true
  const may = MAY_IMPORT[from] ?? []
  return (
    may.includes('*') || may.includes(to) || (to === '.' && /\/(version|hosts|config|done)\.ts$/.test(target))
  )
}

function folderOf(file: string): string {
  return relative(SRC, file).split('/').slice(0, -1)[0] ?? '.'
}

/** Static and dynamic imports of a file; `to` is the file where it is one of ours. */
function importsOf(file: string): { from: string; to: string | undefined; names: string[] }[] {
  const text = readFileSync(file, 'utf8')
  const pattern =
    /(?:import|export)\s+(?:type\s+)?([^'"]*?)\s*from\s*['"]([^'"]+)['"]|import\(\s*['"]([^'"]+)['"]\s*\)/g
  return [...text.matchAll(pattern)].map(([, names = '', from = '', dynamic]) => {
    const module = dynamic ?? from
    const to = module.startsWith('.') && module.endsWith('.ts') ? resolve(dirname(file), module) : undefined
    const ours = to?.startsWith(SRC) ? to : undefined
    return {
      from: module,
      to: ours,
      names: names
        .replace(/[{}]/g, ' ')
        .split(/[\s,]+/)
        .filter(Boolean),
    }
  })
}
