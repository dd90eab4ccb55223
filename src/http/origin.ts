import type { Config } from '../config.ts'

/** The values of the Host header that are ours, each with the origin of a page that came from there. */
export type Origins = ReadonlyMap<string, string>

/**
 * The names under which this server answers: the site people open, the address it is bound to, and the loopback names.
 * Anything else is somebody's name pointed at us (DNS rebinding), so that a page of theirs would share our origin.
 */
export function ownOrigins(config: Pick<Config, 'host' | 'site'>, port: number): Origins {
  const origins = new Map<string, string>()
  const site = new URL(config.site)
  if (site.port !== '0') {
    origins.set(site.host, site.origin)
    if (site.port === '') origins.set(`${site.host}:${site.protocol === 'https:' ? 443 : 80}`, site.origin)
  }
  const bound = config.host.includes(':') ? `[${config.host}]` : config.host
  for (const name of ['127.0.0.1', 'localhost', '[::1]', bound]) {
    if (WILDCARDS.has(name)) continue
    const { host, origin } = new URL(`http://${name}:${port}`)
    if (!origins.has(host)) origins.set(host, origin)
  }
  return origins
}

const WILDCARDS = new Set(['0.0.0.0', '[::]'])

/**
 * Why a request that could change something is not our own page's doing; undefined where it is. Browsers say it in two
 * ways, of which a page can forge neither: Sec-Fetch-Site (Fetch Metadata) and Origin (RFC 6454, 7).
 *
 * - `same-origin`: ours, unless an Origin speaks against it. "null" doesn't: a strict referrer policy makes it so.
 * - `none`: no page at all, such as a bookmark; then the Origin must be ours.
 * - absent (old browsers; plain HTTP on a network): the Origin must be ours.
 * - anything else: another site's.
 */
export function foreign(headers: Headers, origins: Origins): string | undefined {
  const site = headers.get('sec-fetch-site')
  const origin = headers.get('origin')
  const own = origin !== null && origin === origins.get(headers.get('host')?.toLowerCase() ?? '')
  if (site === 'same-origin') {
    return own || origin === null || origin === 'null' ? undefined : 'It carries the origin of another site.'
  }
  if (site !== null && site !== 'none') return 'Another site’s page has sent it.'
  if (own) return undefined
  if (origin === null) return 'It does not say which page has sent it: Origin and Sec-Fetch-Site are missing.'
  return 'It carries the origin of another site.'
}

/** Whether a request says of itself that it comes from a page, so that {@link foreign} can judge it. */
export function fromPage(headers: Headers): boolean {
  return headers.has('sec-fetch-site') || headers.has('origin')
}
