import type { Readable, Writable } from 'node:stream'
import { LIMITS } from '../model/task.ts'
import type { Caller } from './answer.ts'
import { keepWhole, type WholeArguments } from './arguments.ts'
import type { Change } from './changes.ts'
import { connectionOf } from './connection.ts'
import { callAnswer, isRegular, listAnswer, type Regular } from './direct.ts'
import { eraOf } from './era.ts'
import { parsed } from './json.ts'
import { lineWriter, readLines } from './lines.ts'
import type { Listing } from './listing.ts'
import { openRequests } from './open-requests.ts'
import type { StdioSdk } from './stdio-sdk.ts'

export interface StdioLoopOptions {
  listing: Listing
  presets: readonly string[] | undefined
  /** Every name in the catalogue, whoever may call it. */
  everyName: ReadonlySet<string>
  /** Asked before each call; rejects where nobody may call. */
  caller(): Promise<Caller>
  /** The client wants to hear of changes from now on. */
  listens(): void
  stdin: Readable
  stdout: Writable
}

export interface StdioLoop {
  /** Tells the client of a change, if it wants to hear of it. */
  tell(change: Change): void
  /** Resolves when the host has closed its end and what it had asked is answered, or when nothing can be sent any more. */
  closed: Promise<void>
}

/** How long calls may still be answered after the host closed its end, in milliseconds. */
const LAST_CALLS_MS = 5000

/**
 * Reads messages and answers them. What is regular is answered here (direct.ts); the SDK is loaded for the first message that
 * is not, and gets only those, or all that follow where the client is one from before 2026-07-28.
 */
export function stdioLoop(options: StdioLoopOptions): StdioLoop {
  const { listing, presets, everyName, caller, stdin } = options
  const kept: WholeArguments = new Map()
  const requests = openRequests()
  const era = eraOf()
  const output = lineWriter(options.stdout, close)
  let loading: Promise<StdioSdk> | undefined
  let open = true
  let settle = () => {}
  const closed = new Promise<void>((resolve) => {
    settle = resolve
  })

  function close(): void {
    if (!open) return
    open = false
    stdin.pause()
    loading?.then(
      (sdk) => sdk.close(),
      () => {},
    )
    settle()
  }

  function take(line: string): void {
    const message = parsed(line)
    // Of what is no JSON nothing can be said to anybody.
    if (!open || message === undefined) return
    if (!era.isOld() && isRegular(message, isTool)) {
      era.saw(message)
      answer(message).catch(console.error)
    } else if (!takesBack(message)) handOn(line, message)
  }

  const isTool = (name: string): boolean => everyName.has(name)

  async function answer(message: Regular): Promise<void> {
    const { id } = message
    if (message.method !== 'tools/call') {
      const list = listAnswer(listing, message)
      return output.line(list.head + list.tail(id))
    }
    const request = requests.begin(id, 'here')
    const text = await callAnswer(message, caller(), connectionOf(presets, request.gone))
    // Whoever took a call back waits for no answer (2026-07-28, "cancellation").
    if (request.cancelled()) return
    await output.line(text)
    requests.end(id)
  }

  /** Whether a message takes back a call that is answered here. */
  function takesBack(message: unknown): boolean {
    const { method, params } = (message ?? {}) as { method?: unknown; params?: { requestId?: unknown } }
    return method === 'notifications/cancelled' && requests.takeBack(params?.requestId)
  }

  function handOn(line: string, message: unknown): void {
    const { id, method } = (message ?? {}) as { id?: unknown; method?: unknown }
    if (method === 'subscriptions/listen' || method === 'resources/subscribe') options.listens()
    else if (method !== undefined && id !== undefined) requests.begin(id, 'sdk')
    keepWhole(kept, message)
    const opening = era.before(message)
    loading ??= loadSdk()
    loading.then(
      (sdk) => {
        if (opening) sdk.receive(opening)
        if (!sdk.receive(line)) requests.end(id)
      },
      (error: unknown) => {
        console.error(error)
        close()
      },
    )
  }

  async function loadSdk(): Promise<StdioSdk> {
    const { stdioSdk } = await import('./stdio-sdk.ts')
    const door = { ...listing, presets, subscribed: new Set<string>(), kept, caller }
    return stdioSdk(door, {
      async send(text, answers) {
        await output.line(text)
        if (answers !== undefined) requests.end(answers)
      },
      closed: close,
    })
  }

  readLines(stdin, LIMITS.requestBytes, {
    line: take,
    tooLong() {
      console.error(`A message may have at most ${LIMITS.requestBytes} bytes: the connection ends here.`)
      close()
    },
    // A host that closes its end behind a call still gets the answer.
    ended: () => void requests.answered(LAST_CALLS_MS).then(close),
  })
  return {
    /** Whoever has not asked the SDK for anything listens to nothing. */
    tell(change) {
      loading?.then(
        (sdk) => sdk.tell(change),
        () => {},
      )
    },
    closed,
  }
}
