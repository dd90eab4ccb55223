import { existsSync, readFileSync } from 'node:fs'
import { dirname, relative, resolve } from 'node:path'
import { expect, it } from 'vitest'

const SRC = resolve(import.meta.dirname, '..')

/** Every module that is loaded with a file of ours: by its name, or its path below src. Types are none, nor is what is imported later. */
function loadedWith(file: string, seen = new Set<string>()): Set<string> {
  if (!existsSync(file) || seen.has(relative(SRC, file))) return seen
  seen.add(relative(SRC, file))
  const imports = /^(?:import|export)\s+(?!type\b)(?:[^'"]*?\bfrom\s*)?['"]([^'"]+)['"]/gm
  for (const [statement, module = ''] of readFileSync(file, 'utf8').matchAll(imports)) {
    // A statement of types alone is dropped by the compiler.
    if (/^\w+\s*\{(?:\s*type\s[^,}]+,?)+\s*\}/.test(statement)) continue
    if (module.startsWith('.')) loadedWith(resolve(dirname(file), module), seen)
    else seen.add(module)
  }
  return seen
}

it('the first list over stdio needs neither the SDK, nor schemas, nor the database', () => {
  const loaded = [...loadedWith(resolve(SRC, 'main.ts')), ...loadedWith(resolve(SRC, 'cli/mcp.ts'))]
  expect(loaded).toContain('mcp/direct.ts')
  const dear =
    /^(@|zod|kysely|hono|pg|chrono|rrule|better-sqlite3|prom-client|node:(sqlite|zlib|http)|store\/|done\.ts)/
  expect(loaded.filter((module) => dear.test(module))).toEqual([])
  // What the SDK's own way needs is seen by the same look.
  expect([...loadedWith(resolve(SRC, 'mcp/stdio-sdk.ts'))]).toContain('@modelcontextprotocol/server')
})
