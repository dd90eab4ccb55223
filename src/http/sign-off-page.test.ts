import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { type Client, type HttpWorld, linkFor, newHttpWorld } from '../../test/http.ts'

let door: HttpWorld
let scout: Client
let ana: Client
beforeEach(async () => {
  door = await newHttpWorld()
  scout = door.agent(door.world.scout.token!)
  ana = await door.browser()
})
afterEach(() => door.close())

/** Only the words of a page, as they are read. */
const words = (page: string) => page.replace(/<style>.*?<\/style>/s, '').replace(/<[^>]*>/g, '')

const EVIL = [
  `<script>alert(1)</script>`,
  `"><img src=x onerror=alert(1)>`,
  `'><svg onload=alert(1)>`,
  `</title></textarea></pre><iframe src=javascript:alert(1)>`,
  `<a href="javascript:alert(1)">Approve</a>`,
  `&lt;b&gt; &amp;lt;`,
  `{{constructor.constructor('alert(1)')()}}`,
].join(' ')

describe('hostile text', () => {
  it('is inert wherever it stands, and what hides is drawn', async () => {
    await scout.post('/api/projects', { name: EVIL.slice(0, 100) })
    await scout.post('/api/tasks', {
      title: `${EVIL} evil`,
      description: `${EVIL}\u200B\u2066`,
      project_id: 'P1',
      steps: [{ title: EVIL }],
    })
    await scout.send('PATCH', '/api/tasks/T1', {
      body: { title: `${EVIL} again`, description: `more ${EVIL}` },
    })
    await scout.post('/api/tasks/T1/runs', { goal: EVIL })
    await scout.post('/api/tasks/T1/artifacts', { title: EVIL, text: EVIL })
    await scout.post('/api/tasks/T1/artifacts', { title: EVIL, url: 'https://example.org/?q="><script>' })
    await scout.post('/api/tasks/T1/artifacts', {
      title: 'Picture',
      file: {
        name: 'evil\u202Egnp.svg',
        media_type: 'image/svg+xml',
        base64: Buffer.from('<svg onload="alert(1)"/>').toString('base64'),
      },
    })
    await scout.post('/api/questions', { text: EVIL, task_id: 'T1', choices: [EVIL, 'No'], hold_task: false })
    await scout.post('/api/tasks', { title: EVIL })
    await scout.post('/api/tasks/T2/dependencies', { depends_on: ['T1'] })
    const asked = await scout.post('/api/tasks/T1/complete', { summary: `${EVIL}\u202E\u0007` })
    expect(asked.json.request).toBe('A1')
    for (const path of ['/sign-off/A1', '/sign-off', '/', '/questions/Q1']) {
      const page = await ana.get(path)
      expect(page.status, path).toBe(200)
      const tags = (page.text.match(/<[a-z!/][^>]*>/gi) ?? []).map((tag) => tag.replace(/"[^"]*"/g, '""'))
      const names = new Set(tags.map((tag) => /^<\/?([a-z!0-9]+)/i.exec(tag)![1]!.toLowerCase()))
      for (const bad of ['script', 'img', 'iframe', 'object', 'embed', 'base', 'link rel=import'])
        expect(names).not.toContain(bad)
      for (const tag of tags) expect(tag, path).not.toMatch(/\son\w+\s*=|javascript:/i)
      for (const [, address] of page.text.matchAll(/(?:href|src|action)="([^"]*)"/g))
        expect(address, path).toMatch(/^(\/|https:\/\/example\.org\/)/)
      for (const hidden of ['\u202E', '\u2066', '\u200B', '\u0007'])
        expect(page.text, path).not.toContain(hidden)
      expect(page.headers['content-security-policy']).toMatch(
        /^default-src 'none'; style-src 'sha256-[^']+'; /,
      )
      expect(page.headers['content-security-policy']).not.toMatch(/script-src|unsafe/)
      expect(page.headers).toMatchObject({
        'x-content-type-options': 'nosniff',
        'cache-control': 'no-store',
        'x-frame-options': 'DENY',
      })
    }
    const page = (await ana.get('/sign-off/A1')).text
    expect(page).toContain('⟨U+202E⟩')
    expect(page).toContain('⟨U+0007⟩')
    expect(words(page)).toContain('&lt;script&gt;alert(1)&lt;/script&gt;')
  })

  it('in a file leaves only as a file', async () => {
    await scout.post('/api/tasks', { title: 'Files' })
    const svg = '<svg xmlns="http://www.w3.org/2000/svg" onload="alert(1)"/>'
    const file = {
      name: 'a"\u202Egnp;.svg',
      media_type: 'image/svg+xml',
      base64: Buffer.from(svg).toString('base64'),
    }
    expect((await scout.post('/api/tasks/T1/artifacts', { title: 'x', file })).status).toBe(200)
    await scout.post('/api/tasks/T1/artifacts', { title: 'Log', text: 'naïve ✓' })
    await scout.post('/api/tasks/T1/artifacts', { title: 'Link', url: 'https://example.org/' })
    const got = await ana.get('/files/F1')
    expect(got.text).toBe(svg)
    expect(got.headers).toMatchObject({
      'content-type': 'application/octet-stream',
      'content-disposition': `attachment; filename="a_gnp;.svg"; filename*=UTF-8''a%22gnp%3B.svg`,
      'content-security-policy': `default-src 'none'; sandbox`,
      'x-content-type-options': 'nosniff',
    })
    expect((await ana.get('/files/F2')).headers['content-type']).toBe('text/plain; charset=utf-8')
    expect((await ana.get('/files/F3')).status).toBe(404)
    expect((await ana.get('/files/F99')).status).toBe(404)
    expect((await ana.get('/files/../F1')).status).toBe(404)
    expect((await door.nobody.get('/files/F1')).status).toBe(401)
    expect((await scout.get('/files/F1')).status).toBe(401)
  })
})

