/**
 * Misuse that the compiler refuses. Type-checked by `npm run check`, never run: a line here that compiles is an error,
 * since its `@ts-expect-error` is then unused.
 */
import { z } from 'zod'
import { type DestroyTx, type ReadTx, sqlOf, type WriteTx } from '../src/store/handle.ts'
import { insertTask, taskById } from '../src/store/task.ts'
import { trashTask } from '../src/store/trash-task.ts'
import type { OpenRead } from '../src/tools/tool.ts'
import { destroy, read, readOutside, write } from '../src/tools/tool.ts'

const rest = {
  title: 'x',
  does: 'x',
  toolset: 'tasks' as const,
  input: z.strictObject({ id: z.number() }),
  output: z.looseObject({}),
  http: 'GET /x' as const,
  example: {},
}

// A read tool may not add a row.
read({
  ...rest,
  run: async (tx, { id }) => {
    // @ts-expect-error ReadTx is no WriteTx
    await insertTask(tx, { title: String(id) })
    return {}
  },
})

// A read tool may not ask for more than a ReadTx.
// @ts-expect-error the constructor gives a ReadTx
read({ ...rest, run: async (tx: WriteTx) => ({ now: tx.now }) })

// An additive write may not move a task to the Trash.
write({
  ...rest,
  run: async (tx, { id }) => {
    // @ts-expect-error WriteTx is no DestroyTx
    await trashTask(tx, await taskById(tx, id))
    return {}
  },
})

// @ts-expect-error the constructor gives a WriteTx
write({ ...rest, run: async (tx: DestroyTx) => ({ now: tx.now }) })

// A destructive tool may.
destroy({ ...rest, run: async (tx, { id }) => ({ ...(await trashTask(tx, await taskById(tx, id))) }) })

// A read of the open world has no way to a row of ours.
readOutside({
  ...rest,
  run: async (port: OpenRead) => {
    // @ts-expect-error OpenRead has no write
    await port.write(async () => {})
    return {}
  },
})

// The queries of a read transaction have no writer.
export function smuggle(tx: ReadTx): void {
  // @ts-expect-error a ReadTx has no insertInto
  sqlOf(tx).insertInto('tasks')
}

// An effect is its constructor, not a flag.
// @ts-expect-error effect is no property of a description
read({ ...rest, effect: 'destroy', run: async () => ({}) })

// An input is read before it reaches the tool: the tool sees a number, not a text.
read({
  ...rest,
  run: async (_tx, input) => {
    // @ts-expect-error id is a number
    const id: string = input.id
    return { id }
  },
})
