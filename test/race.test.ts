import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type Racer, startRacers } from './racers.ts'
import { times } from './times.ts'
import { newWorld, type Worker, type World } from './world.ts'

const TASKS = times(100, 2500)

let world: World
let racers: Racer[]

beforeAll(async () => {
  world = await newWorld()
  racers = await startRacers(world, 4)
})

afterAll(async () => {
  for (const racer of racers ?? []) await racer.stop()
  await world?.close()
})

describe('eight agents in two processes on the same data', () => {
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

it(`${4 * TASKS} claims on ${TASKS} tasks by four processes: ${TASKS} winners`, {
  timeout: 300_000,
}, async () => {
  const ids: string[] = []
  for (let i = 0; i < TASKS; i += 50) {
    const made = await world.ana.call('create_tasks', {
      tasks: Array.from({ length: Math.min(50, TASKS - i) }, (_, j) => ({ title: `Number ${i + j}` })),
    })
    ids.push(...made.tasks.map((each: { id: string }) => each.id))
  }
  const agents = await Promise.all(racers.map((_, i) => world.agent(`racer ${i}`)))
  const ended = await Promise.all(
    racers.map((racer, i) =>
      racer.calls(
        agents[i]!.token!,
        'claim_task',
        ids.map((id) => ({ id })),
      ),
    ),
  )
  const winners = ids.map((_, task) => ended.filter((each) => each[task]!.ok).length)
  expect(winners.every((each) => each === 1)).toBe(true)
  const lost = ended.flat().filter((each) => !each.ok)
  expect(new Set(lost.map(({ code }) => code))).toEqual(new Set(['already_claimed']))
  const held = await world.look<{ n: number }>(
    `SELECT COUNT(DISTINCT id) AS n FROM tasks WHERE title LIKE 'Number %' AND claimed_by IS NOT NULL AND status = 'in_progress'`,
  )
  expect(Number(held[0]!.n)).toBe(TASKS)
  console.log(
    `${4 * TASKS} claims on ${TASKS} tasks by four processes: ${ended.flat().length - lost.length} winners`,
  )
})
