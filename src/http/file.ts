import type { Context } from 'hono'
import type { Done } from '../done.ts'
import type { PersonActor } from '../model/actor.ts'
import { downloadOf } from '../people/file.ts'
import { withoutHidden } from './html.ts'

/** Types that are sent as what they are; everything else goes out as bytes that no browser reads anything into. */
const HARMLESS = new Set(['text/plain', 'text/csv', 'image/png', 'image/jpeg', 'image/gif', 'image/webp'])

/** Sends what an agent attached: always as a file to keep, never as a page of this site (gate, way 26). */
export async function sendFile(c: Context, done: Done, person: PersonActor, id: string): Promise<Response> {
  const { name, mediaType, bytes } = await downloadOf(done.store, person, id)
  const base = (mediaType ?? '').replace(/;.*/s, '').trim().toLowerCase()
  const type = HARMLESS.has(base) ? base : 'application/octet-stream'
  return c.body(Buffer.from(bytes), 200, {
    'content-type': type.startsWith('text/') ? `${type}; charset=utf-8` : type,
    'content-disposition': disposition(name),
    'content-security-policy': `default-src 'none'; sandbox`,
  })
}

/** RFC 6266 and 8187: a plain name for old clients, the real one beside it; none can turn its own ending around. */
function disposition(given: string): string {
  const name = withoutHidden(given).replace(/[\\/]/g, '_').slice(0, 200) || 'file'
  const plain = name.replace(/[^\x20-\x7E]|["%]/g, '_')
  const real = encodeURIComponent(name).replace(
    /['()*]/g,
    (c) => `%${c.charCodeAt(0).toString(16).toUpperCase()}`,
  )
  return `attachment; filename="${plain}"; filename*=UTF-8''${real}`
}
