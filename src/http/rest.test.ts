import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type Client, type HttpWorld, newHttpWorld } from '../../test/http.ts'
import { refusalsSince } from '../store/access.ts'
import { addressesOf, router } from './address.ts'
import { PEOPLE_ADDRESSES, TOOL_ADDRESSES } from './rest.ts'

let door: HttpWorld
let scout: Client
beforeAll(async () => {
  door = await newHttpWorld()
  scout = door.agent(door.world.scout.token!)
  for (const name of ['ops', 'a', 'b']) await scout.post('/api/labels', { name })
})
afterAll(() => door.close())

const filled = (path: string) => path.replace(/:\w+/g, '1')

describe('every tool at its address', () => {
  it('is reached there, and its guard answers as everywhere', async () => {
    const inTasks = door.agent((await door.world.agent('narrow-1', { presets: ['tasks'] })).token!)
    const inTrash = door.agent((await door.world.agent('narrow-2', { presets: ['trash'] })).token!)
    for (const { name, tool, method, path } of TOOL_ADDRESSES) {
      const other = tool.toolset === 'tasks' ? inTrash : inTasks
      const answer = await other.send(method, filled(path))
      expect([answer.status, answer.json?.error?.code, name], path).toEqual([403, 'scope', name])
      expect(answer.json.error.message, path).toContain(name)
    }
  })

  it('answers a call, and the echo is what a later read gives', async () => {
    const created = await scout.post('/api/tasks', {
      title: 'Rotate the certificate',
      labels: ['ops'],
      due: 'tomorrow',
    })
    expect([created.status, created.json]).toMatchObject([
      200,
      { title: 'Rotate the certificate', due: '2026-12-01' },
    ])
    const read = await scout.get(`/api/tasks/${created.json.id}?detail=concise`)
    expect(read.json).toMatchObject({ id: created.json.id, labels: ['ops'] })
    const gone = await scout.send('DELETE', `/api/tasks/${created.json.id}`)
    expect([gone.status, gone.json.trash]).toEqual([200, 'X1'])
    expect((await scout.get(`/api/tasks/${created.json.id}`)).status).toBe(404)
  })

  it('takes an address apart without mistaking a word for an id', () => {
    const tool = { effect: 'read' } as (typeof TOOL_ADDRESSES)[number]['tool']
    const find = router(
      addressesOf('/api', {
        one: { ...tool, http: 'GET /things/:id' },
        count: { ...tool, http: 'GET /things/count' },
        change: { ...tool, effect: 'write', http: 'PATCH /things/:id' },
      }),
    )
    expect(find('GET', '/api/things/count')).toMatchObject({ address: { name: 'count' } })
    expect(find('GET', '/api/things/T1')).toMatchObject({ address: { name: 'one' }, params: { id: 'T1' } })
    expect(find('HEAD', '/api/things/T1')).toMatchObject({ address: { name: 'one' } })
    expect(find('PUT', '/api/things/count')).toEqual({ allow: ['GET', 'PATCH'] })
    expect(find('GET', '/api/things/')).toBeUndefined()
    expect(() => addressesOf('/api', { bad: { ...tool, effect: 'write', http: 'GET /x' } })).toThrow(/write/)
    expect(() =>
      addressesOf('/api', { a: { ...tool, http: 'GET /x/:id' }, b: { ...tool, http: 'GET /x/:name' } }),
    ).toThrow(/both/)
  })
})

