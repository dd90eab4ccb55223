import {
  chmodSync,
  chownSync,
  copyFileSync,
  existsSync,
  linkSync,
  mkdirSync,
  mkdtempSync,
  rmdirSync,
  rmSync,
  statSync,
} from 'node:fs'
import { join, resolve } from 'node:path'
import { sealKey } from '../auth/console.ts'
import { endWhatOpens, type Restored } from '../auth/restored.ts'
import { type Config, readConfig } from '../config.ts'
import { openDone, sealBy } from '../done.ts'
import { headsIn } from '../jobs/heads.ts'
import { formatId } from '../model/id.ts'
import { type Copied, checkCopy, readCopy } from '../store/backup.ts'
import { moveEngine } from '../store/move.ts'
import { systemActor } from '../tools/access.ts'
import { addressOfServer } from './address.ts'
import { readFlags } from './options.ts'
import { markMoved, placeOf, refuseElsewhere } from './place.ts'
import { run as verify } from './verify.ts'
import { namesToDisk, sha256Of, toDisk } from './whole-file.ts'

/**
 * `donectl restore`: puts a backup into a folder, or into the PostgreSQL database of DATABASE_URL, that holds no data yet. The
 * file is checked in a copy of its own and put in its place when it is ready, so that nothing half is ever opened; what it
 * could let in again is ended (docs/decisions/0015). Exit code as of `donectl verify`, which has the last word.
 */
export async function run(args: string[]): Promise<number> {
  const { flags } = readFlags(args, ['from', 'data'])
  if (flags.from === undefined) {
    console.error('Usage: donectl restore --from FILE [--data DIR]')
    return 2
  }
  const config = readConfig({ ...(flags.data === undefined ? {} : { data: flags.data }) }, process.env)
  const from = resolve(flags.from)
  if (!existsSync(from) || !statSync(from).isFile())
    throw new Error(`${from} is no file. Give one by --from.`)
  refuseElsewhere(config)
  refuseUsed(config)
  const key = keyFor(config)
  const begun = Date.now()
  const made = await inNewFolder(config.dataDir, async (beside) => {
    const { restored, copied, sha256 } = await prepare(from, beside, config.site, key)
    await putInPlace(beside, config, key)
    // What was known of a longer log is of the data that were here before.
    rmSync(headsIn(config.dataDir).path, { force: true })
    return { restored, copied, sha256 }
  })
  console.log(report(config, from, begun, made))
  return verify(['--data', config.dataDir])
}

/** Names of an embedded database's files: a log that is left of another would be played back into the one that comes. */
const FILES = ['done.db', 'done.db-wal', 'done.db-shm', 'done.db-journal']

function refuseUsed({ dataDir, database }: Config): void {
  const site = addressOfServer(dataDir)
  if (site !== undefined) throw new Error(`A server runs on ${dataDir} (${site}). Stop it first.`)
  if (database !== undefined) return
  const there = FILES.find((name) => existsSync(join(dataDir, name)))
  if (there !== undefined) {
    throw new Error(
      `${dataDir} holds data (${there}), which are never overwritten. Give another folder by --data, with the seal.key of the backup in it, or move what is there away.`,
    )
  }
}

function keyFor({ dataDir, sealKey: given }: Config): Buffer {
  if (given === undefined && !existsSync(join(dataDir, 'seal.key'))) {
    throw new Error(
      `${dataDir} has no seal.key, by which the sign-offs of the backup were sealed; a backup never holds it. Copy the one that you keep apart to ${join(dataDir, 'seal.key')}, readable by its owner only, or set DONE_SEAL_KEY to what is in it.`,
    )
  }
  return sealKey(dataDir, given, false)
}

/** Runs with a folder of its own beside the data, of which nothing is left; nor of the data folder, where it had to be made and nothing came of it. */
async function inNewFolder<T>(dataDir: string, work: (beside: string) => Promise<T>): Promise<T> {
  const made = !existsSync(dataDir)
  mkdirSync(dataDir, { recursive: true, mode: 0o700 })
  const beside = mkdtempSync(join(dataDir, 'restore-'))
  let kept = false
  try {
    const result = await work(beside)
    kept = true
    return result
  } finally {
    rmSync(beside, { recursive: true, force: true })
    if (made && !kept) rmdirSync(dataDir)
  }
}

/** Copies, checks, brings the schema up to date, and ends what the backup could let in again. */
async function prepare(from: string, beside: string, site: string, key: Buffer) {
  const copy = join(beside, 'done.db')
  const check = { seal: sealBy(key), actorOf: systemActor }
  copyFileSync(from, copy)
  chmodSync(copy, 0o600)
  const sha256 = await sha256Of(copy)
  checkCopy(copy, from, check.seal)
  const sealKey = key.toString('hex')
  const done = await openDone({ dataDir: beside, sealKey, existing: true, site: () => site })
  let restored: Restored
  try {
    restored = await endWhatOpens(done.store)
  } finally {
    await done.close()
  }
  return { restored, sha256, copied: await readCopy(copy, from, check) }
}

async function putInPlace(beside: string, config: Config, key: Buffer): Promise<void> {
  const { dataDir, database, rolePrefix } = config
  if (database !== undefined) {
    await moveEngine({
      to: 'postgres',
      dir: beside,
      database,
      rolePrefix,
      seal: sealBy(key),
      actorOf: systemActor,
      tell() {},
    })
    markMoved(dataDir, database)
    return
  }
  const copy = join(beside, 'done.db')
  // An administrator restores for the user under whom the server runs, whose folder it is.
  if (process.getuid?.() === 0) {
    const { uid, gid } = statSync(dataDir)
    chownSync(copy, uid, gid)
  }
  toDisk(copy)
  // Not by renaming, which would replace what a server that starts just now has begun.
  linkSync(copy, join(dataDir, 'done.db'))
  namesToDisk(dataDir)
}

function report(
  { dataDir, database }: Config,
  from: string,
  begun: number,
  { restored, copied, sha256 }: { restored: Restored; copied: Copied; sha256: string },
): string {
  const { sessions, links, invitations, hosts, tokens } = restored
  const names = tokens.map(
    ({ account, id, agent }) => `${formatId('token', id)} of ${agent} (account ${account})`,
  )
  return `Restored           ${from}
To                 ${database === undefined ? dataDir : `PostgreSQL ${placeOf(database)}`}
Holds              ${copied.rows.toLocaleString('en')} rows of ${copied.tables} tables, in ${((Date.now() - begun) / 1000).toFixed(1)} s
SHA-256            ${sha256}
Ended              sessions: ${sessions}, sign-in links: ${links}, invitations: ${invitations}, connected hosts: ${hosts}. People sign in again;
                   donectl signin-link makes a link for the owner.
Still as it was    passwords, passkeys, one-time codes, members and tokens. What was changed, removed or revoked
                   since the backup holds again: look it through under Members.
Tokens that hold   ${names.length === 0 ? 'none' : names.join(', ')}
`
}
