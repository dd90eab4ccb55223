import { fold } from './suggest.ts'

/** Somebody who can be mentioned: `@name` or `@G1`, case and accents ignored. */
export interface Mentionable {
  id: string
  name: string
}

/** Words in code, and addresses of mail, mention nobody. */
const CODE = /```[\s\S]*?```|`[^`\n]*`/g
const AT = /(?<![\p{L}\p{N}_.@/-])@(?=[\p{L}\p{N}])/gu
const GOES_ON = /^[-.]?[\p{L}\p{N}_]/u
const WORD = /^[\p{L}\p{N}_-]{1,40}/u

/** Whom a text mentions, and words after an `@` that are nobody's name, so that a slip can be told to its author. */
export function mentionsIn(
  text: string,
  names: readonly Mentionable[],
): { ids: string[]; unknown: string[] } {
  const folded = fold(text.replace(CODE, ' '))
  const ids = new Set<string>()
  const unknown = new Set<string>()
  for (const at of folded.matchAll(AT)) {
    const rest = folded.slice(at.index + 1)
    const meant = longestMatch(rest, names)
    for (const id of meant) ids.add(id)
    if (meant.length === 0) unknown.add(WORD.exec(rest)![0])
  }
  return { ids: [...ids], unknown: [...unknown].slice(0, 5) }
}

/** Of "Ana" and "Ana López" the longer is meant where it fits; two of the same name are both meant. */
function longestMatch(rest: string, names: readonly Mentionable[]): string[] {
  let longest = 0
  let meant: string[] = []
  for (const { id, name } of names) {
    for (const key of [fold(name.trim()), id.toLowerCase()]) {
      if (!key || key.length < longest || !rest.startsWith(key) || GOES_ON.test(rest.slice(key.length)))
        continue
      meant = key.length > longest ? [id] : [...meant, id]
      longest = key.length
    }
  }
  return meant
}
