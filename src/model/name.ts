import { invalid } from './error.ts'

/** A name as people give it, without the space around it. Throws where it is no line of 1 to 60 characters. */
export function checkName(text: string): string {
  const name = text.trim()
  if (/^[^\p{C}\p{Zl}\p{Zp}]{1,60}$/u.test(name)) return name
  throw invalid('A name is one line of 1 to 60 characters.')
}