describe('the sign-off page', () => {
  it('shows facts before words: what changed and by whom, parts, evidence, runs, what it frees', async () => {
    await scout.post('/api/tasks', {
      title: 'Cut checkout image weight',
      description: 'Checkout images weigh at most 300 kB on a first visit, measured on a throttled phone.',
      due: '2026-12-04',
      steps: [{ title: 'List' }, { title: 'Encode' }],
    })
    await scout.post('/api/tasks', { title: 'Ship the experiment' })
    await scout.post('/api/tasks/T2/dependencies', { depends_on: ['T1'] })
    door.world.pass(60_000)
    await scout.send('PATCH', '/api/tasks/T1', {
      body: {
        due: '2026-12-07',
        description: 'Checkout images weigh at most 200 kB on a first visit, measured on a throttled phone.',
      },
    })
    await scout.send('PATCH', '/api/tasks/T1', { body: { priority: 'high' } })
    await scout.send('PATCH', '/api/tasks/T1', { body: { priority: 'normal' } })
    await scout.post('/api/tasks/T1/runs', {})
    await scout.post('/api/tasks/T1/steps', { title: 'Compare' })
    await scout.post('/api/steps/S1/status', { status: 'done' })
    await scout.post('/api/steps/S2/status', { status: 'failed', note: 'No encoder.' })
    await scout.post('/api/tasks/T1/artifacts', { title: 'Measured', text: 'weight 741 → 188 kB' })
    await scout.post('/api/tasks/T1/artifacts', {
      title: 'Pull request',
      url: 'https://github.com/ruiz/storefront/pull/482',
    })
    door.world.pass(120_000)
    await scout.post('/api/tasks/T1/complete', { summary: 'All images are AVIF now.' })
    const page = (await ana.get('/sign-off/A1')).text
    const text = words(page)
    const places = [
      'What Done recorded',
      'Changed',
      'Steps',
      'Evidence',
      'Runs',
      'Done by',
      'Unblocks',
      'its own words',
      'All images are AVIF now.',
      'Approve',
    ]
    const at = places.map((place) => text.indexOf(place))
    expect(at).toEqual([...at].sort((a, b) => a - b))
    expect(at).not.toContain(-1)
    expect(page).toContain('<del>2026-12-04</del> <ins>2026-12-07</ins>')
    expect(page).toContain('<del>300 </del><ins>200 </ins>')
    expect(page).toContain('<ins>Compare</ins>')
    expect(text).not.toContain('Priority')
    expect(text).toContain('1 of 3, 1 failed')
    expect(text).toContain('github.com')
    expect(text).toContain('Not opened by Done')
    expect(text).toContain('R1 succeeded, 2 min by scout')
    expect(text).toMatch(/scoutfor.*Ana/)
    expect(text).toContain('Ship the experiment')
    expect(text).toContain('Closes T1 as done, frees T2.')
    expect(text).toMatch(/Content version \d+, unchanged since the request/)
    expect(text).toContain('scout says, in its own words, not checked by Done · just now')
    const list = words((await ana.get('/sign-off')).text)
    expect(list).toContain('1 of 3 steps, 1 failed, 2 items of evidence, frees 1')
  })

  it('says what a request became, and lists only what is undecided', async () => {
    for (const title of ['One', 'Two', 'Three', 'Four']) await scout.post('/api/tasks', { title })
    for (const id of ['T1', 'T2', 'T3', 'T4']) await scout.post(`/api/tasks/${id}/complete`)
    await ana.form('/sign-off/A1/reject', { note: 'No log.' })
    door.world.pass(1000)
    await scout.send('PATCH', '/api/tasks/T2', { body: { title: 'Two, changed' } })
    await scout.post('/api/tasks/T3/reopen')
    const text = async (id: string) => words((await ana.get(`/sign-off/${id}`)).text)
    expect(await text('A1')).toMatch(/Sent back by Ana.*No log\./s)
    expect(await text('A2')).toMatch(
      /no longer valid: voided by scout’s change on Mon 30 Nov, 09:00\..*Changed since it was asked.*Two, changed/s,
    )
    expect(await text('A3')).toContain('Withdrawn by scout')
    expect(await text('A4')).toContain('Approve')
    const list = words((await ana.get('/sign-off')).text)
    expect(list).toContain('1 request waits')
    expect(list).not.toContain('A1,')
    await scout.send('DELETE', '/api/tasks/T4')
    expect(words((await ana.get('/sign-off')).text)).toContain('Nothing waits for you.')
    const never = await ana.get('/sign-off/A99')
    expect(never.status).toBe(404)
    expect(never.text).not.toContain('list_approvals')
    expect((await ana.get('/sign-off/nonsense')).status).toBe(400)
  })

  it('tells whoever came by a link from elsewhere how to bring their session', async () => {
    const page = await door.nobody.get('/sign-off/A1')
    expect(page.text).toContain('<a href="/sign-off/A1">Open it from here</a>')
  })

  it('has a question answered by a choice or in words', async () => {
    await scout.post('/api/tasks', { title: 'One' })
    await scout.post('/api/questions', { text: 'tú or usted?', task_id: 'T1', choices: ['tú', 'usted'] })
    expect(words((await ana.get('/')).text)).toContain('1 question')
    expect((await ana.get('/questions/Q1')).text).toContain(
      '<input type="hidden" name="answer" value="usted">',
    )
    expect((await ana.form('/questions/Q1/answer', { answer: 'usted' })).status).toBe(303)
    expect((await scout.get('/api/questions/Q1')).json.answer).toBe('usted')
    const late = await ana.form('/questions/Q1/answer', { answer: 'tú' })
    expect([late.status, words(late.text)]).toEqual([409, expect.stringContaining('Nothing was changed')])
    const answered = words((await ana.get('/questions/Q1')).text)
    expect(answered).toMatch(/scout asked.*tú or usted\?.*Ana answered · Mon 30 Nov, 09:00usted/s)
    expect((await ana.get('/questions/Q9')).status).toBe(404)
  })

  it('links what is still asked, and folds what is long without hiding that there is more', async () => {
    const long = Array.from({ length: 400 }, (_, i) => `Line ${i} of many.`).join('\n')
    await scout.post('/api/tasks', { title: 'Long', description: long })
    await scout.post('/api/questions', { text: 'Which?', task_id: 'T1', hold_task: false })
    await scout.send('PATCH', '/api/tasks/T1', { body: { description: `${long}\nThe last word.` } })
    await scout.post('/api/tasks/T1/complete', { summary: long })
    const page = (await ana.get('/sign-off/A1')).text
    expect(page).toContain('href="/questions/Q1"')
    expect(page.match(/<details class="long">/g)).toHaveLength(2)
    expect(page).toContain('Show all 7,104 characters')
    expect(page).toContain('The last word.</ins>')
    const seen = words(page.replace(/<\/summary><bdi>.*?<\/bdi><\/details>/gs, ''))
    expect(seen).toContain('Line 7 of many. ⋯')
    expect(seen).not.toContain('Line 100 of')
  })
})

