import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

/** When the last backup was begun, in milliseconds since the epoch, and where it was put. */
export interface BackupNote {
  at: number
  file: string
}

const NOTE = 'last-backup.json'

/** Notes a backup beside the data, for `donectl doctor`. One that can't be noted is a backup none the less. */
export function noteBackup(dataDir: string, note: BackupNote): void {
  try {
    writeFileSync(join(dataDir, NOTE), JSON.stringify(note), { mode: 0o600 })
  } catch (error) {
    console.error(`The backup could not be noted in ${dataDir}: ${(error as Error).message}`)
  }
}

/** The last backup, where one was noted. */
export function lastBackup(dataDir: string): BackupNote | undefined {
  try {
    return JSON.parse(readFileSync(join(dataDir, NOTE), 'utf8')) as BackupNote
  } catch {
    return undefined
  }
}
