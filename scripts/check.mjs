// All that CI runs, one after another; every step is run even where an earlier one failed, so that one run tells all.
import { spawnSync } from 'node:child_process'
import { join } from 'node:path'
import { ensureBuilt, ensureInstalled, root } from './ensure.mjs'

ensureInstalled()
ensureBuilt()
// Tried a few times in the tests, and by the thousand here.
const LONG = [
  ...['race', 'gate-race', 'processes', 'restarts', 'streams', 'read-token'],
  // On PostgreSQL as well (vitest.config.ts).
  ...['access', 'canary', 'gate', 'gate-oauth', 'gate-oauth-asking', 'verify'],
]
  .map((name) => `test/${name}.test.ts`)
  .concat(['backup', 'doctor', 'serve'].map((name) => `src/cli/${name}.test.ts`))
  .concat('src/http/foreign.test.ts', 'src/store/tamper.test.ts')
const bin = (...path) => join(root, 'node_modules', ...path)
const steps = [
  ['format and lint', [bin('@biomejs', 'biome', 'bin', 'biome'), 'ci', '--error-on-warnings', '.']],
  ['types and what must not compile', [bin('typescript', 'bin', 'tsc'), '--noEmit']],
  ['unused code', [bin('knip', 'bin', 'knip.js')]],
  ['generated files', [join(root, 'scripts', 'generate.mjs'), '--check']],
  ['conformance', [join(root, 'test', 'conformance', 'run.mjs')]],
  ['mutants', [join(root, 'test', 'mutants.mjs')]],
  ['long runs', [bin('vitest', 'vitest.mjs'), 'run', ...LONG], { DONE_LONG: '1' }],
  ['tests', [join(root, 'scripts', 'test.mjs')]],
]
let counts = '0 passed, 1 failed'
const failed = []
for (const [name, args, env = {}] of steps) {
  console.log(`\n— ${name}`)
  const tests = name === 'tests'
  const { status, stdout } = spawnSync(process.execPath, args, {
    cwd: root,
    env: { ...process.env, ...env },
    stdio: ['ignore', tests ? 'pipe' : 'inherit', 'inherit'],
    maxBuffer: 1 << 28,
  })
  if (tests) {
    process.stdout.write(stdout)
    counts = stdout.toString().trimEnd().split('\n').at(-1)
  }
  if (status !== 0) failed.push(name)
}
const [passedTests, failedTests] = counts.match(/\d+/g).map(Number)
const otherSteps = steps.length - 1
const otherFailed = failed.filter((name) => name !== 'tests').length
console.log(failed.length > 0 ? `\nFailed: ${failed.join(', ')}` : '\nEverything holds.')
console.log(`${passedTests + otherSteps - otherFailed} passed, ${failedTests + otherFailed} failed`)
process.exit(failed.length > 0 ? 1 : 0)
