import { formatId } from '../model/id.ts'
import { accountNumbers, checkClosings } from '../store/verify.ts'
import { systemActor } from '../tools/access.ts'
import { readFlags, settings } from './options.ts'
import { openHere, placeOf } from './place.ts'

/**
 * `donectl verify`: whether every closed task that needed a person has a sealed sign-off of its content. That the schema and
 * the key are the right ones shows in that the data open at all. It begins none. Exit code 1 where something does not hold.
 */
export async function run(args: string[]): Promise<number> {
  const { flags } = readFlags(args, ['data'])
  const config = settings(flags)
  const done = await openHere(config, { existing: true })
  try {
    let [looked, wrong] = [0, 0]
    for (const account of await done.store.read(systemActor(0), 'verify', accountNumbers)) {
      const { gated, unsigned } = await done.store.read(systemActor(account), 'verify', checkClosings)
      for (const task of unsigned) {
        console.log(
          `${formatId('task', task.id)} is ${task.status} without a sign-off that holds: ${task.title}`,
        )
      }
      looked += gated
      wrong += unsigned.length
    }
    const { database, dataDir } = config
    const place = database === undefined ? dataDir : `PostgreSQL ${placeOf(database)}`
    console.log(
      `${place}: schema and key are the right ones; closed tasks that needed a person: ${looked}, of which ${wrong === 0 ? 'every sign-off holds' : `${wrong} have none that holds. donectl serve puts them back to open`}.`,
    )
    return wrong === 0 ? 0 : 1
  } finally {
    await done.close()
  }
}
