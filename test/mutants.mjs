// Mutants: each guard of the code is taken out in turn, in a copy of the sources, and some test must turn red. (The
// triggers of the database are taken out in src/store/triggers.test.ts.) Usage: node test/mutants.mjs [name …]
import { spawnSync } from 'node:child_process'
import { cpSync, mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

const root = fileURLToPath(new URL('..', import.meta.url))
const copy = join(root, 'node_modules', '.cache', 'mutants')

/** Name, file, what is taken out, what stands there instead, and the tests of which one must notice. */
const MUTANTS = [
  [
    'the scope guard lets every scope pass',
    'src/tools/guard.ts',
    'if (!toolNamed(name) || !holds(actor, scopeOf(name))) return false',
    'if (!toolNamed(name)) return false',
    ['src/tools/task.test.ts'],
  ],
  [
    'presets do not narrow',
    'src/tools/guard.ts',
    'return narrow(actor.presets)(name) && narrow(presets)(name)',
    'return true',
    ['src/mcp'],
  ],
  [
    'an agent’s finish closes',
    'src/store/approval.ts',
    "tx.actor.kind === 'person' || (task.auto_ok === 1 && !pending)",
    'true',
    ['src/tools/task.test.ts'],
  ],
  [
    'anybody may decide',
    'src/store/approval.ts',
    "if (tx.actor.kind !== 'person') {",
    'if (false) {',
    ['test/gate-model.test.ts'],
  ],
  [
    'a decision needs no fresh sign-in',
    'src/store/approval.ts',
    'tx.now - tx.actor.session.signedInAt > FRESH_MS',
    'false',
    ['src/people', 'src/http'],
  ],
  [
    'a decision is not bound to what was seen',
    'src/store/approval.ts',
    'is.version !== stored.version || is.hash !== stored.hash',
    'false',
    ['test/gate-model.test.ts'],
  ],
  [
    'open parts do not hold a task open',
    'src/store/approval.ts',
    'if (waits.length + children.length === 0) return',
    'if (waits.length + children.length >= 0) return',
    ['src/tools', 'test/gate.test.ts'],
  ],
  [
    'others may void a request, and signed-off content may change',
    'src/store/content.ts',
    "if (tx.actor.kind === 'person') return\n",
    'return\n',
    ['test/gate-model.test.ts'],
  ],
  [
    'a part is reopened under another’s request',
    'src/store/reopen.ts',
    'if (task.parent !== null) await guardMeaning',
    'if (false) await guardMeaning',
    ['test/gate-model.test.ts'],
  ],
  [
    'a change of meaning leaves the request',
    'src/store/content.ts',
    'if (pending) {\n    await dropRequest',
    'if (false) {\n    await dropRequest',
    ['test/gate-model.test.ts'],
  ],
  [
    'auto-OK survives another title',
    'src/store/task.ts',
    "if (tx.actor.kind === 'person' || task.auto_ok === 0 || !swapped) return false",
    'return false',
    ['src/tools/task-edit.test.ts'],
  ],
  [
    'a gated duplicate merges into an auto-OK task',
    'src/store/merge.ts',
    'kept.auto_ok === 1 && duplicate.auto_ok === 0',
    'false',
    ['test/gate.test.ts'],
  ],
  [
    'a project with gated tasks is archived',
    'src/store/project.ts',
    'if (gated.length > 0) {',
    'if (false) {',
    ['src/tools/project.test.ts'],
  ],
  [
    'a held task is finished by others',
    'src/store/claim.ts',
    "if (!holder || holder === tx.actor.id || tx.actor.kind === 'person') return",
    'return',
    ['test/gate-model.test.ts'],
  ],
  [
    'unknown arguments are dropped',
    'src/tools/parse.ts',
    'if (!known.includes(argument)) throw unknownArgument(name, argument, known)',
    '{}',
    ['src/tools/task.test.ts', 'src/tools/task-edit.test.ts'],
  ],
  [
    'a revoked token still works',
    'src/auth/actor.ts',
    'tokenByHash(tx, hash))\n    if (!row || row.revoked_at !== null) return undefined',
    'tokenByHash(tx, hash))\n    if (!row) return undefined',
    ['src/people', 'src/http', 'src/mcp'],
  ],
  [
    'a token that was revoked is remembered',
    'src/auth/remembered.ts',
    'if (stamp !== knownUnder) {',
    'if (knownUnder === undefined) {',
    ['src/auth'],
  ],
  [
    'an expired token still works',
    'src/auth/remembered.ts',
    '(found.expires === null || found.expires > store.now())',
    'true',
    ['src/auth'],
  ],
  [
    'an ended session still works',
    'src/auth/actor.ts',
    'sessionByHash(tx, hash))\n    if (!row || row.revoked_at !== null) return undefined',
    'sessionByHash(tx, hash))\n    if (!row) return undefined',
    ['src/people', 'src/http'],
  ],
  [
    'a form of another session counts',
    'src/store/form.ts',
    'given.length !== right.length ||',
    'given.length < 0 &&',
    ['src/http'],
  ],
  [
    'an old form counts',
    'src/store/form.ts',
    'if (at > tx.now || tx.now - at > FORM_MS)',
    'if (false)',
    ['src/store/form.test.ts'],
  ],
  [
    'other sites’ forms are taken',
    'src/http/origin.ts',
    "const site = headers.get('sec-fetch-site')",
    "return undefined\n  const site = headers.get('sec-fetch-site')",
    ['src/http'],
  ],
  [
    'operations for people are everybody’s',
    'src/people/guard.ts',
    "if (actor.kind !== 'person') throw",
    'if (false) throw',
    ['src/people'],
  ],
  [
    'refusals are not recorded',
    'src/tools/call.ts',
    'await access.refuse(actor, name, error)',
    '',
    ['src/people', 'src/http'],
  ],
  ['a key does not replay', 'src/tools/call.ts', 'if (replay) return', 'if (false) return', ['src/tools']],
  [
    'a credential sees every project',
    'src/store/task.ts',
    ".$if(projects !== undefined, (query) => query.where('tasks.project', 'in', [...projects!]))",
    '',
    ['src/tools'],
  ],
  [
    'a trashed dependency frees',
    'src/store/dependency.ts',
    ", eb('t.trash', 'is not', null)]))",
    ']))',
    ['src/tools'],
  ],
]

rmSync(copy, { recursive: true, force: true })
mkdirSync(copy, { recursive: true })
for (const name of [
  'src',
  'test',
  'demo',
  'scripts',
  'docs',
  'dist',
  'build',
  'package.json',
  'package-lock.json',
  'tsconfig.json',
  'tsdown.config.ts',
  'vitest.config.ts',
]) {
  cpSync(join(root, name), join(copy, name), { recursive: true })
}
symlinkSync(join(root, 'node_modules'), join(copy, 'node_modules'))

const wanted = process.argv.slice(2)
const alive = []
let killed = 0
for (const [name, file, out, instead, tests] of MUTANTS) {
  if (wanted.length > 0 && !wanted.some((word) => name.includes(word))) continue
  const path = join(copy, file)
  const text = readFileSync(path, 'utf8')
  if (!text.includes(out)) {
    alive.push(`${name}: ${file} no longer has what it takes out; correct the list`)
    continue
  }
  writeFileSync(path, text.replace(out, instead))
  const { status, signal } = spawnSync(
    process.execPath,
    [
      join(root, 'node_modules', 'vitest', 'vitest.mjs'),
      'run',
      '--project=!postgres',
      '--bail=1',
      '--reporter=dot',
      ...tests,
    ],
    { cwd: copy, stdio: 'ignore', timeout: 300_000 },
  )
  writeFileSync(path, text)
  if (signal) alive.push(`${name}: the tests did not end`)
  else if (status === 0) alive.push(`${name}: no test noticed`)
  else killed++
}
rmSync(copy, { recursive: true, force: true })
console.log(`mutants: ${killed} noticed, ${alive.length} not`)
for (const line of alive) console.log(`  ${line}`)
process.exit(alive.length === 0 ? 0 : 1)
