import { expect, test } from 'vitest'
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
    expect(await destination.getAttribute('aria-invalid')).toBe('true')
    await destination.fill('0712 345 678')
    await page.getByRole('button', { name: 'Add beneficiary' }).click()
    await page.getByRole('heading', { name: 'Njeri' }).waitFor()
    expect(await page.content()).not.toContain('712345678')
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
    expect(await status()).toBe('frozen')
    await confirm('Unfreeze')
    expect(await status()).toBe('active')
    await confirm('Archive')
    expect(await status()).toBe('archived')
    expect(await page.getByRole('link', { name: 'Pay', exact: true }).count()).toBe(0)
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
}
