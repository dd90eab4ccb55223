/** Markup that is safe to send: made by {@link html} alone, so that a string can't become one by accident. */
export interface Html {
  readonly markup: string
}

type Value = string | number | Html | readonly Value[] | false | null | undefined

/**
 * Markup from a template. Every value that is put in is escaped, and characters that can't be seen or that turn the
 * reading direction are drawn, whoever wrote them: nothing on a page can look like something it is not (gate, way 35).
 */
export function html(parts: TemplateStringsArray, ...values: Value[]): Html {
  return { markup: parts.reduce((all, part, i) => all + markupOf(values[i - 1]) + part) }
}

/** Markup that we wrote ourselves, such as a drawing. Never of anything that was stored. */
export function own(markup: string): Html {
  return { markup }
}

/** Text by somebody: escaped and kept from turning what stands around it. */
export function said(text: string): Html {
  return html`<bdi>${text}</bdi>`
}

function markupOf(value: Value): string {
  if (value === false || value === null || value === undefined) return ''
  if (Array.isArray(value)) return value.map(markupOf).join('')
  if (typeof value === 'object') return (value as Html).markup
  return drawn(escaped(String(value)))
}

const ESCAPES: Record<string, string> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
}

function escaped(text: string): string {
  return text.replace(/[&<>"']/g, (character) => ESCAPES[character]!)
}

/**
 * Format and control characters, line and paragraph separators, halves of pairs, fillers that look like nothing, and
 * variation selectors (Unicode, general categories Cf, Cc, Zl, Zp, Cs; Default_Ignorable_Code_Point).
 */
const HIDDEN =
  /[\p{Cf}\p{Zl}\p{Zp}\p{Cs}]|[^\P{Cc}\t\n]|[\u034F]|[\u115F\u1160\u2800\u3164\uFFA0]|[\u17B4\u17B5]|[\u180B-\u180F]|[\uFE00-\uFE0F]|[\u{E0100}-\u{E01EF}]/gu

/** Joiners and selectors that belong to an emoji or to a script that needs them are no deceit. */
const AT_HOME =
  /(?<=\p{Extended_Pictographic}|\p{Emoji_Modifier}|\uFE0F)\u200D(?=\p{Extended_Pictographic})|(?<=[\p{Extended_Pictographic}0-9#*])\uFE0F|(?<=[\p{Script_Extensions=Arabic}\p{Script_Extensions=Devanagari}\p{Script_Extensions=Bengali}\p{Script_Extensions=Tamil}\p{Script_Extensions=Telugu}\p{Script_Extensions=Malayalam}\p{Script_Extensions=Kannada}\p{Script_Extensions=Sinhala}])[\u200C\u200D](?=\p{L})/gu

/** Plain text, without markup of its own, so that it is as safe in an attribute as between tags. */
function drawn(given: string): string {
  const text = given.replaceAll('\r\n', '\n')
  const home = new Set([...text.matchAll(AT_HOME)].map((match) => match.index))
  return text.replace(HIDDEN, (character, at: number) => {
    if (home.has(at)) return character
    return `⟨U+${character.codePointAt(0)!.toString(16).toUpperCase().padStart(4, '0')}⟩`
  })
}

/** Without what is hidden, for places such as a file's name. */
export function withoutHidden(text: string): string {
  return text.replace(HIDDEN, '')
}
