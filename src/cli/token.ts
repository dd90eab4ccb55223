import { issueToken } from '../auth/console.ts'
import { parseId } from '../model/id.ts'
import { readPresets } from '../tools/presets.ts'
import { accountFor } from './account.ts'
import { readFlags, settings } from './options.ts'
import { openHere } from './place.ts'

/** `donectl token create`: prints the token alone, so that a script can take it. */
export async function run(args: string[]): Promise<number> {
  const { flags, words } = readFlags(
    args,
    ['data', 'account', 'name', 'scope', 'tools', 'projects', 'days'],
    {
      most: 1,
    },
  )
  if (words[0] !== 'create' || !flags.name || (flags.scope !== 'read' && flags.scope !== 'write')) {
    console.error(
      'Usage: donectl token create --name AGENT --scope read|write [--tools PRESET] [--projects P1,P2] [--days N] [--account NAME]',
    )
    return 2
  }
  const days = flags.days === undefined ? undefined : Number(flags.days)
  if (days !== undefined && !(days > 0)) {
    console.error(`--days ${flags.days}: give a number of days above 0.`)
    return 2
  }
  const config = settings(flags)
  const presets = readPresets(flags.tools)
  const projects = flags.projects?.split(',').map((id) => parseId(id, 'project').number)
  const done = await openHere(config)
  try {
    const account = await accountFor(done, config, flags.account)
    const token = await issueToken(done.store, account, flags.name, {
      scopes: flags.scope === 'write' ? 'read write' : 'read',
      ...(presets ? { presets } : {}),
      ...(projects ? { projects } : {}),
      ...(days ? { expires_at: Date.now() + days * 86_400_000 } : {}),
    })
    console.log(token)
    return 0
  } finally {
    await done.close()
  }
}
