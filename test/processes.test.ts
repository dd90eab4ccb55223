import { mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { localAgent } from '../src/cli/agent.ts'
import { readConfig } from '../src/config.ts'
import { openDone } from '../src/done.ts'
import { environmentOf, newDatabase, onPostgres } from './database.ts'
import { stdioHost } from './process.ts'
import { times } from './times.ts'

/** On PostgreSQL a process takes longer to start, and restarts.test.ts kills many more. */
const KILLS = onPostgres() ? 10 : times(15, 60)

interface Data {
  dir: string
  env: Record<string, string>
}

const freshData = async (): Promise<Data> => ({
  dir: mkdtempSync(join(tmpdir(), 'done-processes-')),
  env: environmentOf(await newDatabase()),
})

/** Titles of all open tasks, read by a process that had no part in writing them. */
async function storedTitles({ dir, env }: Data): Promise<string[]> {
  const config = readConfig({ data: dir }, env)
  const done = await openDone({ ...config, site: () => '' })
  try {
    const actor = await localAgent(done, config, undefined)
    const titles: string[] = []
    let cursor: unknown
    do {
      const page = await done.call(actor, 'list_tasks', {
        limit: 100,
        sort: 'created',
        ...(cursor ? { cursor } : {}),
      })
      titles.push(...(page.tasks as { title: string }[]).map((task) => task.title))
      cursor = page.next_cursor
    } while (cursor)
    return titles
  } finally {
    await done.close()
  }
}

it('two processes times 25 creates at once: 50 stored', async () => {
  const data = await freshData()
  const hosts = [stdioHost(data.dir, data.env), stdioHost(data.dir, data.env)]
  const answers = await Promise.all(
    hosts.flatMap((host, h) =>
      Array.from({ length: 25 }, (_, i) => host.call('create_task', { title: `Host ${h}, task ${i}` })),
    ),
  )
  await Promise.all(hosts.map((host) => host.kill()))
  expect(new Set(answers.map(({ id }) => id)).size).toBe(50)
  const titles = await storedTitles(data)
  expect(new Set(titles).size).toBe(50)
  console.log(`two processes, 25 creates each at once: ${titles.length} stored of 50`)
})

it(`${KILLS} kills with SIGKILL under writes: no acknowledged write is lost`, {
  timeout: 180_000,
}, async () => {
  const data = await freshData()
  const acknowledged: string[] = []
  for (let round = 0; round < KILLS; round++) {
    const host = stdioHost(data.dir, data.env)
    // The first answer shows that it has started; then it dies somewhere among eight writers.
    acknowledged.push(String((await host.call('create_task', { title: `Round ${round}, first` })).title))
    const writers = Array.from({ length: 8 }, async (_, writer) => {
      for (let i = 0; i < 1000; i++) {
        acknowledged.push(
          String(
            (await host.call('create_task', { title: `Round ${round}, writer ${writer}, task ${i}` })).title,
          ),
        )
      }
    })
    const settled = Promise.allSettled(writers)
    // In the middle of writing, however slow the machine is: behind one of the next answers, or a moment after it.
    const enough = acknowledged.length + 1 + (round % 8)
    const until = performance.now() + 10_000
    while (acknowledged.length < enough && performance.now() < until)
      await new Promise((resolve) => setTimeout(resolve, 1 + (round % 3)))
    await host.kill()
    await settled
  }
  const stored = new Set(await storedTitles(data))
  const lost = acknowledged.filter((title) => !stored.has(title))
  console.log(
    `${KILLS} kills: ${acknowledged.length} writes acknowledged, ${stored.size} stored, ${lost.length} lost`,
  )
  expect(lost).toEqual([])
  expect(acknowledged.length).toBeGreaterThan(KILLS)
})
