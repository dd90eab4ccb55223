import { describe, expect, it } from 'vitest'
import { isPublic, isWithin } from './address.ts'

/** IANA's special-purpose registries (as of 2025) and what they leave out: first address, last, and the neighbours outside that are public. */
const SPECIAL: readonly (readonly [block: string, first: string, last: string, ...outside: string[]])[] = [
  ['0.0.0.0/8', '0.0.0.0', '0.255.255.255', '1.0.0.0'],
  ['10.0.0.0/8', '10.0.0.0', '10.255.255.255', '9.255.255.255', '11.0.0.0'],
  ['100.64.0.0/10', '100.64.0.0', '100.127.255.255', '100.63.255.255', '100.128.0.0'],
  ['127.0.0.0/8', '127.0.0.0', '127.255.255.255', '126.255.255.255', '128.0.0.0'],
  ['169.254.0.0/16', '169.254.0.0', '169.254.255.255', '169.253.255.255', '169.255.0.0'],
  ['172.16.0.0/12', '172.16.0.0', '172.31.255.255', '172.15.255.255', '172.32.0.0'],
  ['192.0.0.0/24', '192.0.0.0', '192.0.0.255', '191.255.255.255', '192.0.1.0'],
  ['192.0.2.0/24', '192.0.2.0', '192.0.2.255', '192.0.1.255', '192.0.3.0'],
  ['192.31.196.0/24', '192.31.196.0', '192.31.196.255', '192.31.195.255', '192.31.197.0'],
  ['192.52.193.0/24', '192.52.193.0', '192.52.193.255', '192.52.192.255', '192.52.194.0'],
  ['192.88.99.0/24', '192.88.99.0', '192.88.99.255', '192.88.98.255', '192.88.100.0'],
  ['192.168.0.0/16', '192.168.0.0', '192.168.255.255', '192.167.255.255', '192.169.0.0'],
  ['192.175.48.0/24', '192.175.48.0', '192.175.48.255', '192.175.47.255', '192.175.49.0'],
  ['198.18.0.0/15', '198.18.0.0', '198.19.255.255', '198.17.255.255', '198.20.0.0'],
  ['198.51.100.0/24', '198.51.100.0', '198.51.100.255', '198.51.99.255', '198.51.101.0'],
  ['203.0.113.0/24', '203.0.113.0', '203.0.113.255', '203.0.112.255', '203.0.114.0'],
  ['224.0.0.0/4', '224.0.0.0', '239.255.255.255', '223.255.255.255'],
  ['240.0.0.0/4', '240.0.0.0', '255.255.255.255'],
  ['::/96, IPv4-compatible, with :: and ::1', '::', '::ffff:ffff'],
  ['::ffff:0:0/96, IPv4-mapped', '::ffff:0:0', '::ffff:255.255.255.255'],
  ['::ffff:0:0:0/96, IPv4-translated', '::ffff:0:0:0', '::ffff:0:255.255.255.255'],
  ['64:ff9b::/96, NAT64', '64:ff9b::', '64:ff9b::255.255.255.255'],
  ['64:ff9b:1::/48, NAT64 of one network', '64:ff9b:1::', '64:ff9b:1:ffff:ffff:ffff:ffff:ffff'],
  ['100::/64', '100::', '100::ffff:ffff:ffff:ffff'],
  ['100:0:0:1::/64', '100:0:0:1::', '100:0:0:1:ffff:ffff:ffff:ffff'],
  ['all below 2000::/3', '::', '1fff:ffff:ffff:ffff:ffff:ffff:ffff:ffff', '2000::'],
  ['2001::/23, Teredo and others', '2001::', '2001:1ff:ffff:ffff:ffff:ffff:ffff:ffff', '2001:200::'],
  ['2001:db8::/32', '2001:db8::', '2001:db8:ffff:ffff:ffff:ffff:ffff:ffff', '2001:db7:ffff::1', '2001:db9::'],
  ['2002::/16, 6to4', '2002::', '2002:ffff:ffff:ffff:ffff:ffff:ffff:ffff', '2001:ffff::1', '2003::'],
  [
    '2620:4f:8000::/48',
    '2620:4f:8000::',
    '2620:4f:8000:ffff:ffff:ffff:ffff:ffff',
    '2620:4f:7fff::1',
    '2620:4f:8001::',
  ],
  ['3fff::/20', '3fff::', '3fff:fff:ffff:ffff:ffff:ffff:ffff:ffff', '3ffe:ffff::1', '3fff:1000::'],
  ['all above 2000::/3', '4000::', 'ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff', '3fff:ffff::1'],
  ['5f00::/16', '5f00::', '5f00:ffff:ffff:ffff:ffff:ffff:ffff:ffff'],
  ['fc00::/7', 'fc00::', 'fdff:ffff:ffff:ffff:ffff:ffff:ffff:ffff'],
  ['fe80::/10', 'fe80::', 'febf:ffff:ffff:ffff:ffff:ffff:ffff:ffff'],
  ['fec0::/10', 'fec0::', 'feff:ffff:ffff:ffff:ffff:ffff:ffff:ffff'],
  ['ff00::/8', 'ff00::', 'ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff'],
  ['ISATAP in any prefix', '2606:4700::5efe:0:0', '2606:4700::200:5efe:ffff:ffff', '2606:4700::100:5efe:0:0'],
]

describe('an address of the public internet', () => {
  it.each(SPECIAL)('lies beside %s', (_block, first, last, ...outside) => {
    expect([first, last].filter(isPublic)).toEqual([])
    expect(outside.filter((address) => !isPublic(address))).toEqual([])
  })

  it.each(['1.1.1.1', '93.184.216.34', '2606:4700:4700::1111', '2a00:1450:4001:81b::200e'])(
    'is one such as %s',
    (address) => expect(isPublic(address)).toBe(true),
  )

  it.each([
    '',
    'localhost',
    '1.1',
    '0x1.1.1.1',
    '01.1.1.1',
    '1.1.1.1:443',
    '[2606:4700::1]',
    '2606:4700::1%eth0',
  ])('is not what has to be read first: "%s"', (address) => expect(isPublic(address)).toBe(false))
})

it('lies in a network of its own family', () => {
  expect(isWithin('10.1.2.3', '10.0.0.0/8')).toBe(true)
  expect(isWithin('fd00::5', 'fd00::/8')).toBe(true)
  expect(isWithin('11.0.0.0', '10.0.0.0/8')).toBe(false)
  expect(isWithin('::ffff:10.1.2.3', '10.0.0.0/8')).toBe(false)
  expect(isWithin('fd00::5%eth0', 'fd00::/8')).toBe(false)
  expect(isWithin('10.1', '10.0.0.0/8')).toBe(false)
})
