import { hash } from 'node:crypto'
import type { Row } from './tables.ts'

/** An event as it is written down, without its own seal. */
export type LoggedEvent = Omit<Row<'events'>, 'seal'>

/** What an event's seal and its digest are made over: every column in this order. */
export function textOfEvent(event: LoggedEvent): string {
  const { account, id, at, actor, tool, kind, task, project, object, data } = event
  return JSON.stringify([account, id, at, actor, tool, kind, task, project, object, data])
}

/** What a request's digest is made over. */
export function textOfRequest(request: Row<'requests'>): string {
  const {
    account,
    id,
    task,
    target,
    state,
    content_version,
    content_hash,
    former_status,
    asked_by,
    asked_at,
  } = request
  const { decided_by, decided_at, note } = request
  const asked = [
    account,
    id,
    task,
    target,
    state,
    content_version,
    content_hash,
    former_status,
    asked_by,
    asked_at,
  ]
  return JSON.stringify([...asked, decided_by, decided_at, note])
}

/** A digest that tells texts apart and says nothing of them: SHA-256 in base64url. */
export const digestOf = (text: string): string => hash('sha256', text, 'base64url')

/** What the seal of a part of the chain is made over, beside the seal before it. */
export function textOfSeal(part: Omit<Row<'seals'>, 'seal'>, before: string): string {
  const { account, id, first, last, digest, states, at } = part
  return JSON.stringify([account, id, first, last, digest, states, at, before])
}

/** What the seal of an amendment is made over. */
export function textOfAmendment(amendment: Omit<Row<'amendments'>, 'seal'>): string {
  const { account, id, subject, number, was, became, by, at } = amendment
  return JSON.stringify([account, id, subject, number, was, became, by, at])
}
