/**
 * The only way by which Done asks anything of an address that somebody else has written: documents of OAuth clients,
 * sources, webhooks. A URL from outside must lead to the public internet and never to what only this machine or its
 * network can reach, whatever it looks like and whatever its name resolves to (decision 13).
 */
import { lookup } from 'node:dns/promises'
import { type IncomingMessage, request as requestHttp } from 'node:http'
import { request as requestHttps } from 'node:https'
import { isIP, type LookupFunction } from 'node:net'
import { AppError, invalid } from '../model/error.ts'
import { isPublic, isWithin } from './address.ts'
import type { Allowed } from './allow.ts'

const DEADLINE_MS = 5_000
const BODY_BYTES = 65_536
const HEADER_BYTES = 16_384

/** The longest name that DNS can hold, in characters. */
const NAME_LENGTH = 253

interface Address {
  address: string
  family: number
}

/** Has the shape of `fetch`, so that it can stand in for it, and does less: see {@link outbound}. */
export type Outbound = (
  url: string | URL,
  init?: { method?: string; headers?: RequestInit['headers']; signal?: AbortSignal | null },
) => Promise<Response>

/**
 * Makes the client. It speaks https on port 443 with public addresses, and with what `allow` names besides. A name is
 * resolved once; each of its addresses must be allowed, and only those are connected to. It follows no redirect (the
 * answer is the one with the 3xx), knows no proxy and no cookie, keeps no connection, checks certificates whatever the
 * environment says, and GET is all that it can. The `Response` has been read to its end.
 *
 * It throws AppErrors: `invalid_value` for what no setting could make right (another scheme, a user name in the URL),
 * `unavailable` for the rest, in one text for an address that is refused, a name that is not there and a server that does
 * not answer: a caller can't find out by it what this network holds. A caller's own `signal` throws its reason.
 *
 * @param deadlineMs for all of it, from the name to the last byte
 * @param bodyBytes the longest body; a longer one is cut off and refused
 * @param ca the certificates to believe in place of the system's, as PEM
 * @param resolve all addresses of a name
 */
export function outbound({
  allow,
  deadlineMs = DEADLINE_MS,
  bodyBytes = BODY_BYTES,
  ca,
  resolve = (name) => lookup(name, { all: true }),
}: {
  allow: readonly Allowed[]
  deadlineMs?: number
  bodyBytes?: number
  ca?: string
  resolve?: (name: string) => Promise<Address[]>
}): Outbound {
  return async (address, { method = 'GET', headers, signal } = {}) => {
    if (method !== 'GET') throw invalid(`Done sends no ${method} to other servers, only GET.`)
    const url = readUrl(address)
    const open = allow.filter(({ port }) => portOf(url) === (port ?? STANDARD_PORT[url.protocol]))
    if (!isStandard(url) && open.length === 0)
      throw invalid('Done connects to other servers by https, on port 443.', { next: HOW_TO_ALLOW })
    const wanted = new Headers({ 'user-agent': 'Done', ...Object.fromEntries(new Headers(headers)) })
    // What is packed would have to be unpacked under a limit of its own.
    wanted.set('accept-encoding', 'identity')

    const deadline = AbortSignal.timeout(deadlineMs)
    const stop = signal ? AbortSignal.any([signal, deadline]) : deadline
    try {
      const host = hostOf(url)
      const family = isIP(host)
      const addresses = family ? [{ address: host, family }] : await until(stop, () => resolve(host))
      if (!mayConnect(url, open, addresses)) throw unreachable(url)
      const answer = await send(url, addresses, { headers: Object.fromEntries(wanted), stop, ca })
      return await readAnswer(url, answer, bodyBytes)
    } catch (error) {
      if (error instanceof AppError) throw error
      signal?.throwIfAborted()
      if (deadline.aborted)
        throw new AppError('unavailable', `${url.host} did not answer within ${deadlineMs / 1000} seconds.`)
      // Errors of DNS, sockets, TLS and the parser of HTTP have a code; one without is a fault of ours.
      if (typeof (error as NodeJS.ErrnoException).code !== 'string') throw error
      throw unreachable(url)
    }
  }
}

// ---- May it? ----

const STANDARD_PORT: Record<string, number> = { 'http:': 80, 'https:': 443 }

const HOW_TO_ALLOW =
  'Give an address of the public internet that begins with https://. Whoever runs Done can allow others with --allow-outbound.'

