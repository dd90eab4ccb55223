import { generateKeyPairSync, sign } from 'node:crypto'

/**
 * A certificate for one host name and its key, both as PEM, signed by itself and good for a day: X.509 (RFC 5280) with a key
 * on P-256, written out in DER. Node reads certificates and makes none.
 */
export function certificateFor(name: string): { cert: string; key: string } {
  const { publicKey, privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  const ecdsaWithSha256 = sequence(der(0x06, '2a8648ce3d040302'))
  const subject = sequence(der(0x31, sequence(der(0x06, '550403'), der(0x0c, Buffer.from(name)))))
  const day = 86_400_000
  const subjectAltName = sequence(
    der(0x06, '551d11'),
    der(0x04, sequence(der(0x82, Buffer.from(name)))), // [2] dNSName
  )
  const content = sequence(
    der(0xa0, der(0x02, '02')), // version 3
    der(0x02, '01'),
    ecdsaWithSha256,
    subject,
    sequence(utcTime(Date.now() - day), utcTime(Date.now() + day)),
    subject,
    publicKey.export({ type: 'spki', format: 'der' }),
    der(0xa3, sequence(subjectAltName)),
  )
  const signature = Buffer.concat([Buffer.of(0), sign('sha256', content, privateKey)])
  const whole = sequence(content, ecdsaWithSha256, der(0x03, signature))
  const lines = whole.toString('base64').match(/.{1,64}/g)!
  return {
    cert: `-----BEGIN CERTIFICATE-----\n${lines.join('\n')}\n-----END CERTIFICATE-----\n`,
    key: privateKey.export({ type: 'pkcs8', format: 'pem' }) as string,
  }
}

const sequence = (...parts: Buffer[]): Buffer => der(0x30, Buffer.concat(parts))

const utcTime = (moment: number): Buffer =>
  der(0x17, Buffer.from(`${new Date(moment).toISOString().replace(/[-:T]/g, '').slice(2, 14)}Z`))

/** Tag, length, content; the content as bytes or in hexadecimal. */
function der(tag: number, content: Buffer | string): Buffer {
  const bytes = typeof content === 'string' ? Buffer.from(content, 'hex') : content
  const { length } = bytes
  const size = length < 128 ? [length] : length < 256 ? [0x81, length] : [0x82, length >> 8, length & 0xff]
  return Buffer.concat([Buffer.from([tag, ...size]), bytes])
}
