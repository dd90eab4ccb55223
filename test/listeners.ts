import { createHook } from 'node:async_hooks'
import type { RequestListener } from 'node:http'
import type { AddressInfo, Server, Socket } from 'node:net'
import { afterAll, afterEach, beforeAll, beforeEach, expect } from 'vitest'
import { AppError } from '../src/model/error.ts'

let tried = 0

/** Hears of every connect() that this process asks of the system. (The channel `net.client.socket` says nothing of TLS.) */
const connects = createHook({
  init(_id, type) {
    if (type === 'TCPCONNECTWRAP' || type === 'PIPECONNECTWRAP') tried++
  },
})

/** For a file that watches what the process connects to: counts from nought in each test, and ends its listeners. */
export function watchConnections(): void {
  beforeAll(() => {
    connects.enable()
  })
  afterAll(() => {
    connects.disable()
  })
  beforeEach(() => {
    tried = 0
  })
  afterEach(stopListening)
}

/** How often this process has tried to connect to anything, over TCP or a local socket, with TLS or without. */
export const connectionsTried = (): number => tried

const closing: (() => void)[] = []

export function stopListening(): void {
  for (const close of closing.splice(0)) close()
}

/** Listens on an address of this machine and counts who connects. */
export async function listen(server: Server, host = '127.0.0.1', port = 0) {
  const sockets = new Set<Socket>()
  server.on('connection', (socket: Socket) => sockets.add(socket))
  await new Promise<void>((ready, failed) => {
    server.once('error', failed).listen(port, host, ready)
  })
  closing.push(() => {
    for (const socket of sockets) socket.destroy()
    server.close()
  })
  return { port: (server.address() as AddressInfo).port, count: () => sockets.size }
}

export const answers =
  (text: string): RequestListener =>
  (_request, response) =>
    response.end(text)

/** How a request ended: with a refusal. */
export async function refusal(asked: Promise<Response>): Promise<AppError> {
  const end = await asked.then(
    (response) => response.status,
    (error: unknown) => error,
  )
  expect(end).toBeInstanceOf(AppError)
  return end as AppError
}

/** The one text for all that is not, or must not be, there. */
export const UNREACHABLE = /^\S+ can’t be reached, or Done may not connect to it\.$/
