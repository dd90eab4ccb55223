import type { Address } from '../src/http/address.ts'

/** A call as it stands in REST. */
export interface RestCall {
  method: string
  /** With the query, where there is one. */
  path: string
  body?: Record<string, unknown>
}

/** Puts the arguments of a call where they belong; what the path needs and is not there is `-`. */
export function restCall({ method, path, params }: Address, input: Record<string, unknown>): RestCall {
  const rest = Object.entries(input).filter(([name]) => !params.includes(name))
  const filled = path.replace(/:(\w+)/g, (_, name: string) => encodeURIComponent(String(input[name] ?? '-')))
  if (method !== 'GET') return { method, path: filled, body: Object.fromEntries(rest) }
  const query = rest.map(([name, value]): [string, string] => [
    name,
    typeof value === 'object' ? JSON.stringify(value) : String(value),
  ])
  return { method, path: query.length > 0 ? `${filled}?${new URLSearchParams(query)}` : filled }
}
