import { actorOfToken } from '../src/auth/actor.ts'
import { readConfig } from '../src/config.ts'
import { openDone } from '../src/done.ts'
import type { Asked, Ended } from './racers.ts'

/** Calls that are under way at once. */
const AT_ONCE = 32

/**
 * A process of its own on data that others write as well: it makes the calls that each message of its parent describes,
 * and answers how each ended.
 */
const done = await openDone({
  ...readConfig({ data: process.argv[2]! }, process.env),
  site: () => 'http://127.0.0.1:4747',
})

process.on('message', async ({ id, token, tool, inputs }: Asked) => {
  const actor = (await actorOfToken(done.store, token))!
  const ended: Ended[] = []
  let next = 0
  async function work(): Promise<void> {
    while (next < inputs.length) {
      const i = next++
      ended[i] = await done.call(actor, tool, inputs[i]).then(
        () => ({ ok: true }),
        (error) => ({ code: error.code ?? String(error), current: error.details?.current }),
      )
    }
  }
  await Promise.all(Array.from({ length: AT_ONCE }, work))
  process.send!({ id, ended })
})
process.on('disconnect', () => done.close())
process.send!('ready')