describe('methods', () => {
  it('are those of the address; others are named and refused', async () => {
    const wrong = await scout.send('PUT', '/api/tasks/T1')
    expect(wrong.status).toBe(405)
    expect(wrong.headers.allow).toContain('GET')
    expect(wrong.headers.allow).not.toContain('PUT')
    const asked = await door.nobody.send('OPTIONS', '/api/tasks/T1', {
      headers: { origin: 'https://evil.example', 'access-control-request-method': 'DELETE' },
    })
    expect([asked.status, asked.text, asked.headers['access-control-allow-origin']]).toEqual([
      204,
      '',
      undefined,
    ])
    expect((await scout.send('HEAD', '/api/tasks/T99')).text).toBe('')
    expect((await scout.send('HEAD', '/api/tasks/T1/complete')).status).toBe(405)
    expect((await scout.send('TRACE', '/api/tasks')).status).toBe(405)
    expect((await scout.get('/api/nothing')).status).toBe(404)
  })

  it('can’t be overridden by a header, a query or a field', async () => {
    const { json } = await scout.post('/api/tasks', { title: 'Stay' })
    for (const sent of [
      { headers: { 'x-http-method-override': 'DELETE' } },
      { headers: { 'x-method-override': 'DELETE', 'x-http-method': 'DELETE' } },
    ]) {
      const answer = await scout.send('GET', `/api/tasks/${json.id}`, sent)
      expect([answer.status, answer.json.status]).toEqual([200, 'open'])
    }
    expect((await scout.post(`/api/tasks/${json.id}/complete?_method=DELETE`)).json.error.code).toBe(
      'invalid_value',
    )
    expect((await scout.get(`/api/tasks/${json.id}?_method=DELETE`)).json.error.code).toBe('unknown_argument')
    expect((await scout.get(`/api/tasks/${json.id}`)).json.status).toBe('open')
  })
})

describe('arguments', () => {
  it('come from the path and the query or the body, read by the schema', async () => {
    await scout.post('/api/tasks', { title: 'With numbers', estimate: '90', labels: '["a","b"]' })
    const unknown = await scout.post('/api/tasks', { titel: 'x', title: 'y' })
    expect([unknown.status, unknown.json.error]).toMatchObject([
      400,
      { code: 'unknown_argument', allowed: ['title'] },
    ])
    expect(unknown.json.error).not.toHaveProperty('gate')
  })

  it('must agree where they stand in two places', async () => {
    const { json } = await scout.post('/api/tasks', { title: 'One' })
    const other = await scout.post(`/api/tasks/${json.id}/complete`, { id: 'T1' })
    expect([other.status, other.json.error.code]).toEqual([400, 'invalid_value'])
    expect((await scout.post(`/api/tasks/${json.id}/complete`, { task_id: 'T1' })).status).toBe(400)
    const key = await scout.send('POST', '/api/tasks', {
      headers: { 'idempotency-key': 'a' },
      body: { title: 'x', idempotency_key: 'b' },
    })
    expect([key.status, key.json.error.code]).toEqual([400, 'invalid_value'])
  })

  it('with a key give the same answer again, from the header too', async () => {
    const send = (headers: Record<string, string>, body: object) =>
      scout.send('POST', '/api/tasks', { headers, body })
    const first = await send({ 'idempotency-key': 'k1' }, { title: 'Once' })
    const second = await send({ 'idempotency-key': '"k1"' }, { title: 'Once' })
    const third = await send({}, { title: 'Once', idempotency_key: 'k1' })
    expect(second.json).toMatchObject({ id: first.json.id, replayed: true })
    expect(third.json).toMatchObject({ id: first.json.id, replayed: true })
    expect((await send({ 'idempotency-key': 'k1' }, { title: 'Twice' })).status).toBe(409)
  })

  it('are JSON, of a bounded length, and nothing in them reaches a prototype', async () => {
    const typed = await scout.send('POST', '/api/tasks', {
      headers: { 'content-type': 'text/plain' },
      body: '{"title":"x"}',
    })
    expect(typed.status).toBe(415)
    const form = await scout.form('/api/tasks', { title: 'x' })
    expect(form.status).toBe(415)
    expect(
      (await scout.send('POST', '/api/tasks', { headers: { 'content-type': 'application/json' }, body: '{' }))
        .status,
    ).toBe(400)
    expect((await scout.post('/api/tasks', [1])).status).toBe(400)
    expect(
      (await scout.post('/api/tasks', { title: 'x', description: 'y'.repeat(17 * 1024 * 1024) })).status,
    ).toBe(413)
    const json = { 'content-type': 'application/json' }
    for (const body of [
      '{"title":"x","__proto__":{"status":"done"}}',
      '{"title":"x","constructor":{"prototype":{"auto_ok":true}}}',
      '{"title":"x","toString":"y"}',
    ]) {
      const answer = await scout.send('POST', '/api/tasks', { headers: json, body })
      expect([answer.status, answer.json.error.code]).toEqual([400, 'unknown_argument'])
    }
    expect((await scout.get('/api/tasks/T1?__proto__=x')).json.error.code).toBe('unknown_argument')
    const twice = await scout.send('POST', '/api/tasks', { headers: json, body: '{"title":"a","title":"b"}' })
    expect(twice.json.title).toBe('b')
    expect(({} as Record<string, unknown>).status).toBeUndefined()
    expect((await scout.get('/api/tasks/%E0%A4%A')).status).toBe(400)
  })
})

