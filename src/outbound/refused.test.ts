import { createServer, isIP } from 'node:net'
import { beforeEach, describe, expect, it } from 'vitest'
import { LITERALS, NAMES, NO_ADDRESSES } from '../../test/address-forms.ts'
import { connectionsTried, listen, refusal, UNREACHABLE, watchConnections } from '../../test/listeners.ts'
import { readAllowed } from './allow.ts'
import { outbound } from './client.ts'

watchConnections()

describe('no connection is made', () => {
  let port: number
  let connected: () => number
  beforeEach(async () => {
    const four = await listen(createServer(), '127.0.0.1')
    const six = await listen(createServer(), '::1', four.port)
    port = four.port
    connected = () => four.count() + six.count()
  })

  /** A form as it is, and at the port where somebody listens and that the list opens, though for another address. */
  const bothPorts = (address: string) => {
    const there = new URL(address)
    there.port = String(port)
    return [address, there.href]
  }
  const ask = (address: string, resolve: (name: string) => Promise<{ address: string; family: number }[]>) =>
    refusal(outbound({ allow: readAllowed(`other.lan:${port},203.0.113.255:${port}`), resolve })(address))

  it.each(LITERALS.map((each) => [each]))('to %j', async (address) => {
    for (const each of bothPorts(address)) {
      const asked: string[] = []
      const { code, message } = await ask(each, async (name) => {
        asked.push(name)
        return []
      })
      expect({ code, message, asked }).toEqual({
        code: 'unavailable',
        message: expect.stringMatching(UNREACHABLE),
        asked: [],
      })
    }
    expect({ tried: connectionsTried(), connected: connected() }).toEqual({ tried: 0, connected: 0 })
  })

  it.each(NAMES.map(([address, ...found]) => [address, found] as const))(
    'to %j, which is %j',
    async (address, found) => {
      for (const each of bothPorts(address)) {
        const asked: string[] = []
        const { code, message } = await ask(each, async (name) => {
          asked.push(name)
          return found.map((one) => ({ address: one, family: isIP(one) }))
        })
        expect({ code, message, asked }).toEqual({
          code: 'unavailable',
          message: expect.stringMatching(UNREACHABLE),
          asked: [new URL(address).hostname],
        })
      }
      expect({ tried: connectionsTried(), connected: connected() }).toEqual({ tried: 0, connected: 0 })
    },
  )

  it.each(NO_ADDRESSES.map((each) => [each]))('to %j, which is no address for us', async (address) => {
    const { code } = await refusal(
      outbound({ allow: [], resolve: () => Promise.reject(new Error('must not be asked')) })(address),
    )
    expect({ code, tried: connectionsTried(), connected: connected() }).toEqual({
      code: 'invalid_value',
      tried: 0,
      connected: 0,
    })
  })

  it.each(['localhost', 'localhost.', 'ip6-localhost'])(
    'to %s, as this machine resolves it',
    async (name) => {
      const client = outbound({ allow: [] })
      expect((await refusal(client(`https://${name}/`))).message).toMatch(UNREACHABLE)
      expect({ tried: connectionsTried(), connected: connected() }).toEqual({ tried: 0, connected: 0 })
    },
  )

  it('in more than 120 forms of an address, none of them twice', () => {
    const forms = [...LITERALS, ...NAMES.map(([address]) => address), ...NO_ADDRESSES]
    expect(new Set(forms).size).toBe(forms.length)
    expect(LITERALS.filter((each) => isIP(new URL(each).hostname.replace(/^\[|\]$/g, '')) === 0)).toEqual([])
    expect(LITERALS.length).toBeGreaterThan(120)
    console.log(
      `${forms.length} address forms (${LITERALS.length} literals, ${NAMES.length} names, ${NO_ADDRESSES.length} that are no address for us): no connection made`,
    )
  })

  it('and the counters count: the same forms connect where the list allows it', async () => {
    const client = outbound({ allow: readAllowed(`127.0.0.0/8:${port},[::1]:${port}`), deadlineMs: 200 })
    const forms = ['127.1', '0x7f.1', '2130706433', '１２７.０.０.１', '[::1]']
    await Promise.all(forms.map((host) => refusal(client(`http://${host}:${port}/`))))
    expect({ tried: connectionsTried(), connected: connected() }).toEqual({
      tried: forms.length,
      connected: forms.length,
    })
  })
})
