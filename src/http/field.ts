import { type Html, html } from './html.ts'

/** A line of text to fill in; `fills` is what a browser may fill it with (HTML, autocomplete). */
export function field(name: string, label: string, fills: string, value = ''): Html {
  return html`<label for="${name}">${label}</label><input type="text" id="${name}" name="${name}" value="${value}" autocomplete="${fills}" autocapitalize="none" spellcheck="false" maxlength="200" required>`
}

export function passwordField(fills: 'current-password' | 'new-password'): Html {
  const label = fills === 'new-password' ? 'Password, 12 characters or more' : 'Password'
  return html`<label for="password">${label}</label><input type="password" id="password" name="password" autocomplete="${fills}" maxlength="200" required>`
}

/** A one-time code, which browsers and phones know how to fill in. */
export function codeField(label = 'One-time code'): Html {
  return field('code', label, 'one-time-code')
}
