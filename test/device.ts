import { createHash, generateKeyPairSync, randomBytes, sign } from 'node:crypto'

/**
 * A device that makes passkeys and answers for them, as browsers hand its answers on (Web Authentication, level 3). Real keys and
 * signatures; only the person who touches it is missing.
 */
export interface Device {
  /** What a form's field `response` holds, after the device was asked for a new passkey. */
  create(asked: Asked, how?: Partial<How>): string
  /** The same, after it was asked for one that it has. */
  get(asked: Asked, how?: Partial<How>): string
}

/** What of the options a device answers to. */
interface Asked {
  challenge: string
  rp?: { id: string }
  rpId?: string
}

/** How a device answers that does not behave. */
interface How {
  origin: string
  /** The name it takes itself to be asked by. */
  site: string
  /** Whether it has seen who touches it. */
  verified: boolean
  type: string
  challenge: string
}

export function newDevice(origin: string, counts = false): Device {
  const { publicKey, privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  const { x, y } = publicKey.export({ format: 'jwk' })
  const id = randomBytes(32)
  let uses = 0

  const clientData = (asked: Asked, type: string, how: Partial<How>) =>
    Buffer.from(
      JSON.stringify({
        type: how.type ?? type,
        challenge: how.challenge ?? asked.challenge,
        origin: how.origin ?? origin,
        crossOrigin: false,
      }),
    )

  function authenticatorData(asked: Asked, how: Partial<How>, attested?: Buffer): Buffer {
    const site = how.site ?? asked.rp?.id ?? asked.rpId ?? ''
    const flags = 0x01 | ((how.verified ?? true) ? 0x04 : 0) | (attested ? 0x40 : 0)
    const counter = Buffer.alloc(4)
    counter.writeUInt32BE(counts ? ++uses : 0)
    const parts = [createHash('sha256').update(site).digest(), Buffer.from([flags]), counter]
    return Buffer.concat(attested ? [...parts, attested] : parts)
  }

  const answer = (response: Record<string, Buffer>) =>
    JSON.stringify({
      id: id.toString('base64url'),
      rawId: id.toString('base64url'),
      type: 'public-key',
      clientExtensionResults: {},
      response: Object.fromEntries(
        Object.entries(response).map(([name, bytes]) => [name, bytes.toString('base64url')]),
      ),
    })

  return {
    create(asked, how = {}) {
      // Key type 2 (elliptic curve), algorithm -7 (ES256), curve 1 (P-256), x and y (RFC 9053).
      const key = map([
        [1, 2],
        [3, -7],
        [-1, 1],
        [-2, Buffer.from(x!, 'base64url')],
        [-3, Buffer.from(y!, 'base64url')],
      ])
      const attested = Buffer.concat([Buffer.alloc(16), Buffer.from([0, id.length]), id, key])
      const attestationObject = map([
        ['fmt', 'none'],
        ['attStmt', map([])],
        ['authData', authenticatorData(asked, how, attested)],
      ])
      return answer({ clientDataJSON: clientData(asked, 'webauthn.create', how), attestationObject })
    },
    get(asked, how = {}) {
      const clientDataJSON = clientData(asked, 'webauthn.get', how)
      const data = authenticatorData(asked, how)
      const signed = Buffer.concat([data, createHash('sha256').update(clientDataJSON).digest()])
      const signature = sign('sha256', signed, privateKey)
      return answer({ clientDataJSON, authenticatorData: data, signature })
    },
  }
}

/** What is already CBOR, so that it is not taken for bytes. */
class Encoded extends Buffer {}

/** A map in CBOR (RFC 8949), as far as passkeys need it: small numbers, texts, bytes and maps. */
function map(entries: readonly (readonly [string | number, string | number | Buffer])[]): Buffer {
  const parts = entries.flatMap(([key, value]) => [encoded(key), encoded(value)])
  return Object.setPrototypeOf(Buffer.concat([head(5, entries.length), ...parts]), Encoded.prototype)
}

function encoded(value: string | number | Buffer): Buffer {
  if (value instanceof Encoded) return value
  if (typeof value === 'number') return value < 0 ? head(1, -1 - value) : head(0, value)
  const bytes = Buffer.from(value)
  return Buffer.concat([head(typeof value === 'string' ? 3 : 2, bytes.length), bytes])
}

function head(type: number, length: number): Buffer {
  if (length < 24) return Buffer.from([(type << 5) | length])
  return length < 256
    ? Buffer.from([(type << 5) | 24, length])
    : Buffer.from([(type << 5) | 25, length >> 8, length & 255])
}
