import { expect, test } from 'vitest'
import { newWallet, signIn } from '../../harness/people.ts'
import { visit, visitAs } from '../visit.ts'
import type { World } from '../world.ts'

export const signInFlows = (world: World): void => {
  test('a newcomer signs in with a wallet, has an account, and is where they were going', async () => {
    const { page, wallet, complaints, close } = await visit(world)
    await page.goto('/beneficiaries?from=link')
    await page.getByRole('heading', { name: 'Sign in' }).waitFor()
    await page.getByRole('button', { name: 'Continue with Test Wallet' }).click()
    await page.getByText('Your account is ready').waitFor()
    await page.getByRole('heading', { name: 'Beneficiaries' }).waitFor()
    expect(new URL(page.url()).pathname + new URL(page.url()).search).toBe('/beneficiaries?from=link')
    expect(wallet.signed[0]).toContain('wants you to sign in')
    expect(complaints).toEqual([])
    await close()
  })

  test('who declines in the wallet is told that nothing was signed, and can try again', async () => {
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
    await page.getByRole('button', { name: `Continue with ${provider}` }).click()
    await page.getByRole('link', { name: /Amina Otieno/ }).click()
    await page.getByRole('heading', { name: 'Account' }).waitFor()
    expect(new URL(page.url()).search).toBe('')
    await page.getByText('amina@example.com', { exact: true }).waitFor()
    await close()
  })

  test('a link to another site in the address leads nowhere but here', async () => {
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
    expect((await person.api.get('/v1/accounts/me')).status).toBe(401)
    await close()
  })
}
