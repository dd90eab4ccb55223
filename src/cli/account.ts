import { accountMeant, accountsOf, addAccount } from '../auth/accounts.ts'
import { ensureAccount, issueSignInLink, LINK_MS } from '../auth/console.ts'
import type { Config } from '../config.ts'
import type { Done } from '../done.ts'
import { readFlags, settings } from './options.ts'
import { openHere } from './place.ts'

/** `donectl account`: the accounts of an installation, for whoever has its console. */
export async function run(args: string[]): Promise<number> {
  const { flags, words } = readFlags(args, ['data', 'owner'], { most: 2 })
  const [verb, name] = words
  if (verb !== 'list' && !(verb === 'create' && name && flags.owner)) {
    console.error('Usage: donectl account create NAME --owner PERSON, or donectl account list')
    return 2
  }
  const config = settings(flags)
  const done = await openHere(config)
  try {
    // The first one is made where there is none, so that a later one can't take its place.
    await ensureAccount(done.store, config)
    if (verb === 'list') {
      for (const { id, name } of await accountsOf(done.store)) console.log(`${id}  ${name}`)
      return 0
    }
    const account = await addAccount(done.store, { name: name!, owner: flags.owner!, zone: config.zone() })
    console.error(
      `Account ${account} is made. Its owner signs in here, once, within ${LINK_MS / 60_000} minutes:`,
    )
    console.log(config.site + (await issueSignInLink(done.store, account)))
    return 0
  } finally {
    await done.close()
  }
}

/** The account that a command works on: the one that `--account` names, else the first. */
export async function accountFor(done: Done, config: Config, named: string | undefined): Promise<number> {
  const first = await ensureAccount(done.store, config)
  return named === undefined ? first : accountMeant(done.store, named)
}
