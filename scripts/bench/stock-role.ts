import { createHash } from 'node:crypto'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { getRequestListener } from '@hono/node-server'
import { createMcpHandler, McpServer } from '@modelcontextprotocol/server'
import { answerCall } from '../../src/mcp/answer.ts'
import { annotationsFor, TOOL_NAMES, toolNamed } from '../../src/tools/effects.ts'
import type { Handlers } from './process.ts'
import { open } from './store.ts'

export interface StockSetup {
  dir: string
  token: string
}

/**
 * The same tools over the same store, served as the SDK's own documentation has it: an McpServer with every tool registered,
 * behind the SDK's handler for HTTP.
 */
export async function handlers({ dir, token }: StockSetup): Promise<Handlers> {
  const { done, actor } = await open({ dir })
  const caller = { actor, call: done.call, isTool: () => true }
  const mcp = createMcpHandler(() => {
    const server = new McpServer({ name: 'stock', version: '1' })
    for (const name of TOOL_NAMES) {
      const { title, does, input, output } = toolNamed(name)!
      server.registerTool(
        name,
        {
          title,
          description: does,
          inputSchema: input,
          outputSchema: output,
          annotations: annotationsFor(name),
        },
        (args: unknown) => answerCall(caller, name, args, {}),
      )
    }
    return server
  })
  const actors = new Set([sha256(token)])
  const server = createServer(
    getRequestListener(
      (request) => {
        const bearer = request.headers.get('authorization')?.slice('Bearer '.length) ?? ''
        return actors.has(sha256(bearer)) ? mcp.fetch(request) : new Response(null, { status: 401 })
      },
      { overrideGlobalObjects: false },
    ),
  )
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return { url: async () => `http://127.0.0.1:${(server.address() as AddressInfo).port}` }
}

const sha256 = (text: string): string => createHash('sha256').update(text).digest('hex')
