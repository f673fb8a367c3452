import type { Browser, BrowserContext, Page } from 'playwright-core'
import type { PrivateKeyAccount } from 'viem/accounts'
import { newWallet, type Person, signIn } from '../harness/people.ts'
import type { TestService } from '../harness/service.ts'
import { type InjectedWallet, injectWallet } from './wallet.ts'

export type Visit = {
  context: BrowserContext
  page: Page
  wallet: InjectedWallet
  /** What went wrong in the page: exceptions, refused scripts and styles, requests to elsewhere. */
  complaints: string[]
  goto: (path: string) => Promise<void>
}

export type Viewport = { width: number; height: number }

const isOwn = (url: string, own: string): boolean => /^(data|blob):/.test(url) || new URL(url).origin === own

/** A browser of its own (cookies, storage, wallet) looking at the service. */
export const visit = async (
  browser: Browser,
  service: TestService,
  options: { wallets?: PrivateKeyAccount[]; viewport?: Viewport } = {},
): Promise<Visit> => {
  const own = service.api.url
  const context = await browser.newContext({
    baseURL: own,
    viewport: options.viewport ?? { width: 1280, height: 900 },
    reducedMotion: 'reduce',
  })
  const wallet = await injectWallet(context, ...(options.wallets ?? [newWallet()]))
  const page = await context.newPage()
  const complaints: string[] = []
  page.on('pageerror', (error) => complaints.push(`exception: ${error.message}`))
  page.on('console', (message) => {
    if (/Content.Security.Policy|Refused to/i.test(message.text())) complaints.push(`refused: ${message.text()}`)
  })
  page.on('request', (request) => {
    if (!isOwn(request.url(), own)) complaints.push(`leaves the site: ${request.url()}`)
  })
  const goto = async (path: string) => {
    await page.goto(path)
  }
  return { context, page, wallet, complaints, goto }
}

/** The same, signed in already: the cookie of a person who signed in over the API. */
export const visitAs = async (browser: Browser, service: TestService, person: Person, viewport?: Viewport): Promise<Visit> => {
  const visited = await visit(browser, service, { wallets: [person.wallet], ...(viewport && { viewport }) })
  await visited.context.addCookies([
    { name: 'service_session', value: person.cookie, url: service.api.url, httpOnly: true, sameSite: 'Lax' },
  ])
  return visited
}

export const newPerson = (service: TestService): Promise<Person> => signIn(service.api)
