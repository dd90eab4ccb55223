/** Digits of a fractional key, in the order in which bytes compare on every engine. */
const DIGITS = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'

/**
 * A key that sorts strictly between two others (null: no bound on that side), so that adding between touches no other
 * row. Keys never end in the lowest digit, so there is always room before each.
 */
export function keyBetween(before: string | null, after: string | null): string {
  if (before !== null && after !== null && before >= after)
    throw new Error(`No key lies between ${before} and ${after}.`)
  let key = ''
  let open = after === null
  for (let i = 0; ; i++) {
    const low = digit(before, i)
    const high = open ? DIGITS.length : digit(after, i)
    if (high - low > 1) return key + DIGITS[Math.floor((low + high) / 2)]
    key += DIGITS[low]
    if (high > low) open = true
  }
}

function digit(key: string | null, i: number): number {
  return key && i < key.length ? DIGITS.indexOf(key[i]!) : 0
}
