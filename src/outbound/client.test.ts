import { createServer as createHttpServer, type RequestListener } from 'node:http'
import { createServer as createHttpsServer } from 'node:https'
import { createServer, isIP } from 'node:net'
import { describe, expect, it } from 'vitest'
import { certificateFor } from '../../test/certificate.ts'
import {
  answers,
  connectionsTried,
  listen,
  refusal,
  stopListening,
  UNREACHABLE,
  watchConnections,
} from '../../test/listeners.ts'
import { readAllowed } from './allow.ts'
import { outbound } from './client.ts'

watchConnections()

describe('what the list allows', () => {
  it.each([
    ['hooks.lan', true],
    ['HOOKS.lan', true],
    ['a.example.org', true],
    ['a.b.example.org', true],
    ['example.org', false],
    ['badexample.org', false],
    ['hooks.lan.example.com', false],
    ['a.hooks.lan', false],
  ])('by name: %s %s', async (name, allowed) => {
    const server = createHttpServer(answers('here'))
    const { port, count } = await listen(server)
    const client = outbound({
      allow: readAllowed(`hooks.lan:${port},*.example.org:${port}`),
      resolve: async () => [{ address: '127.0.0.1', family: 4 }],
    })
    const asked = client(`http://${name}:${port}/`)
    if (allowed) expect(await (await asked).text()).toBe('here')
    else expect((await refusal(asked)).message).toMatch(UNREACHABLE)
    expect(count()).toBe(allowed ? 1 : 0)
  })

  it('by network, if every address of a name lies in it', async () => {
    const { port, count } = await listen(createHttpServer(answers('here')))
    const of = (...addresses: string[]) =>
      outbound({
        allow: readAllowed(`127.0.0.0/30:${port}`),
        resolve: async () => addresses.map((address) => ({ address, family: isIP(address) })),
      })(`http://any.name:${port}/`)
    expect(await (await of('127.0.0.1', '127.0.0.2')).text()).toBe('here')
    for (const other of ['127.0.0.4', '::1', '::ffff:127.0.0.1', '1.1.1.1'])
      expect((await refusal(of('127.0.0.1', other))).message).toMatch(UNREACHABLE)
    expect({ tried: connectionsTried(), connected: count() }).toEqual({ tried: 1, connected: 1 })
  })

  it('at its port alone', async () => {
    const { port, count } = await listen(createHttpServer(answers('here')))
    const resolve = async () => [{ address: '127.0.0.1', family: 4 }]
    const url = `http://hooks.lan:${port}/`
    for (const list of ['hooks.lan', '127.0.0.1', `hooks.lan:${port - 1}`])
      expect(await refusal(outbound({ allow: readAllowed(list), resolve })(url))).toMatchObject({
        code: 'invalid_value',
      })
    expect({ tried: connectionsTried(), connected: count() }).toEqual({ tried: 0, connected: 0 })
  })
})

describe('a name that changes its mind', () => {
  it('is asked once, and the connection goes where that answer led', async () => {
    const good = await listen(createHttpServer(answers('the checked one')), '127.0.0.1')
    const bad = await listen(createHttpServer(answers('another')), '::1', good.port)
    const looks = ['127.0.0.1', '::1', '::1']
    const client = outbound({
      allow: readAllowed(`127.0.0.1:${good.port}`),
      resolve: async () => [looks.shift()!].map((address) => ({ address, family: isIP(address) })),
    })
    const url = `http://rebinding.example.com:${good.port}/`
    expect(await (await client(url)).text()).toBe('the checked one')
    expect(looks).toHaveLength(2)

    // The second request looks again, finds the other, and has no connection left over to go on with.
    expect((await refusal(client(url))).message).toMatch(UNREACHABLE)
    expect({ tried: connectionsTried(), good: good.count(), bad: bad.count() }).toEqual({
      tried: 1,
      good: 1,
      bad: 0,
    })
  })

  it('gets a new connection for every request', async () => {
    const { port, count } = await listen(
      createHttpServer((request, response) => response.end(request.headers.connection)),
    )
    const client = outbound({ allow: readAllowed(`127.0.0.1:${port}`) })
    for (const _ of [1, 2]) expect(await (await client(`http://127.0.0.1:${port}/`)).text()).toBe('close')
    expect(count()).toBe(2)
  })
})

