import type { Context } from 'hono'
import type { PersonActor } from '../model/actor.ts'
import { type Html, html, own } from './html.ts'
import { STYLE, STYLE_SOURCE } from './style.ts'

/** No script, nothing that makes script of text (Trusted Types), no frame, nothing from outside. */
const POLICY = [
  `default-src 'none'`,
  `style-src ${STYLE_SOURCE}`,
  `img-src 'self'`,
  `form-action 'self'`,
  `frame-ancestors 'none'`,
  `base-uri 'none'`,
  `require-trusted-types-for 'script'`,
  `trusted-types 'none'`,
].join('; ')

/** What every page of markup is sent with. It leaves no memory of itself on the way. */
export const PAGE_HEADERS = {
  'content-type': 'text/html; charset=utf-8',
  'x-frame-options': 'DENY',
  'cross-origin-opener-policy': 'same-origin',
  'permissions-policy': 'camera=(), microphone=(), geolocation=()',
  // Nothing leaves to another origin either way. The second, which browsers that know it take, lets our own forms carry
  // their origin: under the first alone it reads "null", and over plain HTTP on a network no other sign would be left.
  'referrer-policy': 'no-referrer, same-origin',
  'content-security-policy': POLICY,
} as const

/** A whole page. */
export interface Page {
  title: string
  body: Html
  /** Who is signed in, for the head of the page. */
  person?: PersonActor | undefined
  status?: number
  /** Address of a script of ours that the page needs. */
  script?: '/passkey.js'
  /** Address of a page of ours on which it goes on by itself. */
  goesOnTo?: string
  /** Address of another site to which the answer to a form of the page leads. */
  leadsTo?: string
}

/** Sends a page. Works without script, in light and dark, on paper. */
export function sendPage(c: Context, page: Page): Response {
  return c.body(pageOf(page), (page.status ?? 200) as 200, {
    ...PAGE_HEADERS,
    'content-security-policy': policyOf(page),
  })
}

/** The markup of a page. */
export function pageOf({ title, body, person, script, goesOnTo }: Page): string {
  return html`<!doctype html><html lang="en"><head><meta charset="utf-8"><title>${title} · Done</title><meta name="viewport" content="width=device-width, initial-scale=1">${goesOnTo && html`<meta http-equiv="refresh" content="0; url=${goesOnTo}">`}<link rel="icon" href="/icon.svg" type="image/svg+xml"><style>${own(STYLE)}</style>${script && html`<script src="${script}" defer></script>`}</head><body><header class="top"><a class="brand" href="/">${LOGO}Done</a><nav aria-label="Pages"><a href="/sign-off">Sign-offs</a><a href="/members">Members</a><a href="/api/docs">Tools</a></nav>${person && signedIn(person)}</header><main>${body}</main></body></html>`
    .markup
}

function policyOf({ script, leadsTo }: Page): string {
  // A file of ours, and what it asks us; of what stands in the page itself nothing is ever run.
  const policy = script ? `${POLICY}; script-src 'self'; connect-src 'self'` : POLICY
  // Browsers hold the redirect that follows on a form to the same rule as the form (Content Security Policy, form-action).
  return leadsTo === undefined
    ? policy
    : policy.replace(`form-action 'self'`, `form-action 'self' ${sourceOf(leadsTo)}`)
}

/** The origin of an address; of one that has none, its scheme. */
function sourceOf(address: string): string {
  const { origin, protocol } = new URL(address)
  return origin === 'null' ? protocol : origin
}

function signedIn(person: PersonActor): Html {
  return html`<div class="me">${mark(`${person.id} ${person.name}`)}<a href="/account"><bdi>${person.name}</bdi></a><form method="post" action="/sign-out"><button class="link">Sign out</button></form></div>`
}

/** A message that is the whole page: what happened, what it means, what next. */
export function messagePage(
  c: Context,
  page: {
    title: string
    lines: readonly (string | Html)[]
    status: number
    person?: PersonActor | undefined
    goesOnTo?: string
  },
): Response {
  const body = html`<h1>${page.title}</h1>${page.lines.map((line) => html`<div class="lead">${line}</div>`)}`
  return sendPage(c, { ...page, body })
}

const LOGO_MARKUP =
  '<svg viewBox="0 0 20 20" aria-hidden="true"><path fill="var(--accent)" d="M4 1h9l6 6v9a3 3 0 0 1-3 3H4a3 3 0 0 1-3-3V4a3 3 0 0 1 3-3Z"/><path d="m5.8 10.4 2.9 2.9 5.6-6.1" fill="none" stroke="var(--on-accent)" stroke-width="2.2" stroke-linecap="round" stroke-linejoin="round"/></svg>'
const LOGO = own(LOGO_MARKUP)

/** The logo on its own, for the browser's tab: there it has no style sheet to take its colours from. */
export const ICON = LOGO_MARKUP.replace('<svg ', '<svg xmlns="http://www.w3.org/2000/svg" ')
  .replace('var(--accent)', '#0a6b4b')
  .replace('var(--on-accent)', '#fff')

