import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { ensureBuilt, ensureInstalled, root } from './ensure.mjs'

ensureInstalled()
ensureBuilt()

// npm does not hand a signal on to what it started; without it, the server ends too.
const npm = process.ppid
setInterval(() => {
  if (process.ppid !== npm) process.kill(process.pid, 'SIGTERM')
}, 500).unref()

const donectl = join(root, 'dist', 'donectl.js')
process.argv = [process.argv[0], donectl, 'serve', ...process.argv.slice(2)]
await import(pathToFileURL(donectl).href)
