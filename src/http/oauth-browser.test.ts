import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { openBrowser } from '../../test/browser.ts'
import { type HttpWorld, newHttpWorld } from '../../test/http.ts'
import { newHost } from '../../test/oauth.ts'
import { actorOfSession } from '../auth/actor.ts'
import { issueSignInLink } from '../auth/console.ts'
import { setPassword } from '../auth/sign-in.ts'

const browser = await openBrowser()

/** The site of a host: another one than Done's, to which its pages lead and from which people come back. */
interface Site {
  origin: string
  /** What its start page holds. */
  shows: string
  /** Addresses at which it was called. */
  called: URL[]
  server: Server
}

async function openSite(): Promise<Site> {
  const site: Site = { origin: '', shows: '', called: [], server: createServer() }
  site.server.on('request', (request, response) => {
    const url = new URL(request.url ?? '', site.origin)
    if (url.pathname !== '/favicon.ico') site.called.push(url)
    response.setHeader('content-type', 'text/html')
    response.end(url.pathname === '/' ? site.shows : '<h1>You can close this page</h1>')
  })
  await new Promise<void>((resolve) => site.server.listen(0, '127.0.0.1', resolve))
  site.origin = `http://127.0.0.1:${(site.server.address() as AddressInfo).port}`
  return site
}

describe.skipIf(!browser)('in a real browser', () => {
  let door: HttpWorld
  let site: Site
  /** Done under another name than the host's, so that the two are different sites. */
  let done: string
  beforeAll(async () => {
    door = await newHttpWorld()
    site = await openSite()
    done = door.origin.replace('127.0.0.1', 'localhost')
  })
  afterAll(async () => {
    await browser?.close()
    site.server.closeAllConnections()
    site.server.close()
    await door.close()
  })

  async function signedIn(page: Page): Promise<void> {
    await page.goto(done + (await issueSignInLink(door.world.done.store, door.world.account)))
    await page.click('button.pri')
    await page.waitForURL(`${done}/`)
  }

  /** Runs in a fresh browser, and gives what that said against the pages. */
  async function visit(run: (page: Page) => Promise<void>): Promise<string[]> {
    const context = await (browser as Browser).newContext({ viewport: { width: 900, height: 900 } })
    const page = await context.newPage()
    const complaints: string[] = []
    page.on('console', (message) => {
      if (/Content Security Policy|Trusted/.test(message.text())) complaints.push(message.text())
    })
    try {
      await run(page)
      return complaints
    } finally {
      await context.close()
    }
  }

  it('somebody follows a host’s link, sees who asks for what, allows it, and the host works', async () => {
    const complaints = await visit(async (page) => {
      const host = newHost(door, { at: done, waitsAt: `${site.origin}/callback` })
      const asked = (await host.connect())!
      await signedIn(page)
      site.shows = `<a href="${asked.href.replaceAll('&', '&amp;')}">Connect Done</a>`
      await page.goto(site.origin)
      await page.click('text=Connect Done')
      await page.waitForSelector('text=Let Test host use Done for you?')
      const text = await page.textContent('main')
      expect(text).toContain('nobody has checked it')
      expect(text).toContain(`a program on the computer at which you sit (${site.origin.slice(7)})`)
      if (process.env.DONE_SHOTS)
        await page.screenshot({ path: `${process.env.DONE_SHOTS}/consent.png`, fullPage: true })
      await page.fill('#agent', 'Desk helper')
      await page.click('text=only read')
      await page.selectOption('#tools', 'planner')
      await page.click('button:has-text("Allow")')
      await page.waitForURL(`${site.origin}/callback?*`)

      await host.finish(site.called.at(-1)!)
      expect(host.tokens()?.scope).toBe('read')
      expect(await host.connect()).toBeUndefined()
      const tools = (await host.client.listTools()).tools.map(({ name }) => name)
      expect(tools).toContain('list_tasks')
      expect(tools).not.toContain('create_task')
      expect(tools).not.toContain('list_sources')
      await host.close()

      await page.goto(`${done}/account`)
      expect(await page.textContent('main')).toContain(
        'Works as G4 Desk helper, may read, narrowed to planner',
      )
      if (process.env.DONE_SHOTS)
        await page.screenshot({ path: `${process.env.DONE_SHOTS}/account.png`, fullPage: true })
      await page.click('button:has-text("Disconnect")')
      await page.waitForSelector('text=None. A host such as')
      expect(await host.connect()).toBeInstanceOf(URL)
    })
    expect(complaints).toEqual([])
  })

  it('who is not signed in signs in with their password, and comes back to what was asked', async () => {
    const complaints = await visit(async (page) => {
      const { store } = door.world.done
      const link = await issueSignInLink(store, door.world.account)
      const cookie = (await door.browser(link)).headers.cookie!
      const ana = (await actorOfSession(store, cookie.slice(cookie.indexOf('=') + 1)))!
      await setPassword(door.world.done, ana, 'ana@example.org', 'correct horse battery')

      const host = newHost(door, { at: done, waitsAt: `${site.origin}/callback` })
      await page.goto((await host.connect())!.href)
      await page.fill('#login', 'ana@example.org')
      await page.fill('#password', 'correct horse battery')
      await page.click('button.pri')
      await page.waitForSelector('text=Let Test host use Done for you?')
      await page.click('button:has-text("Refuse")')
      await page.waitForURL(`${site.origin}/callback?*`)
      expect(site.called.at(-1)!.searchParams.get('error')).toBe('access_denied')
    })
    expect(complaints).toEqual([])
  })

  it('no other site can put the question into a frame', async () => {
    const complaints = await visit(async (page) => {
      const host = newHost(door, { at: done, waitsAt: `${site.origin}/callback` })
      const asked = (await host.connect())!
      await signedIn(page)
      site.shows = `<iframe width="800" height="800" src="${asked.href.replaceAll('&', '&amp;')}"></iframe>`
      await page.goto(site.origin, { waitUntil: 'networkidle' })
      for (const frame of page.frames().slice(1)) expect(await frame.content()).not.toContain('Allow')
    })
    expect(complaints).toEqual([expect.stringContaining(`frame-ancestors 'none'`)])
  })
})
