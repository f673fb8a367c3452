import type { BrowserContext, Locator, Page } from 'playwright-core'
import type { PrivateKeyAccount } from 'viem/accounts'
import { afterAll, onTestFailed } from 'vitest'
import { newWallet, type Person, signIn } from '../harness/people.ts'
import { createWallet, type InjectedWallet } from './wallet.ts'
import type { World } from './world.ts'

export type Visit = {
  context: BrowserContext
  page: Page
  wallet: InjectedWallet
  complaints: string[]
  close: () => Promise<void>
}

export type Viewport = { width: number; height: number }
export const phone: Viewport = { width: 360, height: 760 }
export const desk: Viewport = { width: 1280, height: 860 }

/** `wallets`: the accounts of the wallet in the browser. None: a browser without a wallet. */
type VisitOptions = { wallets?: PrivateKeyAccount[]; viewport?: Viewport }

/** Counts each press of a button, a link or a row. Typing in a field does not count. */
export const countSteps = () => {
  const walk = {
    steps: 0,
    press: async (target: Locator) => {
      await target.click()
      walk.steps += 1
    },
  }
  return walk
}

/** Navigates with the loaded page's router, as its links do: a fifth of the work of loading. */
export const follow = (page: Page, path: string): Promise<void> =>
  page.evaluate(`history.pushState(null, '', ${JSON.stringify(path)})`)

/** Opens each waiting approval, and comes back: approvals with a caution can then be decided with others. */
export const openEachApproval = async (page: Page, count: number): Promise<void> => {
  for (let at = 0; at < count; at += 1) {
    await page.locator('.inbox-link').nth(at).click()
    await page.getByLabel('Payment to decide').waitFor()
    await page.goBack()
  }
}

/** The first POST to this path arrives, and its answer is lost. Later ones pass, and so do dry runs. */
export const loseFirstAnswer = async (page: Page, path: string): Promise<void> => {
  let isLost = false
  await page.route(
    ({ pathname, searchParams }) => pathname === path && !searchParams.has('dry_run'),
    async (route) => {
      if (isLost || route.request().method() !== 'POST') return route.fallback()
      isLost = true
      await route.fetch()
      return route.abort()
    },
  )
}

/** Pages of one row stand for pages of a hundred. */
export const pagesOfOne = async (page: Page, path: string): Promise<void> => {
  await page.route(
    ({ pathname }) => pathname === path,
    (route) =>
      route.continue({
        url: route
          .request()
          .url()
          .replace(/limit=\d+/, 'limit=1'),
      }),
  )
}

/** Prints the page's text, which explains most failures. */
export const showOnFailure = (page: Page): void =>
  onTestFailed(async () => {
    const text = await page.evaluate('document.body.innerText').catch((error: unknown) => String(error))
    console.error(`The page at ${page.url()} shows:\n${text}`)
  })

/** A separate browser (cookies, storage, wallet) with a page of the service. */
export const visit = async ({ windows }: World, options: VisitOptions = {}): Promise<Visit> => {
  const wallets = options.wallets ?? [newWallet()]
  const window = await windows.take(wallets.length > 0)
  window.wallet = createWallet(...wallets)
  window.complaints = []
  await window.page.setViewportSize(options.viewport ?? desk)
  const { context, page, wallet, complaints } = window
  showOnFailure(page)
  return { context, page, wallet, complaints, close: () => windows.release(window) }
}

/** Visits with the cookie of a person who signed in over the API. */
export const visitAs = async (world: World, person: Person, viewport?: Viewport): Promise<Visit> => {
  const visited = await visit(world, { wallets: [person.wallet], ...(viewport && { viewport }) })
  const cookie = { name: 'service_session', value: person.cookie, url: world.service.api.url }
  await visited.context.addCookies([{ ...cookie, httpOnly: true, sameSite: 'Lax' }])
  return visited
}

export type SharedVisit = {
  /** The page at this path: loaded for the first test, reached by navigation for later ones. */
  at: (path: string) => Promise<Visit & { person: Person }>
}

/** One person and one loaded page for a part's tests that are not about a first load or sign-in: each costs a second. */
export const shareVisit = (world: World): SharedVisit => {
  let opened: Promise<Visit & { person: Person }> | undefined
  const open = async (path: string) => {
    const person = await signIn(world.service.api)
    const visited = { ...(await visitAs(world, person)), person }
    await visited.page.goto(path)
    return visited
  }
  afterAll(async () => {
    const visited = await opened?.catch(() => undefined)
    await visited?.close()
  })
  return {
    at: async (path) => {
      if (!opened) {
        opened = open(path)
        return opened
      }
      const visited = await opened
      showOnFailure(visited.page)
      visited.complaints.length = 0
      await follow(visited.page, path)
      return visited
    },
  }
}
