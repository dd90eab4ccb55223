import { CLIENT_CAPABILITIES_META_KEY, PROTOCOL_VERSION_META_KEY, REVISION } from '../src/mcp/revision.ts'

/** A regular call of 2026-07-28: its headers and its body. */
export function mcpMessage(name: string, input: unknown) {
  const meta = { [PROTOCOL_VERSION_META_KEY]: REVISION, [CLIENT_CAPABILITIES_META_KEY]: {} }
  return {
    headers: {
      accept: 'application/json, text/event-stream',
      'content-type': 'application/json',
      'mcp-protocol-version': REVISION,
      'mcp-method': 'tools/call',
      'mcp-name': name,
    } as Record<string, string>,
    body: {
      jsonrpc: '2.0',
      id: 1,
      method: 'tools/call',
      params: { name, arguments: input, _meta: meta },
    } as Record<string, unknown>,
  }
}
