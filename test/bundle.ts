import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { build } from 'tsdown'

const root = fileURLToPath(new URL('..', import.meta.url))

/**
 * Bundles one source file as the product's build does, and returns the path of the result, which plain Node can run. It
 * lies under node_modules so that packages with native parts are found from there.
 */
export async function bundled(entry: string): Promise<string> {
  // The same file may be wanted by tests on both engines at once.
  const name = `${entry.replace(/\W+/g, '-')}-${process.pid}`
  const outDir = join(root, 'node_modules', '.cache', 'done', name)
  await build({
    config: false,
    cwd: root,
    entry: { main: entry },
    outDir,
    platform: 'node',
    target: 'node20',
    format: 'esm',
    deps: { alwaysBundle: [/.*/], neverBundle: ['better-sqlite3'] },
    dts: false,
    logLevel: 'error',
    outExtensions: () => ({ js: '.mjs' }),
  })
  process.once('exit', () => rmSync(outDir, { recursive: true, force: true }))
  return join(outDir, 'main.mjs')
}
