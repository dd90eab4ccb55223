import { existsSync, statSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { sealKey } from '../auth/console.ts'
import { type Config, readConfig } from '../config.ts'
import { sealBy } from '../done.ts'
import { type Copied, checkCopy, copyData, readCopy } from '../store/backup.ts'
import { systemActor } from '../tools/access.ts'
import { noteBackup } from './backup-note.ts'
import { readFlags } from './options.ts'
import { placeOf, refuseElsewhere } from './place.ts'
import { makeWhole, sha256Of } from './whole-file.ts'

/**
 * `donectl backup`: one moment of all data as one file, while servers go on writing, and checked before it has its name. The
 * key is not in it (docs/decisions/0015). Exit code 1 where there is no backup afterwards.
 */
export async function run(args: string[]): Promise<undefined> {
  const { flags } = readFlags(args, ['data', 'to'])
  const config = readConfig({ ...(flags.data === undefined ? {} : { data: flags.data }) }, process.env)
  const { dataDir, database, rolePrefix } = config
  refuseElsewhere(config)
  const begun = new Date()
  const file = fileFor(flags.to, begun)
  const check = { seal: sealBy(sealKey(dataDir, config.sealKey, false)), actorOf: systemActor }
  const made = await makeWhole(file, async (draft) => {
    await copyData({ dir: dataDir, database, rolePrefix, ...check }, draft)
    checkCopy(draft, 'the copy', check.seal)
    return { ...(await readCopy(draft, 'the copy', check)), sha256: await sha256Of(draft) }
  })
  noteBackup(dataDir, { at: begun.getTime(), file })
  console.log(report(config, file, begun, made))
  return undefined
}

/** The file that is meant: by default, and in a folder that is named, one called by the moment. */
function fileFor(to: string | undefined, at: Date): string {
  const name = `done-${at.toISOString().slice(0, 19).replaceAll(':', '')}Z.db`
  const path = resolve(to ?? name)
  return existsSync(path) && statSync(path).isDirectory() ? join(path, name) : path
}

function report(config: Config, file: string, begun: Date, made: Copied & { sha256: string }): string {
  const { dataDir, database, sealKey: given } = config
  const seconds = ((Date.now() - begun.getTime()) / 1000).toFixed(1)
  const key = given === undefined ? join(dataDir, 'seal.key') : 'DONE_SEAL_KEY'
  return `Backup of          ${database === undefined ? dataDir : `PostgreSQL ${placeOf(database)}`}, as it was ${begun.toISOString()}
In                 ${file}
Holds              ${made.rows.toLocaleString('en')} rows of ${made.tables} tables, ${statSync(file).size.toLocaleString('en')} bytes, made in ${seconds} s
Checked            every page and reference, the schema, and that every sign-off holds under the key
SHA-256            ${made.sha256}

Not in it          the key, ${key}. Without it the backup opens nowhere; with it whoever has
                   both can forge sign-offs and read one-time codes. Keep a copy of it, but not beside this file.`
}
