import { deserializeMessage, type Server, type Transport } from '@modelcontextprotocol/server'
import { serveStdio } from '@modelcontextprotocol/server/stdio'
import type { Change } from './changes.ts'
import { type Door, serverFor } from './protocol.ts'

/** The SDK behind a connection over stdio. A module of its own, so that the SDK is loaded only for who needs it. */
export interface StdioSdk {
  /** Takes a message as it came, on one line. False for what is none, which is said to the log. */
  receive(line: string): boolean
  /** Tells the client of a change, if it wants to hear of it. */
  tell(change: Change): Promise<void>
  close(): void
}

export interface StdioSdkEvents {
  /** Sends a message; `answers` is the id of the request that it answers. Resolves when there is room for more. */
  send(text: string, answers: unknown): Promise<void>
  closed(): void
}

/** Serves what is received, in either era: the first message decides which. */
export function stdioSdk(door: Door, on: StdioSdkEvents): StdioSdk {
  let served: { server: Server; era: 'modern' | 'legacy' } | undefined
  const transport: Transport = {
    async start() {},
    send: (message) => on.send(JSON.stringify(message), 'method' in message ? undefined : message.id),
    async close() {
      transport.onclose?.()
      on.closed()
    },
  }
  serveStdio(
    ({ era }) => {
      const server = serverFor(door, era)
      served = { server, era }
      return server
    },
    { transport, onerror: (error) => console.error(error.message) },
  )
  return {
    receive(line) {
      try {
        transport.onmessage?.(deserializeMessage(line))
        return true
      } catch (error) {
        console.error((error as Error).message)
        return false
      }
    },
    /** What a client of 2026-07-28 listens to is known to the SDK; an older one subscribes to addresses with us. */
    async tell(change) {
      if (!served) return
      const { server, era } = served
      try {
        if (change.kind === 'tools_list_changed') await server.sendToolListChanged()
        else if (era === 'modern' || door.subscribed?.has(change.uri))
          await server.sendResourceUpdated({ uri: change.uri })
      } catch {
        // The host is gone, or not ready yet: it asks again for what it needs.
      }
    },
    close: () => transport.onclose?.(),
  }
}
