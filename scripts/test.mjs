// All tests, through the doors that users use: the built donectl is one of them.
import { spawnSync } from 'node:child_process'
import { accessSync, chmodSync, constants, mkdtempSync, readFileSync, rmSync, statfsSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, relative } from 'node:path'
import { ensureBuilt, ensureInstalled, root } from './ensure.mjs'

ensureInstalled()
ensureBuilt()
// All that the tests make is in it, so that nothing is left of a run that is broken off.
const scratch = mkdtempSync(join(inMemory() ?? tmpdir(), 'done-test-'))
// Run by root, PostgreSQL is a user of its own, who has to get through to its files.
chmodSync(scratch, 0o711)
const report = join(scratch, 'report.json')
const { status } = spawnSync(
  process.execPath,
  [
    join(root, 'node_modules', 'vitest', 'vitest.mjs'),
    'run',
    '--reporter=default',
    '--reporter=json',
    `--outputFile=${report}`,
    ...process.argv.slice(2),
  ],
  { cwd: root, stdio: 'inherit', env: { ...process.env, TMPDIR: scratch } },
)

/**
 * Where Linux keeps files in memory, with room for some hundred databases at a time: waiting for a disk would be a third of
 * the time. No test is about what is lost with the power. Whoever sets TMPDIR gets that.
 */
function inMemory() {
  const dir = '/dev/shm'
  if (process.env.TMPDIR) return undefined
  try {
    accessSync(dir, constants.W_OK)
    const { bavail, bsize } = statfsSync(dir)
    return bavail * bsize > 2e9 ? dir : undefined
  } catch {
    return undefined
  }
}

let passed = 0
let failed = 0
try {
  const { numPassedTests, numFailedTests, numFailedTestSuites, testResults } = JSON.parse(
    readFileSync(report, 'utf8'),
  )
  passed = numPassedTests
  failed = numFailedTests || (status === 0 ? 0 : numFailedTestSuites || 1)
  // Said again at the end: whoever reads only the tail of a long log shall know what broke.
  for (const file of testResults.filter((one) => one.status === 'failed')) {
    const broken = file.assertionResults.filter((one) => one.status === 'failed')
    const path = relative(root, file.name)
    if (broken.length === 0) console.log(`failed: ${path}\n${file.message}`)
    for (const { fullName, failureMessages } of broken)
      console.log(`failed: ${path} > ${fullName}\n${failureMessages.join('\n')}`)
  }
} catch {
  failed = 1
}
rmSync(scratch, { recursive: true, force: true })
console.log(`${passed} passed, ${failed} failed`)
process.exit(status === 0 && failed === 0 && passed > 0 ? 0 : 1)
