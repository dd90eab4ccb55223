import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import { actorOfToken } from '../src/auth/actor.ts'
import { mcpHttp } from '../src/mcp/http.ts'
import { AppError, type ErrorCode } from '../src/model/error.ts'
import type { World } from './world.ts'

/**
 * A call through the SDK's own client and our MCP endpoint, without a socket between them, so that a connection that a tool
 * opens can be told from ours. Throws a refusal as the AppError that it tells of.
 */
export async function mcpCaller(world: World, token: string) {
  const endpoint = mcpHttp({
    call: world.done.call,
    onEvents: world.done.store.onEvents,
    authenticate: (given) => actorOfToken(world.done.store, given),
    allowedHosts: ['127.0.0.1'],
    isOwnPage: (origin, host) => origin === `http://${host}`,
    site: () => 'http://127.0.0.1:4747',
    metadata: () => 'http://127.0.0.1:4747/.well-known/oauth-protected-resource/mcp',
  })
  const client = new Client({ name: 'test', version: '1' }, { versionNegotiation: { mode: 'auto' } })
  await client.connect(
    new StreamableHTTPClientTransport(new URL('http://127.0.0.1/mcp'), {
      requestInit: { headers: { authorization: `Bearer ${token}`, host: '127.0.0.1' } },
      fetch: (url, init) => {
        const request = new Request(url, init)
        request.headers.set('host', '127.0.0.1')
        return endpoint(request)
      },
    }),
  )
  return {
    async call(name: string, input: Record<string, unknown>): Promise<Record<string, unknown>> {
      const { structuredContent, isError } = await client.callTool({ name, arguments: input })
      const content = structuredContent as Record<string, unknown>
      if (!isError) return content
      const { code, message } = content.error as { code: ErrorCode; message: string }
      throw new AppError(code, message)
    },
    async close() {
      await client.close()
      endpoint.close()
    },
  }
}
