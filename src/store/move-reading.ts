import type { Actor } from '../model/actor.ts'
import { formatId } from '../model/id.ts'
import type { Dialect } from './dialect.ts'
import type { Queries } from './engine.ts'
import { openHandle, type ReadTx } from './handle.ts'
import type { MoveRow } from './move-table.ts'
import { type Hit, textsOf } from './search.ts'
import { accountNumbers, unsignedClosings } from './verify.ts'

/** A connection on which rows are read as the tools read them. */
export interface Reading {
  queries: Queries
  dialect: Dialect
  seal: (text: string) => string
  actorOf: (account: number) => Actor
}

/** The texts of documents, read from the rows that they are of; no engine keeps them as they were. */
export async function textsOfDocuments(
  reading: Reading,
  documents: readonly MoveRow[],
): Promise<Map<number, string>> {
  const hits = documents as unknown as readonly (Hit & { account: number })[]
  const texts = new Map<number, string>()
  for (const account of new Set(hits.map((hit) => hit.account))) {
    const found = await textsOf(
      handleIn(reading, account),
      hits.filter((hit) => hit.account === account),
    )
    for (const [doc, { title, text }] of found) texts.set(doc, [title, text].filter(Boolean).join('\n'))
  }
  return texts
}

/** The first task that is closed without a sealed sign-off of its content, in words. */
export async function unsignedIn(reading: Reading): Promise<string | undefined> {
  for (const account of await accountNumbers(handleIn(reading, 0))) {
    const [task] = await unsignedClosings(handleIn(reading, account))
    if (task) {
      return `${formatId('task', task.id)} of account ${account} is ${task.status} without a sign-off that holds. Start the server once where the data come from, which opens such tasks again, and stop it`
    }
  }
  return undefined
}

/** A handle on an account to read with. */
export function handleIn({ queries, dialect, seal, actorOf }: Reading, account: number): ReadTx {
  const handle = { queries, dialect, seal, tool: 'migrate-engine', tx: 'none' }
  return openHandle(handle, actorOf(account), Date.now(), '')
}
