import { createHash, timingSafeEqual } from 'node:crypto'
import type { Context, Hono } from 'hono'
import type { Done } from '../done.ts'
import { systemActor } from '../tools/access.ts'
import { VERSION } from '../version.ts'
import type { AppDeps } from './app.ts'
import type { Metrics } from './metrics.ts'

/** How long the database may take for readiness, in milliseconds: balancers ask every few seconds. */
const ANSWER_MS = 2000

const NOT_KEPT = { 'cache-control': 'no-store' }

/**
 * What machines ask of a server, under any host name: `/health`, whether it lives; `/ready`, whether requests should be sent to
 * it; `/metrics`, what it counts, for whoever has the token for it. To everybody else there is no such address, also on this
 * machine: behind a proxy all the world comes from here.
 */
export function healthAddresses(
  app: Hono,
  { done, closing, metrics }: Pick<AppDeps, 'done' | 'closing' | 'metrics'>,
): void {
  app.get('/health', async (c) => {
    await done.store.read(systemActor(0), 'health', async () => {})
    return c.json({ status: 'ok', version: VERSION }, 200, NOT_KEPT)
  })
  app.get('/ready', async (c) => {
    const reason = closing.aborted ? 'the server is stopping' : await faultOf(done.store)
    if (reason === undefined) return c.json({ status: 'ready', version: VERSION }, 200, NOT_KEPT)
    return c.json({ status: 'unavailable', reason }, 503, NOT_KEPT)
  })
  if (metrics === undefined) return
  const { token, page } = metrics
  app.get('/metrics', async (c, next) => {
    if (!bears(c, token)) return next()
    const { type, text } = await page()
    return c.body(text, 200, { ...NOT_KEPT, 'content-type': type })
  })
}

/** What metrics are shown, and to whom. */
export type ShownMetrics = Pick<Metrics, 'page'> & { token: string }

/** Why requests should go elsewhere; undefined where they need not. */
async function faultOf(store: Done['store']): Promise<string | undefined> {
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<string>((resolve) => {
    timer = setTimeout(resolve, ANSWER_MS, 'the database does not answer')
  })
  const asked = store
    .hasOwnSchema()
    .then((own) => (own ? undefined : 'another version of Done has changed the schema'))
    .catch(() => 'the database can’t be read')
  const fault = await Promise.race([asked, late])
  clearTimeout(timer)
  return fault
}

/** Compared by their hashes, which are of one length, in a time that tells nothing. */
function bears(c: Context, token: string): boolean {
  const given = /^Bearer +(\S+)$/i.exec(c.req.header('authorization') ?? '')?.[1] ?? ''
  const hash = (text: string) => createHash('sha256').update(text).digest()
  return timingSafeEqual(hash(given), hash(token))
}
