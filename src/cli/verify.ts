import { formatId } from '../model/id.ts'
import { accountNumbers, alteredContents, checkClosings } from '../store/verify.ts'
import { checkLog } from '../store/verify-log.ts'
import { systemActor } from '../tools/access.ts'
import { readFlags, settings } from './options.ts'
import { openHere, placeOf } from './place.ts'

/**
 * `donectl verify`: whether the log is whole and as it was written, every sign-off as it was made, every task what its hash says, and every closed task that
 * needed a person has one of its content. Schema and key are compared when the data are opened, which fails where they are
 * not the right ones, and says what is not. It changes nothing and begins nothing. Exit code 1 where something does not hold.
 */
export async function run(args: string[]): Promise<number> {
  const { flags } = readFlags(args, ['data'])
  const config = settings(flags)
  const done = await openHere(config, { existing: true })
  try {
    const { database, dataDir } = config
    console.log(
      `${database === undefined ? dataDir : `PostgreSQL ${placeOf(database)}`}: the schema with its triggers and the key are the right ones.`,
    )
    let wrong = 0
    for (const account of await done.store.read(systemActor(0), 'verify', accountNumbers)) {
      const head = done.heads.known(account)
      const { log, gated, unsigned, altered } = await done.store.read(
        systemActor(account),
        'verify',
        async (tx) => ({
          log: await checkLog(tx, head),
          ...(await checkClosings(tx)),
          altered: await alteredContents(tx),
        }),
      )
      const tasks = unsigned.map(
        (task) =>
          `${formatId('task', task.id)} is ${task.status} without a sign-off that holds: ${task.title}. donectl serve puts it back to open`,
      )
      const contents = altered.map(({ id }) => `the content of ${formatId('task', id)} was altered`)
      const faults = [...log.faults, ...tasks, ...contents]
      for (const fault of faults) console.log(`Account ${account}: ${fault}.`)
      console.log(
        `Account ${account}: ${log.events} events in ${log.seals} seals (${log.unsealed} not sealed yet), closed tasks that needed a person: ${gated}; ${faults.length === 0 ? 'everything holds' : `what does not hold: ${faults.length}`}.`,
      )
      wrong += faults.length
    }
    return wrong === 0 ? 0 : 1
  } finally {
    await done.close()
  }
}
