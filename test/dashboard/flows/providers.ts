import type { Page } from 'playwright-core'
import { expect, test } from 'vitest'
import type { Json } from '../../harness/client.ts'
import { createKey, newWallet, signIn } from '../../harness/people.ts'
import { newPerson, startUrl } from '../../identity/sign-in/providers.ts'
import { visit } from '../visit.ts'
import type { World } from '../world.ts'

/** A path that the service always has, so that these tests need none of the pages. */
const end = '/healthz'
const whoAmI = (page: Page): Promise<Json> => page.evaluate(`fetch('/v1/accounts/me').then((answer) => answer.json())`)

/** The service's own pages around a sign-in by a provider, and the sandbox's page. Runs first: the person they offer is new. */
export const providerFlows = (world: World): void => {
  test('a new person who signs in by both buttons, as an offered person, has one account', async () => {
    const { page, complaints, close } = await visit(world)
    await page.goto(startUrl(world.service, 'google', end))
    await expect.poll(() => page.textContent('h1')).toBe('Sign in with Google (sandbox)')
    await expect.poll(() => page.evaluate('getComputedStyle(document.body).display')).toBe('grid')
    await page.getByRole('link', { name: /Amina Otieno/ }).click()
    await page.waitForURL(`**${end}?outcome=account_created`)
    const first = await whoAmI(page)
    expect(first).toMatchObject({ email: 'amina@example.com', display_name: 'Amina Otieno' })
    await expect.poll(() => page.evaluate('document.cookie')).toBe('')
    await page.context().clearCookies()
    await page.goto(startUrl(world.service, 'github', end))
    await page.getByRole('link', { name: /Amina Otieno/ }).click()
    await page.waitForURL(`**${end}?outcome=signed_in`)
    await expect.poll(async () => (await whoAmI(page)).id).toBe(first.id)
    expect(complaints).toEqual([])
    await close()
  })

  test('another person can be entered in the form, and a refused link is shown on a page', async () => {
    const { page, complaints, close } = await visit(world)
    const { email } = newPerson()
    const be = async (outcome: string) => {
      await page.goto(startUrl(world.service, 'github', end))
      await page.getByLabel('Another email').fill(email)
      await page.getByRole('button', { name: 'Sign in as this person' }).click()
      if (outcome) await page.waitForURL(`**${end}?outcome=${outcome}`)
    }
    await be('account_created')
    const other = await signIn(world.service.api, newWallet())
    await page.context().addCookies([{ name: 'service_session', value: other.cookie, url: world.service.api.url }])
    await page.goto(`${world.service.api.url}/v1/auth/github/start?return_to=${encodeURIComponent(end)}`)
    await expect.poll(() => page.textContent('main')).toContain(other.accountId)
    await page.getByRole('link', { name: 'Continue with GitHub' }).click()
    await page.getByLabel('Another email').fill(email)
    await page.getByRole('button', { name: 'Sign in as this person' }).click()
    await page.getByRole('heading', { name: 'This sign-in belongs to another account' }).waitFor()
    await page.getByRole('link', { name: 'Go back' }).click()
    await page.waitForURL(`**${end}`)
    await expect.poll(async () => (await whoAmI(page)).id).toBe(other.accountId)
    expect(complaints).toEqual([])
    await close()
  })

  test('a link that a key began can be finished from its page', async () => {
    const { page, complaints, close } = await visit(world)
    const person = await signIn(world.service.api)
    const key = await createKey(person, { permissions: ['account.manage'] })
    const { body } = await key.api.post('/v1/accounts/me/identities', { provider: 'google', return_to: end })
    await page.goto(body.authorization_url)
    await expect.poll(() => page.textContent('main')).toContain(person.accountId)
    await page.getByRole('link', { name: 'Continue with Google' }).click()
    await page.getByRole('link', { name: /Chao Wanjiru/ }).click()
    await page.waitForURL(`**${end}?outcome=linked`)
    await expect.poll(async () => (await person.api.get('/v1/accounts/me')).body.email).toBe('chao@example.com')
    expect(complaints).toEqual([])
    await close()
  })
}
