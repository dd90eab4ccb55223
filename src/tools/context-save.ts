import { createHash } from 'node:crypto'
import type { ActorId } from '../model/actor.ts'
import { AppError, invalid } from '../model/error.ts'
import { formatId } from '../model/id.ts'
import type { Outside, Source } from '../model/outside.ts'
import { attachArtifact } from '../store/artifact.ts'
import { extendLeases } from '../store/claim.ts'
import { guardMeaning } from '../store/content.ts'
import { intendSave, repeatedSave, saveArrived, saveFailed } from '../store/context-save.ts'
import type { WriteTx } from '../store/handle.ts'
import { newsFor } from '../store/news.ts'
import { storedReply, storeReply } from '../store/reply.ts'
import { openRunOf } from '../store/run.ts'
import type { Row } from '../store/tables.ts'
import { taskById } from '../store/task.ts'
import { sourcesFor, within } from './source.ts'
import { staleNotes } from './task-answer.ts'
import type { OpenWrite } from './tool.ts'

interface Input {
  connector: string
  title: string
  text: string
  place?: string | undefined
  task_id?: number | undefined
  idempotency_key?: string | undefined
}

type Answer = Record<string, unknown>

/** How long a source may take to save, or to say whether it has, in milliseconds. */
const DEADLINE_MS = 30_000

/**
 * Saves that this process is making now, by the port they go through. A repeat of one waits for it; asking the source
 * meanwhile would end an attempt that is still under way.
 */
const underWay = new WeakMap<Outside, Map<string, Promise<unknown>>>()

/**
 * Writes one new item outside: notes the intent, calls, notes the outcome, each in a transaction of its own. A repeat with
 * the same key answers the same; a repeat while the outcome is unknown first asks the source whether it arrived.
 */
export async function saveOutside(port: OpenWrite, input: Input): Promise<Answer> {
  const argsHash = hashOf(input)
  const begun = await port.write((tx) => begin(tx, input, argsHash))
  if ('replay' in begun) return begun.replay
  const { save, source, repeat } = begun
  const running = underWay.get(port.outside) ?? new Map<string, Promise<unknown>>()
  underWay.set(port.outside, running)
  const name = `${save.account}:${save.id}`
  const other = running.get(name)
  if (other) {
    await other.catch(() => {})
    return saveOutside(port, input)
  }
  const attempt = perform(port, input, argsHash, save, source, repeat)
  running.set(name, attempt)
  try {
    return await attempt
  } finally {
    running.delete(name)
  }
}

/** The stored answer of the same call, the save that it repeats, or a new intent. */
async function begin(
  tx: WriteTx,
  input: Input,
  argsHash: string,
): Promise<{ replay: Answer } | { save: Row<'context_saves'>; source: Source; repeat: boolean }> {
  const key = input.idempotency_key ?? null
  const reply = key === null ? undefined : await storedReply(tx, key, argsHash)
  if (reply) return { replay: { ...reply, replayed: true, ...(await newsFor(tx)) } }
  const [source] = await sourcesFor(tx, [input.connector])
  const earlier = await repeatedSave(tx, key, argsHash)
  if (earlier) return { save: earlier, source: source!, repeat: true }
  if (!source!.may_save) {
    const able = (await sourcesFor(tx)).filter((each) => each.may_save).map((each) => each.name)
    throw invalid(`"${source!.name}" is connected for reading only.`, {
      allowed: able,
      next: 'list_connectors shows which can save.',
    })
  }
  if (input.task_id !== undefined) await guardMeaning(tx, await taskById(tx, input.task_id))
  const save = await intendSave(tx, {
    connector: source!.name,
    title: input.title,
    place: input.place ?? null,
    task: input.task_id ?? null,
    key,
    args_hash: argsHash,
  })
  return { save, source: source!, repeat: false }
}

async function perform(
  port: OpenWrite,
  input: Input,
  argsHash: string,
  save: Row<'context_saves'>,
  source: Source,
  repeat: boolean,
): Promise<Answer> {
  const { title, text, place } = input
  const item = { title, text, ...(place === undefined ? {} : { place }), mark: save.mark }
  const arrived = repeat ? await askWhetherSaved(port, source, item, save) : undefined
  const stored = arrived ?? (await saveItem(port, source, item, save))
  return port.write((tx) => finish(tx, input, argsHash, save, stored.uri, arrived !== undefined))
}

