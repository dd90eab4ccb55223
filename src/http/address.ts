import type { Method, Tool } from '../tools/tool.ts'

/** Where one tool stands: derived from its own `http`, never written twice. */
export interface Address {
  readonly name: string
  readonly tool: Tool
  readonly method: Method
  /** `/api/tasks/:id` */
  readonly path: string
  /** Arguments that the path carries. */
  readonly params: readonly string[]
}

/** What a request's method and path lead to. */
export type Match =
  | { address: Address; params: Record<string, string> }
  /** The path is known, the method is not among its own. */
  | { allow: readonly Method[] }

/** The addresses of a catalogue below a prefix. Throws where two tools share one, or a GET could write. */
export function addressesOf(prefix: string, catalogue: Readonly<Record<string, Tool>>): Address[] {
  const taken = new Map<string, string>()
  return Object.entries(catalogue).map(([name, tool]) => {
    const [method, pattern] = tool.http.split(' ') as [Method, string]
    const path = `${prefix}${pattern}`
    const place = `${method} ${path.replace(/:\w+/g, ':')}`
    if (taken.has(place)) throw new Error(`${name} and ${taken.get(place)} both stand at ${tool.http}.`)
    taken.set(place, name)
    // Prefetching, crawling and a page's <img> all send GET, so it must lead to reads alone (gate, way 21).
    if ((method === 'GET') !== (tool.effect === 'read')) {
      throw new Error(`${name} is a ${tool.effect} and stands at ${tool.http}.`)
    }
    return { name, tool, method, path, params: [...path.matchAll(/:(\w+)/g)].map((match) => match[1]!) }
  })
}

/** Finds a request's address. A fixed word goes before a parameter: `/tasks/count` is not the task "count". */
export function router(addresses: readonly Address[]): (method: string, path: string) => Match | undefined {
  const bySize = new Map<number, { address: Address; segments: string[] }[]>()
  for (const address of addresses) {
    const segments = address.path.split('/')
    bySize.set(segments.length, [...(bySize.get(segments.length) ?? []), { address, segments }])
  }
  for (const patterns of bySize.values()) patterns.sort((a, b) => fixedFirst(a.segments, b.segments))

  return (method, path) => {
    const given = path.split('/')
    const matching = (bySize.get(given.length) ?? []).filter(({ segments }) =>
      segments.every((segment, i) => (segment.startsWith(':') ? given[i] !== '' : segment === given[i])),
    )
    if (matching.length === 0) return undefined
    const found = matching.find(({ address }) => address.method === (method === 'HEAD' ? 'GET' : method))
    if (!found) return { allow: [...new Set(matching.map(({ address }) => address.method))] }
    const params = Object.fromEntries(
      found.segments.flatMap((segment, i) =>
        segment.startsWith(':') ? [[segment.slice(1), given[i]!]] : [],
      ),
    )
    return { address: found.address, params }
  }
}

function fixedFirst(a: readonly string[], b: readonly string[]): number {
  for (const [i, segment] of a.entries()) {
    const order = Number(segment.startsWith(':')) - Number(b[i]!.startsWith(':'))
    if (order !== 0) return order
  }
  return 0
}
