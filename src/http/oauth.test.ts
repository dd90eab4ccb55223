import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { type HttpWorld, newHttpWorld } from '../../test/http.ts'
import { decide, jarOfAna, newHost } from '../../test/oauth.ts'

let door: HttpWorld
beforeEach(async () => {
  door = await newHttpWorld()
})
afterEach(() => door.close())

describe('a host that connects by itself', () => {
  it('registers, asks the person, works as their agent, renews its token, and is out when it is disconnected', async () => {
    const host = newHost(door)
    const ana = await jarOfAna(door)
    const asked = (await host.connect())!
    expect(asked.pathname).toBe('/oauth/authorize')
    expect(Object.fromEntries(asked.searchParams)).toMatchObject({
      response_type: 'code',
      code_challenge_method: 'S256',
      resource: `${door.origin}/mcp`,
      scope: 'read write',
    })
    const back = await decide(ana, asked)
    expect(back.origin + back.pathname).toBe('http://127.0.0.1:9999/callback')
    expect(back.searchParams.get('iss')).toBe(door.origin)
    await host.finish(back)
    expect(host.tokens()).toMatchObject({ scope: 'read write', token_type: 'Bearer', expires_in: 3600 })

    expect(await host.connect()).toBeUndefined()
    expect((await host.client.listTools()).tools).toHaveLength(84)
    const made = await host.client.callTool({ name: 'create_task', arguments: { title: 'By a host' } })
    expect(made.structuredContent).toMatchObject({ id: 'T1', title: 'By a host' })
    const me = await host.client.callTool({ name: 'get_me', arguments: {} })
    expect(me.structuredContent).toMatchObject({ name: 'Helper', owner: 'U1 Ana' })
    await host.close()

    const before = host.tokens()!
    host.setTokens({ ...before, access_token: 'is over' })
    expect(await host.connect()).toBeUndefined()
    const after = host.tokens()!
    expect(after.access_token).not.toBe(before.access_token)
    expect(after.refresh_token).not.toBe(before.refresh_token)
    await host.close()

    const account = await ana.go('/account')
    expect(account.text).toContain('Test host')
    await ana.submit('/account/grants/O1/revoke', {})
    expect(await host.connect()).toBeInstanceOf(URL)
  })

  it('is found by its metadata document, which stands for its name', async () => {
    const id = 'https://host.example/client.json'
    const served = await newHttpWorld(undefined, async (url) =>
      Response.json({
        client_id: String(url),
        client_name: 'Known host',
        redirect_uris: ['http://127.0.0.1/callback'],
      }),
    )
    try {
      const host = newHost(served, { document: id })
      const asked = (await host.connect())!
      expect(asked.searchParams.get('client_id')).toBe(id)
      const ana = await jarOfAna(served)
      expect((await ana.go(asked.href)).text).toContain('host.example')
      await host.finish(await decide(ana, asked))
      expect(await host.connect()).toBeUndefined()
      await host.close()
    } finally {
      await served.close()
    }
  })
})

describe('the form for the code that a program shows', () => {
  it('is shown again to a browser that has lost its cookie', async () => {
    for (const cookie of ['', 'done_oauth=never-was']) {
      const sent = await door.nobody.send('POST', '/oauth/device', {
        headers: { cookie, origin: door.origin, 'content-type': 'application/x-www-form-urlencoded' },
        body: 'user_code=BCDF-GHJK&xsrf=x',
      })
      expect([sent.status, sent.headers.location]).toEqual([303, '/oauth/device'])
    }
  })
})
