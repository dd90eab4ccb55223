import { timingSafeEqual } from 'node:crypto'
import type { PersonActor } from '../model/actor.ts'
import { type AppError, conflict } from '../model/error.ts'
import { formatId } from '../model/id.ts'
import { type ReadTx, sealOf } from './handle.ts'
import type { Row } from './tables.ts'

/** How long the form of an approving page is good, in milliseconds (gate G4). */
const FORM_MS = 15 * 60_000

/** What a page carries back: the content that was on the screen, and proof that it was on this session's screen. */
export interface Form {
  version: number
  hash: string
  nonce: string
}

/** The form of a request's page as this session sees it now. */
export function formFor(tx: ReadTx, request: Row<'requests'>, task: Row<'tasks'>): Form {
  const seen = { version: task.content_version, hash: task.content_hash }
  return { ...seen, nonce: `${tx.now}.${signature(tx, request.id, seen, tx.now)}` }
}

/**
 * Refuses a form that was not shown to this session for exactly this request and content within the last 15 minutes.
 * Nothing is stored: that a form is used once follows from the request's state.
 */
export function requireForm(tx: ReadTx, request: Row<'requests'>, form: Form): void {
  const [issued = '', given = ''] = form.nonce.split('.')
  const at = Number(issued)
  const right = signature(tx, request.id, form, at)
  if (given.length !== right.length || !timingSafeEqual(Buffer.from(given), Buffer.from(right))) {
    throw refused('is not one that this session was shown')
  }
  if (at > tx.now || tx.now - at > FORM_MS) throw refused('is older than 15 minutes')
}

function refused(why: string): AppError {
  return conflict(`The form of the sign-off page ${why}.`, {
    gate: true,
    next: 'Open the page of the sign-off again and decide there.',
  })
}

function signature(
  tx: ReadTx,
  request: number,
  seen: { version: number; hash: string },
  issued: number,
): string {
  const session = tx.actor.kind === 'person' ? (tx.actor as PersonActor).session.id : 'none'
  const { version, hash } = seen
  const text = JSON.stringify([tx.account, session, formatId('request', request), version, hash, issued])
  // The prefix keeps these apart from the seals of sign-offs, which are made under the same key.
  return sealOf(tx, `sign-off form ${text}`)
}
