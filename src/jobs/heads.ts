import { existsSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Head } from '../store/chain.ts'

/** How far each account's log was sealed, as this machine has seen it: who winds the database back does not reach it. */
export interface Heads {
  /** The file that it is in. */
  readonly path: string
  /** Throws where the file can't be read. */
  known(account: number): Head | undefined
  /** Keeps the newer of two; several processes may do so at once. */
  note(account: number, head: Head): void
}

/** Kept in a file beside the key. Without the folder nothing is kept. */
export function headsIn(dir: string): Heads {
  const path = join(dir, 'log.head')

  function read(): Record<string, Head> {
    if (!existsSync(path)) return {}
    try {
      return JSON.parse(readFileSync(path, 'utf8')) as Record<string, Head>
    } catch (error) {
      throw new Error(
        `${path} can’t be read: ${(error as Error).message}. It says how far the log was sealed; where it is lost, remove it.`,
      )
    }
  }

  return {
    path,
    known: (account) => read()[account],
    note(account, { id, last, seal }) {
      const all = read()
      if (!existsSync(dir) || (all[account]?.id ?? 0) >= id) return
      // Whole or not at all. Where two write at once the later one may drop what the other said; both say it again soon.
      const draft = `${path}.${process.pid}`
      writeFileSync(draft, JSON.stringify({ ...all, [account]: { id, last, seal } }), { mode: 0o600 })
      renameSync(draft, path)
    },
  }
}