/** The mark of a person (circle) or an agent (square with a cut corner), from `G1 scout`. */
export function mark(party: string, size: '' | 'm' = ''): Html {
  const id = party.split(' ', 1)[0]!
  const name = nameOf(party)
  const kind = id.startsWith('U') ? 'person' : 'agent'
  const hue = kind === 'agent' ? `h${(Number(id.slice(1)) * 7) % 12}` : ''
  const says = kind === 'person' ? `Person ${name}` : `Agent ${name}`
  return html`<span class="mk ${kind} ${size} ${hue}" role="img" aria-label="${says}" title="${party}">${initials(name)}</span>`
}

/** `scout` of `G1 scout`. */
export function nameOf(party: string): string {
  return party.slice(party.indexOf(' ') + 1)
}

function initials(name: string): string {
  const words = name.match(/[\p{L}\p{N}]+/gu) ?? ['?']
  const letters =
    words.length > 1 ? words.slice(0, 2).map((word) => [...word][0]!) : [...words[0]!].slice(0, 2)
  return letters.join('').toUpperCase()
}

const disc = (inner: string) => `<circle cx="8" cy="8" r="6.8" fill="currentColor"/>${inner}`
const ring = '<circle cx="8" cy="8" r="6.2" fill="none" stroke="currentColor" stroke-width="1.6"/>'
const square =
  '<rect x="2.4" y="2.4" width="11.2" height="11.2" rx="2.6" fill="none" stroke="currentColor" stroke-width="1.6"/>'

/** Each state has a silhouette of its own, so that none rests on colour. */
const GLYPHS = {
  open: ring,
  work: `${ring}<path d="M8 4.6a3.4 3.4 0 0 1 0 6.8Z" fill="currentColor"/>`,
  stop: `${square}<path d="M5.4 8h5.2" stroke="currentColor" stroke-width="1.8" stroke-linecap="round"/>`,
  wait: '<path d="M8 1.8 14.2 8 8 14.2 1.8 8Z" fill="none" stroke="currentColor" stroke-width="1.6" stroke-linejoin="round"/><circle cx="8" cy="8" r="1.6" fill="currentColor"/>',
  done: disc(
    '<path d="m5.1 8.2 2 2 3.9-4.2" fill="none" stroke="var(--surface)" stroke-width="1.7" stroke-linecap="round" stroke-linejoin="round"/>',
  ),
  off: '<circle cx="8" cy="8" r="6.2" fill="none" stroke="currentColor" stroke-width="1.6" stroke-dasharray="2.4 2"/><path d="m5 11 6-6" stroke="currentColor" stroke-width="1.6" stroke-linecap="round"/>',
} as const

/** What a status of a task, step or run looks like. */
const LOOKS: Record<string, keyof typeof GLYPHS> = {
  open: 'open',
  pending: 'open',
  starting: 'work',
  in_progress: 'work',
  working: 'work',
  blocked: 'stop',
  failed: 'stop',
  stalled: 'stop',
  awaiting_approval: 'wait',
  waiting: 'wait',
  done: 'done',
  succeeded: 'done',
  cancelled: 'off',
  skipped: 'off',
}

/** The glyph of a status, with its word for those who don't see it. */
export function glyph(status: string): Html {
  const look = LOOKS[status] ?? 'open'
  return html`<svg class="st ${look}" viewBox="0 0 16 16" role="img" aria-label="${status.replace('_', ' ')}">${own(GLYPHS[look])}</svg>`
}

/** The seal before what Done recorded. */
export const SEAL = own(
  '<svg class="ic" viewBox="0 0 24 24" fill="none" stroke="currentColor" stroke-width="1.6" stroke-linecap="round" stroke-linejoin="round" aria-hidden="true"><path d="M12 2.5 14.6 4l3 .1.9 2.9 2.2 2-.9 2.9.9 3-2.2 2-.9 2.8-3 .1L12 21.5 9.4 20l-3-.1-.9-2.9-2.2-2 .9-2.9-.9-3 2.2-2 .9-2.8 3-.1Z"/><path d="m15.5 9.5-4.8 5-2.4-2.4"/></svg>',
)

/** A moment as a person reads it in their zone: `Mon 30 Nov, 09:14`. */
export function momentIn(zone: string): (moment: string) => string {
  const format = new Intl.DateTimeFormat('en-GB', {
    timeZone: zone,
    weekday: 'short',
    day: 'numeric',
    month: 'short',
    hour: '2-digit',
    minute: '2-digit',
  })
  return (moment) => format.format(Date.parse(moment))
}

/** How long ago, in the largest unit that fits: `4 min ago`. */
export function ago(moment: string, now: number): string {
  const minutes = Math.max(0, Math.floor((now - Date.parse(moment)) / 60_000))
  if (minutes < 1) return 'just now'
  if (minutes < 60) return `${minutes} min ago`
  if (minutes < 48 * 60) return `${Math.floor(minutes / 60)} h ago`
  return `${Math.floor(minutes / 1440)} days ago`
}

/** How long something took: `38 min`. */
export function duration(ms: number): string {
  const seconds = Math.max(0, Math.round(ms / 1000))
  if (seconds < 60) return `${seconds} s`
  if (seconds < 3600) return `${Math.round(seconds / 60)} min`
  return `${Math.floor(seconds / 3600)} h ${Math.round((seconds % 3600) / 60)} min`
}

/** `1 task`, `2 tasks`. */
export function count(n: number, one: string, many = `${one}s`): string {
  return `${n} ${n === 1 ? one : many}`
}
