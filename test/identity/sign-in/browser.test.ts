import { existsSync } from 'node:fs'
import { type Browser, chromium, type Page } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { Json } from '../../harness/client.ts'
import { createKey, newWallet, signIn } from '../../harness/people.ts'
import { startService, type TestService } from '../../harness/service.ts'
import { newPerson, startUrl } from './providers.ts'

const executablePath = process.env.CHROMIUM_PATH ?? '/usr/bin/chromium'
const missing = !existsSync(executablePath)
if (missing) console.warn(`SKIPPED: no browser at ${executablePath}; set CHROMIUM_PATH to try sign-in in a real one`)

let service: TestService
let chrome: Browser
beforeAll(async () => {
  if (missing) return
  service = await startService()
  chrome = await chromium.launch({ executablePath, args: ['--no-sandbox'] })
}, 60_000)
afterAll(async () => {
  await chrome?.close()
  await service?.close()
})

/** A page of a browser of its own, which remembers what the console complained of: a blocked style or form shows there. */
const newPage = async (): Promise<{ page: Page; complaints: string[] }> => {
  const page = await (await chrome.newContext()).newPage()
  const complaints: string[] = []
  page.on('console', (message) => message.text().includes('Content Security Policy') && complaints.push(message.text()))
  return { page, complaints }
}

/** Ends at a path that the service always has, so that these tests need no dashboard. */
const end = '/healthz'
const whoAmI = (page: Page): Promise<Json> => page.evaluate(`fetch('/v1/accounts/me').then((answer) => answer.json())`)

test.skipIf(missing)('a new person who signs in by both buttons, as an offered person, has one account', async () => {
  const { page, complaints } = await newPage()
  await page.goto(startUrl(service, 'google', end))
  expect(await page.textContent('h1')).toBe('Sign in with Google (sandbox)')
  expect(await page.evaluate('getComputedStyle(document.body).display')).toBe('grid')
  await page.getByRole('link', { name: /Amina Otieno/ }).click()
  await page.waitForURL(`**${end}?outcome=account_created`)
  const first = await whoAmI(page)
  expect(first).toMatchObject({ email: 'amina@example.com', display_name: 'Amina Otieno' })
  expect(await page.evaluate('document.cookie')).toBe('')
  await page.context().clearCookies()
  await page.goto(startUrl(service, 'github', end))
  await page.getByRole('link', { name: /Amina Otieno/ }).click()
  await page.waitForURL(`**${end}?outcome=signed_in`)
  expect((await whoAmI(page)).id).toBe(first.id)
  expect(complaints).toEqual([])
})

test.skipIf(missing)('another person can be entered in the form, and a refused link is shown on a page', async () => {
  const { page, complaints } = await newPage()
  const { email } = newPerson()
  const be = async (outcome: string) => {
    await page.goto(startUrl(service, 'github', end))
    await page.getByLabel('Another e-mail').fill(email)
    await page.getByRole('button', { name: 'Be this person' }).click()
    if (outcome) await page.waitForURL(`**${end}?outcome=${outcome}`)
  }
  await be('account_created')
  const other = await signIn(service.api, newWallet())
  await page.context().addCookies([{ name: 'service_session', value: other.cookie, url: service.api.url }])
  await page.goto(`${service.api.url}/v1/auth/github/start?return_to=${encodeURIComponent(end)}`)
  expect(await page.textContent('main')).toContain(other.accountId)
  await page.getByRole('link', { name: 'Continue with GitHub' }).click()
  await page.getByLabel('Another e-mail').fill(email)
  await page.getByRole('button', { name: 'Be this person' }).click()
  await page.getByRole('heading', { name: 'This sign-in belongs to another account' }).waitFor()
  await page.getByRole('link', { name: 'Go back' }).click()
  await page.waitForURL(`**${end}`)
  expect((await whoAmI(page)).id).toBe(other.accountId)
  expect(complaints).toEqual([])
})

test.skipIf(missing)('a link that a key began can be finished from its page', async () => {
  const { page, complaints } = await newPage()
  const person = await signIn(service.api)
  const key = await createKey(person, { permissions: ['account.manage'] })
  const { body } = await key.api.post('/v1/accounts/me/identities', { provider: 'google', return_to: end })
  await page.goto(body.authorization_url)
  expect(await page.textContent('main')).toContain(person.accountId)
  await page.getByRole('link', { name: 'Continue with Google' }).click()
  await page.getByRole('link', { name: /Brian Kamau/ }).click()
  await page.waitForURL(`**${end}?outcome=linked`)
  expect((await person.api.get('/v1/accounts/me')).body.email).toBe('brian@example.com')
  expect(complaints).toEqual([])
})