/** Every odd notation of a host ends here: the parser writes `0x7f.1`, `2130706433` and full-width digits as `127.0.0.1`. */
function readUrl(address: string | URL): URL {
  if (!URL.canParse(String(address))) throw invalid('This is not an address.', { next: HOW_TO_ALLOW })
  const url = new URL(address)
  if (!(url.protocol in STANDARD_PORT) || url.hostname.length > NAME_LENGTH)
    throw invalid('This is not an address that Done can ask.', { next: HOW_TO_ALLOW })
  if (url.username || url.password)
    throw invalid('The address must not hold a user name or a password.', {
      next: 'Leave out what stands before the @.',
    })
  return url
}

const portOf = ({ port, protocol }: URL): number => (port ? Number(port) : STANDARD_PORT[protocol]!)

const isStandard = (url: URL): boolean => url.protocol === 'https:' && portOf(url) === 443

const hostOf = ({ hostname }: URL): string => hostname.replace(/^\[|\]$/g, '')

/** One address that is refused refuses the name: which of them would be taken is not ours to say. */
function mayConnect(url: URL, open: readonly Allowed[], addresses: readonly Address[]): boolean {
  if (addresses.length === 0) return false
  if (open.some((each) => 'host' in each && isNamed(url.hostname, each.host))) return true
  return addresses.every(
    ({ address }) =>
      (isStandard(url) && isPublic(address)) ||
      open.some((each) => 'network' in each && isWithin(address, each.network)),
  )
}

const isNamed = (name: string, host: string): boolean =>
  host.startsWith('*.') ? name.endsWith(host.slice(1)) : name === host

function unreachable(url: URL): AppError {
  return new AppError('unavailable', `${url.host} can’t be reached, or Done may not connect to it.`, {
    next: HOW_TO_ALLOW,
  })
}

// ---- Asking ----

/** A lookup of the system can't be called off; it is left alone when the time is over. */
async function until<T>(stop: AbortSignal, work: () => Promise<T>): Promise<T> {
  stop.throwIfAborted()
  return Promise.race([
    work(),
    new Promise<never>((_, fail) => {
      stop.addEventListener('abort', () => fail(stop.reason), { once: true })
    }),
  ])
}

function send(
  url: URL,
  addresses: readonly Address[],
  { headers, stop, ca }: { headers: Record<string, string>; stop: AbortSignal; ca: string | undefined },
): Promise<IncomingMessage> {
  const request = url.protocol === 'https:' ? requestHttps : requestHttp
  return new Promise((answered, failed) => {
    const asked = request(
      url,
      {
        headers,
        signal: stop,
        // A connection that stands would be used for a name that now resolves to something else.
        agent: false,
        lookup: only(addresses),
        maxHeaderSize: HEADER_BYTES,
        // Said, because NODE_TLS_REJECT_UNAUTHORIZED would otherwise be heard.
        rejectUnauthorized: true,
        ...(ca === undefined ? {} : { ca }),
      },
      answered,
    )
    asked.on('error', failed)
    // An answer of 101 ends the request without an error.
    asked.on('close', () => failed(unreachable(url)))
    asked.end()
  })
}

/** Resolves every name to what was checked, so that no second look can find something else. */
function only(addresses: readonly Address[]): LookupFunction {
  return (_name, { all }, found) => {
    if (all) found(null, [...addresses])
    else found(null, addresses[0]!.address, addresses[0]!.family)
  }
}

async function readAnswer(url: URL, answer: IncomingMessage, bodyBytes: number): Promise<Response> {
  const status = answer.statusCode!
  const chunks: Buffer[] = []
  let length = 0
  for await (const chunk of answer as AsyncIterable<Buffer>) {
    length += chunk.length
    // To leave the loop closes the connection.
    if (length > bodyBytes)
      throw new AppError('unavailable', `${url.host} answers with more than ${bodyBytes} bytes.`, {
        next: 'Give the address of a shorter document.',
        retry: false,
      })
    chunks.push(chunk)
  }
  if (status < 200 || status > 599) throw unreachable(url)
  const headers = new Headers()
  for (let at = 0; at < answer.rawHeaders.length; at += 2)
    headers.append(answer.rawHeaders[at]!, answer.rawHeaders[at + 1]!)
  const empty = status === 204 || status === 205 || status === 304
  return new Response(empty ? null : Buffer.concat(chunks), { status, headers })
}
