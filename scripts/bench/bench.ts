import { cpSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { count } from './figures.ts'
import { endAll, role } from './process.ts'
import type { Report } from './report.ts'
import { open, tokenOf, verifyFilled } from './store.ts'

/** What a part of the bench is given. */
export interface Bench extends Report {
  /** Smaller stores and fewer calls: to see that it runs, not for figures. */
  quick: boolean
  /** A fresh folder that goes when the bench ends. */
  folder(name: string): string
  /** A folder with a store of so many tasks: filled once a run, checked, and copied for whoever wants to write. */
  filled(size: number): Promise<string>
  /** A copy of {@link filled} that is the caller's own. */
  ownCopy(size: number): Promise<string>
  /** Takes the folders away and ends what still runs. */
  end(): void
}

export function openBench(report: Report, quick: boolean): Bench {
  const scratch = mkdtempSync(join(tmpdir(), 'done-bench-'))
  const stores = new Map<number, Promise<string>>()
  let copies = 0

  async function fill(size: number): Promise<string> {
    const dir = join(scratch, `store-${size}`)
    console.log(`Filling a store with ${count(size)} tasks …`)
    const filler = await role('fill', {})
    await filler.ask('fill', { dir, size })
    await filler.end()
    const store = await open({ dir })
    await verifyFilled(store, size)
    await store.done.close()
    return dir
  }

  const bench: Bench = {
    ...report,
    quick,
    folder: (name) => join(scratch, name),
    filled(size) {
      const store = stores.get(size) ?? fill(size)
      stores.set(size, store)
      return store
    },
    async ownCopy(size) {
      const dir = join(scratch, `copy-${++copies}`)
      cpSync(await bench.filled(size), dir, { recursive: true })
      return dir
    },
    end() {
      endAll()
      rmSync(scratch, { recursive: true, force: true })
    },
  }
  return bench
}

/** A token for a folder. */
export async function tokenFor(dir: string): Promise<string> {
  const store = await open({ dir })
  const token = await tokenOf(store, 'bench')
  await store.done.close()
  return token
}
