import type { Role } from '../model/actor.ts'
import { codeField, field, passwordField } from './field.ts'
import { type Html, html, said } from './html.ts'
import { passkeySignIn } from './passkey-page.ts'
import { howToMakeLink } from './words.ts'

/** Signing in by name and password. Of what was wrong it does not say more than that. */
export function signInForm({ login = '', wrong = false } = {}): Html {
  return html`<h1>Sign in to Done</h1>${wrong && html`<div class="note stop"><p>This name and password do not fit.</p></div>`}
<form method="post" action="/sign-in">${field('login', 'Name to sign in with', 'username', login)}${passwordField('current-password')}<div class="bar"><button class="pri">Sign in</button></div></form>
${passkeySignIn('Sign in with a passkey')}
<p class="lead">Without a password: an owner can invite you, and whoever has the console of the server can make a one-time link.</p>`
}

/** A one-time link, before it is used, with the code that it may want. */
export function linkForm({ wants_code, wrong }: { wants_code: number; wrong?: string }): Html {
  if (!wants_code)
    return html`<h1>Sign in to Done</h1><p class="lead">This link works once. Use it in the browser in which you want to be signed in.</p><form method="post" class="bar"><button class="pri">Sign in</button></form>`
  return html`<h1>Your one-time code</h1><p class="lead">The password was right. Your app shows the code; where you have lost it, a recovery code does.</p>${wrong !== undefined && html`<div class="note stop"><p>${wrong}</p></div>`}
<form method="post">${codeField()}<div class="bar"><button class="pri">Sign in</button></div></form>`
}

/** The accounts in which a name and password fit, each by a link that works once. */
export function choiceOfAccount(accounts: readonly { name: string; link: string }[]): Html {
  return html`<h1>Which account?</h1><p class="lead">You are in several. Each has a session of its own.</p><ul class="list plain">${accounts.map(({ name, link }) => html`<li><span class="ttl">${said(name)}</span><form method="post" action="${link}"><button>Open</button></form></li>`)}</ul>`
}

/** Proving once more who sits there, as decisions ask for. */
export function againForm({ on, wrong = false }: { on: boolean; wrong?: boolean }): Html {
  return html`<h1>Sign in again</h1><p class="lead">Approving, and whatever gives or takes rights, needs you and not just this browser: a sign-in within the last 15 minutes.</p>${wrong && html`<div class="note stop"><p>${on ? 'This password and code do not fit.' : 'This is not your password.'}</p></div>`}
<form method="post" action="/sign-in/again">${passwordField('current-password')}${on && codeField()}<div class="bar"><button class="pri">Sign in again</button></div></form>
${passkeySignIn('Use a passkey')}
<p class="lead">No password yet? A one-time link does the same, and then you can choose one under <a href="/account">your account</a>.</p>${howToMakeLink()}`
}

const MAY: Record<Role, string> = {
  viewer: 'you can read everything',
  member: 'you can also write, and sign off what agents finish',
  owner: 'you can do everything, also invite and remove people',
}

/** What an invitation offers, and what it asks for. */
export function joinForm(
  invitation: { account_name: string; role: Role },
  { name = '', login = '', wrong }: { name?: string; login?: string; wrong?: string },
): Html {
  return html`<h1>Join ${said(invitation.account_name)}</h1><p class="lead">You are invited as ${invitation.role}: ${MAY[invitation.role]}. The link works once.</p>${wrong !== undefined && html`<div class="note stop"><p>${wrong}</p></div>`}
<form method="post">${field('name', 'Your name, as others see it', 'name', name)}${field('login', 'Name to sign in with, such as your address of mail', 'username', login)}${passwordField('new-password')}<div class="bar"><button class="pri">Join</button></div></form>`
}
