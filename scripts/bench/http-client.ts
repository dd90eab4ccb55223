import { Agent, request as httpRequest } from 'node:http'
import { gunzipSync } from 'node:zlib'
import { type ToolAnswer, toolAnswer } from './process.ts'

const REVISION = '2026-07-28'

/** An MCP client of a few lines over kept connections, so that the machine's time goes to the server. */
export interface HttpClient {
  request(method: string, params: Record<string, unknown>): Promise<unknown>
  /**
   * Sends a request and throws its answer away unread, once it is there: to unpack and read a long one takes the client longer
   * than the server took, which would then be measured half asleep.
   */
  press(method: string, params: Record<string, unknown>): Promise<void>
  /** Rejects where the tool refuses. */
  call(tool: string, args: Record<string, unknown>): Promise<ToolAnswer>
  close(): void
}

/** `url` is the server's, without `/mcp`. */
export function httpClient(url: string, token: string, connections: number): HttpClient {
  const agent = new Agent({ keepAlive: true, maxSockets: connections })
  const { hostname, port } = new URL(url)
  let last = 0

  const bodyOf = (method: string, params: Record<string, unknown>): string =>
    JSON.stringify({
      jsonrpc: '2.0',
      id: ++last,
      method,
      params: {
        ...params,
        _meta: {
          'io.modelcontextprotocol/protocolVersion': REVISION,
          'io.modelcontextprotocol/clientCapabilities': {},
        },
      },
    })

  const request: HttpClient['request'] = async (method, params) => {
    const { bytes, packed } = await post(bodyOf(method, params), method, params.name)
    const text = (packed ? gunzipSync(bytes) : bytes).toString()
    const answer = /^data: (\{.*)$/m.exec(text)?.[1] ?? text
    const { result, error } = JSON.parse(answer) as { result?: unknown; error?: { message: string } }
    if (error) throw new Error(`${method}: ${error.message}`)
    return result
  }

  function post(body: string, method: string, name: unknown): Promise<{ bytes: Buffer; packed: boolean }> {
    return new Promise((resolve, reject) => {
      const sent = httpRequest(
        {
          agent,
          hostname,
          port,
          path: '/mcp',
          method: 'POST',
          headers: {
            authorization: `Bearer ${token}`,
            'content-type': 'application/json',
            'content-length': Buffer.byteLength(body),
            accept: 'application/json, text/event-stream',
            // As the clients of hosts say it, whose fetch does so by itself.
            'accept-encoding': 'gzip, deflate',
            'mcp-protocol-version': REVISION,
            'mcp-method': method,
            ...(typeof name === 'string' ? { 'mcp-name': name } : {}),
          },
        },
        (response) => {
          const chunks: Buffer[] = []
          response.on('data', (chunk: Buffer) => chunks.push(chunk))
          response.on('error', reject)
          response.on('end', () => {
            const bytes = Buffer.concat(chunks)
            const packed = response.headers['content-encoding'] === 'gzip'
            if (response.statusCode !== 200) reject(new Error(`HTTP ${response.statusCode}: ${bytes}`))
            else resolve({ bytes, packed })
          })
        },
      )
      sent.on('error', reject)
      sent.end(body)
    })
  }

  return {
    request,
    press: async (method, params) => void (await post(bodyOf(method, params), method, params.name)),
    call: async (tool, args) =>
      toolAnswer(tool, await request('tools/call', { name: tool, arguments: args })),
    close: () => agent.destroy(),
  }
}
