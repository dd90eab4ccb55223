// The server again after every change of a source.
import { spawn } from 'node:child_process'
import { join } from 'node:path'
import { ensureInstalled, root } from './ensure.mjs'

ensureInstalled()
const serve = `${process.execPath} ${join('dist', 'donectl.js')} serve ${process.argv.slice(2).join(' ')}`
spawn(
  process.execPath,
  [join(root, 'node_modules', 'tsdown', 'dist', 'run.mjs'), '--watch', 'src', '--on-success', serve],
  {
    cwd: root,
    stdio: 'inherit',
  },
).on('exit', (code) => process.exit(code ?? 1))