type Item = { title: string; text: string; place?: string; mark: string }

async function askWhetherSaved(
  port: OpenWrite,
  source: Source,
  item: Item,
  save: Row<'context_saves'>,
): Promise<{ uri: string } | undefined> {
  try {
    return await within(port, DEADLINE_MS, source.name, async (signal) =>
      port.outside.connect(source).saved(item, { signal }),
    )
  } catch {
    throw unknown(source, save)
  }
}

async function saveItem(
  port: OpenWrite,
  source: Source,
  item: Item,
  save: Row<'context_saves'>,
): Promise<{ uri: string }> {
  let refusal: AppError | undefined
  try {
    return await within(port, DEADLINE_MS, source.name, async (signal) => {
      try {
        return await port.outside.connect(source).save(item, { signal })
      } catch (error) {
        // A connector's own refusal says that nothing was saved; any other failure leaves that open.
        if (error instanceof AppError) refusal = error
        throw error
      }
    })
  } catch {
    if (!refusal) throw unknown(source, save)
    const refused = refusal
    await port.write((tx) => saveFailed(tx, save))
    throw refused
  }
}

/** The outcome, its link on the task, and the answer for repeats, in one transaction. */
async function finish(
  tx: WriteTx,
  input: Input,
  argsHash: string,
  save: Row<'context_saves'>,
  uri: string,
  replayed: boolean,
): Promise<Answer> {
  const task = input.task_id === undefined ? undefined : await stillThere(tx, input.task_id)
  await saveArrived(tx, save, uri, task)
  const answer = {
    id: formatId('save', save.id),
    connector: save.connector,
    uri,
    title: save.title,
    ...(input.task_id === undefined ? {} : await linkTo(tx, task, input, uri)),
  }
  if (input.idempotency_key !== undefined) await storeReply(tx, input.idempotency_key, argsHash, answer)
  return { ...answer, ...(replayed ? { replayed } : {}), ...(await newsFor(tx)) }
}

async function stillThere(tx: WriteTx, id: number): Promise<Row<'tasks'> | undefined> {
  try {
    return await taskById(tx, id)
  } catch (error) {
    if (error instanceof AppError) return undefined
    throw error
  }
}

/** Links what was saved to the task. It is saved by now, so a task that can't take the link any more is told, not thrown. */
async function linkTo(
  tx: WriteTx,
  task: Row<'tasks'> | undefined,
  input: Input,
  uri: string,
): Promise<Answer> {
  const id = formatId('task', input.task_id!)
  if (!task) return { task: id, not_linked: `${id} is not there any more.` }
  try {
    await guardMeaning(tx, task)
  } catch (error) {
    if (!(error instanceof AppError)) throw error
    return { task: id, not_linked: error.message }
  }
  const run = await openRunOf(tx, task.id, tx.actor.id as ActorId)
  const { artifact, stale } = await attachArtifact(tx, task, {
    title: input.title,
    run: run?.id ?? null,
    content: { url: uri },
  })
  await extendLeases(tx, [task.id])
  return { task: id, artifact: formatId('artifact', artifact.id), ...staleNotes(stale) }
}

/** Neither saved nor not saved, as far as is known. A repeat is safe: it asks the source before it saves. */
function unknown(source: Source, save: Row<'context_saves'>): AppError {
  return new AppError(
    'unavailable',
    `Whether "${source.name}" has saved it (${formatId('save', save.id)}) is not known.`,
    {
      retry: true,
      next: `Send the same call again: it asks "${source.name}" first and never saves twice. Or look yourself: search_context ${JSON.stringify({ query: save.title.slice(0, 80), connectors: [source.name] })}.`,
    },
  )
}

/** Two saves are the same when all arguments but the key are. */
function hashOf({ connector, title, text, place, task_id }: Input): string {
  return createHash('sha256')
    .update(JSON.stringify([connector, title, text, place ?? null, task_id ?? null]))
    .digest('hex')
}