describe('what agents delete', () => {
  const ask = async (title: string) => {
    const { id } = (await scout.post('/api/tasks', { title })).json
    return (await scout.post(`/api/tasks/${id}/complete`)).json.request
  }

  it('is before the person, with the request that waited, and comes back by a button', async () => {
    await ask('Rotate the certificate')
    await scout.send('DELETE', '/api/tasks/T1')
    const home = words((await ana.get('/')).text)
    expect(home).toContain('No decision waits, but agents deleted something.')
    expect(home).toMatch(/Rotate the certificate.*scout deleted task T1, while a sign-off was asked: A1/s)
    expect((await ana.form('/trash/X1/bring-back', {})).headers.location).toBe('/')
    expect(words((await ana.get('/')).text)).toMatch(/1 waits for you(?!.*deleted task)/s)
    expect((await scout.get('/api/tasks/T1')).json.status).toBe('awaiting_approval')
  })

  it('is told on the request’s own page, which stays readable and comes back from there', async () => {
    await ask('Rotate the certificate')
    await scout.send('DELETE', '/api/tasks/T1')
    const page = await ana.get('/sign-off/A1')
    expect(page.status).toBe(200)
    expect(words(page.text)).toMatch(/scout deleted T1 on Mon 30 Nov, 09:00\..*What Done recorded/s)
    expect(page.text).not.toMatch(/\/approve|restore_from_trash/)
    expect((await ana.get('/api/people/sign-offs/A1')).json).not.toHaveProperty('form')
    const back = await ana.form('/sign-off/A1/bring-back', {})
    expect([back.status, back.headers.location]).toEqual([303, '/sign-off/A1'])
    expect((await ana.get('/sign-off/A1')).text).toContain('/sign-off/A1/approve')
  })

  it('is listed for a week: whole tasks and projects, by agents', async () => {
    await scout.post('/api/projects', { name: 'Old' })
    await scout.post('/api/tasks', { title: 'In it', project_id: 'P1' })
    await scout.post('/api/tasks', { title: 'Mine' })
    await ana.send('DELETE', '/api/tasks/T2')
    await scout.send('DELETE', '/api/projects/P1', { body: { name: 'Old' } })
    expect(words((await ana.get('/')).text)).toMatch(/scout deleted project P1, with 1 task(?!.*Mine)/s)
    door.world.pass(7 * 86_400_000 + 1)
    expect(words((await ana.get('/')).text)).not.toContain('deleted project')
  })

  it('comes back for nobody who can only read, and from no page of another site', async () => {
    await ask('Rotate the certificate')
    await scout.send('DELETE', '/api/tasks/T1')
    const eve = await door.browser(await linkFor(door.world, 'Eve', 'viewer'))
    for (const path of ['/', '/sign-off/A1']) expect((await eve.get(path)).text).not.toContain('Bring back')
    const { cookie } = ana.headers
    for (const path of ['/trash/X1/bring-back', '/sign-off/A1/bring-back']) {
      expect((await eve.form(path, {})).status, path).toBe(403)
      const evil = { cookie: cookie!, origin: 'https://evil.example', 'sec-fetch-site': 'cross-site' }
      const foreign = await door.nobody.send('POST', path, { headers: evil })
      expect([foreign.status, words(foreign.text)]).toEqual([
        403,
        expect.stringContaining('not sent from a page'),
      ])
      expect(words(foreign.text)).not.toMatch(/Origin|header/)
    }
    expect((await scout.get('/api/tasks/T1')).status).toBe(404)
    expect((await ana.form('/trash/X9/bring-back', {})).text).not.toContain('list_trash')
  })

  it('is gone for good once purged', async () => {
    await ask('Signed')
    await door.world.ana.call('complete_task', { id: 'T1' })
    await scout.send('DELETE', '/api/tasks/T1')
    await ana.send('DELETE', '/api/people/trash/X1', { body: { title: 'Signed' } })
    const page = await ana.get('/sign-off/A1')
    expect([page.status, words(page.text)]).toEqual([404, expect.stringContaining('removed for good')])
  })
})

describe('pages for everybody', () => {
  it('say what Done is without a session, and what waits with one', async () => {
    expect(words((await door.nobody.get('/')).text)).toContain('You are not signed in.')
    expect(words((await ana.get('/')).text)).toContain('Nothing waits for you.')
    expect((await door.nobody.get('/nothing')).status).toBe(404)
    expect((await door.nobody.get('/icon.svg')).headers['content-type']).toBe('image/svg+xml')
    expect((await door.nobody.get('/api/docs')).text).toContain('id="complete_task"')
    expect((await door.nobody.get('/api/openapi.json')).json.openapi).toBe('3.1.1')
    expect((await door.nobody.send('POST', '/api/openapi.json')).status).toBe(405)
    expect((await door.nobody.get('/api')).headers.location).toBe('/api/docs')
    expect((await door.nobody.get('/health')).json).toMatchObject({ status: 'ok' })
  })
})
