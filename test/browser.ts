import chromium from '@sparticuz/chromium'
import { type Browser, chromium as playwright } from 'playwright-core'

/**
 * A real Chromium without a window. On Linux it comes with the packages; elsewhere an installed Chrome is taken. Undefined
 * where there is none, which on CI is a failure.
 */
export async function openBrowser(): Promise<Browser | undefined> {
  const args = ['--no-sandbox', '--disable-gpu', '--disable-background-networking', '--disable-sync']
  if (process.platform === 'linux' && process.arch === 'x64') {
    return playwright.launch({ executablePath: await chromium.executablePath(), args, headless: true })
  }
  try {
    return await playwright.launch({ channel: 'chrome', args, headless: true })
  } catch (error) {
    if (process.env.CI) throw error
    return undefined
  }
}
