import { expect, test } from 'vitest'
import { createMandate } from '../../harness/mandates.ts'
import { newBeneficiary } from '../../harness/money.ts'
import { createKey, signIn } from '../../harness/people.ts'
import { createHousehold } from '../household.ts'
import { visitAs } from '../visit.ts'
import type { World } from '../world.ts'

export const mandateFlows = (world: World): void => {
  test('an end with a year of five digits is not signed, and the page goes on', async () => {
    const home = await world.household()
    const { page, complaints, close } = await visitAs(world, home.person)
    await page.goto('/mandates/new')
    await page.getByLabel(/^Purpose(?! code)/).fill('Stationery')
    await page.getByLabel('Total limit').fill('300')
    const sign = page.getByRole('button', { name: 'Sign with Test Wallet' })
    await sign.waitFor()
    await page.getByLabel('Ends', { exact: true }).fill('20261-01-01T10:00')
    await page.getByText('Enter a purpose, a total limit and an end.').waitFor()
    expect(await sign.count()).toBe(0)
    await page.getByLabel('Ends', { exact: true }).fill('2099-01-01T10:00')
    await sign.waitFor()
    expect(complaints).toEqual([])
    await close()
  })

  test('a payment offers the active mandates that its person signed for their own payments, not those of an agent', async () => {
    const person = await signIn(world.service.api)
    await newBeneficiary(person.api)
    const { grantId } = await createKey(person)
    await createMandate(world.service, person.wallet, { description: 'My groceries' })
    await createMandate(world.service, person.wallet, { description: 'For the bot', grant_id: grantId })
    const { page, complaints, close } = await visitAs(world, person)
    await page.goto('/payments/new')
    await page.getByText('More options').click()
    await page.getByLabel('Mandate').selectOption('My groceries')
    expect(await page.getByLabel('Mandate').locator('option').allTextContents()).toEqual(['None', 'My groceries'])
    expect(complaints).toEqual([])
    await close()
  })

  test('a mandate is signed with the wallet, covers a payment that names it, and is revoked', async () => {
    const home = await createHousehold(world.service)
    const { page, wallet, complaints, close } = await visitAs(world, home.person)
    await page.goto('/mandates/new')
    await page.getByLabel(/^Purpose(?! code)/).fill('Stationery')
    await page.getByLabel('Total limit').fill('30,000')
    await page.getByLabel('Only to these beneficiaries').fill('Savannah Supplies Ltd')
    await page.getByRole('button', { name: 'Remove Savannah Supplies Ltd' }).waitFor()
    await page.getByRole('button', { name: 'Sign with Test Wallet' }).click()
    await page.getByText('Mandate signed').waitFor()
    await page.getByRole('heading', { name: 'Stationery' }).waitFor()
    expect(wallet.signed.at(-1)).toContain('Stationery')
    const id = new URL(page.url()).pathname.split('/').at(-1)
    const paid = await home.person.api.post('/v1/payments', {
      beneficiary_id: home.beneficiaries.bank,
      amount_minor: '1200000',
      mandate_id: id,
    })
    expect(paid.body.status).toBe('processing')
    await page
      .getByText(/12,000.00/)
      .first()
      .waitFor()
    await page.getByRole('button', { name: 'Revoke' }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Revoke' }).click()
    await page.getByText('Mandate revoked').waitFor()
    await expect.poll(async () => (await home.person.api.get(`/v1/intent-mandates/${id}`)).body.status).toBe('revoked')
    expect(complaints).toEqual([])
    await close()
  })
}
