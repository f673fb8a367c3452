import type { BrowserContext, Page } from 'playwright-core'
import type { PrivateKeyAccount } from 'viem/accounts'
import { newWallet, type Person } from '../harness/people.ts'
import { type InjectedWallet, injectWallet } from './wallet.ts'
import type { World } from './world.ts'

export type Visit = {
  context: BrowserContext
  page: Page
  wallet: InjectedWallet
  /** What went wrong in the page: exceptions, refused scripts and styles, requests to elsewhere. */
  complaints: string[]
  close: () => Promise<void>
}

export type Viewport = { width: number; height: number }
export const phone: Viewport = { width: 360, height: 760 }
const desk: Viewport = { width: 1280, height: 860 }

const isOwn = (url: string, own: string): boolean => /^(data|blob):/.test(url) || new URL(url).origin === own

const listen = (page: Page, own: string): string[] => {
  const complaints: string[] = []
  page.on('pageerror', (error) => complaints.push(`exception: ${error.message}`))
  page.on('console', (message) => {
    if (/Content.Security.Policy|Refused to/i.test(message.text())) complaints.push(`refused: ${message.text()}`)
  })
  page.on('request', (request) => {
    if (!isOwn(request.url(), own)) complaints.push(`leaves the site: ${request.url()}`)
  })
  return complaints
}

type VisitOptions = { wallets?: PrivateKeyAccount[]; viewport?: Viewport }

/** A browser of its own (cookies, storage, wallet) looking at the service. */
export const visit = async ({ browser, service }: World, options: VisitOptions = {}): Promise<Visit> => {
  const own = service.api.url
  const context = await browser.newContext({
    baseURL: own,
    viewport: options.viewport ?? desk,
    reducedMotion: 'reduce',
    permissions: ['clipboard-read', 'clipboard-write'],
  })
  context.setDefaultTimeout(10_000)
  const wallet = await injectWallet(context, ...(options.wallets ?? [newWallet()]))
  const page = await context.newPage()
  return { context, page, wallet, complaints: listen(page, own), close: () => context.close() }
}

/** The same, signed in already: with the cookie of a person who signed in over the API. */
export const visitAs = async (world: World, person: Person, viewport?: Viewport): Promise<Visit> => {
  const visited = await visit(world, { wallets: [person.wallet], ...(viewport && { viewport }) })
  const cookie = { name: 'service_session', value: person.cookie, url: world.service.api.url }
  await visited.context.addCookies([{ ...cookie, httpOnly: true, sameSite: 'Lax' }])
  return visited
}
