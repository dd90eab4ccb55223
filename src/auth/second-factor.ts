import { randomBytes } from 'node:crypto'
import type { PersonActor } from '../model/actor.ts'
import { type AppError, conflict, invalid } from '../model/error.ts'
import {
  authenticatorOf,
  beginAuthenticator,
  confirmAuthenticator,
  endAuthenticator,
  recoveryCodesLeft,
  replaceRecoveryCodes,
  useRecoveryCode,
  useStep,
} from '../store/second-factor.ts'
import type { Store } from '../store/store.ts'
import type { AccessLog } from '../tools/access.ts'
import { systemActor } from '../tools/access.ts'
import type { Envelope } from './envelope.ts'
import { refusePasswordAlone, writeFresh } from './fresh.ts'
import { hashSecret } from './secret.ts'

/** What second factors are kept in, and where it is recorded that somebody was refused. */
export interface Keeper {
  store: Store
  access: AccessLog
  secrets: Envelope
}

interface Person {
  account: number
  person: number
}

/** What somebody gives their app, once: as an address for a picture to be scanned, and as letters to be typed. */
export interface NewAuthenticator {
  address: string
  letters: string
}

/** Loaded by whoever has codes. Six digits every 30 seconds by HMAC-SHA-1, the only kind that every app knows (RFC 6238). */
async function authenticator(letters: string | undefined, label = '') {
  const { Secret, TOTP } = await import('otpauth')
  const secret = letters === undefined ? new Secret({ size: 20 }) : Secret.fromBase32(letters)
  return new TOTP({ issuer: 'Done', label, secret, algorithm: 'SHA1', digits: 6, period: 30 })
}

const numberOf = ({ id }: PersonActor): number => Number(id.slice(1))
const what = ({ account, person }: Person): string => `authenticator ${account} ${person}`

/** A person begins to set up one-time codes; nothing is asked for before they have shown one. */
export async function beginCodes(keeper: Keeper, actor: PersonActor): Promise<NewAuthenticator> {
  const person = numberOf(actor)
  const app = await authenticator(undefined, actor.name)
  const letters = app.secret.base32
  const closed = keeper.secrets.close(letters, what({ account: actor.account, person }))
  await writeFresh(keeper, actor, 'begin_codes', async (tx) => {
    await refusePasswordAlone(tx, actor)
    await beginAuthenticator(tx, person, closed)
  })
  return { address: app.toString(), letters }
}

/** What a person has begun to set up, once more: who mistypes a code need not scan anew. Throws where nothing is begun. */
async function begunCodes({ store, secrets }: Keeper, actor: PersonActor) {
  const person = numberOf(actor)
  const begun = await store.read(actor, 'confirm_codes', (tx) => authenticatorOf(tx, person, 'begun'))
  if (!begun) throw conflict('No one-time codes are being set up.', { next: 'Begin once more.' })
  return { id: begun.id, letters: secrets.open(begun.secret, what({ account: actor.account, person })) }
}

/**
 * A code shows that the app is set up: from now on it is asked for. Returns recovery codes, which are kept nowhere; where the
 * code is wrong, what was begun.
 */
export async function confirmCodes(
  keeper: Keeper,
  actor: PersonActor,
  code: string,
): Promise<string[] | NewAuthenticator> {
  const { store } = keeper
  const person = numberOf(actor)
  const begun = await begunCodes(keeper, actor)
  const step = await stepOf(begun.letters, code, store.now())
  if (step === undefined) {
    const app = await authenticator(begun.letters, actor.name)
    return { address: app.toString(), letters: begun.letters }
  }
  const codes = newRecoveryCodes()
  await writeFresh(keeper, actor, 'confirm_codes', async (tx) => {
    await confirmAuthenticator(tx, person, begun.id)
    await useStep(tx, begun.id, step)
    await replaceRecoveryCodes(tx, person, codes.map(hashOfCode))
  })
  return codes
}

/** What is said of a code, whether it never was, is over or was used. */
export function wrongCode(): AppError {
  return invalid('This is not the code of now.', {
    next: 'Type the six digits that the app shows, and see that the clock of its device is right.',
  })
}

/** Takes one-time codes and recovery codes from a person. */
export async function endCodes(keeper: Keeper, actor: PersonActor): Promise<void> {
  await writeFresh(keeper, actor, 'end_codes', async (tx) => {
    await endAuthenticator(tx, numberOf(actor))
  })
}

/** Recovery codes in place of all before, which are kept nowhere. */
export async function renewRecoveryCodes(keeper: Keeper, actor: PersonActor): Promise<string[]> {
  const person = numberOf(actor)
  const codes = newRecoveryCodes()
  await writeFresh(keeper, actor, 'renew_recovery_codes', async (tx) => {
    if (!(await authenticatorOf(tx, person, 'in use')))
      throw conflict('You sign in without one-time codes.', { next: 'Set them up first.' })
    await replaceRecoveryCodes(tx, person, codes.map(hashOfCode))
  })
  return codes
}

/** Whether a person signs in with codes, and how many recovery codes they have left. */
export function codesOf(store: Store, actor: PersonActor): Promise<{ on: boolean; left: number }> {
  const person = numberOf(actor)
  return store.read(actor, 'account', async (tx) => ({
    on: (await authenticatorOf(tx, person, 'in use')) !== undefined,
    left: await recoveryCodesLeft(tx, person),
  }))
}

/** Whether a person is asked for a code beside their password. */
export async function wantsCode(store: Store, { account, person }: Person): Promise<boolean> {
  const found = await store.read(systemActor(account), 'sign-in', (tx) =>
    authenticatorOf(tx, person, 'in use'),
  )
  return found !== undefined
}

/**
 * Uses up a code that a person has typed, of their app or for recovery, and says whether it is right. Each works once: the
 * app's also where the same half minute asks again.
 */
export async function takeCode({ store, secrets }: Keeper, who: Person, code: string): Promise<boolean> {
  const actor = systemActor(who.account)
  const typed = code.replace(/[\s-]/g, '')
  const found = await store.read(actor, 'sign-in', (tx) => authenticatorOf(tx, who.person, 'in use'))
  if (!found) return false
  if (!/^\d{6}$/.test(typed))
    return store.write(actor, 'sign-in', (tx) => useRecoveryCode(tx, who.person, hashOfCode(typed)))
  const step = await stepOf(secrets.open(found.secret, what(who)), typed, store.now())
  return step !== undefined && store.write(actor, 'sign-in', (tx) => useStep(tx, found.id, step))
}

/** The half minute whose code this is: this one or one beside it, since clocks differ and people type slowly. */
async function stepOf(letters: string, code: string, now: number): Promise<number | undefined> {
  const app = await authenticator(letters)
  const delta = app.validate({ token: code.replace(/\s/g, ''), timestamp: now, window: 1 })
  return delta === null ? undefined : app.counter({ timestamp: now }) + delta
}

const RECOVERY_CODES = 10

/** Without letters and digits that look alike (Crockford's base 32). */
const LETTERS = '0123456789abcdefghjkmnpqrstvwxyz'

/** 80 random bits each, in four groups that can be copied by hand. */
function newRecoveryCodes(): string[] {
  return Array.from({ length: RECOVERY_CODES }, () => {
    const letters = [...randomBytes(16)].map((byte) => LETTERS[byte & 31]!).join('')
    return letters.match(/.{4}/g)!.join('-')
  })
}

/** Case, spaces and dashes are how somebody wrote it down. */
const hashOfCode = (code: string): string => hashSecret(code.replace(/[\s-]/g, '').toLowerCase())
