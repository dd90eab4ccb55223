import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import { TOOL_ADDRESSES } from '../src/http/rest.ts'
import { donectl, stdioHost } from './process.ts'
import { restCall } from './rest-call.ts'
import type { RunningServer } from './running.ts'

/** What came back through a door: a code where the call was refused. */
interface Answer {
  code?: string
  body: Record<string, any>
}

export interface Door {
  name: string
  call(tool: string, input: Record<string, unknown>): Promise<Answer>
  close(): Promise<void>
}

/** Every door through which an agent's token can call a tool, on one running server and its data folder. */
export const DOORS: Record<string, (server: RunningServer, token: string) => Promise<Door>> = {
  'MCP stdio': async ({ dir, env }, token) => {
    const host = stdioHost(dir, { ...env, DONE_TOKEN: token })
    return {
      name: 'MCP stdio',
      call: async (tool, input) => told(await host.call(tool, input)),
      close: () => host.kill(),
    }
  },
  'MCP HTTP': async ({ site }, token) => {
    const client = new Client({ name: 'owner', version: '1' }, { versionNegotiation: { mode: 'auto' } })
    const headers = { authorization: `Bearer ${token}`, 'x-approver': 'U1', 'x-forwarded-user': 'Owner' }
    await client.connect(
      new StreamableHTTPClientTransport(new URL(`${site}/mcp`), { requestInit: { headers } }),
    )
    return {
      name: 'MCP HTTP',
      call: async (tool, input) =>
        told((await client.callTool({ name: tool, arguments: input })).structuredContent),
      close: () => client.close(),
    }
  },
  REST: async ({ site }, token) => ({
    name: 'REST',
    async call(tool, input) {
      const { method, path, body } = restCall(TOOL_ADDRESSES.find(({ name }) => name === tool)!, input)
      const response = await fetch(site + path, {
        method,
        headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json', 'x-approver': 'U1' },
        ...(body ? { body: JSON.stringify(body) } : {}),
      })
      return told(await response.json())
    },
    close: async () => {},
  }),
  'command line': async ({ dir, env }, token) => ({
    name: 'command line',
    async call(tool, input) {
      const { stdout, stderr } = await donectl(
        ['call', tool, JSON.stringify(input), '--json', '--data', dir],
        { ...env, DONE_TOKEN: token },
      )
      return told(JSON.parse(stdout || stderr))
    },
    close: async () => {},
  }),
}

function told(content: unknown): Answer {
  const body = content as Record<string, any>
  return body.error ? { code: body.error.code, body } : { body }
}
