import { describe, expect, it } from 'vitest'
import { clientAddress } from './client-address.ts'

describe('where a request comes from', () => {
  it('is its connection, whatever it says, where no proxy is trusted', () => {
    expect(clientAddress([])('203.0.113.9', '198.51.100.1')).toBe('203.0.113.9')
  })

  const behind = clientAddress(['10.0.0.5', '10.1.0.0/16', 'fd00::/8'])
  it.each([
    ['a proxy that says so', '10.0.0.5', '203.0.113.9', '203.0.113.9'],
    ['several proxies', '10.0.0.5', '203.0.113.9, 10.1.2.3', '203.0.113.9'],
    ['a proxy over IPv6', 'fd00::1', '2001:db8::7', '2001:db8::7'],
    ['a socket of both families', '::ffff:10.0.0.5', '203.0.113.9', '203.0.113.9'],
    ['somebody who adds an address in front', '10.0.0.5', '192.0.2.1, 203.0.113.9', '203.0.113.9'],
    ['somebody who goes past the proxy', '203.0.113.9', '192.0.2.1', '203.0.113.9'],
    ['a proxy that says nothing', '10.0.0.5', undefined, '10.0.0.5'],
    ['a proxy that says no address', '10.0.0.5', 'unknown', '10.0.0.5'],
  ])('%s', (_who, connection, forwarded, client) => {
    expect(behind(connection, forwarded)).toBe(client)
  })

  it.each(['proxy.example.org', '10.0.0.0/33', '10.0.0.0/8/8', '10.0.0.0/', ''])(
    'is asked of no proxy called "%s"',
    (proxy) => {
      expect(() => clientAddress([proxy])).toThrow(/neither an address nor a network.*DONE_TRUSTED_PROXIES/)
    },
  )
})
