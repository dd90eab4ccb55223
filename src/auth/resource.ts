/** What a client can ask a token for (RFC 8707): everything at an origin of ours, or its MCP endpoint alone. */
export const MCP_PATH = '/mcp'

/** The resource that an indicator names, as it stands in tokens; undefined where it is none of ours. */
export function resourceOf(indicator: string, isOrigin: (origin: string) => boolean): string | undefined {
  if (!URL.canParse(indicator)) return undefined
  const { origin, pathname, search, hash, username, password } = new URL(indicator)
  if (!isOrigin(origin) || search || hash || username || password) return undefined
  if (pathname === '/') return origin
  return pathname === MCP_PATH || pathname === `${MCP_PATH}/` ? origin + MCP_PATH : undefined
}

/** Whether a token for this resource is good at the MCP endpoint, and beside it. */
export function goodAt(isOrigin: (origin: string) => boolean) {
  return {
    mcp: (resource: string): boolean =>
      isOrigin(resource) || (resource.endsWith(MCP_PATH) && isOrigin(resource.slice(0, -MCP_PATH.length))),
    api: (resource: string): boolean => isOrigin(resource),
  }
}
