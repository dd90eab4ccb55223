import { ensureAccount, issueSignInLink, LINK_MS } from '../auth/console.ts'
import { openDone } from '../done.ts'
import { readFlags, settings } from './options.ts'

/** `donectl signin-link`: whoever has the console of the host can sign the owner in; see "Honest limit" in the docs. */
export async function run(args: string[]): Promise<number> {
  const { flags } = readFlags(args, ['data'])
  const config = settings(flags)
  const done = openDone({ dataDir: config.dataDir, site: () => config.site })
  try {
    const account = await ensureAccount(done.store, config)
    console.log(config.site + (await issueSignInLink(done.store, account)))
    console.error(`Good once, for ${LINK_MS / 60_000} minutes, while the server runs.`)
    return 0
  } finally {
    await done.close()
  }
}
