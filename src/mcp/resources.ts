import {
  type CompleteRequest,
  type CompleteResult,
  type ListResourcesResult,
  type ListResourceTemplatesResult,
  ProtocolError,
  ProtocolErrorCode,
  type ReadResourceResult,
  ResourceNotFoundError,
} from '@modelcontextprotocol/server'
import { AppError } from '../model/error.ts'
import type { Connection } from '../tools/call.ts'
import { textOf } from '../tools/text.ts'
import { type Caller, explained } from './answer.ts'
import { DIGEST_URI, taskUri } from './changes.ts'

const TEMPLATE = taskUri('{id}')
const TEXT = 'text/plain'

/** The resources that these tools can read. */
export function resourcesFor(tools: ReadonlySet<string>): ListResourcesResult {
  const digest = {
    uri: DIGEST_URI,
    name: 'digest',
    title: 'What needs you now',
    description: 'Decisions, answers, comments, unfinished runs. Reading it marks nothing as seen.',
    mimeType: TEXT,
  }
  return { resources: tools.has('get_digest') ? [digest] : [] }
}

export function resourceTemplatesFor(tools: ReadonlySet<string>): ListResourceTemplatesResult {
  const task = {
    uriTemplate: TEMPLATE,
    name: 'task',
    title: 'A task',
    description: 'One task whole, by its id: done://task/T12.',
    mimeType: TEXT,
  }
  return { resourceTemplates: tools.has('get_task') ? [task] : [] }
}

/** Reads a resource by the tool that answers the same. What the caller can’t see reads like what never was. */
export async function readResource(
  { call, actor }: Caller,
  uri: string,
  connection: Connection,
): Promise<ReadResourceResult> {
  const id = /^done:\/\/task\/(T\d+)$/i.exec(uri)?.[1]
  if (id === undefined && uri !== DIGEST_URI) throw new ResourceNotFoundError(uri)
  try {
    const output = await (id === undefined
      ? call(actor, 'get_digest', {}, connection)
      : call(actor, 'get_task', { id }, connection))
    return { contents: [{ uri, mimeType: TEXT, text: textOf(output) }] }
  } catch (error) {
    if (error instanceof AppError && error.code === 'not_found') throw new ResourceNotFoundError(uri)
    throw protocolError(error)
  }
}

/** Outside tool calls there is no `isError`: the same words in an error of the protocol. */
export function protocolError(error: unknown): ProtocolError {
  const { code, message, next } = explained(error)
  return new ProtocolError(
    code === 'internal' ? ProtocolErrorCode.InternalError : ProtocolErrorCode.InvalidParams,
    next === undefined ? `${message}` : `${message} ${next}`,
    { code },
  )
}

/** Most values that one completion may carry (MCP, completion). */
const MOST_VALUES = 100

/**
 * Completes a task: by the beginning of its id, or for a prompt, where a title may follow the id, also by words of the
 * title. An address takes the id alone.
 */
export async function completeTask(
  { call, actor }: Caller,
  tools: ReadonlySet<string>,
  { ref, argument }: CompleteRequest['params'],
  connection: Connection,
): Promise<CompleteResult> {
  const source = ['list_tasks', 'list_my_tasks'].find((name) => tools.has(name))
  const meant =
    ref.type === 'ref/prompt' ? argument.name === 'task' : ref.uri === TEMPLATE && argument.name === 'id'
  if (source === undefined || !meant) return { completion: { values: [] } }
  const said = argument.value.trim().toLowerCase()
  try {
    const { tasks } = (await call(actor, source, { limit: MOST_VALUES }, connection)) as {
      tasks?: { id: string; title: string }[]
    }
    const fits = (tasks ?? []).filter(
      ({ id, title }) => id.toLowerCase().startsWith(said) || title.toLowerCase().includes(said),
    )
    const values = fits.map(({ id, title }) => (ref.type === 'ref/prompt' ? `${id} ${title}` : id))
    return { completion: { values: values.slice(0, MOST_VALUES), total: values.length, hasMore: false } }
  } catch (error) {
    throw protocolError(error)
  }
}
