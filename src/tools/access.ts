import type { Actor, SystemActor } from '../model/actor.ts'
import type { AppError } from '../model/error.ts'
import { type AccessCount, addAccess, addRefusals, BUCKET_MS, type Refusal } from '../store/access.ts'
import type { Store } from '../store/store.ts'

/** The guard's record of who called what (spec: product, "Agents at work"). */
export interface AccessLog {
  /** Counts a call. Kept in memory and written every few seconds, so that a read costs no commit. */
  count(actor: Actor, tool: string, refused: boolean): void
  /**
   * Records a refused call, after it has rolled back: one that ran against the gate at once, in a transaction of its own,
   * any other with the counts. A record that can't be written never changes what the caller is told.
   */
  refuse(actor: Actor, tool: string, error: AppError): Promise<void>
  /** Writes what was gathered so far. Throws where that fails, and keeps it for the next time. */
  flush(): Promise<void>
}

export function accessLog(store: Store): AccessLog {
  let counts = new Map<string, AccessCount>()
  let refusals: Refusal[] = []

  function add(count: AccessCount): void {
    const key = `${count.account}|${count.credential}|${count.actor}|${count.tool}|${count.bucket}`
    const found = counts.get(key)
    if (found) {
      found.calls += count.calls
      found.refusals += count.refusals
    } else counts.set(key, count)
  }

  async function flush(): Promise<void> {
    const counted = [...counts.values()]
    const refused = refusals
    counts = new Map()
    refusals = []
    const failures: unknown[] = []
    for (const account of new Set([...counted, ...refused].map((each) => each.account))) {
      const [ownCounts, ownRefusals] = [
        counted.filter((each) => each.account === account),
        refused.filter((each) => each.account === account),
      ]
      try {
        await store.write(systemActor(account), 'access', async (tx) => {
          await addAccess(tx, ownCounts)
          await addRefusals(tx, ownRefusals)
        })
      } catch (error) {
        // Written the next time, with what comes until then.
        ownCounts.forEach(add)
        refusals = [...ownRefusals, ...refusals].slice(0, MOST_GATHERED)
        failures.push(error)
      }
    }
    if (failures.length > 0) throw failures[0]
  }

  return {
    count(actor, tool, refused) {
      add({
        account: actor.account,
        credential: actor.credential,
        actor: actor.id,
        tool: storable(tool, 80),
        bucket: Math.floor(store.now() / BUCKET_MS) * BUCKET_MS,
        calls: 1,
        refusals: refused ? 1 : 0,
      })
    },
    async refuse(actor, tool, error) {
      const refusal = {
        account: actor.account,
        credential: actor.credential,
        actor: actor.id,
        tool: storable(tool, 80),
        code: error.code,
        message: storable(error.message, 500),
        gate: isOfGate(error) ? 1 : 0,
        at: store.now(),
      }
      if (refusal.gate === 0) {
        if (refusals.length < MOST_GATHERED) refusals.push(refusal)
        return
      }
      try {
        await store.write(systemActor(actor.account), 'access', (tx) => addRefusals(tx, [refusal]))
      } catch (fault) {
        console.error('A refusal could not be recorded:', fault)
      }
    },
    flush,
  }
}

/** What a caller has named stands in the record as well, and no text of PostgreSQL holds U+0000. */
const storable = (text: string, most: number): string => text.slice(0, most).replaceAll('\0', '\uFFFD')

/** A flood of mistakes between two writes is counted in full, but not kept line by line. */
const MOST_GATHERED = 1000

function isOfGate(error: AppError): boolean {
  return error.details.gate === true || ['scope', 'people_only', 'needs_approval'].includes(error.code)
}

/** Done itself, for jobs and records; no credential leads to it. */
export function systemActor(account: number): SystemActor {
  return {
    kind: 'system',
    id: 'system',
    account,
    name: 'Done',
    owner: 'U0',
    zone: 'UTC',
    scopes: [],
    credential: 'system',
  }
}
