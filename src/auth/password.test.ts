import { expect, it } from 'vitest'
import { checkPassword, hashPassword, isPassword } from './password.ts'

const GOOD = 'gravel lantern otter dune'

it('is kept as a hash of its own each time, by which only the same password is found right', async () => {
  const [one, other] = [await hashPassword(GOOD), await hashPassword(GOOD)]
  expect(one).toMatch(/^\$argon2id\$v=19\$m=19456,t=2,p=1\$/)
  expect(one).not.toBe(other)
  expect([await isPassword(one, GOOD), await isPassword(other, GOOD)]).toEqual([true, true])
  expect(await isPassword(one, `${GOOD} `)).toBe(false)
  expect(await isPassword(undefined, GOOD)).toBe(false)
})

it.each([
  ['short', 'horse', /12 to 200 characters; this has 5/],
  ['long', 'horse '.repeat(40), /this has 240/],
  ['one letter over and over', 'aaaaaaaaaaaaaaaa', /repeats a few characters/],
  ['the name that one signs in with', 'my-name-is-ANA.ruiz-ok', /holds "ana.ruiz"/],
])('is refused where it is %s', (_, password, said) => {
  expect(() => checkPassword(password, ['ana.ruiz', 'Ana'])).toThrow(said)
  expect(() => checkPassword(GOOD, ['ana.ruiz', 'Ana'])).not.toThrow()
})
