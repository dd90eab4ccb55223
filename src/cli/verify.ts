import { openDone } from '../done.ts'
import { formatId } from '../model/id.ts'
import { accountNumbers, unsignedClosings } from '../store/verify.ts'
import { systemActor } from '../tools/access.ts'
import { readFlags, settings } from './options.ts'

/**
 * `donectl verify`: whether every closed task that needed a person has a sealed sign-off of its content. That the schema and
 * the key are the right ones shows in that the folder opens at all. Exit code 1 where something does not hold.
 */
export async function run(args: string[]): Promise<number> {
  const { flags } = readFlags(args, ['data'])
  const config = settings(flags)
  const done = await openDone({ ...config, site: () => config.site })
  try {
    let wrong = 0
    for (const account of await done.store.read(systemActor(0), 'verify', accountNumbers)) {
      for (const task of await done.store.read(systemActor(account), 'verify', unsignedClosings)) {
        console.log(
          `${formatId('task', task.id)} is ${task.status} without a sign-off that holds: ${task.title}`,
        )
        wrong++
      }
    }
    console.log(
      wrong === 0 ? 'Every sign-off holds.' : `${wrong} do not hold. donectl serve puts them back to open.`,
    )
    return wrong === 0 ? 0 : 1
  } finally {
    await done.close()
  }
}
