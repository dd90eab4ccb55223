import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { sealKey } from '../auth/console.ts'
import { type Config, readConfig } from '../config.ts'
import { sealBy } from '../done.ts'
import { type MoveOptions, type MoveStep, moveEngine } from '../store/move.ts'
import { systemActor } from '../tools/access.ts'
import { addressOfServer } from './address.ts'
import { readFlags } from './options.ts'
import { markBack, markMoved } from './place.ts'

/**
 * `donectl migrate-engine`: moves all data between the embedded database of the data folder and the PostgreSQL database of
 * DATABASE_URL, and checks them row by row. Exit code 1 where anything is in the way; what is moved from stays as it is.
 */
export async function run(args: string[]): Promise<undefined> {
  const { flags } = readFlags(args, ['to', 'data'])
  const { to } = flags
  if (to !== 'postgres' && to !== 'embedded') {
    throw new Error('Say where the data go: --to postgres, or --to embedded.')
  }
  const config = readConfig({ ...(flags.data === undefined ? {} : { data: flags.data }) }, process.env)
  const { database, dataDir, rolePrefix } = config
  if (database === undefined) {
    throw new Error(
      'DATABASE_URL names no database. Give the one that the data go to or come from, as its owner: DATABASE_URL=postgres://user:password@host/database.',
    )
  }
  refuseRunning(dataDir)
  console.log(
    `Moving from ${placeOf(to === 'postgres' ? 'embedded' : 'postgres', config)} to ${placeOf(to, config)}. Every server and donectl mcp on them must be stopped.\n`,
  )
  const { rows, tables, leftAtWork } = await moveEngine({
    to,
    dir: dataDir,
    database,
    rolePrefix,
    seal: sealBy(keyOf(to, config)),
    actorOf: systemActor,
    tell: printer(),
  })
  if (to === 'postgres') markMoved(dataDir, database)
  else markBack(dataDir)
  console.log(
    `\nMoved. All ${numbered(rows, 'row')} of ${tables} tables were read back from both sides and are the same, and every sign-off holds.\n\n${nextSteps(to, config)}`,
  )
  if (leftAtWork) {
    console.log(
      `\nA Done is still connected to ${placeOf(to === 'postgres' ? 'embedded' : 'postgres', config)}. What it writes from now on is not moved: stop it.`,
    )
  }
  return undefined
}

function refuseRunning(dir: string): void {
  const site = addressOfServer(dir)
  if (site !== undefined) {
    throw new Error(`A server runs on ${dir} (${site}). Stop it, and every other one on these data.`)
  }
}

/** The address of a database holds a password, so only its name is said. */
function placeOf(engine: MoveOptions['to'], { dataDir, database }: Config): string {
  return engine === 'embedded'
    ? `the embedded database in ${dataDir}`
    : `the PostgreSQL database ${new URL(database!).pathname.slice(1)}`
}

function keyOf(to: MoveOptions['to'], { dataDir, sealKey: given }: Config): Buffer {
  if (to === 'embedded' && given === undefined && !existsSync(join(dataDir, 'seal.key'))) {
    throw new Error(
      `${dataDir} has no seal.key, by which the sign-offs were sealed, and it is not kept in the database. Copy seal.key from the data folder of a server that works on PostgreSQL to ${join(dataDir, 'seal.key')}, readable by its owner only, or set DONE_SEAL_KEY to what is in it.`,
    )
  }
  return sealKey(dataDir, given, false)
}

/** How often a long table says how far it is, in milliseconds. */
const SAY_MS = 5000

function printer(): (step: MoveStep) => void {
  let said = performance.now()
  let comparing = false
  return ({ of, table, rows, copied }) => {
    if (of === 'check') {
      if (!comparing) console.log('\nComparing every row, then checking every sign-off …')
      comparing = true
    } else if (of === 'table') {
      said = performance.now()
      const before = rows - copied
      const kept = before > 0 ? `, of which ${before.toLocaleString('en')} were there` : ''
      if (rows > 0) console.log(`${table.padEnd(16)} ${numbered(rows, 'row')}${kept}`)
    } else if (performance.now() > said + SAY_MS) {
      said = performance.now()
      console.log(`${table.padEnd(16)} ${rows.toLocaleString('en')} …`)
    }
  }
}

const numbered = (count: number, word: string): string =>
  `${count.toLocaleString('en')} ${word}${count === 1 ? '' : 's'}`

function nextSteps(to: MoveOptions['to'], { dataDir, sealKey: given }: Config): string {
  const key = `DONE_SEAL_KEY, or seal.key in the data folder of each`
  return to === 'postgres'
    ? `Next: start the servers with DATABASE_URL set. Every process needs the same key: ${key}.\nThe folder ${dataDir} stays as it is: keep seal.key, and done.db until you are sure. Without DATABASE_URL nothing starts on it.`
    : `Next: take DATABASE_URL out of the environment and start the server with --data ${dataDir}${given === undefined ? '' : ', with DONE_SEAL_KEY as it is now'}.\nThe database on PostgreSQL stays as it is until you drop it. Start nothing on it.`
}
