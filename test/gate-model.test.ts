import fc from 'fast-check'
import { expect, it } from 'vitest'
import { AppError } from '../src/model/error.ts'
import { approve, reject } from '../src/store/approval.ts'
import { setAutoOk } from '../src/store/policy.ts'
import { newestRequestOf } from '../src/store/request.ts'
import { taskById, taskInTrash } from '../src/store/task.ts'
import { onPostgres } from './database.ts'
import {
  ACTORS,
  type ActorName,
  apply,
  COMMANDS,
  type Command,
  type ModelTask,
  newTask,
} from './gate-model.ts'
import { newWorld, type World } from './world.ts'

// PostgreSQL takes longer for each call; the model is the same.
const RUNS = onPostgres() ? 60 : 300

it(`${RUNS} random sequences of 30 commands by three actors end as the model says`, {
  timeout: 120_000,
}, async () => {
  let commands = 0
  const world = await newWorld()
  try {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.tuple(fc.constantFrom(...COMMANDS), fc.constantFrom(...ACTORS)), {
          minLength: 30,
          maxLength: 30,
        }),
        async (sequence) => {
          let model = newTask()
          const real = await realTask(world)
          for (const [command, by] of sequence) {
            commands++
            const expected = apply(model, command, by)
            const refused = await real.do(command, by)
            expect(refused, `${by} ${command} on ${JSON.stringify(model)}`).toBe(expected === undefined)
            model = expected ?? model
            expect(await real.stands(), `after ${by} ${command}`).toEqual(standing(model))
          }
        },
      ),
      { numRuns: RUNS, seed: 20261130 },
    )
  } finally {
    await world.close()
  }
  console.log(`reference model: ${RUNS} sequences, ${commands} commands, no difference`)
})

const standing = ({ status, autoOk, holder, pending, trashed }: ModelTask) => ({
  status,
  autoOk,
  holder,
  pending: pending?.target,
  trashed,
})

/** A task of the real thing, through the calls that a door makes. */
async function realTask(world: World) {
  const { id } = await world.scout.call('create_task', { title: 'Random' })
  const number = Number(String(id).slice(1))
  const part = String((await world.scout.call('create_task', { title: 'A part', parent_id: id })).id)
  await world.autoOk(part)
  await world.scout.call('complete_task', { id: part })
  const { store } = world.done
  const ids: Record<ActorName, string> = { scout: 'G1', builder: 'G2', ana: 'U1' }
  let page = { version: -1, hash: '' }
  let titles = 0

  const current = () =>
    store.read(world.ana.actor, 'test', async (tx) => {
      const task = await taskById(tx, number)
      return { version: task.content_version, hash: task.content_hash }
    })
  const waits = () =>
    store.read(world.ana.actor, 'test', async (tx) => {
      const request = await newestRequestOf(tx, number)
      return request?.state === 'pending' && !(await taskInTrash(tx, number))
    })
  const decide = (run: typeof approve | typeof reject, by: ActorName, what: unknown) =>
    store.write(world[by].actor, 'test', async (tx) => {
      const request = await newestRequestOf(tx, number)
      if (request?.state !== 'pending') throw new AppError('conflict', 'Nothing waits.')
      await (run as (...args: unknown[]) => Promise<unknown>)(tx, request, what)
    })

  async function run(command: Command, by: ActorName): Promise<unknown> {
    const { call } = world[by]
    switch (command) {
      case 'complete':
        return call('complete_task', { id })
      case 'cancel':
        return call('cancel_task', { id, reason: 'Because.' })
      case 'request_approval':
        return call('request_approval', { task_id: id })
      case 'reopen':
        return call('reopen_task', { id })
      case 'retitle':
        return call('update_task', { id, title: `Title ${++titles}` })
      case 'delete':
        return call('delete_task', { id })
      case 'restore':
        return call('restore_from_trash', { ids: [id] })
      case 'claim':
        return by === 'ana'
          ? Promise.reject(new AppError('conflict', 'People do not claim in this model.'))
          : call('claim_task', { id })
      case 'release':
        return call('release_task', { id })
      case 'block':
        return call('block_task', { id, reason: 'Waiting for parts.' })
      case 'unblock':
        return call('unblock_task', { id })
      case 'add_step':
        return call('add_step', { task_id: id, title: 'One more' })
      case 'close_part':
        return call('complete_task', { id: part })
      case 'reopen_part':
        return call('reopen_task', { id: part })
      case 'open_page':
        if (by !== 'ana') return undefined
        // A page that shows no pending request has no form.
        if (await waits()) page = await current()
        return undefined
      case 'approve':
        return decide(approve, by, await current())
      case 'approve_old_page':
        return decide(approve, by, page)
      case 'reject':
        return decide(reject, by, 'Not yet.')
      case 'raise_auto_ok':
      case 'lower_auto_ok':
        return store.write(world[by].actor, 'test', async (tx) =>
          setAutoOk(tx, await taskById(tx, number), command === 'raise_auto_ok'),
        )
    }
  }

  return {
    async do(command: Command, by: ActorName): Promise<boolean> {
      try {
        await run(command, by)
        return false
      } catch (error) {
        if (!(error instanceof AppError)) throw error
        return true
      }
    },
    stands: () =>
      store.read(world.ana.actor, 'test', async (tx) => {
        const request = await newestRequestOf(tx, number)
        const gone = await taskInTrash(tx, number)
        const task = gone ?? (await taskById(tx, number))
        return {
          status: task.status,
          autoOk: task.auto_ok === 1,
          holder: ACTORS.find((name) => ids[name] === task.claimed_by),
          pending: request?.state === 'pending' ? request.target : undefined,
          trashed: gone !== undefined,
        }
      }),
  }
}
