import { randomBytes } from 'node:crypto'
import { type Browser, type BrowserPage, createBrowser, linksOf } from '../../harness/browser.ts'
import type { TestService } from '../../harness/service.ts'

export type SandboxPerson = { email: string; name?: string; verified?: boolean }
export type Provider = 'google' | 'github'

export const newPerson = (): SandboxPerson => ({ email: `p${randomBytes(6).toString('hex')}@example.com`, name: 'Somebody New' })

/** The redirect of the sandbox's page after the choice of this person. */
export const choose = (page: BrowserPage, person: SandboxPerson): string => {
  const link = linksOf(page).find((href) => href.includes('/choose?'))
  if (!link) throw new Error(`no page to choose on: ${page.status} ${page.html}`)
  const url = new URL(link)
  url.searchParams.set('email', person.email)
  url.searchParams.set('name', person.name ?? '')
  if (person.verified === false) url.searchParams.set('unverified', '1')
  else url.searchParams.delete('unverified')
  return url.href
}

export const startUrl = (service: TestService, provider: Provider, returnTo = '/account') =>
  `${service.api.url}/v1/auth/${provider}/start?return_to=${encodeURIComponent(returnTo)}`

/** Goes up to the provider's answer, without delivering it to the callback. */
export const callbackUrl = async (browser: Browser, start: string, person: SandboxPerson): Promise<string> => {
  const opened = await browser.open(start)
  // A link first shows one of our pages.
  const page = opened.url.includes('/link/') ? await browser.open(linksOf(opened)[0] ?? '') : opened
  return (await browser.step(choose(page, person))).headers.get('location') ?? ''
}

export type SignInResult = {
  response: BrowserPage
  location: string | null
  outcome: string | null
  cookie: string
  browser: Browser
}

/** Signs in, or links if the browser is signed in, and follows all redirects. */
export const continueWith = async (
  service: TestService,
  provider: Provider,
  person: SandboxPerson,
  options: { browser?: Browser; returnTo?: string } = {},
): Promise<SignInResult> => {
  const browser = options.browser ?? createBrowser()
  const response = await browser.step(await callbackUrl(browser, startUrl(service, provider, options.returnTo), person))
  const location = response.headers.get('location')
  const outcome = location === null ? null : new URL(location, service.api.url).searchParams.get('outcome')
  return { response, location, outcome, cookie: browser.cookies.get('service_session') ?? '', browser }
}

/** The account behind a session. */
export const me = async (service: TestService, cookie: string) => (await service.api.get('/v1/accounts/me', { cookie })).body
