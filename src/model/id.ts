import { invalid } from './error.ts'

/** The letter before each kind's number. Numbers rise per account and kind and are never used again. */
const ID_LETTERS = {
  task: 'T',
  project: 'P',
  step: 'S',
  run: 'R',
  comment: 'C',
  request: 'A',
  sign_off: 'V',
  question: 'Q',
  artifact: 'F',
  agent: 'G',
  person: 'U',
  trash: 'X',
  notification: 'N',
  event: 'E',
  token: 'K',
  note: 'M',
  save: 'W',
  invitation: 'I',
  password: 'Y',
  authenticator: 'H',
  recovery_code: 'Z',
  passkey: 'B',
  grant: 'O',
  amendment: 'D',
} as const

export type Kind = keyof typeof ID_LETTERS

const KIND_OF_LETTER = Object.fromEntries(
  Object.entries(ID_LETTERS).map(([kind, letter]) => [letter, kind]),
) as Record<string, Kind>

/** The public form of an id: `T12`. */
export function formatId(kind: Kind, number: number): string {
  return `${ID_LETTERS[kind]}${number}`
}

/** Like {@link formatId}, but an absent number stays absent. */
export function formatIdOr(kind: Kind, number: number | null | undefined): string | undefined {
  return number == null ? undefined : formatId(kind, number)
}

const ID = /^\s*([A-Za-z])(\d{1,15})(?:\s.*)?$/s
const BARE = /^\s*(\d{1,15})\s*$/

/**
 * Reads an id as people and models write it: `T12`, `t12`, `T12 Title` and, where only one kind can be meant, a bare
 * `12`. Throws `invalid_value` naming the kinds that are allowed.
 */
export function parseId(text: string, ...kinds: readonly Kind[]): { kind: Kind; number: number } {
  const bare = BARE.exec(text)
  if (bare && kinds.length === 1) return { kind: kinds[0]!, number: Number(bare[1]) }
  const match = ID.exec(text)
  const kind = match && KIND_OF_LETTER[match[1]!.toUpperCase()]
  if (kind && kinds.includes(kind)) return { kind, number: Number(match[2]) }
  const allowed = kinds.map((each) => `${ID_LETTERS[each]}12 (${each})`)
  throw invalid(`"${text.slice(0, 80)}" is no id of ${kinds.map(withArticle).join(' or ')}.`, {
    allowed,
    next: kind
      ? `${text.trim().split(/\s/)[0]} names ${withArticle(kind)}.`
      : `Give an id like ${allowed[0]}.`,
  })
}

const withArticle = (kind: Kind): string =>
  `${/^[aeiou]/.test(kind) ? 'an' : 'a'} ${kind.replaceAll('_', '-')}`
