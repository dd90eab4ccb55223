import { type ChildProcess, fork } from 'node:child_process'
import { bundled } from './bundle.ts'
import { environmentOf } from './database.ts'
import { cleanEnv } from './process.ts'
import type { World } from './world.ts'

/** What a racer is asked for: the same tool with each of the inputs. */
export interface Asked {
  id: number
  token: string
  tool: string
  inputs: Record<string, unknown>[]
}

/** How a call in another process ended. */
export interface Ended {
  ok?: true
  code?: string
  current?: { holder: string; since: string; until: string }
}

/** Another process on a world's data. */
export interface Racer {
  call(token: string, tool: string, input: Record<string, unknown>): Promise<Ended>
  /** Many calls, dozens at once. */
  calls(token: string, tool: string, inputs: Record<string, unknown>[]): Promise<Ended[]>
  stop(): Promise<void>
}

export async function startRacers(world: World, count: number): Promise<Racer[]> {
  const script = await bundled('test/racer.ts')
  return Promise.all(Array.from({ length: count }, () => startRacer(script, world)))
}

async function startRacer(script: string, { dir, database }: World): Promise<Racer> {
  const child: ChildProcess = fork(script, [dir], { env: cleanEnv(environmentOf(database)) })
  const waiting = new Map<number, (ended: Ended[]) => void>()
  let last = 0
  await new Promise<void>((resolve, reject) => {
    child.once('error', reject)
    child.once('exit', (code) => reject(new Error(`The racer ended with ${code}.`)))
    child.on('message', (message: 'ready' | { id: number; ended: Ended[] }) => {
      if (message === 'ready') return resolve()
      waiting.get(message.id)?.(message.ended)
      waiting.delete(message.id)
    })
  })
  const calls: Racer['calls'] = (token, tool, inputs) => {
    const id = ++last
    const ended = new Promise<Ended[]>((resolve) => waiting.set(id, resolve))
    child.send({ id, token, tool, inputs } satisfies Asked)
    return ended
  }
  return {
    calls,
    call: async (token, tool, input) => (await calls(token, tool, [input]))[0]!,
    async stop() {
      const gone = new Promise((resolve) => child.once('exit', resolve))
      child.disconnect()
      await gone
    },
  }
}
