import { type ChildProcess, fork } from 'node:child_process'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { bundled } from './bundle.ts'
import { environmentOf } from './database.ts'
import { cleanEnv } from './process.ts'
import { newWorld, type Worker, type World } from './world.ts'

/** How a call in another process ended. */
interface Ended {
  ok?: true
  code?: string
  current?: { holder: string; since: string; until: string }
}

interface Racer {
  child: ChildProcess
  call(token: string, tool: string, input: Record<string, unknown>): Promise<Ended>
}

let world: World
let racers: Racer[]

beforeAll(async () => {
  const script = await bundled('test/racer.ts')
  world = await newWorld()
  racers = await Promise.all([0, 1].map(() => startRacer(script, world)))
})

afterAll(async () => {
  for (const { child } of racers ?? []) {
    const gone = new Promise((resolve) => child.once('exit', resolve))
    child.disconnect()
    await gone
  }
  await world?.close()
})

describe('eight agents in two processes on one folder', () => {
  it('have one winner each of 20 rounds, by claim and by run (R13)', async () => {
    const agents: Worker[] = []
    for (let i = 0; i < 8; i++) agents.push(await world.agent(`agent ${i}`))
    for (let round = 0; round < 20; round++) {
      const claimed = (await world.ana.call('create_task', { title: `Claim ${round}` })).id
      const begun = (await world.ana.call('create_task', { title: `Run ${round}` })).id
      for (const [tool, input] of [
        ['claim_task', { id: claimed }],
        ['start_run', { task_id: begun }],
      ] as const) {
        const ended = await Promise.all(
          agents.map((agent, i) => racers[i % 2]!.call(agent.token!, tool, input)),
        )
        expect(ended.filter((each) => each.ok)).toHaveLength(1)
        const winner = `agent ${ended.findIndex((each) => each.ok)}`
        for (const each of ended.filter((one) => !one.ok)) {
          expect(each).toMatchObject({ code: 'already_claimed', current: { since: expect.any(String) } })
          expect(each.current!.holder).toContain(winner)
        }
      }
    }
  })
})

async function startRacer(script: string, { dir, database }: World): Promise<Racer> {
  const child = fork(script, [dir], { env: cleanEnv(environmentOf(database)) })
  const waiting = new Map<number, (ended: Ended) => void>()
  let last = 0
  await new Promise<void>((resolve, reject) => {
    child.once('error', reject)
    child.once('exit', (code) => reject(new Error(`The racer ended with ${code}.`)))
    child.on('message', (message: 'ready' | ({ id: number } & Ended)) => {
      if (message === 'ready') return resolve()
      waiting.get(message.id)?.(message)
      waiting.delete(message.id)
    })
  })
  return {
    child,
    call(token, tool, input) {
      const id = ++last
      const ended = new Promise<Ended>((resolve) => waiting.set(id, resolve))
      child.send({ id, token, tool, input })
      return ended
    },
  }
}
