import { fold } from './suggest.ts'

/** What stands where something was taken out. */
export const MARK = '[redacted]'

/** The fewest and the most characters of a text that can be taken out: a shorter one would stand in too much by chance. */
export const REDACTABLE = { least: 8, most: 500 } as const

/** How a text may be written: as it is, in a JSON value, in an address, and in small letters without accents, as a name is looked up. */
export function formsOf(text: string): string[] {
  // Half of a pair of surrogates stands in no address.
  const whole = text.replace(/\p{Surrogate}/gu, '\uFFFD')
  const inJson = JSON.stringify(text).slice(1, -1)
  const written = [text, inJson, encodeURIComponent(whole), encodeURI(whole), fold(text)]
  return [...new Set(written)].filter((form) => form.length >= REDACTABLE.least)
}

const withoutText = (value: string, text: string): string =>
  formsOf(text).reduce((left, form) => left.replaceAll(form, MARK), value)

/** A text without another one in it; of a JSON value its texts and names. */
export function replacedIn(value: string, text: string, json = false): string {
  if (!json) return withoutText(value, text)
  const parsed: unknown = JSON.parse(value)
  const replaced = replacedEverywhere(parsed, text)
  return same(parsed, replaced) ? value : JSON.stringify(replaced)
}

function replacedEverywhere(value: unknown, text: string): unknown {
  if (typeof value === 'string') return withoutText(value, text)
  if (Array.isArray(value)) return value.map((each) => replacedEverywhere(each, text))
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(
    Object.entries(value).map(([name, each]) => [withoutText(name, text), replacedEverywhere(each, text)]),
  )
}

const same = (a: unknown, b: unknown): boolean => JSON.stringify(a) === JSON.stringify(b)

/** Whether bytes are a text, so that some of it can be replaced and the rest still be read. */
export function isUtf8(bytes: Uint8Array): boolean {
  try {
    return !new TextDecoder('utf-8', { fatal: true }).decode(bytes).includes('\0')
  } catch {
    return false
  }
}
