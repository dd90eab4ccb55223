import { actorOfToken } from '../src/auth/actor.ts'
import { readConfig } from '../src/config.ts'
import { openDone } from '../src/done.ts'

/**
 * A process of its own on a data folder that others write as well: it makes the call that each message of its parent
 * describes, and answers how it ended.
 */
const done = await openDone({
  ...readConfig({ data: process.argv[2]! }, process.env),
  site: () => 'http://127.0.0.1:4747',
})

process.on('message', async ({ id, token, tool, input }: Message) => {
  const actor = (await actorOfToken(done.store, token))!
  const answer = await done.call(actor, tool, input).then(
    () => ({ id, ok: true }),
    (error) => ({ id, code: error.code ?? String(error), current: error.details?.current }),
  )
  process.send!(answer)
})
process.on('disconnect', () => done.close())
process.send!('ready')

interface Message {
  id: number
  token: string
  tool: string
  input: Record<string, unknown>
}
