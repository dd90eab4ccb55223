import { createHash } from 'node:crypto'
import { z } from 'zod'

/** What a person's device has signed to sign off, as it is kept beside the sign-off (Web Authentication, level 3; base64url). */
export interface Assertion {
  credential: string
  /** The form's, which ties the signature to a page that was shown to one session. */
  nonce: string
  authenticatorData: string
  clientDataJSON: string
  signature: string
}

/** What a sign-off by a passkey is about: exactly this content of this task, to be closed so, asked by this request. */
export interface Decided {
  account: number
  request: number
  task: number
  version: number
  hash: string
  target: string
}

/** The challenge that a device signs: a digest of the decision, so that its signature is good for nothing else. */
export function challengeOf(
  { account, request, task, version, hash, target }: Decided,
  nonce: string,
): string {
  const text = JSON.stringify(['done sign-off 1', account, request, task, version, hash, target, nonce])
  return createHash('sha256').update(text).digest('base64url')
}

const answer = z.object({
  id: z.string(),
  response: z.object({
    authenticatorData: z.string(),
    clientDataJSON: z.string(),
    signature: z.string(),
  }),
})

/** What of a browser's answer is kept. Undefined where it is none. */
export function assertionIn(text: string, nonce: string): Assertion | undefined {
  try {
    const { id, response } = answer.parse(JSON.parse(text))
    return { credential: id, nonce, ...response }
  } catch {
    return undefined
  }
}

/** A passkey, as far as signatures need it: the public key in COSE form, and the name of the site that it is bound to. */
interface Key {
  public_key: string
  name_of_site: string
}

/** The person was there, and the device has seen who it was (flags UP and UV). */
const PRESENT_AND_VERIFIED = 0x05

/** Whether a passkey has signed exactly this decision. */
export async function isSignedBy(key: Key, assertion: Assertion, decided: Decided): Promise<boolean> {
  const data = Buffer.from(assertion.authenticatorData, 'base64url')
  const client = Buffer.from(assertion.clientDataJSON, 'base64url')
  try {
    const { type, challenge } = JSON.parse(client.toString())
    if (type !== 'webauthn.get' || challenge !== challengeOf(decided, assertion.nonce)) return false
    if (!data.subarray(0, 32).equals(createHash('sha256').update(key.name_of_site).digest())) return false
    if ((data[32]! & PRESENT_AND_VERIFIED) !== PRESENT_AND_VERIFIED) return false
    const { verifySignature } = await import('@simplewebauthn/server/helpers')
    return await verifySignature({
      credentialPublicKey: bytes(Buffer.from(key.public_key, 'base64url')),
      signature: bytes(Buffer.from(assertion.signature, 'base64url')),
      data: bytes(Buffer.concat([data, createHash('sha256').update(client).digest()])),
    })
  } catch {
    // What can't be read is no signature.
    return false
  }
}

const bytes = (from: Buffer): Uint8Array<ArrayBuffer> => new Uint8Array(from)