describe('credentials', () => {
  it('are asked for, by name of the way to get one', async () => {
    const none = await door.nobody.get('/api/tasks/T1')
    expect(none.json.error).toMatchObject({ code: 'scope', retry: false })
    const where = `scope="read write", resource_metadata="${door.origin}/.well-known/oauth-protected-resource"`
    expect([none.status, none.headers['www-authenticate']]).toEqual([401, `Bearer realm="Done", ${where}`])
    expect(none.json.error.next).toContain('donectl.js token create')
    for (const authorization of [
      'Bearer done_nonsense',
      'Basic dTpw',
      'Bearer',
      `Token ${door.world.scout.token}`,
    ]) {
      const bad = await door.nobody.send('GET', '/api/tasks/T1', { headers: { authorization } })
      expect([bad.status, bad.headers['www-authenticate']]).toEqual([
        401,
        `Bearer realm="Done", error="invalid_token", ${where}`,
      ])
    }
    expect((await door.nobody.get(`/api/tasks/T1?access_token=${door.world.scout.token}`)).status).toBe(401)
  })

  it('of a read token read and do not write', async () => {
    const reader = door.agent(door.world.reader.token!)
    for (const { method, path, name, tool } of TOOL_ADDRESSES.filter(({ tool }) => tool.effect !== 'read')) {
      const answer = await reader.send(method, filled(path), method === 'DELETE' ? {} : { body: {} })
      expect([answer.status, answer.json.error.code, tool.effect !== 'read'], name).toEqual([
        403,
        'scope',
        true,
      ])
    }
  })

  it('of a person in the cookie need this site’s own page for a change, and none for a read', async () => {
    const ana = await door.browser()
    expect((await ana.post('/api/tasks', { title: 'By hand' })).status).toBe(200)
    const { cookie } = ana.headers
    expect(
      (await door.nobody.send('GET', '/api/tasks/T1', { headers: { cookie: cookie! } })).status,
    ).not.toBe(401)
    const bare = await door.nobody.send('POST', '/api/tasks', {
      headers: { cookie: cookie! },
      body: { title: 'x' },
    })
    expect([bare.status, bare.json.error.code]).toEqual([403, 'people_only'])
  })
})

describe('what is for people only', () => {
  it('is refused to every token, each time recorded once', async () => {
    const { store, access } = door.world.done
    const refused = () => store.read(door.world.ana.actor, 'test', (tx) => refusalsSince(tx, 0))
    // What was gathered before is written by the clock, which would fall between two looks.
    await access.flush()
    for (const agent of [scout, door.agent(door.world.reader.token!)]) {
      for (const { name, method, path } of PEOPLE_ADDRESSES) {
        const before = await refused()
        const answer = await agent.send(
          method,
          filled(path),
          method === 'GET' || method === 'DELETE' ? {} : { body: {} },
        )
        expect([answer.status, answer.json.error.code], name).toEqual([403, 'people_only'])
        const after = await refused()
        expect(after.length - before.length, name).toBe(1)
        expect(after.find((each) => !before.some(({ seq }) => seq === each.seq))).toMatchObject({
          tool: name,
          gate: 1,
        })
      }
    }
  })

  it('has no name that a tool has', () => {
    const tools = new Set(TOOL_ADDRESSES.map(({ name }) => name as string))
    for (const { name } of PEOPLE_ADDRESSES) expect(tools.has(name), name).toBe(false)
  })
})

describe('a fault of ours', () => {
  it('is noted for the operator and hidden from the caller', async () => {
    const { store } = door.world.done
    const { read } = store
    store.read = () => Promise.reject(new Error('secret detail'))
    const logged: unknown[] = []
    const { error } = console
    console.error = (each) => logged.push(each)
    try {
      const answer = await scout.get('/api/tasks/T1')
      expect([answer.status, answer.json.error.code]).toEqual([500, 'internal'])
      expect(answer.text).not.toContain('secret')
      expect(String(logged[0])).toContain('secret detail')
    } finally {
      store.read = read
      console.error = error
    }
  })
})
