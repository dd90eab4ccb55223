import { callers, turn } from './figures.ts'
import type { Handlers } from './process.ts'
import { countCommits, withoutSavepoints } from './record.ts'
import { open, openRaw, textsOf, type Where } from './store.ts'

/**
 * How tasks are created: by the tool through the queue; by the same tool in a transaction of its own for each call, without
 * savepoints, one call after another; or by the statements of the tool alone, likewise.
 */
export type Way = 'queue' | 'each' | 'raw'

export interface CreatesSetup extends Where {
  way: Way
}

export interface Ran {
  ms: number
  commits: number
}

/** Creates tasks in a process of its own, where the driver can be listened to. */
export async function handlers({ way, ...where }: CreatesSetup): Promise<Handlers> {
  const commits = countCommits()
  if (way === 'each') withoutSavepoints()
  const create = way === 'raw' ? await rawCreates(where.dir) : await toolCreates(where, way === 'each')
  let made = 0
  return {
    async run({ atOnce, calls }: { atOnce: number; calls: number }): Promise<Ran> {
      const [began, before] = [performance.now(), commits()]
      await callers(atOnce, calls, () => turn().then((): unknown => create(++made)))
      return { ms: performance.now() - began, commits: commits() - before }
    },
  }
}

async function toolCreates(where: Where, oneByOne: boolean) {
  const store = await open(where)
  let before: Promise<unknown> = Promise.resolve()
  const create = (number: number) => store.call('create_task', { ...textsOf(number) })
  if (!oneByOne) return create
  return (number: number) => {
    const created = before.then(() => create(number))
    before = created
    return created
  }
}

async function rawCreates(dir: string) {
  const raw = await openRaw(dir)
  return async (number: number) => {
    raw.db.exec('BEGIN IMMEDIATE')
    raw.create(textsOf(number))
    raw.db.exec('COMMIT')
  }
}
