import type { IncomingMessage, ServerResponse } from 'node:http'
import { getRequestListener } from '@hono/node-server'
import { explained } from './answer.ts'
import { type Admitted, type Answer, type Asked, type Gate, json } from './gate.ts'

/** `/mcp` as something that answers requests, in either of the forms that Node has for one. */
export interface Endpoint {
  /** A request of the web: no socket is needed. */
  (request: Request): Promise<Response>
  /** A request of node:http, answered on its socket. */
  listener(incoming: IncomingMessage, outgoing: ServerResponse): void
}

/** Who answers what has passed the gate. */
interface Ways {
  gate: Gate
  /** The short way, for what it takes; undefined leaves a request to the other one. */
  direct(admitted: Admitted): Promise<Answer | undefined>
  /** The way of the SDK, which wants the web's forms. The body has been read. */
  other(request: Request, admitted: Admitted): Promise<Response>
}

/**
 * Answers requests by the short way where there is one. The web's Request and Response, which cost as much as the rest of
 * a call together, are made for the other way alone.
 */
export function endpointOf({ gate, direct, other }: Ways): Endpoint {
  async function answer(asked: Asked): Promise<Answer | Admitted> {
    try {
      const entered = await gate(asked)
      return 'status' in entered ? entered : ((await direct(entered)) ?? entered)
    } catch (error) {
      return fault(error)
    }
  }

  async function answerOther(request: Request, admitted: Admitted): Promise<Response> {
    try {
      return await other(request, admitted)
    } catch (error) {
      return responseOf(fault(error))
    }
  }

  async function overTheWeb(request: Request): Promise<Response> {
    const answered = await answer(askedByWeb(request))
    return 'status' in answered ? responseOf(answered) : answerOther(request, answered)
  }

  const handedOn = new WeakMap<IncomingMessage, Admitted>()
  // Global Request and Response stay Node's own: other parts of the process use them as well.
  const overNode = getRequestListener(
    (request, { incoming }) => answerOther(request, handedOn.get(incoming as IncomingMessage)!),
    { overrideGlobalObjects: false },
  )

  async function listen(incoming: IncomingMessage, outgoing: ServerResponse): Promise<void> {
    const answered = await answer(askedByNode(incoming, outgoing))
    if (outgoing.destroyed) return
    if ('status' in answered) return send(incoming, outgoing, answered)
    handedOn.set(incoming, answered)
    await overNode(incoming, outgoing)
  }

  return Object.assign(overTheWeb, {
    listener(incoming: IncomingMessage, outgoing: ServerResponse) {
      listen(incoming, outgoing).catch((error: unknown) => {
        console.error(error)
        outgoing.destroy()
      })
    },
  })
}

/** What went wrong before a request was read, so that it has no id here. A database that is away comes back. */
function fault(error: unknown): Answer {
  const { message, ...data } = explained(error)
  const status = data.code === 'unavailable' ? 503 : 500
  return json(JSON.stringify({ jsonrpc: '2.0', error: { code: -32603, message, data }, id: null }), status)
}

function askedByWeb(request: Request): Asked {
  return {
    method: request.method,
    url: request.url,
    headers: request.headers,
    async text(most) {
      const parts: Uint8Array[] = []
      let size = 0
      for await (const part of request.body ?? []) {
        size += part.length
        if (size > most) return undefined
        parts.push(part)
      }
      return decoded(Buffer.concat(parts))
    },
    gone: () => request.signal,
  }
}

function askedByNode(incoming: IncomingMessage, outgoing: ServerResponse): Asked {
  let signal: AbortSignal | undefined
  const headers = headersOf(incoming.rawHeaders)
  return {
    method: incoming.method ?? '',
    url: incoming.url ?? '',
    headers,
    text: (most) => bodyOf(incoming, Number(headers.get('content-length')), most),
    gone() {
      signal ??= goneSignal(outgoing)
      return signal
    },
  }
}

/** The headers by name, each said twice joined as the web joins it: what node:http makes of them drops the second. */
function headersOf(raw: readonly string[]): Pick<Headers, 'get'> {
  const headers = new Map<string, string>()
  for (let i = 0; i < raw.length; i += 2) {
    const name = raw[i]!.toLowerCase()
    const said = headers.get(name)
    headers.set(name, said === undefined ? raw[i + 1]! : `${said}, ${raw[i + 1]}`)
  }
  return { get: (name) => headers.get(name) ?? null }
}

/** A body of at most so many bytes. Of a longer one no more is read than it takes to know that; `said` is what it says. */
function bodyOf(incoming: IncomingMessage, said: number, most: number): Promise<string | undefined> {
  return new Promise((resolve) => {
    if (said > most) return resolve(undefined)
    const parts: Buffer[] = []
    let size = 0
    incoming.on('data', (part: Buffer) => {
      size += part.length
      if (size <= most) parts.push(part)
      else {
        incoming.pause()
        resolve(undefined)
      }
    })
    incoming.on('end', () => resolve(decoded(parts.length === 1 ? parts[0]! : Buffer.concat(parts))))
    // Who goes away in the middle of a request gets no answer, so it does not matter which.
    incoming.on('error', () => resolve(undefined))
  })
}

/** UTF-8 as the web reads it: a mark of the byte order at the beginning is none of the text. */
function decoded(bytes: Buffer): string {
  const text = bytes.toString('utf8')
  return text.charCodeAt(0) === 0xfeff ? text.slice(1) : text
}

function goneSignal(outgoing: ServerResponse): AbortSignal {
  const gone = new AbortController()
  const look = () => {
    if (!outgoing.writableFinished) gone.abort()
  }
  if (outgoing.destroyed) look()
  else outgoing.once('close', look)
  return gone.signal
}

/** How long a client that was refused may go on sending before it is cut off, in milliseconds. */
const DRAIN_MS = 500

function send(incoming: IncomingMessage, outgoing: ServerResponse, { status, headers, body }: Answer): void {
  let length = 0
  for (const part of body) length += Buffer.byteLength(part)
  outgoing.writeHead(status, { ...headers, 'content-length': length })
  // What is left for the end goes out in one piece with what stands before it.
  for (const part of body.slice(0, -1)) outgoing.write(part)
  outgoing.end(body.at(-1))
  if (!incoming.complete) drain(incoming)
}

/** Many a client reads the answer only when it has sent all, so the rest of a request is taken, and thrown away. */
function drain(incoming: IncomingMessage): void {
  incoming.removeAllListeners('data')
  incoming.resume()
  const late = setTimeout(() => incoming.destroy(), DRAIN_MS)
  late.unref()
  incoming.once('close', () => clearTimeout(late))
}

function responseOf({ status, headers, body }: Answer): Response {
  return new Response(Buffer.concat(body.map((part) => Buffer.from(part))), { status, headers })
}
