import type { Role } from '../model/actor.ts'
import { type Html, html, said } from './html.ts'
import { howToMakeLink } from './words.ts'

/** Signing in by name and password. Of what was wrong it does not say more than that. */
export function signInForm({ login = '', wrong = false } = {}): Html {
  return html`<h1>Sign in to Done</h1>${wrong && html`<div class="note stop"><p>This name and password do not fit.</p></div>`}
<form method="post" action="/sign-in">${field('login', 'Name to sign in with', 'username', login)}${passwordField('current-password')}<div class="bar"><button class="pri">Sign in</button></div></form>
<p class="lead">Without a password: an owner can invite you, and whoever has the console of the server can make a one-time link.</p>`
}

/** A one-time link, before it is used. */
export function linkForm(): Html {
  return html`<h1>Sign in to Done</h1><p class="lead">This link works once. Use it in the browser in which you want to be signed in.</p><form method="post" class="bar"><button class="pri">Sign in</button></form>`
}

/** The accounts in which a name and password fit, each by a link that works once. */
export function choiceOfAccount(accounts: readonly { name: string; link: string }[]): Html {
  return html`<h1>Which account?</h1><p class="lead">You are in several. Each has a session of its own.</p><ul class="list plain">${accounts.map(({ name, link }) => html`<li><span class="ttl">${said(name)}</span><form method="post" action="${link}"><button>Open</button></form></li>`)}</ul>`
}

/** Proving once more who sits there, as decisions ask for. */
export function againForm(wrong = false): Html {
  return html`<h1>Sign in again</h1><p class="lead">Approving, and whatever gives or takes rights, needs you and not just this browser: a sign-in within the last 15 minutes.</p>${wrong && html`<div class="note stop"><p>This is not your password.</p></div>`}
<form method="post" action="/sign-in/again">${passwordField('current-password')}<div class="bar"><button class="pri">Sign in again</button></div></form>
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

/** A line of text to fill in; `fills` is what a browser may fill it with (HTML, autocomplete). */
export function field(name: string, label: string, fills: string, value = ''): Html {
  return html`<label for="${name}">${label}</label><input type="text" id="${name}" name="${name}" value="${value}" autocomplete="${fills}" autocapitalize="none" spellcheck="false" maxlength="200" required>`
}

export function passwordField(fills: 'current-password' | 'new-password'): Html {
  const label = fills === 'new-password' ? 'Password, 12 characters or more' : 'Password'
  return html`<label for="password">${label}</label><input type="password" id="password" name="password" autocomplete="${fills}" maxlength="200" required>`
}
