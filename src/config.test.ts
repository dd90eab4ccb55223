import { describe, expect, it } from 'vitest'
import { readConfig } from './config.ts'

describe('the settings', () => {
  it('come from flags, then the environment, then defaults', () => {
    expect(readConfig({}, {})).toMatchObject({ port: 4747, host: '127.0.0.1', site: 'http://127.0.0.1:4747' })
    expect(readConfig({ port: '80' }, { DONE_PORT: '81', DONE_HOST: '::1' })).toMatchObject({
      port: 80,
      site: 'http://[::1]:80',
    })
    expect(() => readConfig({ port: 'http' }, {})).toThrow('"http" is not a port.')
  })

  it.each([
    ['postgres://done@host', /names no database/],
    ['postgres://done@host/', /names no database/],
    ['mysql://host/done', /not the address of a PostgreSQL database/],
    ['postgres://done:p#w@host/done', /%23|names no database/],
  ])('take no DATABASE_URL such as %s', (url, said) => {
    expect(() => readConfig({}, { DATABASE_URL: url })).toThrow(said)
  })

  it('take a beginning of roles’ names that PostgreSQL can keep', () => {
    const env = { DATABASE_URL: 'postgres://done@host/done' }
    expect(readConfig({}, { ...env, DONE_DATABASE_ROLES: 'team-a' }).rolePrefix).toBe('team-a')
    for (const wrong of ['bad-name; x', 'x'.repeat(51)])
      expect(() => readConfig({}, { ...env, DONE_DATABASE_ROLES: wrong })).toThrow(/DONE_DATABASE_ROLES/)
  })

  it('say what Done may connect to besides the public internet, and nothing by default', () => {
    expect(readConfig({}, {}).allowOutbound).toEqual([])
    const env = { DONE_ALLOW_OUTBOUND: 'hooks.lan:8443, 10.0.0.0/8' }
    expect(readConfig({}, env).allowOutbound).toEqual([
      { host: 'hooks.lan', port: 8443 },
      { network: '10.0.0.0/8' },
    ])
    expect(readConfig({ 'allow-outbound': '*.lan' }, env).allowOutbound).toEqual([{ host: '*.lan' }])
    expect(() => readConfig({}, { DONE_ALLOW_OUTBOUND: 'https://hooks.lan' })).toThrow(
      /"https:\/\/hooks\.lan" is neither.*DONE_ALLOW_OUTBOUND/,
    )
  })

  it.each(['127.0.0.1', '127.1.2.3', '::1', 'localhost'])(
    'need no site where only this machine reaches %s',
    (host) => {
      expect(readConfig({ host }, {}).host).toBe(host)
    },
  )

  it.each(['0.0.0.0', '::', '192.168.1.7', 'done.local', '127.0.0.1.example.org', ''])(
    'need one where others reach the host: "%s"',
    (host) => {
      expect(() => readConfig({ host }, {})).toThrow(/--site/)
      expect(() => readConfig({}, { DONE_HOST: host })).toThrow(/DONE_SITE/)
      const site = 'https://done.example.org/'
      expect(readConfig({ host, site }, {}).site).toBe('https://done.example.org')
      expect(readConfig({ host }, { DONE_SITE: site }).site).toBe('https://done.example.org')
    },
  )
})
