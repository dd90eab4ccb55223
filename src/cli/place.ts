import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Config } from '../config.ts'
import { type Done, type DoneOptions, openDone } from '../done.ts'

/** Beside the key: says that the data of a folder are in a database elsewhere, and in which. */
const MARK = 'database.json'

/**
 * Opens the data that the settings name, wherever they are. A command in a shell that does not know DATABASE_URL would begin
 * an installation of its own beside the real one, or work on what was moved away: both are refused.
 */
export async function openHere(
  config: Config,
  options: Partial<Pick<DoneOptions, 'site' | 'existing' | 'committed'>> = {},
): Promise<Done> {
  const { dataDir, database } = config
  refuseElsewhere(config)
  const done = await openDone({ ...config, site: () => config.site, ...options })
  if (database !== undefined && existsSync(dataDir)) markMoved(dataDir, database)
  return done
}

/** Throws where the folder says that the data are in another place than the settings do. */
export function refuseElsewhere({ dataDir, database }: Pick<Config, 'dataDir' | 'database'>): void {
  if (database === undefined) refuseMoved(dataDir)
  else refuseUnmoved(dataDir)
}

/** Notes in a folder that its data are in a database; the address holds a password, so only its place is kept. */
export function markMoved(dataDir: string, database: string): void {
  writeFileSync(join(dataDir, MARK), JSON.stringify({ postgres: placeOf(database) }), { mode: 0o600 })
}

/** Takes the note away: the folder's own database is the one again. */
export function markBack(dataDir: string): void {
  rmSync(join(dataDir, MARK), { force: true })
}

/** Where a database is, without who opens it. */
export function placeOf(database: string): string {
  const { host, pathname } = new URL(database)
  return `${host}${pathname}`
}

function refuseMoved(dataDir: string): void {
  const path = join(dataDir, MARK)
  if (!existsSync(path)) return
  const { postgres } = JSON.parse(readFileSync(path, 'utf8')) as { postgres: string }
  throw new Error(
    `The data of ${dataDir} are in the PostgreSQL database ${postgres}, and DATABASE_URL is not set. Set it as for the server; or give another --data. (${path} says so: where the database is gone for good, remove that file.)`,
  )
}

function refuseUnmoved(dataDir: string): void {
  if (!existsSync(join(dataDir, 'done.db')) || existsSync(join(dataDir, MARK))) return
  throw new Error(
    `${dataDir} holds data on the embedded database (done.db), which would be left behind. Move them with donectl migrate-engine --to postgres, or give another --data.`,
  )
}