describe('over TLS', () => {
  const mine = certificateFor('done.test')
  const tls = async (more: { name?: string; ca?: string | undefined } = {}) => {
    const server = createHttpsServer(mine, (request, response) => {
      const { host } = request.headers
      response.setHeader('content-type', 'application/json').end(JSON.stringify({ host, url: request.url }))
    })
    const { port } = await listen(server)
    const name = more.name ?? 'done.test'
    const ca = 'ca' in more ? more.ca : mine.cert
    const client = outbound({
      allow: readAllowed(`${name}:${port}`),
      resolve: async () => [{ address: '127.0.0.1', family: 4 }],
      ...(ca ? { ca } : {}),
    })
    return { asked: client(`https://${name}:${port}/client.json?a=1#part`), port }
  }

  it('reads a document, by the name in its address', async () => {
    const { asked, port } = await tls()
    const response = await asked
    expect(response.status).toBe(200)
    expect(response.headers.get('content-type')).toBe('application/json')
    expect(await response.json()).toEqual({ host: `done.test:${port}`, url: '/client.json?a=1' })
  })

  it('refuses a certificate that nobody vouches for, whatever the environment says', async () => {
    expect((await refusal((await tls({ ca: undefined })).asked)).message).toMatch(UNREACHABLE)
    process.env.NODE_TLS_REJECT_UNAUTHORIZED = '0'
    try {
      expect((await refusal((await tls({ ca: undefined })).asked)).message).toMatch(UNREACHABLE)
    } finally {
      delete process.env.NODE_TLS_REJECT_UNAUTHORIZED
    }
  })

  it('refuses a certificate for another name, or from another hand', async () => {
    expect((await refusal((await tls({ name: 'other.test' })).asked)).message).toMatch(UNREACHABLE)
    expect((await refusal((await tls({ ca: certificateFor('done.test').cert })).asked)).message).toMatch(
      UNREACHABLE,
    )
  })
})

describe('a server that can’t be trusted', () => {
  const serve = async (listener: RequestListener, more: { bodyBytes?: number; deadlineMs?: number } = {}) => {
    const { port, count } = await listen(createHttpServer(listener))
    const client = outbound({ allow: readAllowed(`127.0.0.1:${port}`), ...more })
    return { url: `http://127.0.0.1:${port}/`, client, count }
  }

  it.each([301, 302, 303, 307, 308])('sends us nowhere with %i', async (status) => {
    const elsewhere = await listen(createServer(), '::1')
    const { client, url } = await serve((_request, response) =>
      response.writeHead(status, { location: `http://[::1]:${elsewhere.port}/` }).end(),
    )
    const response = await client(url)
    expect(response.status).toBe(status)
    expect({ tried: connectionsTried(), elsewhere: elsewhere.count() }).toEqual({ tried: 1, elsewhere: 0 })
  })

  it('is cut off when its body is too long', async () => {
    for (const said of [true, false]) {
      const { client, url } = await serve(
        (_request, response) => {
          if (said) response.setHeader('content-length', 1001)
          response.end('x'.repeat(1001))
        },
        { bodyBytes: 1000 },
      )
      expect(await refusal(client(url))).toMatchObject({
        code: 'unavailable',
        message: expect.stringContaining('more than 1000 bytes'),
        details: { retry: false },
      })
    }
    const { client, url } = await serve(answers('x'.repeat(1000)), { bodyBytes: 1000 })
    expect((await (await client(url)).text()).length).toBe(1000)
  })

  it('is cut off when its body does not end', async () => {
    let closed!: () => void
    const end = new Promise<void>((done) => {
      closed = done
    })
    const { client, url } = await serve((_request, response) => {
      response.on('close', closed)
      const more = () => {
        while (!response.destroyed && response.write('x'.repeat(10_000)));
      }
      response.on('drain', more)
      more()
    })
    expect((await refusal(client(url))).message).toMatch(/more than 65536 bytes/)
    await end
  })

  it('is cut off when its headers are too long', async () => {
    const { client, url } = await serve((_request, response) =>
      response.setHeader('x-long', 'x'.repeat(20_000)).end('here'),
    )
    expect((await refusal(client(url))).message).toMatch(UNREACHABLE)
  })

  it.each([
    ['says nothing', () => {}],
    ['sends headers and no body', (_request, response) => response.writeHead(200).flushHeaders()],
    [
      'sends its body drop by drop',
      (_request, response) => {
        const drops = setInterval(() => response.write('x'), 10)
        response.on('close', () => clearInterval(drops))
      },
    ],
  ] satisfies [string, RequestListener][])('is left when it %s', async (_what, listener) => {
    const { client, url } = await serve(listener, { deadlineMs: 100 })
    expect(await refusal(client(url))).toMatchObject({
      code: 'unavailable',
      message: expect.stringMatching(/did not answer within 0\.1 seconds\.$/),
    })
  })

  it.each([
    ['closes at once', undefined],
    ['speaks something else', '220 mail ESMTP\r\n'],
    ['changes the protocol', 'HTTP/1.1 101 Switching Protocols\r\nConnection: upgrade\r\nUpgrade: x\r\n\r\n'],
    ['answers with a status of its own', 'HTTP/1.1 999 No\r\nContent-Length: 0\r\n\r\n'],
    ['breaks off', 'HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nhalf'],
  ])('is refused in the one text when it %s', async (_what, text) => {
    const { port } = await listen(
      createServer((socket) => {
        socket.on('error', () => {})
        if (text) socket.once('data', () => socket.end(text))
        else socket.destroy()
      }),
    )
    const client = outbound({ allow: readAllowed(`127.0.0.1:${port}`) })
    expect((await refusal(client(`http://127.0.0.1:${port}/`))).message).toMatch(UNREACHABLE)
  })

  it('answers without a body where there is none to be had', async () => {
    const { client, url } = await serve((_request, response) => response.writeHead(204).end())
    const response = await client(url)
    expect([response.status, response.body]).toEqual([204, null])
  })
})

