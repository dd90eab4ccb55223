import { lstatSync, readdirSync, type Stats, statfsSync } from 'node:fs'
import { join } from 'node:path'
import type { Finding } from './doctor.ts'

/** What a file of ours may be to others than its owner: nothing. */
const OTHERS = 0o077
const OTHERS_WRITE = 0o022

/** Whose a data folder and its files are, and who can open them. */
export function lookAtFolder(dataDir: string): Finding[] {
  const uid = process.getuid?.()
  // Windows has no owners and modes of this kind.
  if (uid === undefined) return []
  const folder = lstatSync(dataDir)
  const entries = entriesOf(dataDir)
  const faults = [
    ...folderFaults(dataDir, folder),
    ...entries.flatMap(([path, stats]) => fileFaults(path, stats, folder)),
  ]
  const fine = `${dataDir} and the ${entries.length} files in it are their owner’s alone.`
  return [
    callerFinding(uid, dataDir, folder),
    ...(faults.length > 0 ? faults : [{ check: 'permissions', status: 'ok' as const, found: fine }]),
  ]
}

/** Every file in the folder itself; a name that goes while we look is none. */
function entriesOf(dataDir: string): [path: string, stats: Stats][] {
  return readdirSync(dataDir).flatMap((name): [string, Stats][] => {
    const path = join(dataDir, name)
    const stats = lstatSync(path, { throwIfNoEntry: false })
    return stats ? [[path, stats]] : []
  })
}

function folderFaults(path: string, { mode }: Stats): Finding[] {
  const check = 'permissions'
  if ((mode & OTHERS_WRITE) !== 0) {
    const found = `Others can write to ${path} (mode ${octal(mode)}), and so put another database or key there.`
    return [{ check, status: 'wrong', found, next: `chmod 700 ${path}` }]
  }
  if ((mode & OTHERS) === 0) return []
  const found = `Others can look into ${path} (mode ${octal(mode)}).`
  return [{ check, status: 'warning', found, next: `chmod 700 ${path}` }]
}

function fileFaults(path: string, stats: Stats, folder: Stats): Finding[] {
  const check = 'permissions'
  if (stats.isDirectory()) {
    if (!/\/restore-\w+$/.test(path)) return []
    const found = `${path} is left of a restore that was killed, or one is at work.`
    return [
      { check, status: 'warning', found, next: 'Where none runs, remove it: it holds a copy of the data.' },
    ]
  }
  const faults: Finding[] = []
  // What a link says of its own mode means nothing.
  if (!stats.isSymbolicLink() && (stats.mode & OTHERS) !== 0) {
    const found = `Others can open ${path} (mode ${octal(stats.mode)}).`
    faults.push({ check, status: 'wrong', found, next: `chmod 600 ${path}` })
  }
  if (stats.uid !== folder.uid) {
    const found = `${path} is of user ${stats.uid}, and the folder of user ${folder.uid}: a server of that user can’t open it.`
    faults.push({ check, status: 'wrong', found, next: `chown ${folder.uid}:${folder.gid} ${path}` })
  }
  return faults
}

/** The honest limit: whoever is the folder's user, or can read it, is past every rule inside the program. */
function callerFinding(uid: number, dataDir: string, folder: Stats): Finding {
  const check = 'user'
  if (uid === 0 && folder.uid === 0) {
    const found = `Done’s data are root’s, and so is the server: an agent that finds a way into it has the whole machine.`
    return { check, status: 'warning', found, next: 'Run it as a user of its own, whose the data folder is.' }
  }
  if (uid === folder.uid || uid === 0) {
    const found = `${dataDir} is of user ${folder.uid}${uid === 0 ? ', and this command runs as root' : ''}. Agents with a shell must not be that user.`
    return { check, status: 'ok', found }
  }
  const found = `${dataDir} is of user ${folder.uid}, and this command of user ${uid} can read it: so can whatever else runs as ${uid}.`
  return { check, status: 'warning', found, next: `chmod 700 ${dataDir}, and take ${uid} out of its group.` }
}

const octal = (mode: number): string => (mode & 0o777).toString(8).padStart(4, '0')

const MB = 1024 * 1024

/** Under this nothing is sure to be written, in bytes. */
const LEAST_FREE = 64 * MB

/** A log that has grown beyond this was kept from being put over into the database, in bytes. */
const MOST_LOG = 256 * MB

/** The space left where the data are, in bytes; undefined where there is no such folder. */
export function freeSpaceOf(dataDir: string): number | undefined {
  try {
    const { bavail, bsize } = statfsSync(dataDir)
    return bavail * bsize
  } catch {
    return undefined
  }
}

/** Whether what is free is enough. `isHere`: the database is on this disk. */
export function diskFinding(space: {
  free: number
  bytes: number
  logBytes: number
  isHere: boolean
}): Finding {
  const { free, bytes, logBytes, isHere } = space
  const check = 'disk'
  const data = `the data take ${inMb(bytes)}${logBytes > 0 ? ` and the log beside them ${inMb(logBytes)}` : ''}${isHere ? '' : ' on the database’s server'}`
  const found = `${inMb(free)} are free; ${data}.`
  if (free < LEAST_FREE) {
    return { check, status: 'wrong', found, next: 'Make room: writes are refused when the disk is full.' }
  }
  if (logBytes > MOST_LOG) {
    const next =
      'Something reads for hours and keeps the log from being emptied: end it, or restart the servers.'
    return { check, status: 'warning', found, next }
  }
  if (isHere && free < bytes + LEAST_FREE) {
    const next = 'An update copies the database before it changes its schema: make room for that.'
    return { check, status: 'warning', found, next }
  }
  return { check, status: 'ok', found }
}

const inMb = (bytes: number): string =>
  `${(bytes / MB).toLocaleString('en', { maximumFractionDigits: 1 })} MB`
