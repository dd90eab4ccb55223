import { field } from './field.ts'
import { type Html, html, said } from './html.ts'

/** A passkey as its person's page shows it. */
export interface OwnPasskey {
  id: number
  name: string
  name_of_site: string
  created_at: number
}

/** Hidden until the page's script has seen that the browser knows passkeys. */
export function passkeyForm(action: string, asks: string, inner: Html): Html {
  return html`<form method="post" action="${action}" data-passkey="${asks}" hidden><input type="hidden" name="response">${inner}<p class="why" role="status"></p></form>`
}

/** Signing in by a passkey, for whoever has one. */
export function passkeySignIn(label: string): Html {
  return passkeyForm(
    '/sign-in/passkey',
    '/sign-in/passkey/ask',
    html`<div class="bar"><button>${label}</button></div>`,
  )
}

/** On a person's own page: their passkeys, and how to have one more. `bare`: the page was opened by an address without a name. */
export function passkeysSection(
  passkeys: readonly OwnPasskey[],
  at: (moment: number) => string,
  { bare, local }: { bare: boolean; local: string },
): Html {
  const line = (each: OwnPasskey) =>
    html`<li><span class="ttl">${said(each.name)}</span><form method="post" action="/account/passkeys/${each.id}/remove"><button>Remove</button></form><span class="f">Made ${at(each.created_at)}, for ${each.name_of_site}</span></li>`
  const add = passkeyForm(
    '/account/passkeys',
    '/account/passkeys/ask',
    html`${field('label', 'A name for it, such as the device’s', 'off', 'Passkey')}<div class="bar"><button>Add a passkey</button><p class="why">Needs a sign-in within the last 15 minutes.</p></div>`,
  )
  const elsewhere = html`<p class="lead">Passkeys are bound to a name, and this page was opened by a bare address. On this machine: <a href="${local}">${local}</a>.</p>`
  return html`<h2>Passkeys</h2><p>The device asks who you are, and no password leaves it. It opens Done by itself, without a code.</p>
${passkeys.length > 0 && html`<ul class="list plain">${passkeys.map(line)}</ul>`}${bare ? elsewhere : add}`
}
