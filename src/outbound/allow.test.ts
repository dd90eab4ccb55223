import { describe, expect, it } from 'vitest'
import { readAllowed } from './allow.ts'

describe('the list of what Done may connect to besides', () => {
  it.each([
    ['', []],
    [' hooks.lan , *.Example.ORG,', [{ host: 'hooks.lan' }, { host: '*.example.org' }]],
    ['hooks.lan:8443', [{ host: 'hooks.lan', port: 8443 }]],
    ['*.lan:80', [{ host: '*.lan', port: 80 }]],
    ['bücher.example', [{ host: 'xn--bcher-kva.example' }]],
    ['10.0.0.5', [{ network: '10.0.0.5/32' }]],
    ['10.0.0.5:8080', [{ network: '10.0.0.5/32', port: 8080 }]],
    ['10.0.0.0/8', [{ network: '10.0.0.0/8' }]],
    ['10.0.0.0/8:8443', [{ network: '10.0.0.0/8', port: 8443 }]],
    ['::1', [{ network: '::1/128' }]],
    ['[::1]:8080', [{ network: '::1/128', port: 8080 }]],
    ['fd00::/8', [{ network: 'fd00::/8' }]],
    ['[fd00::/8]:8443', [{ network: 'fd00::/8', port: 8443 }]],
  ])('takes "%s"', (list, entries) => {
    expect(readAllowed(list)).toEqual(entries)
  })

  it.each([
    '*',
    '*.',
    '*:443',
    'a.*.org',
    '**.org',
    '*lan',
    '.lan',
    'lan.',
    'a..b',
    'hooks.lan:0',
    'hooks.lan:65536',
    'hooks.lan:https',
    'hooks.lan:',
    ':443',
    'https://hooks.lan',
    'hooks.lan/path',
    'user@hooks.lan',
    'hooks.lan?',
    'hooks.lan#',
    'hooks lan',
    'hooks.lan;10.0.0.1',
    '127.1',
    '0x7f.0.0.1',
    '2130706433',
    '010.0.0.1',
    '*.10.0.0.1',
    '10.0.0.256',
    '10.0.0.0/33',
    '10.0.0.0/',
    '10.0.0.0/8/8',
    '10.0.0.0/-1',
    '10.0.0.0/255.0.0.0',
    'fd00::/129',
    'fe80::1%eth0',
    '[::1',
    '[10.0.0.1]:80',
    '[hooks.lan]:80',
    '[::1]8080',
    '::ffff:127.1',
  ])('takes no "%s"', (entry) => {
    expect(() => readAllowed(`hooks.lan,${entry}`)).toThrow(`"${entry}" is neither a host name`)
  })
})
