import { join } from 'node:path'
import { openSqlite } from '../src/store/sqlite.ts'
import { rules, triggers } from '../src/store/triggers.ts'
import { asAdmin } from './database.ts'
import type { World } from './world.ts'

/** Writes past the program, with every trigger out of the way and back again, so that the schema looks right. */
export async function forge(world: Pick<World, 'dir' | 'database'>, script: string): Promise<void> {
  const { database } = world.database
  if (database !== undefined) {
    await asAdmin(
      database,
      `SET search_path = done; SET session_replication_role = replica; ${script}; RESET session_replication_role`,
    )
    return
  }
  await onFile(world, (shell) => {
    for (const text of triggers()) shell.exec(`DROP TRIGGER ${/CREATE TRIGGER (\w+)/.exec(text)![1]}`)
    shell.exec(script)
    for (const text of triggers()) shell.exec(text)
  })
}

/** Takes one trigger out while something is tried. */
export async function without<T>(world: World, trigger: string, run: () => Promise<T>): Promise<T> {
  const { database } = world.database
  const { table } = rules().find(({ name }) => name === trigger)!
  const text = triggers().find((each) => each.startsWith(`CREATE TRIGGER ${trigger} `))!
  const change = async (postgres: string, sqlite: string) =>
    database === undefined
      ? onFile(world, (shell) => shell.exec(sqlite))
      : void (await asAdmin(database, `ALTER TABLE done.${table} ${postgres} TRIGGER ${trigger}`))
  await change('DISABLE', `DROP TRIGGER ${trigger}`)
  try {
    return await run()
  } finally {
    await change('ENABLE', text)
  }
}

async function onFile(
  world: Pick<World, 'dir'>,
  run: (shell: ReturnType<typeof openSqlite>) => void,
): Promise<void> {
  const shell = openSqlite(join(world.dir, 'done.db'), 'write')
  shell.exec('PRAGMA busy_timeout = 5000')
  try {
    run(shell)
  } finally {
    shell.close()
  }
}
