import { createCipheriv, createDecipheriv, hkdfSync, randomBytes } from 'node:crypto'

/**
 * Keeps secrets that have to be read again, as those of connectors and of one-time codes. Each is encrypted under a random
 * key of its own, and that key under one which lies outside the database (envelope encryption): a copy of the database
 * alone opens nothing.
 */
export interface Envelope {
  /** Encrypts a text. `about` says whose and what it is, and has to be said again to open it: moved, it opens no more. */
  close(text: string, about: string): string
  /** The text of a closed envelope. Throws where it was altered, is about something else or under another key. */
  open(closed: string, about: string): string
}

const ALGORITHM = 'aes-256-gcm'
const [IV, TAG] = [12, 16]

/** A key of 32 bytes for one purpose, made from the installation's (RFC 5869): `key` itself only ever seals sign-offs. */
export function keyFor(purpose: string, key: Buffer): Buffer {
  return Buffer.from(hkdfSync('sha256', key, '', `done: ${purpose}, version 1`, 32))
}

/** Envelopes under a key that is made from the installation's. */
export function envelopeUnder(key: Buffer): Envelope {
  const master = keyFor('secrets', key)
  return {
    close(text, about) {
      const own = randomBytes(32)
      const parts = [encrypt(master, own, about), encrypt(own, Buffer.from(text), about)]
      return ['v1', ...parts.map((part) => part.toString('base64url'))].join('.')
    },
    open(closed, about) {
      const [version, wrapped = '', sealed = ''] = closed.split('.')
      if (version !== 'v1') throw new Error('A secret is kept in a form that this program does not know.')
      const own = decrypt(master, Buffer.from(wrapped, 'base64url'), about)
      return decrypt(own, Buffer.from(sealed, 'base64url'), about).toString()
    },
  }
}

/** Nonce, text and tag in one (NIST SP 800-38D). */
function encrypt(key: Buffer, text: Buffer, about: string): Buffer {
  const iv = randomBytes(IV)
  const cipher = createCipheriv(ALGORITHM, key, iv)
  cipher.setAAD(Buffer.from(about))
  return Buffer.concat([iv, cipher.update(text), cipher.final(), cipher.getAuthTag()])
}

function decrypt(key: Buffer, sealed: Buffer, about: string): Buffer {
  const decipher = createDecipheriv(ALGORITHM, key, sealed.subarray(0, IV), { authTagLength: TAG })
  decipher.setAAD(Buffer.from(about))
  decipher.setAuthTag(sealed.subarray(-TAG))
  return Buffer.concat([decipher.update(sealed.subarray(IV, -TAG)), decipher.final()])
}
