import { join } from 'node:path'
import { ensureBuilt, ensureInstalled, root, run } from './ensure.mjs'

ensureInstalled()
ensureBuilt()
run(process.execPath, [join(root, 'build', 'demo.js'), ...process.argv.slice(2)])
