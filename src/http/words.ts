import type { AppError, ErrorCode } from '../model/error.ts'
import { type Html, html } from './html.ts'

/**
 * What a page says of a refusal. The other doors tell programs which call to make next; of that a page keeps the sentences
 * that are for people, and says in place of the rest what can be done on a page.
 */
export function inPeoplesWords({ code, message, details }: AppError): string {
  const next = forPeople(details.next) ? details.next : NEXT[code]
  return forPeople(message) ? `${message} ${next}` : next
}

/** No name of a tool or an argument, no JSON, and nothing of HTTP. */
function forPeople(text: string | undefined): text is string {
  return text !== undefined && !/\w_\w|[{}]|\b(Origin|header|body|JSON|Call)\b/.test(text)
}

const NEXT: Record<ErrorCode, string> = {
  unknown_argument: 'Go back, correct it and send it again.',
  invalid_value: 'Go back, correct it and send it again.',
  not_found: 'It may have been removed for good. The first page shows what waits for you.',
  conflict: 'Open the page again and look at what it says now.',
  already_claimed: 'Open the page again and look at what it says now.',
  blocked: 'Open the page again and look at what it says now.',
  needs_approval: 'Open the page again and look at what it says now.',
  scope: 'Your role in this account does not allow it. Ask its owner.',
  people_only: 'Your role in this account does not allow it. Ask its owner.',
  rate_limited: 'Try again in a moment.',
  too_large: 'Shorten it and send it again.',
  unavailable: 'Try again in a moment.',
  internal: 'Open the page again before you repeat anything: it may have been done.',
}

/** By what a session began, after "by". */
export function beganWords(began: string): string {
  const words: Record<string, string> = {
    console_link: 'a link from the console',
    password: 'password',
    invitation: 'an invitation',
    passkey: 'passkey',
  }
  return words[began] ?? began
}

/** How a person gets in. Names no folder, since anybody can read it. */
export function howToSignIn(): Html {
  return html`<p><a href="/sign-in">Sign in</a> with your name and password.</p>${howToMakeLink()}`
}

/** The way in for the owner who has no password yet, or has lost it. */
export function howToMakeLink(): Html {
  return html`<p>Without one: at the console of the server, run <code>node dist/donectl.js signin-link</code> with the same <code>--data</code> as the server, and open the address that it prints in this browser. It works once, for 15 minutes.</p>`
}