describe('the client', () => {
  const closed = { address: '127.0.0.1', family: 4 }

  it('says the same of an address that is refused, a name that is not there and a port where nobody listens', async () => {
    const { port } = await listen(createServer())
    stopListening()
    const url = `https://hooks.lan:${port}/`
    const list = `127.0.0.1:${port}`
    const missing = () => Promise.reject(Object.assign(new Error('getaddrinfo'), { code: 'ENOTFOUND' }))
    const ends = await Promise.all([
      refusal(
        outbound({ allow: readAllowed(list), resolve: async () => [{ address: '10.0.0.1', family: 4 }] })(
          url,
        ),
      ),
      refusal(outbound({ allow: readAllowed(list), resolve: missing })(url)),
      refusal(outbound({ allow: readAllowed(list), resolve: async () => [closed] })(url)),
    ])
    const told = ends.map(({ code, message, details }) => ({ code, message, details }))
    expect(told[0]).toMatchObject({ code: 'unavailable', message: expect.stringMatching(UNREACHABLE) })
    expect(told[1]).toEqual(told[0])
    expect(told[2]).toEqual(told[0])
  })

  it('knows no proxy', async () => {
    const { port } = await listen(createHttpServer(answers('here')))
    const proxy = await listen(createServer())
    const names = [
      'http_proxy',
      'HTTP_PROXY',
      'https_proxy',
      'HTTPS_PROXY',
      'all_proxy',
      'NODE_USE_ENV_PROXY',
    ]
    const before = names.map((name) => process.env[name])
    for (const name of names) process.env[name] = `http://127.0.0.1:${proxy.port}`
    try {
      const client = outbound({ allow: readAllowed(`127.0.0.1:${port}`) })
      expect(await (await client(`http://127.0.0.1:${port}/`)).text()).toBe('here')
    } finally {
      names.forEach((name, at) => {
        if (before[at] === undefined) delete process.env[name]
        else process.env[name] = before[at]
      })
    }
    expect(proxy.count()).toBe(0)
  })

  it('keeps no cookie and sends the headers that its caller gave', async () => {
    const { port } = await listen(
      createHttpServer((request, response) => {
        response.setHeader('set-cookie', 'a=1').end(JSON.stringify(request.headers))
      }),
    )
    const client = outbound({ allow: readAllowed(`127.0.0.1:${port}`) })
    const url = `http://127.0.0.1:${port}/`
    await client(url)
    const seen = await (
      await client(url, { headers: { Accept: 'application/json', 'accept-encoding': 'gzip' } })
    ).json()
    expect(seen).toEqual({
      accept: 'application/json',
      'accept-encoding': 'identity',
      'user-agent': 'Done',
      host: `127.0.0.1:${port}`,
      connection: 'close',
    })
  })

  it('stops when its caller does, also while a name is looked up', async () => {
    const stop = new AbortController()
    const client = outbound({ allow: [], resolve: () => new Promise(() => {}) })
    const asked = client('https://slow.example.com/', { signal: stop.signal })
    stop.abort(new Error('the caller has gone'))
    await expect(asked).rejects.toThrow('the caller has gone')
    await expect(client('https://slow.example.com/', { signal: stop.signal })).rejects.toThrow('has gone')
    expect(connectionsTried()).toBe(0)
  })

  it('waits no longer for a name than for all the rest', async () => {
    const client = outbound({ allow: [], deadlineMs: 50, resolve: () => new Promise(() => {}) })
    expect((await refusal(client('https://slow.example.com/'))).message).toMatch(
      /did not answer within 0\.05/,
    )
  })

  it('hides no fault of ours behind the network', async () => {
    const client = outbound({ allow: [], resolve: () => Promise.reject(new TypeError('a fault')) })
    await expect(client('https://example.com/')).rejects.toThrow(TypeError)
  })

  it('can only ask', async () => {
    expect(await refusal(outbound({ allow: [] })('https://example.com/', { method: 'POST' }))).toMatchObject({
      code: 'invalid_value',
    })
  })
})
