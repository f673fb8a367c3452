import type { Browser, BrowserContext, Page } from 'playwright-core'
import { newWallet } from '../harness/people.ts'
import { createWallet, type InjectedWallet, injectWallet } from './wallet.ts'

export type Window = {
  context: BrowserContext
  page: Page
  /** Whether the window's pages find the wallet. */
  hasWallet: boolean
  wallet: InjectedWallet
  /** Faults in the page: exceptions, refused scripts and styles, requests to elsewhere. */
  complaints: string[]
}

const permissions = ['clipboard-read', 'clipboard-write']

const isOwn = (url: string, own: string): boolean => /^(data|blob|about):/.test(url) || new URL(url).origin === own

const listen = (page: Page, own: string, complain: (complaint: string) => void): void => {
  page.on('pageerror', (error) => complain(`exception: ${error.message}`))
  page.on('console', (message) => {
    if (/Content.Security.Policy|Refused to/i.test(message.text())) complain(`refused: ${message.text()}`)
  })
  page.on('request', (request) => {
    if (!isOwn(request.url(), own)) complain(`leaves the site: ${request.url()}`)
  })
}

const open = async (browser: Browser, own: string, hasWallet: boolean): Promise<Window> => {
  const context = await browser.newContext({
    baseURL: own,
    reducedMotion: 'reduce',
    permissions,
  })
  context.setDefaultTimeout(60_000)
  const wallet = createWallet(newWallet())
  const window: Window = { context, page: await context.newPage(), hasWallet, wallet, complaints: [] }
  if (hasWallet) await injectWallet(context, () => window.wallet)
  listen(window.page, own, (complaint) => window.complaints.push(complaint))
  return window
}

/** Deletes everything that a page can store, so that the window's next test starts with an empty browser. */
const clean = async ({ context, page }: Window): Promise<void> => {
  for (const extra of context.pages()) if (extra !== page) await extra.close()
  await page.unrouteAll()
  await context.setOffline(false)
  await context.clearPermissions()
  await context.grantPermissions(permissions)
  await context.clearCookies()
  // The old page stays until another one is loaded, and must not write meanwhile.
  await page.evaluate('localStorage.clear(), sessionStorage.clear(), Storage.prototype.setItem = () => {}')
  await page.emulateMedia({ colorScheme: 'light' })
}

export type Windows = {
  take: (hasWallet: boolean) => Promise<Window>
  /** Cleans the window for the next test. A failed test's window is not reused. */
  release: (window: Window) => Promise<void>
}

/** Opening a window costs the browser over a second of processor time, so only as many exist as are open at once. */
export const createWindows = (browser: () => Browser, own: () => string): Windows => {
  const idle: Window[] = []
  return {
    take: async (hasWallet) => {
      const index = idle.findLastIndex((window) => window.hasWallet === hasWallet)
      const [window] = index === -1 ? [] : idle.splice(index, 1)
      return window ?? open(browser(), own(), hasWallet)
    },
    release: async (window) => {
      await clean(window)
      idle.push(window)
    },
  }
}
