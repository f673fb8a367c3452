import { expect, test } from 'vitest'
import { fund, newBeneficiary } from '../../harness/money.ts'
import { signIn } from '../../harness/people.ts'
import { takeScreenshots } from '../screenshots.ts'
import { follow, visitAs } from '../visit.ts'
import type { World } from '../world.ts'

export const tariff = {
  MPESA_B2C: [
    { up_to_minor: '100000', fee_minor: '1500' },
    { up_to_minor: null, fee_minor: '3000' },
  ],
}

export const feeFlows = (world: World): void => {
  test('a fee is shown before a payment is sent, with the sum that the balance must cover, and wherever the payment is shown', async () => {
    const person = await signIn(world.service.api)
    await fund(world.service, person, 200_000n)
    const beneficiary = await newBeneficiary(person.api, { display_name: 'Baraka Stores' })
    const { page, complaints, close } = await visitAs(world, person)
    await page.goto(`/payments/new?beneficiary=${beneficiary}`)
    const amount = page.getByLabel('Amount')
    await amount.fill('2000')
    await page.getByText(/does not cover this payment of KES 2,000.00 and its fee of KES 30.00/).waitFor()
    await amount.fill('1000')
    await page.getByText(/Balance afterwards: KES\s985.00/).waitFor()
    const inTotal = /KES\s15.00 \(KES\s1,015.00 in total\)/
    await page.getByText(inTotal).waitFor()
    await takeScreenshots(page, 'fee-new-payment')
    await page.getByRole('button', { name: /Review KES/ }).click()
    await page.getByText(inTotal).waitFor()
    await takeScreenshots(page, 'fee-review')
    await page.getByRole('button', { name: /Send KES/ }).click()
    await page.getByRole('heading', { name: /KES\s1,000 to Baraka Stores/ }).waitFor()
    await world.service.settle()
    await page.getByLabel('What happened').getByText('Succeeded').waitFor()
    await page.getByText(inTotal).waitFor()
    await takeScreenshots(page, 'fee-payment')
    await page.getByRole('link', { name: 'Receipt' }).click()
    await page.getByRole('heading', { name: 'Receipt' }).waitFor()
    await page.getByText(inTotal).waitFor()
    await takeScreenshots(page, 'fee-receipt')
    await follow(page, '/statements')
    await page.locator('main .facts').first().getByText('Of which fees').waitFor()
    await page.getByRole('row').filter({ hasText: 'Fee' }).filter({ hasText: '15.00' }).first().waitFor()
    await takeScreenshots(page, 'fee-statement')
    const day = new Date(Date.now() + 3 * 86_400_000).toISOString()
    const later = { beneficiary_id: beneficiary, amount_minor: '90000', execute_at: day }
    expect((await person.api.post('/v1/payments', later)).body.status).toBe('scheduled')
    await follow(page, '/spending')
    // KES 985 less KES 900 and its fee of KES 15.
    await page.getByRole('row').filter({ hasText: '915.00' }).getByText('70.00').waitFor()
    await follow(page, '/history')
    await page.getByText('Fee of the payment to Baraka Stores').waitFor()
    await takeScreenshots(page, 'fee-history')
    expect(complaints).toEqual([])
    await close()
  })

  test('an approver sees the fee on the page, in the dialog and behind the link; a batch has its fees before it is sent', async () => {
    const person = await signIn(world.service.api)
    await fund(world.service, person, 1_000_000n)
    await person.api.post('/v1/spending-policies', { name: 'Ask', approval_threshold_minor: '1000' })
    const beneficiary_id = await newBeneficiary(person.api, { display_name: 'Baraka Stores' })
    const { approval_id: id } = (await person.api.post('/v1/payments', { beneficiary_id, amount_minor: '200000' })).body
    const { page, complaints, close } = await visitAs(world, person)
    const inTotal = /KES\s30.00 \(KES\s2,030.00 in total\)/
    await page.goto(`/approvals/${id}`)
    await page.getByLabel('Payment to decide').getByText(inTotal).waitFor()
    await takeScreenshots(page, 'fee-approval')
    await page
      .getByRole('button', { name: /^Approve/ })
      .first()
      .click()
    await page.getByRole('dialog').getByText(inTotal).waitFor()
    await takeScreenshots(page, 'fee-dialog')
    await page.goto(`/approve/${id}`)
    await page.getByText('Fee: KES 30.00').first().waitFor()
    await takeScreenshots(page, 'fee-link')
    await page.goto('/payments/batches/new')
    const rows = 'name,phone,amount\nAchieng Otieno,0722000701,450\nBaraka Mwangi,0722000702,2000\n'
    await page.getByLabel('File').setInputFiles({ name: 'list.csv', mimeType: 'text/csv', buffer: Buffer.from(rows) })
    await page.getByRole('button', { name: 'Check batch' }).click()
    await page.getByText(/KES\s45.00 \(KES\s2,495.00 in total\)/).waitFor()
    await takeScreenshots(page, 'fee-list')
    expect(complaints).toEqual([])
    await close()
  })
}
