import { expect, test } from 'vitest'
import { newWallet, signIn } from '../../harness/people.ts'
import { createInspector } from '../axe.ts'
import { shareVisit, visitAs } from '../visit.ts'
import type { World } from '../world.ts'

export const accountFlows = (world: World): void => {
  const shared = shareVisit(world)

  test('the only sign-in method cannot be unlinked, and the page says why', async () => {
    const { page } = await shared.at('/account')
    const unlink = page.getByRole('button', { name: 'Unlink Wallet' })
    expect(await unlink.getAttribute('aria-disabled')).toBe('true')
    await page.getByText('This is your only sign-in method').waitFor()
    await unlink.click({ force: true })
    expect(await page.getByRole('dialog').count()).toBe(0)
  })

  test('a second wallet is linked by its signature, and either can then be unlinked', async () => {
    const { page, person, wallet, complaints } = await shared.at('/account')
    const second = newWallet()
    wallet.accounts = [second]
    await page.getByRole('button', { name: 'Link wallet', exact: true }).click()
    await page.getByRole('button', { name: 'Link Test Wallet' }).click()
    await page.getByText('Wallet linked').waitFor()
    const identities = (await person.api.get('/v1/accounts/me')).body.identities
    expect(identities.map((identity: { subject: string }) => identity.subject)).toContain(second.address)
    // Not the wallet that started this session, because unlinking it would end the session.
    await page.getByRole('button', { name: 'Unlink Wallet' }).nth(1).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Unlink' }).click()
    await page.getByText('Wallet unlinked').waitFor()
    await page.getByText('This is your only sign-in method').waitFor()
    expect(complaints).toEqual([])
  })

  test("another person's wallet is not linked; another address of the same wallet can be chosen", async () => {
    const other = await signIn(world.service.api)
    const { page, wallet } = await shared.at('/account')
    wallet.accounts = [other.wallet, newWallet()]
    await page.getByRole('button', { name: 'Link wallet', exact: true }).click()
    await page.getByRole('button', { name: 'Link Test Wallet' }).click()
    await page.getByText('This wallet belongs to another account').waitFor()
    await page.getByRole('button', { name: 'Choose another account in Test Wallet' }).click()
    await page.getByText('Wallet linked').waitFor()
  })

  test('Google is linked on its own page, without another page before it, and shown by its e-mail address', async () => {
    const person = await signIn(world.service.api)
    const { page, close } = await visitAs(world, person)
    await page.goto('/account')
    const visited: string[] = []
    page.on('framenavigated', (frame) => visited.push(new URL(frame.url()).pathname))
    await page.getByRole('button', { name: 'Link Google', exact: true }).click()
    const email = `somebody.${Date.now()}@example.com`
    await page.getByLabel(/e-?mail/i).fill(email)
    await page.getByRole('button').last().click()
    await page.getByText('Linked to your account').waitFor()
    await page.getByText(email).first().waitFor()
    expect(visited.filter((path) => path.startsWith('/link/'))).toEqual([])
    await close()
  })

  test('a Google account of another person is not linked, and the page that says so is accessible too', async () => {
    const email = `shared.${Date.now()}@example.com`
    const linkAs = async (person: Awaited<ReturnType<typeof signIn>>) => {
      const visited = await visitAs(world, person)
      await visited.page.goto('/account')
      await visited.page.getByRole('button', { name: 'Link Google', exact: true }).click()
      await visited.page.getByLabel(/e-?mail/i).fill(email)
      await visited.page.getByRole('button').last().click()
      return visited
    }
    const first = await linkAs(await signIn(world.service.api))
    await first.page.getByText('Linked to your account').waitFor()
    const second = await linkAs(await signIn(world.service.api))
    await second.page.getByRole('heading', { name: 'This sign-in belongs to another account' }).waitFor()
    expect(await createInspector().inBothThemes(second.page)).toEqual([])
    await second.page.getByRole('link', { name: 'Go back' }).click()
    await second.page.getByRole('button', { name: 'Link Google', exact: true }).waitFor()
    await first.close()
    await second.close()
  })

  test('a name is saved, and a session that is ended elsewhere shows the sign-in at once', async () => {
    const person = await signIn(world.service.api)
    const elsewhere = await signIn(world.service.api, person.wallet)
    const here = await visitAs(world, person)
    const there = await visitAs(world, elsewhere)
    await there.page.goto('/beneficiaries')
    await there.page.getByRole('heading', { name: 'Beneficiaries' }).waitFor()
    await here.page.goto('/account')
    await here.page.getByLabel('Display name').fill('Achieng')
    await here.page.getByRole('button', { name: 'Save' }).click()
    await here.page.getByText('Name saved').waitFor()
    await here.page.getByRole('button', { name: 'End session' }).click()
    await here.page.getByText('Session ended').waitFor()
    await there.page.getByRole('heading', { name: 'Sign in' }).waitFor()
    await here.close()
    await there.close()
  })

  test('signing out everywhere else ends the other sessions and keeps this one', async () => {
    const person = await signIn(world.service.api)
    const others = [await signIn(world.service.api, person.wallet), await signIn(world.service.api, person.wallet)]
    const { page, close } = await visitAs(world, person)
    await page.goto('/account')
    await page.getByRole('button', { name: 'Sign out everywhere else' }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Sign out everywhere else' }).click()
    await page.getByText('2 sessions ended').waitFor()
    for (const other of others) expect((await other.api.get('/v1/accounts/me')).status).toBe(401)
    expect((await person.api.get('/v1/accounts/me')).status).toBe(200)
    await close()
  })
}
