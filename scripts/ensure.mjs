// What every verb needs first: the packages of the lock file, and a built dist/ that is newer than the sources.
import { spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { existsSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

export const root = fileURLToPath(new URL('..', import.meta.url))

/** Runs a command in the project's folder and ends this process with its code if it fails. */
export function run(command, args, options = {}) {
  const { status, error } = spawnSync(command, args, {
    cwd: root,
    stdio: 'inherit',
    shell: process.platform === 'win32',
    ...options,
  })
  if (error || status !== 0) {
    console.error(
      error ? `${command}: ${error.message}` : `${command} ${args.join(' ')} ended with ${status}.`,
    )
    process.exit(status || 1)
  }
}

/** Installs when the lock file, or the Node that native parts were built for, is not the installed one. */
export function ensureInstalled() {
  const [major, minor] = process.versions.node.split('.').map(Number)
  if (major < 20 || (major === 20 && minor < 19)) {
    console.error(`Done needs Node 20.19 or newer; this is ${process.version}. See https://nodejs.org.`)
    process.exit(1)
  }
  const stamp = join(root, 'node_modules', '.done-installed')
  const lock = createHash('sha256')
    .update(readFileSync(join(root, 'package-lock.json')))
    .update(process.versions.modules)
    .digest('hex')
  if (existsSync(stamp) && readFileSync(stamp, 'utf8') === lock) return
  console.error('Installing packages (on Node 20 the database driver may compile for a minute) …')
  run('npm', ['ci', '--no-audit', '--no-fund'], { stdio: ['ignore', 2, 2] })
  ensureDriver()
  writeFileSync(stamp, lock)
}

/** The driver is optional, since newer Nodes bring SQLite: npm leaves it out without a word where it can't be built. */
function ensureDriver() {
  const own = (process.versions.sqlite ?? '0').split('.').map(Number)
  const isNew = own[0] > 3 || (own[0] === 3 && (own[1] > 51 || (own[1] === 51 && own[2] >= 3)))
  if (isNew) return
  const opens = `new (require('better-sqlite3'))(':memory:').close()`
  const { status, stderr } = spawnSync(process.execPath, ['-e', opens], { cwd: root, encoding: 'utf8' })
  if (status === 0) return
  console.error(`${stderr.trim()}

The database driver better-sqlite3 could not be installed or built. Either use Node 22.23, 24 or newer, which need no
driver; or give it what it is built with (on Debian: apt install build-essential python3; on macOS: xcode-select --install)
and start again.`)
  process.exit(1)
}

/** Builds when a source is newer than the build. */
export function ensureBuilt() {
  const built = join(root, 'dist', 'donectl.js')
  const sources = ['src', 'demo', 'scripts'].flatMap((dir) => filesBelow(join(root, dir)))
  const newest = Math.max(
    ...[join(root, 'package-lock.json'), join(root, 'tsdown.config.ts'), ...sources].map(
      (file) => statSync(file).mtimeMs,
    ),
  )
  if (!existsSync(built) || statSync(built).mtimeMs <= newest) build()
}

/** Bundles the program and the chores; the bundler is heard only where it fails. */
export function build() {
  const bundler = join(root, 'node_modules', 'tsdown', 'dist', 'run.mjs')
  const { status, stdout, stderr } = spawnSync(process.execPath, [bundler], { cwd: root, encoding: 'utf8' })
  if (status === 0) return
  console.error(`${stdout}${stderr}The build failed.`)
  process.exit(1)
}

function filesBelow(dir) {
  return readdirSync(dir, { withFileTypes: true, recursive: true })
    .filter((entry) => entry.isFile() && !entry.name.endsWith('.test.ts'))
    .map((entry) => join(entry.parentPath ?? entry.path, entry.name))
}
