import { issueSignInLink, LINK_MS } from '../auth/console.ts'
import { accountFor } from './account.ts'
import { addressOfServer } from './address.ts'
import { readFlags, settings } from './options.ts'
import { openHere } from './place.ts'

/** `donectl signin-link`: whoever has the console of the host can sign the owner in; see "Honest limit" in the docs. */
export async function run(args: string[]): Promise<number> {
  const { flags } = readFlags(args, ['data', 'account'])
  const config = settings(flags)
  const done = await openHere(config)
  try {
    const account = await accountFor(done, config, flags.account)
    console.log(config.site + (await issueSignInLink(done.store, account)))
    const runs = addressOfServer(config.dataDir) !== undefined
    console.error(
      runs
        ? `Good once, for ${LINK_MS / 60_000} minutes.`
        : `No server runs on ${config.dataDir}: start it with donectl serve, on the address above. The link is good once, for ${LINK_MS / 60_000} minutes.`,
    )
    return 0
  } finally {
    await done.close()
  }
}
