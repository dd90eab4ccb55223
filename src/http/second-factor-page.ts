import type { NewAuthenticator } from '../auth/second-factor.ts'
import { codeField } from './field.ts'
import { type Html, html, own } from './html.ts'

/** On a person's own page: whether they sign in with one-time codes, and what can be done about it. */
export function codesSection({ on, left }: { on: boolean; left: number }): Html {
  if (!on)
    return html`<h2>One-time codes</h2><p>With an app that makes codes a stolen password opens nothing.</p><form method="post" action="/account/codes" class="bar"><button>Set up</button><p class="why">Needs a sign-in within the last 15 minutes.</p></form>`
  return html`<h2>One-time codes</h2><p>Beside your password you are asked for a code of your app. ${left === 1 ? '1 recovery code is left.' : `${left} recovery codes are left.`}</p><div class="bar"><form method="post" action="/account/codes/recovery"><button>New recovery codes</button></form><form method="post" action="/account/codes"><button>Another app</button></form><form method="post" action="/account/codes/end"><button>Turn off</button></form><p class="why">Needs a sign-in within the last 15 minutes.</p></div>`
}

/** The second step: the app is told the secret, and shows that it has it. `picture` is the address as a QR code. */
export function setUpPage(app: NewAuthenticator, picture: Html, wrong?: string): Html {
  return html`<h1>Set up one-time codes</h1><p class="lead">Scan this with an app for one-time codes, or type the letters into it. Then type the code that it shows.</p>${wrong !== undefined && html`<div class="note stop"><p>${wrong}</p></div>`}
<p>${picture}</p><p><code>${app.letters.match(/.{1,4}/g)!.join(' ')}</code></p>
<form method="post" action="/account/codes/confirm">${codeField('The code that the app shows')}<div class="bar"><button class="pri">Turn on</button></div></form>`
}

/** Shown once: they are kept only as hashes. */
export function recoveryCodesPage(codes: readonly string[]): Html {
  return html`<h1>Your recovery codes</h1><p class="lead">Each stands in for your app once, should you lose it. Keep them where your password is not. They are not shown again.</p><ul class="list plain">${codes.map((code) => html`<li><code>${code}</code></li>`)}</ul><p><a href="/account">I have kept them</a></p>`
}

/** Black on white whatever the page's colours are: what scans it needs the contrast. Four light modules all round (ISO/IEC 18004). */
export async function qrCode(text: string): Promise<Html> {
  const { encode } = await import('uqr')
  const { data, size } = encode(text, { ecc: 'M', border: 4 })
  const dark = data.flatMap((row, y) => row.flatMap((is, x) => (is ? [`M${x} ${y}h1v1h-1z`] : [])))
  return own(
    `<svg width="220" height="220" viewBox="0 0 ${size} ${size}" role="img" aria-label="QR code" shape-rendering="crispEdges"><path fill="#fff" d="M0 0h${size}v${size}H0z"/><path fill="#000" d="${dark.join('')}"/></svg>`,
  )
}
