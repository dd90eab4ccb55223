// Writes the generated files; with --check only says which are not as they would be written. The page of evidence is
// checked by the tests themselves.
import { join } from 'node:path'
import { build, ensureInstalled, root, run } from './ensure.mjs'

ensureInstalled()
const check = process.argv.includes('--check')
build()
run(process.execPath, [join(root, 'build', 'generate.js'), ...(check ? ['--check'] : [])])
if (!check) {
  build()
  run(
    process.execPath,
    [
      join(root, 'node_modules', 'vitest', 'vitest.mjs'),
      'run',
      '--project=sqlite',
      'test/every-tool.test.ts',
      '--reporter=dot',
    ],
    {
      env: { ...process.env, DONE_WRITE_EVIDENCE: '1' },
    },
  )
}
