import { expect, test } from 'vitest'
import { fund, newBeneficiary } from '../../harness/money.ts'
import { signIn } from '../../harness/people.ts'
import { visitAs } from '../visit.ts'
import type { World } from '../world.ts'

const newPayer = async ({ service }: World) => {
  const person = await signIn(service.api)
  await fund(service, person, 2_000_000n)
  const beneficiary = await newBeneficiary(person.api, { display_name: 'Baraka Stores' })
  const limits = { per_payment_limit_minor: '1500000', approval_threshold_minor: '500000' }
  await person.api.post('/v1/spending-policies', { name: 'House rules', ...limits })
  return { ...person, beneficiary }
}

export const paymentFlows = (world: World): void => {
  test('what will happen is said before it is sent: at once, after an approval, or not at all', async () => {
    const payer = await newPayer(world)
    const { page, complaints, close } = await visitAs(world, payer)
    await page.goto('/payments/new')
    await page.getByLabel('Beneficiary').selectOption('Baraka Stores')
    const amount = page.getByLabel('Amount')
    await amount.fill('1,200')
    await page.getByRole('heading', { name: 'It will be sent at once' }).waitFor()
    await amount.fill('6000')
    await page.getByRole('heading', { name: 'It will wait for 1 approval' }).waitFor()
    await amount.fill('16000')
    await page.getByRole('heading', { name: 'It would be refused' }).waitFor()
    await page
      .getByText(/more than KES\s15,000.00 per payment/)
      .first()
      .waitFor()
    expect(await page.getByRole('button', { name: /16,000/ }).getAttribute('aria-disabled')).toBe('true')
    expect((await payer.api.get('/v1/payments')).body.data).toEqual([])
    expect(complaints).toEqual([])
    await close()
  })

  test('a payment is sent once, followed to its end by the stream, and has a receipt', async () => {
    const payer = await newPayer(world)
    const { page, complaints, close } = await visitAs(world, payer)
    await page.goto(`/payments/new?beneficiary=${payer.beneficiary}`)
    await page.getByLabel('Amount').fill('1200')
    await page.getByLabel('What it is for').fill('Flour')
    await page.getByRole('heading', { name: 'It will be sent at once' }).waitFor()
    await page.getByRole('button', { name: /Send KES/ }).dblclick()
    await page.getByRole('heading', { name: 'Payment to Baraka Stores' }).waitFor()
    await page.getByText('Waiting for the rail’s word').waitFor()
    await world.service.settle()
    await page.getByLabel('What happened').getByText('Succeeded').waitFor()
    expect((await payer.api.get('/v1/payments')).body.data).toHaveLength(1)
    await page.getByRole('link', { name: 'Receipt' }).click()
    await page.getByRole('heading', { name: 'Receipt' }).waitFor()
    await page.getByText('1,200.00').first().waitFor()
    const download = page.waitForEvent('download')
    await page.getByRole('button', { name: 'Signed proof' }).click()
    expect((await download).suggestedFilename()).toMatch(/^receipt-pay_.*\.json$/)
    expect(complaints).toEqual([])
    await close()
  })

  test('the list is filtered, and a payment that waits is cancelled', async () => {
    const payer = await newPayer(world)
    const pay = (amount: string, narrative: string) =>
      payer.api.post('/v1/payments', { beneficiary_id: payer.beneficiary, amount_minor: amount, narrative })
    await pay('600000', 'Held one')
    await pay('10000', 'Small one')
    await world.service.settle()
    const { page, close } = await visitAs(world, payer)
    await page.goto('/payments')
    await page.getByText('Small one').waitFor()
    await page.getByLabel('Status').selectOption('Needs approval')
    await page.getByText('Small one').waitFor({ state: 'detached' })
    expect(page.url()).toContain('status=pending_approval')
    await page.getByText('Held one').click()
    await page.getByRole('button', { name: 'Cancel payment' }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Cancel payment' }).click()
    await page.getByLabel('What happened').getByText('Cancelled').waitFor()
    await close()
  })

  test('a rail that refuses is told with its reason, and the money is back', async () => {
    const payer = await newPayer(world)
    const refusing = await newBeneficiary(payer.api, { display_name: 'Closed Line', destination: '254700002001' })
    const { body } = await payer.api.post('/v1/payments', { beneficiary_id: refusing, amount_minor: '10000' })
    const { page, close } = await visitAs(world, payer)
    await page.goto(`/payments/${body.id}`)
    await page.getByText('Waiting for the rail’s word').waitFor()
    await world.service.settle()
    await page.getByLabel('What happened').getByText('Failed').waitFor()
    await page.goto('/')
    await page.getByText('Given back from Closed Line').waitFor()
    await close()
  })
}
