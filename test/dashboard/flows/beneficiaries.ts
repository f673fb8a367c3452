import { expect, test } from 'vitest'
import type { Json } from '../../harness/client.ts'
import { credit } from '../../harness/money.ts'
import { follow, shareVisit } from '../visit.ts'
import type { World } from '../world.ts'

export const beneficiaryFlows = (world: World): void => {
  const shared = shareVisit(world)

  test('a wrong destination is marked at its field; a correct one is saved and never shown again', async () => {
    const { page, complaints } = await shared.at('/beneficiaries')
    await page.getByRole('link', { name: 'Add beneficiary' }).first().click()
    await page.getByLabel('Name', { exact: true }).fill('Njeri')
    const destination = page.getByLabel('Mobile number')
    await destination.fill('12')
    await page.getByRole('button', { name: 'Add beneficiary' }).click()
    await page.locator('[aria-invalid="true"]').waitFor()
    await expect.poll(() => destination.getAttribute('aria-invalid')).toBe('true')
    await destination.fill('0712 345 678')
    await page.getByRole('button', { name: 'Add beneficiary' }).click()
    await page.getByRole('heading', { name: 'Njeri' }).waitFor()
    await expect.poll(() => page.content()).not.toContain('712345678')
    expect(complaints).toEqual([])
  })

  test('payments to a beneficiary are stopped and allowed again; an archived one disappears', async () => {
    const { page, person } = await shared.at('/beneficiaries')
    const body = { type: 'utility', display_name: 'Water', payment_rail: 'MPESA_B2B', destination: '555123' }
    const { id } = (await person.api.post('/v1/beneficiaries', body)).body
    const status = async () => (await person.api.get(`/v1/beneficiaries/${id}`)).body.status
    await follow(page, `/beneficiaries/${id}`)
    const confirm = async (name: string) => {
      await page.getByRole('button', { name, exact: true }).click()
      await page.getByRole('dialog').getByRole('button', { name, exact: true }).click()
      await page.getByRole('dialog').waitFor({ state: 'detached' })
    }
    await confirm('Freeze')
    await page.getByText('Payments to this beneficiary are frozen').waitFor()
    await expect.poll(() => status()).toBe('frozen')
    await confirm('Unfreeze')
    await expect.poll(() => status()).toBe('active')
    await confirm('Archive')
    await expect.poll(() => status()).toBe('archived')
    await expect.poll(() => page.getByRole('link', { name: 'Pay', exact: true }).count()).toBe(0)
  })

  test('a bank is chosen by its name', async () => {
    const { page, person } = await shared.at('/beneficiaries/new')
    await page.getByRole('radio', { name: /PesaLink/ }).check()
    await page.getByLabel('Name', { exact: true }).fill('Landlord')
    await page.getByLabel('Bank', { exact: true }).selectOption('Equity Bank')
    await page.getByRole('textbox', { name: 'Account number' }).fill('0011547896523')
    await page.getByRole('button', { name: 'Add beneficiary' }).click()
    await page.getByRole('heading', { name: 'Landlord' }).waitFor()
    await page.getByText('Equity Bank').waitFor()
    const [beneficiary] = (await person.api.get('/v1/beneficiaries')).body.data
    expect(beneficiary).toMatchObject({ bank_code: '68', payment_rail: 'PESALINK' })
  })

  test('a number that another beneficiary has is pointed out, and the new one can be archived at once', async () => {
    const { page, person } = await shared.at('/beneficiaries')
    const body = { type: 'person', payment_rail: 'MPESA_B2C', destination: '0722155720' }
    const { id } = (await person.api.post('/v1/beneficiaries', { ...body, display_name: 'Otieno' })).body
    await follow(page, '/beneficiaries/new')
    await page.getByRole('radio', { name: 'M-PESA to a phone' }).check()
    await page.getByLabel('Name', { exact: true }).fill('Kenya Power')
    await page.getByLabel('Mobile number').fill('0722 155 720')
    await page.getByRole('button', { name: 'Add beneficiary' }).click()
    await page.getByText('Another beneficiary has the same number').waitFor()
    await page.getByRole('link', { name: 'Otieno' }).waitFor()
    await page.getByRole('button', { name: 'Archive the new one' }).click()
    await page.getByRole('heading', { name: 'Otieno' }).waitFor()
    const named = (await person.api.get('/v1/beneficiaries?q=Kenya%20Power&status=all')).body.data
    expect(named.map((one: Json) => one.status)).toEqual(['archived'])
    expect(new URL(page.url()).pathname).toBe(`/beneficiaries/${id}`)
  })

  test('of bills to a paybill, those of one account are shown alone, with their sum', async () => {
    const { page, person } = await shared.at('/beneficiaries')
    await credit(world.service, person.accountId, 10_000_000n)
    const paybill = { type: 'utility', display_name: 'City Water', payment_rail: 'MPESA_B2B', destination: '555124' }
    const { id } = (await person.api.post('/v1/beneficiaries', { ...paybill, account_reference_required: true })).body
    for (const [account_reference, amount_minor] of [
      ['HOME 1', '10000'],
      ['SHOP 2', '20000'],
      ['home1', '30000'],
    ])
      await person.api.post('/v1/payments', { beneficiary_id: id, amount_minor, account_reference })
    await follow(page, `/beneficiaries/${id}`)
    await page.getByText('200.00', { exact: true }).waitFor()
    await page.getByLabel('Account', { exact: true }).fill('home 1')
    await page.getByText('2 payments to this account, KES 400.00 in all').waitFor()
    await page.getByText('200.00', { exact: true }).waitFor({ state: 'detached' })
  })
}
