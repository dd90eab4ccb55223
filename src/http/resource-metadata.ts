import type { MCP_PATH } from '../auth/resource.ts'

/** Where a client learns of the resource, and which server it is to ask (RFC 9728, 3). */
export const RESOURCE_METADATA = '/.well-known/oauth-protected-resource'

/** The address of the metadata of a resource at an origin: of all of it, or of its MCP endpoint. */
export const metadataOf = (origin: string, path: '' | typeof MCP_PATH): string =>
  origin + RESOURCE_METADATA + path
