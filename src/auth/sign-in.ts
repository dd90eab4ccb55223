import { randomUUID } from 'node:crypto'
import type { PersonActor, SessionBegin } from '../model/actor.ts'
import { checkName } from '../model/name.ts'
import { fold } from '../model/suggest.ts'
import { createSession, createSignInLink, endSession } from '../store/credential.ts'
import { invitationByHash, loginKeyOf, useInvitation } from '../store/member.ts'
import { passwordOf, peopleByLogin, putPassword } from '../store/password.ts'
import { endSessionsOf } from '../store/session.ts'
import type { Store } from '../store/store.ts'
import { systemActor } from '../tools/access.ts'
import { writeFresh } from './fresh.ts'
import { checkPassword, hashPassword, isPassword } from './password.ts'
import { type Keeper, takeCode, wantsCode } from './second-factor.ts'
import { hashSecret, newSecret } from './secret.ts'

/** How long a session lasts, in milliseconds; decisions need a newer proof than that (gate G2). */
export const SESSION_MS = 30 * 24 * 3_600_000

/** How long somebody may take to choose among their accounts, or to find their code, in milliseconds. */
const CHOICE_MS = 5 * 60_000

/** A session that has begun: its secret is here and nowhere else. Times are milliseconds since the epoch. */
export interface Begun {
  secret: string
  expires: number
}

/** Begins a session of a person, by whatever proved who they are. */
export async function beginSession(
  store: Store,
  who: { account: number; person: number },
  began: SessionBegin,
): Promise<Begun> {
  const secret = newSecret('session')
  const expires = store.now() + SESSION_MS
  await store.write(systemActor(who.account), 'sign-in', (tx) =>
    createSession(tx, {
      id: randomUUID(),
      hash: hashSecret(secret),
      person: who.person,
      began,
      signed_in_at: tx.now,
      expires_at: expires,
    }),
  )
  return { secret, expires }
}

/**
 * What comes of a name and a password: a session or, where they fit in several accounts or a code is wanted as well, one-time
 * links.
 */
export type SignedIn = { session: Begun } | { accounts: [Opening, ...Opening[]] }

/** A way into an account that a name and a password have opened: a link that works once, and may want a code. */
interface Opening {
  name: string
  link: string
}

/**
 * Signs a person in by name and password. Undefined where they do not fit, whichever of the two is wrong and whether there is
 * such a name at all; each way takes as long.
 */
export async function signInByPassword(
  store: Store,
  login: string,
  password: string,
): Promise<SignedIn | undefined> {
  const found = await store.read(systemActor(0), 'sign-in', (tx) => peopleByLogin(tx, fold(login)))
  const fit: typeof found = []
  for (const each of found.length > 0 ? found : [undefined])
    if ((await isPassword(each?.hash, password)) && each) fit.push(each)
  const openings: Opening[] = []
  for (const who of fit) {
    const wanted = await wantsCode(store, who)
    if (fit.length === 1 && !wanted) return { session: await beginSession(store, who, 'password') }
    openings.push({ name: who.account_name, link: await openingOf(store, who, wanted) })
  }
  const [first, ...more] = openings
  return first && { accounts: [first, ...more] }
}

/** The path of a link for somebody whose password is known to be right. */
async function openingOf(
  store: Store,
  { account, person }: { account: number; person: number },
  wanted: boolean,
): Promise<string> {
  const secret = newSecret('in')
  await store.write(systemActor(account), 'sign-in', (tx) =>
    createSignInLink(tx, {
      hash: hashSecret(secret),
      person,
      began: 'password',
      wants_code: Number(wanted),
      expires_at: tx.now + CHOICE_MS,
    }),
  )
  return `/sign-in/${secret}`
}

/**
 * A signed-in person proves once more who they are, as decisions ask for (gate G2). The session goes on under another secret;
 * undefined where the password, or the code of who has codes, is another.
 */
export async function proveAgain(
  keeper: Keeper,
  actor: PersonActor,
  password: string,
  code: string,
): Promise<Begun | undefined> {
  const { store } = keeper
  const person = Number(actor.id.slice(1))
  const kept = await store.read(actor, 'sign-in', (tx) => passwordOf(tx, person))
  if (!(await isPassword(kept?.hash, password))) return undefined
  const who = { account: actor.account, person }
  if ((await wantsCode(store, who)) && !(await takeCode(keeper, who, code))) return undefined
  const begun = await beginSession(store, who, 'password')
  await store.write(systemActor(actor.account), 'sign-in', (tx) => endSession(tx, actor.session.id))
  return begun
}

/** A person chooses the name and the password by which they sign in from now on. Their other sessions end. */
export async function setPassword(
  keeper: Keeper,
  actor: PersonActor,
  login: string,
  password: string,
): Promise<void> {
  loginKeyOf(login)
  checkPassword(password, [login.split('@')[0]!, actor.name])
  const hash = await hashPassword(password)
  const person = Number(actor.id.slice(1))
  await writeFresh(keeper, actor, 'set_password', async (tx) => {
    await putPassword(tx, person, login, hash)
    await endSessionsOf(tx, person, actor.session.id)
  })
}

/** What an invitation says to whoever opens its link; undefined where it does not hold (any more). */
export function invitationOf(store: Store, secret: string) {
  return store.read(systemActor(0), 'join', (tx) => invitationByHash(tx, hashSecret(secret)))
}

/** Makes a member of whoever was invited, with a password, and signs them in. Undefined where the invitation is used up. */
export async function join(
  store: Store,
  secret: string,
  fields: { name: string; login: string; password: string },
): Promise<Begun | undefined> {
  const invitation = await invitationOf(store, secret)
  if (!invitation) return undefined
  const { login, password } = fields
  const name = checkName(fields.name)
  loginKeyOf(login)
  checkPassword(password, [login.split('@')[0]!, name])
  const hash = await hashPassword(password)
  const { account } = invitation
  const person = await store.write(systemActor(account), 'join', async (tx) => {
    const id = await useInvitation(tx, hashSecret(secret), name)
    if (id !== undefined) await putPassword(tx, Number(id.slice(1)), login, hash)
    return id
  })
  if (person === undefined) return undefined
  return beginSession(store, { account, person: Number(person.slice(1)) }, 'invitation')
}

/** The name by which a person signs in; undefined where they have no password yet. */
export async function signsInAs(store: Store, actor: PersonActor): Promise<string | undefined> {
  const kept = await store.read(actor, 'account', (tx) => passwordOf(tx, Number(actor.id.slice(1))))
  return kept?.login ?? undefined
}
