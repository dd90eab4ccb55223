import { randomBytes } from 'node:crypto'
import type { AuthenticationResponseJSON, RegistrationResponseJSON } from '@simplewebauthn/server'
import type { PersonActor } from '../model/actor.ts'
import { conflict, invalid } from '../model/error.ts'
import { checkName } from '../model/name.ts'
import { requireFreshSession } from '../store/approval.ts'
import { addPasskey, countUse, endPasskey, passkeyByCredential, passkeysOf } from '../store/passkey.ts'
import type { Row } from '../store/tables.ts'
import { systemActor } from '../tools/access.ts'
import { refusePasswordAlone, writeFresh } from './fresh.ts'
import { limitOf } from './rate.ts'
import type { Keeper } from './second-factor.ts'
import { type Begun, beginSession } from './sign-in.ts'

/** Loaded by whoever has passkeys (Web Authentication, level 3). */
const webauthn = () => import('@simplewebauthn/server')

/** How long somebody may take to answer their device, in milliseconds. */
const CHALLENGE_MS = 5 * 60_000

/** A page of ours to which a browser binds a passkey: its origin, and all origins that Done has. */
export interface Grounds {
  origin: string
  origins: readonly string[]
}

/** To which name passkeys are bound. Undefined where the page was opened by a bare address, for which there are none. */
export function nameFor(origin: string): string | undefined {
  const { hostname } = new URL(origin)
  return /^[\d.]+$|^\[/.test(hostname) ? undefined : hostname
}

/** What a browser needs to ask for any passkey that it has of Done. */
export async function askForPasskey(keeper: Keeper, { origin }: Grounds) {
  const { generateAuthenticationOptions } = await webauthn()
  return generateAuthenticationOptions({
    rpID: needName(origin),
    challenge: newChallenge(keeper, 'sign-in'),
    userVerification: 'required',
    timeout: CHALLENGE_MS,
  })
}

/** Begins a session of whoever has shown their passkey. Undefined where it is not one of ours, or not now. */
export async function signInByPasskey(
  keeper: Keeper,
  text: string,
  grounds: Grounds,
): Promise<Begun | undefined> {
  const { store } = keeper
  const response = answerIn<AuthenticationResponseJSON>(text)
  const passkey = await store.read(systemActor(0), 'sign-in', (tx) => passkeyByCredential(tx, response.id))
  if (!passkey) return undefined
  const counter = await counterIn(keeper, response, passkey, grounds)
  if (counter === undefined) return undefined
  const { account, person, id } = passkey
  const used = await store.write(systemActor(account), 'sign-in', (tx) => countUse(tx, id, counter))
  return used ? beginSession(store, { account, person }, 'passkey') : undefined
}

/** The device's count of uses in an answer that holds; undefined where it does not. */
async function counterIn(
  keeper: Keeper,
  response: AuthenticationResponseJSON,
  passkey: Row<'passkeys'>,
  { origins }: Grounds,
): Promise<number | undefined> {
  const { verifyAuthenticationResponse } = await webauthn()
  try {
    const { verified, authenticationInfo } = await verifyAuthenticationResponse({
      response,
      expectedChallenge: (challenge) => takeChallenge(keeper, challenge, 'sign-in'),
      expectedOrigin: [...origins],
      expectedRPID: passkey.name_of_site,
      credential: {
        id: passkey.credential,
        publicKey: new Uint8Array(Buffer.from(passkey.public_key, 'base64url')),
        counter: passkey.counter,
      },
    })
    return verified ? authenticationInfo.newCounter : undefined
  } catch {
    // It throws for whatever does not fit; which of it is nobody's business.
    return undefined
  }
}

/** What a browser needs to have one of a person's own passkeys sign a decision. Undefined where they have none. */
export async function askForSignature(
  keeper: Keeper,
  actor: PersonActor,
  challenge: string,
  { origin }: Grounds,
) {
  const own = await ownPasskeys(keeper, actor)
  if (own.length === 0) return undefined
  const { generateAuthenticationOptions } = await webauthn()
  return generateAuthenticationOptions({
    rpID: needName(origin),
    challenge: new Uint8Array(Buffer.from(challenge, 'base64url')),
    allowCredentials: own.map(({ credential }) => ({ id: credential })),
    userVerification: 'required',
    timeout: CHALLENGE_MS,
  })
}

/** What a browser needs to make a passkey for a person. */
export async function beginPasskey(keeper: Keeper, actor: PersonActor, { origin }: Grounds) {
  const { store } = keeper
  const rpID = needName(origin)
  await store.read(actor, 'begin_passkey', async (tx) => requireFreshSession(tx))
  const known = await ownPasskeys(keeper, actor)
  const { generateRegistrationOptions } = await webauthn()
  return generateRegistrationOptions({
    rpName: 'Done',
    rpID,
    userName: actor.name,
    userDisplayName: actor.name,
    // Says nothing of the person, and never the same, so that no passkey of another installation is overwritten.
    userID: new Uint8Array(randomBytes(32)),
    challenge: newChallenge(keeper, purposeOf(actor)),
    excludeCredentials: known.map(({ credential }) => ({ id: credential })),
    authenticatorSelection: { residentKey: 'required', userVerification: 'required' },
    timeout: CHALLENGE_MS,
  })
}

/** Keeps the passkey that a browser has made. Throws where it does not fit what it was asked for. */
export async function keepPasskey(
  keeper: Keeper,
  actor: PersonActor,
  { text, label }: { text: string; label: string },
  { origin, origins }: Grounds,
): Promise<void> {
  const { verifyRegistrationResponse } = await webauthn()
  const site = needName(origin)
  const name = checkName(label || 'Passkey')
  const made = await verifyRegistrationResponse({
    response: answerIn<RegistrationResponseJSON>(text),
    expectedChallenge: (challenge) => takeChallenge(keeper, challenge, purposeOf(actor)),
    expectedOrigin: [...origins],
    expectedRPID: site,
  }).catch(() => undefined)
  if (!made?.verified) throw notFitting()
  const { id, publicKey, counter } = made.registrationInfo.credential
  await writeFresh(keeper, actor, 'add_passkey', async (tx) => {
    await refusePasswordAlone(tx, actor)
    await addPasskey(tx, {
      person: Number(actor.id.slice(1)),
      credential: id,
      public_key: Buffer.from(publicKey).toString('base64url'),
      counter,
      name_of_site: site,
      name,
    })
  })
}

/** The passkeys by which a person signs in. */
export function ownPasskeys(
  { store }: Pick<Keeper, 'store'>,
  actor: PersonActor,
): Promise<Row<'passkeys'>[]> {
  return store.read(actor, 'account', (tx) => passkeysOf(tx, Number(actor.id.slice(1))))
}

/** Takes a passkey from a person: nobody signs in by it any more. */
export async function removePasskey(keeper: Keeper, actor: PersonActor, id: number): Promise<void> {
  await writeFresh(keeper, actor, 'remove_passkey', async (tx) => {
    await refusePasswordAlone(tx, actor)
    await endPasskey(tx, Number(actor.id.slice(1)), id)
  })
}

const purposeOf = ({ session }: PersonActor): string => `passkey for ${session.id}`

/** Holds by itself, in every process, for as long as somebody may take: until when it does is closed up in it. */
function newChallenge({ store, secrets }: Keeper, purpose: string): string {
  return secrets.close(String(store.now() + CHALLENGE_MS), `challenge: ${purpose}`)
}

/** Whether an answer is to a challenge of ours that is still open, and the first one to it. */
async function takeChallenge({ store, secrets }: Keeper, encoded: string, purpose: string): Promise<boolean> {
  const challenge = Buffer.from(encoded, 'base64url').toString()
  let until: number
  try {
    until = Number(secrets.open(challenge, `challenge: ${purpose}`))
  } catch {
    return false
  }
  const wait = await limitOf(store, 'challenge', 1, 2 * CHALLENGE_MS)(challenge)
  return until > store.now() && wait === 0
}

/** A browser's answer as its script has sent it. */
function answerIn<T>(text: string): T {
  try {
    const answer = JSON.parse(text)
    if (typeof answer?.id === 'string' && typeof answer.response === 'object') return answer
  } catch {}
  throw notFitting()
}

const notFitting = () =>
  invalid('The browser’s answer does not fit what it was asked for.', { next: 'Begin once more.' })

function needName(origin: string): string {
  const name = nameFor(origin)
  if (name !== undefined) return name
  throw conflict('Passkeys are bound to a name, and this page was opened by a bare address.', {
    next: 'Open Done by its name, on this machine by "localhost", and begin there.',
  })
}
