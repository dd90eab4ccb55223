import { actorOfToken } from '../auth/actor.ts'
import { ensureAccount, ensureAgent } from '../auth/console.ts'
import type { Config } from '../config.ts'
import type { Done } from '../done.ts'
import type { AgentActor } from '../model/actor.ts'

/** The agent as which a folder's own user acts where no token says otherwise. */
const LOCAL = 'local'

/** Who a command on a data folder acts as: the agent of DONE_TOKEN, else the owner's agent "local". */
export async function localAgent(done: Done, config: Config, token: string | undefined): Promise<AgentActor> {
  const account = await ensureAccount(done.store, config)
  if (token === undefined) return ensureAgent(done.store, account, LOCAL)
  const actor = await actorOfToken(done.store, token)
  if (!actor) throw new Error('DONE_TOKEN is not a token of this data folder, was revoked, or has expired.')
  return actor
}
