import { hash, randomBytes } from 'node:crypto'

/** A new secret of 256 random bits behind a prefix that says what it is. Shown once; only its hash is kept. */
export function newSecret(prefix: string): string {
  return `${prefix}_${randomBytes(32).toString('base64url')}`
}

/** How a secret is kept: SHA-256, in hex. Enough for 256 random bits; passwords would need a slow hash. */
export function hashSecret(secret: string): string {
  return hash('sha256', secret, 'hex')
}
