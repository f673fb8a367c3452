import { expect, test } from 'vitest'
import { newWallet, signIn } from '../../harness/people.ts'
import { visit, visitAs } from '../visit.ts'
import type { World } from '../world.ts'

export const signInFlows = (world: World): void => {
  test('a new person signs in with a wallet, has an account, and reaches the page that they requested', async () => {
    const { page, wallet, complaints, close } = await visit(world)
    const refused: string[] = []
    page.on('response', (response) => response.status() >= 400 && refused.push(response.url()))
    await page.goto('/beneficiaries?from=link')
    await page.getByRole('heading', { name: 'Sign in' }).waitFor()
    // Without a request the page knows that nobody is signed in.
    expect(refused).toEqual([])
    await page.getByRole('button', { name: 'Continue with Test Wallet' }).click()
    await page.getByText('Your account is ready').waitFor()
    await page.getByRole('heading', { name: 'Beneficiaries' }).waitFor()
    expect(new URL(page.url()).pathname + new URL(page.url()).search).toBe('/beneficiaries?from=link')
    await expect.poll(() => page.evaluate('document.activeElement.id')).toBe('main')
    expect(wallet.signed[0]).toContain('wants you to sign in')
    expect(complaints).toEqual([])
    await close()
  })

  test('a person who declines in the wallet reads that nothing was signed, and can try again', async () => {
    const { page, wallet, close } = await visit(world)
    await page.goto('/sign-in')
    wallet.declineNext()
    await page.getByRole('button', { name: /Test Wallet/ }).click()
    await page.getByText('You declined in the wallet. Nothing was signed.').waitFor()
    await page.getByRole('button', { name: /Test Wallet/ }).click()
    await page.getByRole('heading', { name: 'Overview' }).waitFor()
    await close()
  })

  test.each(['Google', 'GitHub'])('%s signs in through its own page and comes back', async (provider) => {
    const { page, close } = await visit(world)
    await page.goto('/sign-in?return_to=/account')
    await page.getByRole('button', { name: `Continue with the sandbox’s ${provider}` }).click()
    await page.getByRole('link', { name: /Amina Otieno/ }).click()
    await page.getByRole('heading', { name: 'Account' }).waitFor()
    expect(new URL(page.url()).search).toBe('')
    // The person's own address is never masked.
    await page.getByText('amina@example.com', { exact: true }).nth(1).waitFor()
    await expect.poll(() => page.locator('main').textContent()).not.toMatch(/[*…]@|@[*…]/)
    await close()
  })

  test('a link to another site in the address is ignored', async () => {
    const { page, complaints, close } = await visit(world)
    await page.goto('/sign-in?return_to=//evil.example/')
    await page.getByRole('button', { name: /Test Wallet/ }).click()
    await page.getByRole('heading', { name: 'Overview' }).waitFor()
    expect(complaints).toEqual([])
    await close()
  })

  test('signing out ends the session, and the next page asks for a sign-in', async () => {
    const person = await signIn(world.service.api, newWallet())
    const { page, close } = await visitAs(world, person)
    await page.goto('/')
    await page.getByRole('button', { name: /^Account / }).click()
    await page.getByRole('button', { name: 'Sign out' }).click()
    await page.getByRole('heading', { name: 'Sign in' }).waitFor()
    await expect.poll(async () => (await person.api.get('/v1/accounts/me')).status).toBe(401)
    await close()
  })

  test('a sign-out that the service did not receive says so and stays on the page, and can be repeated', async () => {
    const person = await signIn(world.service.api)
    const { page, close } = await visitAs(world, person)
    await page.goto('/account')
    const signOut = page.getByRole('button', { name: 'Sign out', exact: true }).first()
    await page.route('**/v1/auth/logout', (route) => route.abort(), { times: 1 })
    await signOut.click()
    await page.getByText('You couldn’t be signed out. Check your connection').waitFor()
    expect(new URL(page.url()).pathname).toBe('/account')
    expect((await person.api.get('/v1/accounts/me')).status).toBe(200)
    await signOut.click()
    await page.getByRole('heading', { name: 'Sign in' }).waitFor()
    expect((await person.api.get('/v1/accounts/me')).status).toBe(401)
    await close()
  })

  test('a person whose session ends while they fill in a form is informed, and finds the form unchanged after the sign-in', async () => {
    const person = await signIn(world.service.api)
    const { page, close } = await visitAs(world, person)
    await page.goto('/beneficiaries/new')
    await page.getByLabel('Name', { exact: true }).fill('Half typed')
    await page.getByLabel('Mobile number').fill('0712 345 678')
    await person.api.post('/v1/auth/logout')
    await page.getByText('Your session has ended').waitFor()
    await page.getByRole('button', { name: /Test Wallet/ }).click()
    await page.getByRole('heading', { name: 'Add beneficiary' }).waitFor()
    await expect.poll(() => page.getByLabel('Name', { exact: true }).inputValue()).toBe('Half typed')
    await expect.poll(() => page.getByLabel('Mobile number').inputValue()).toBe('0712 345 678')
    await page.getByRole('link', { name: 'Beneficiaries' }).first().click()
    await page.getByRole('link', { name: 'Add beneficiary' }).first().click()
    await expect.poll(() => page.getByLabel('Name', { exact: true }).inputValue()).toBe('')
    await close()
  })
}
