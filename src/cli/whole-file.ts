import { createHash } from 'node:crypto'
import { closeSync, createReadStream, existsSync, fsyncSync, openSync, renameSync, rmSync } from 'node:fs'
import { dirname } from 'node:path'
import { pipeline } from 'node:stream/promises'

/**
 * Makes a file under another name, which is also what keeps two from making it at once, and gives it its own when it is whole
 * and on disk. Throws where the file is there; then, and where `fill` throws, nothing of it is left.
 */
export async function makeWhole<T>(file: string, fill: (draft: string) => Promise<T>): Promise<T> {
  const draft = `${file}.part`
  reserve(draft)
  try {
    if (existsSync(file))
      throw new Error(`${file} is there already and is never overwritten. Give another --to.`)
    const made = await fill(draft)
    toDisk(draft)
    renameSync(draft, file)
    namesToDisk(dirname(file))
    return made
  } finally {
    for (const end of ['', '-journal']) rmSync(draft + end, { force: true })
  }
}

/** Made by us, so that it never exists with wider permissions than its owner's. */
function reserve(draft: string): void {
  try {
    closeSync(openSync(draft, 'wx', 0o600))
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    if (code === 'ENOENT')
      throw new Error(`There is no folder ${dirname(draft)}. Make it, or give another --to.`)
    if (code !== 'EEXIST') throw error
    throw new Error(
      `${draft} is there: another backup to this file is at work, or was killed. Where none runs, remove it.`,
    )
  }
}

/** When it returns, what a file holds outlasts a power cut. */
export function toDisk(path: string): void {
  const file = openSync(path, 'r+')
  fsyncSync(file)
  closeSync(file)
}

/** The same for the names in a folder, which can't be opened on Windows. */
export function namesToDisk(folder: string): void {
  if (process.platform === 'win32') return
  const opened = openSync(folder, 'r')
  fsyncSync(opened)
  closeSync(opened)
}

/** The SHA-256 of a file, in hexadecimal digits. */
export async function sha256Of(file: string): Promise<string> {
  const hash = createHash('sha256')
  await pipeline(createReadStream(file), hash)
  return hash.digest('hex')
}
