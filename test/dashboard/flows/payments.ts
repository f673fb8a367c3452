import { readFile } from 'node:fs/promises'
import { expect, test } from 'vitest'
import { parseId } from '../../../src/lib/ids.ts'
import { fund, newBeneficiary } from '../../harness/money.ts'
import { signIn } from '../../harness/people.ts'
import { deliver, lastOrder, pay as payTo, transferCallback } from '../../rails-flows/scene.ts'
import { standIn } from '../../workspaces/team.ts'
import { createTeam } from '../team.ts'
import { follow, visitAs } from '../visit.ts'
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
  test('a missing payment says so only once the other workspaces were searched; until then the failed search is shown', async () => {
    const { page, close } = await visitAs(world, await signIn(world.service.api))
    let fails = true
    await page.route(
      ({ pathname }) => pathname === '/v1/workspaces',
      (route) =>
        fails
          ? route.fulfill({ status: 429, json: { error: 'rate_limited', message: 'Later.', details: {} } })
          : route.continue(),
    )
    await page.goto(`/payments/pay_${'0'.repeat(26)}`)
    const again = page.getByRole('main').getByRole('button', { name: 'Try again' })
    await again.waitFor()
    fails = false
    await again.click()
    await page.getByRole('link', { name: 'Go to overview' }).waitFor()
    await close()
  })

  test('the form shows the decision before the payment is sent: at once, after an approval, or not at all', async () => {
    const payer = await newPayer(world)
    const { page, complaints, close } = await visitAs(world, payer)
    await page.goto('/payments/new')
    await page.getByLabel('Beneficiary').selectOption('Baraka Stores')
    const amount = page.getByLabel('Amount')
    await amount.fill('1,200')
    await page.getByRole('heading', { name: 'It will be sent right away' }).waitFor()
    await amount.fill('6000')
    await page.getByRole('heading', { name: 'It needs 1 approval' }).waitFor()
    await amount.fill('16000')
    await page.getByRole('heading', { name: 'It will be refused' }).waitFor()
    await page
      .getByText('The per-payment limit of policy "House rules" is KES 15,000.00, and KES 16,000.00 was requested.')
      .waitFor()
    // Up to the limit it passes with an approval. The page never proposes an amount below the threshold: that teaches splitting.
    await page.getByText(/Up to KES\s15,000.00 would go through with approval/).waitFor()
    await expect.poll(() => page.getByText(/without approval/).count()).toBe(0)
    await expect.poll(() => page.getByRole('button', { name: /16,000/ }).getAttribute('aria-disabled')).toBe('true')
    await expect.poll(async () => (await payer.api.get('/v1/payments')).body.data).toEqual([])
    expect(complaints).toEqual([])
    await close()
  })

  test('a payment is reviewed, sent once, followed to its end by the stream, and has a receipt', async () => {
    const payer = await newPayer(world)
    const { page, complaints, close } = await visitAs(world, payer)
    await page.goto(`/payments/new?beneficiary=${payer.beneficiary}`)
    await page.getByLabel('Amount').fill('1200')
    await page.getByLabel(/^Purpose(?! code)/).fill('Flour')
    await page.getByRole('heading', { name: 'It will be sent right away' }).waitFor()
    await page.getByRole('button', { name: /Review KES/ }).click()
    await page.getByRole('heading', { name: /Pay KES\s1,200 to Baraka Stores\?/ }).waitFor()
    await expect.poll(async () => (await payer.api.get('/v1/payments')).body.data).toEqual([])
    await page.getByRole('button', { name: /Send KES/ }).dblclick()
    await page.getByRole('heading', { name: /KES\s1,200 to Baraka Stores/ }).waitFor()
    await page.getByText('Waiting for M-PESA').waitFor()
    await world.service.settle()
    await page.getByLabel('What happened').getByText('Succeeded').waitFor()
    await expect.poll(async () => (await payer.api.get('/v1/payments')).body.data).toHaveLength(1)
    await page.getByRole('link', { name: 'Receipt' }).click()
    await page.getByRole('heading', { name: 'Receipt' }).waitFor()
    await page.getByText('1,200.00').first().waitFor()
    const download = page.waitForEvent('download')
    await page.getByRole('button', { name: 'Signed proof' }).click()
    expect((await download).suggestedFilename()).toMatch(/^receipt-pay_.*\.json$/)
    expect(complaints).toEqual([])
    await close()
  })

  test('a beneficiary that requires a reference is paid on the page, and a repeated reference is warned about before', async () => {
    const payer = await newPayer(world)
    const paybill = { payment_rail: 'MPESA_B2B', destination: '888880', account_reference_required: true }
    const water = await newBeneficiary(payer.api, { display_name: 'Nairobi Water', ...paybill })
    await payer.api.post('/v1/payments', { beneficiary_id: water, amount_minor: '120000', account_reference: 'INV-1' })
    const { page, complaints, close } = await visitAs(world, payer)
    await page.goto(`/payments/new?beneficiary=${water}`)
    await page.getByLabel('Amount').fill('1200')
    await page.getByRole('heading', { name: 'It will be refused' }).waitFor()
    const warning = page.getByText('This repeats the amount and reference of an earlier payment')
    await page.getByLabel('Account reference').fill('INV-1')
    await page.getByRole('heading', { name: 'It will be sent right away' }).waitFor()
    await warning.waitFor()
    await page.getByLabel('Account reference').fill('INV-2')
    await warning.waitFor({ state: 'detached' })
    await page.getByRole('button', { name: /Review KES/ }).click()
    await page.getByRole('heading', { name: /Pay KES\s1,200 to Nairobi Water\?/ }).waitFor()
    await page.getByText('INV-2').waitFor()
    await page.getByRole('button', { name: /Send KES/ }).click()
    await page.getByText('Waiting for M-PESA').waitFor()
    const [paid] = (await payer.api.get('/v1/payments')).body.data
    expect(paid).toMatchObject({ account_reference: 'INV-2', amount_minor: '120000' })
    expect(complaints).toEqual([])
    await close()
  })

  test('a comma that may separate cents is never read as thousands, and typing and deleting keep the thousands separated', async () => {
    const payer = await newPayer(world)
    const { page, complaints, close } = await visitAs(world, payer)
    const simulated: string[] = []
    page.on('request', (request) => {
      if (request.url().endsWith('/simulate')) simulated.push(request.postDataJSON().amount_minor)
    })
    await page.goto(`/payments/new?beneficiary=${payer.beneficiary}`)
    const amount = page.getByLabel('Amount')
    const unreadable = page.getByText('Enter an amount such as 1500 or 1,500.50')
    await amount.pressSequentially('12,50')
    await unreadable.waitFor()
    expect(await amount.inputValue()).toBe('12,50')
    await amount.fill('1,200')
    await page.getByRole('heading', { name: 'It will be sent right away' }).waitFor()
    await amount.fill('13,50')
    await unreadable.waitFor()
    await expect.poll(() => page.getByRole('button', { name: /^Review/ }).getAttribute('aria-disabled')).toBe('true')
    expect(simulated).not.toContain('125000')
    expect(simulated).not.toContain('135000')
    await amount.fill('')
    await amount.pressSequentially('1250')
    await expect.poll(() => amount.inputValue()).toBe('1,250')
    await page.keyboard.press('Backspace')
    await expect.poll(() => amount.inputValue()).toBe('125')
    await amount.pressSequentially('05.5')
    await expect.poll(() => amount.inputValue()).toBe('12,505.5')
    await page.keyboard.press('Home')
    await page.keyboard.press('Delete')
    await expect.poll(() => amount.inputValue()).toBe('2,505.5')
    await page.getByRole('button', { name: /^Review KES\s2,505\.50/ }).waitFor()
    expect(complaints).toEqual([])
    await close()
  })

  test('what is pressed without a connection fails at once, and is not done when the connection is back', async () => {
    const payer = await newPayer(world)
    const { page, close } = await visitAs(world, payer)
    await page.goto(`/payments/new?beneficiary=${payer.beneficiary}`)
    await page.getByLabel('Amount').fill('1200')
    await page.getByRole('heading', { name: 'It will be sent right away' }).waitFor()
    await page.getByRole('button', { name: /Review KES/ }).click()
    await page.context().setOffline(true)
    await page.getByRole('button', { name: /Send KES/ }).click()
    await page.getByText('The service could not be reached.').waitFor()
    await page.getByRole('link', { name: 'Overview' }).first().click()
    const read = page.waitForResponse(/\/v1\//)
    await page.context().setOffline(false)
    await read
    await page.getByRole('link', { name: 'Payments' }).first().click()
    await page.getByRole('heading', { name: 'Payments' }).waitFor()
    expect((await payer.api.get('/v1/payments')).body.data).toEqual([])
    await close()
  })

  test('a payee is searched among many and told from a namesake while the amount stays; another address begins the form again', async () => {
    const payer = await newPayer(world)
    await world.service.deps.db.query(
      `insert into beneficiaries select (jsonb_populate_record(b, jsonb_build_object('id', gen_random_uuid()))).*
         from beneficiaries b, generate_series(1, 120) where b.id = $1`,
      [parseId('beneficiary', payer.beneficiary)],
    )
    const first = await newBeneficiary(payer.api, { display_name: 'Alice A', destination: '254700000501' })
    await newBeneficiary(payer.api, { display_name: 'Alice A', destination: '254700000502' })
    const { page, complaints, close } = await visitAs(world, payer)
    await page.goto('/payments/new')
    const [payee, amount] = [page.getByLabel('Beneficiary'), page.getByLabel('Amount')]
    await amount.fill('777')
    const searched = page.waitForResponse((response) => response.url().includes('q=Zzz'))
    await payee.fill('Zzz')
    await searched
    await payee.fill('Alice A')
    const offered = page.locator('datalist option[value^="Alice A"]')
    await expect.poll(() => offered.count()).toBe(2)
    // The name alone identifies nobody. The offer says whose it is.
    await page.getByRole('heading', { name: 'It will be sent right away' }).waitFor({ state: 'hidden' })
    await payee.fill((await page.locator('datalist option[value*="502)"]').getAttribute('value')) ?? '')
    await page.getByText(/^M-PESA to a phone, \*+0502$/).waitFor()
    await expect.poll(() => amount.inputValue()).toBe('777')
    await page.goto(`/payments/new?beneficiary=${first}`)
    await expect.poll(() => payee.inputValue()).toMatch(/^Alice A .*501\)$/)
    await expect.poll(() => amount.inputValue()).toBe('')
    await amount.fill('778')
    await follow(page, `/payments/new?beneficiary=${payer.beneficiary}`)
    await expect.poll(() => payee.inputValue()).toMatch(/^Baraka Stores/)
    await expect.poll(() => amount.inputValue()).toBe('')
    expect(complaints).toEqual([])
    await close()
  })

  test('a payment is sent later, at a date and time of the workspace, which must be complete and within 90 days', async () => {
    const payer = await newPayer(world)
    const { page, complaints, close } = await visitAs(world, payer)
    const day = (ahead: number) => new Date(Date.now() + ahead * 86_400_000).toISOString().slice(0, 10)
    await page.goto(`/payments/new?beneficiary=${payer.beneficiary}`)
    await page.getByLabel('Amount').fill('1200')
    await page.getByRole('heading', { name: 'It will be sent right away' }).waitFor()
    await page.getByLabel('Send later').check()
    const review = page.getByRole('button', { name: /^Review/ })
    // Without a time the payment is neither sent at once nor reviewed.
    await expect.poll(() => review.getAttribute('aria-disabled')).toBe('true')
    const time = page.getByLabel('Date and time')
    await page.getByText('Nairobi time, at most 90 days ahead. No money is held until then.').waitFor()
    await time.fill(`${day(100)}T09:30`)
    await page.getByText('Choose a time at most 90 days ahead.').waitFor()
    await time.fill(`${day(-1)}T09:30`)
    await page.getByText('That time has passed.').waitFor()
    await expect.poll(() => review.getAttribute('aria-disabled')).toBe('true')
    await time.fill(`${day(10)}T09:30`)
    await page.getByRole('heading', { name: 'It will be sent later' }).waitFor()
    await review.click()
    await page
      .getByText(/9:30.*\(Nairobi time\)/)
      .first()
      .waitFor()
    await page.getByText('You can cancel it until it is sent.').waitFor()
    await page.getByRole('button', { name: /^Schedule KES/ }).click()
    await page.getByLabel('What happened').getByText('Scheduled').waitFor()
    await expect
      .poll(async () => (await payer.api.get('/v1/payments')).body.data)
      .toMatchObject([{ status: 'scheduled', execute_at: `${day(10)}T06:30:00.000Z`, amount_minor: '120000' }])
    await page.getByRole('button', { name: 'Cancel payment' }).click()
    await page.getByText('No money is held for it.').waitFor()
    expect(complaints).toEqual([])
    await close()
  })

  test('a possible duplicate is shown in the form, in the review and at the approval, with a link to the first payment', async () => {
    const payer = await newPayer(world)
    const pay = (amount: string) =>
      payer.api.post('/v1/payments', { beneficiary_id: payer.beneficiary, amount_minor: amount, narrative: 'Flour' })
    const first = (await pay('120000')).body
    const { page, complaints, close } = await visitAs(world, payer)
    const warning = page.getByText('This repeats the amount and reference of an earlier payment')
    await page.goto(`/payments/new?beneficiary=${payer.beneficiary}`)
    await page.getByLabel('Amount').fill('1300')
    await page.getByRole('heading', { name: 'It will be sent right away' }).waitFor()
    await expect.poll(() => warning.count()).toBe(0)
    await page.getByLabel('Amount').fill('1200')
    await warning.waitFor()
    await page.getByRole('button', { name: /Review KES/ }).click()
    await page.getByRole('heading', { name: /Pay KES\s1,200 to Baraka Stores\?/ }).waitFor()
    await warning.waitFor()
    await page.getByRole('link', { name: 'View that payment' }).click()
    await page.waitForURL(`**/payments/${first.id}`)

    await world.service.settle()
    const held = (await pay('600000')).body
    const again = (await pay('600000')).body
    await follow(page, `/approvals/${again.approval_id}`)
    await page.getByText('This repeats the amount and reference of an earlier payment').first().waitFor()
    const facts = page.locator('dl', { hasText: 'Last paid' })
    await facts.getByText('1 payment so far').waitFor()
    await facts.getByText('No usual amount yet').waitFor()
    await page.getByRole('link', { name: 'View that payment' }).click()
    await page.waitForURL(`**/payments/${held.id}`)
    expect(complaints).toEqual([])
    await close()
  })

  test('the list can be searched, filtered, totalled and exported; a payment opens beside it and can be cancelled there', async () => {
    const payer = await newPayer(world)
    const pay = (amount: string, narrative: string) =>
      payer.api.post('/v1/payments', { beneficiary_id: payer.beneficiary, amount_minor: amount, narrative })
    await pay('600000', 'Held one')
    await pay('10000', 'Small one')
    await pay('30000', '=SUM(A1)')
    await world.service.settle()
    const { page, complaints, close } = await visitAs(world, payer)
    await page.goto('/payments')
    await page.getByLabel('Totals').getByText('3 payments').waitFor()
    await page.getByLabel('Totals').getByText('1 needs approval').waitFor()
    await page.getByLabel('Search', { exact: true }).fill('small')
    await page.getByText('Held one').waitFor({ state: 'detached' })
    await page.getByLabel('Totals').getByText('1 payment').waitFor()
    await page.getByRole('button', { name: 'Clear filters' }).click()
    await page.getByRole('button', { name: 'Amount' }).click()
    await page.getByLabel('To amount').fill('400')
    await page.getByLabel('Totals').getByText('2 payments').waitFor()
    await page.keyboard.press('Escape')
    await page.getByLabel('To amount').waitFor({ state: 'detached' })
    await page.getByRole('button', { name: /^Amount: up to KES\s400$/ }).waitFor()
    await page.getByText('KES 400.00').first().waitFor()
    const downloaded = page.waitForEvent('download')
    await page.getByRole('button', { name: 'Export CSV' }).click()
    const download = await downloaded
    expect(download.suggestedFilename()).toBe('payments.csv')
    const lines = (await readFile(await download.path(), 'utf8')).trim().split('\n')
    expect(lines).toHaveLength(3)
    // A text that a spreadsheet would read as a formula is escaped.
    expect(lines.join('\n')).not.toMatch(/(^|,)"?=SUM/m)
    await page.getByRole('button', { name: 'Clear filters' }).click()
    await page.getByRole('button', { name: 'Status' }).click()
    await page.getByLabel('Status').selectOption('Needs approval')
    await page.getByText('Small one').waitFor({ state: 'detached' })
    expect(page.url()).toContain('status=pending_approval')
    await page
      .getByRole('row', { name: /Held one/ })
      .getByRole('link')
      .click()
    const panel = page.getByRole('complementary', { name: 'Payment', exact: true })
    await panel.getByRole('heading', { name: /KES\s6,000 to Baraka Stores/ }).waitFor()
    expect(page.url()).toContain('status=pending_approval')
    await panel.getByRole('button', { name: 'Cancel payment' }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Cancel payment' }).click()
    await panel.getByLabel('What happened').getByText('Cancelled').waitFor()
    await page.keyboard.press('Escape')
    await panel.waitFor({ state: 'detached' })
    await page.getByText('No payments match').waitFor()
    expect(complaints).toEqual([])
    await close()
  })

  test('rows of 44 pixels stand under their day with its total; j and k go through them in the panel; a row that arrives shows itself for 120 ms', async () => {
    world.service.clock.set(new Date())
    const payer = await newPayer(world)
    const pay = (narrative: string, amount_minor: string) =>
      payer.api.post('/v1/payments', { beneficiary_id: payer.beneficiary, amount_minor, narrative })
    await pay('First', '10000')
    await pay('Second', '20000')
    await world.service.settle()
    const { page, complaints, close } = await visitAs(world, payer)
    await page.emulateMedia({ reducedMotion: 'no-preference' })
    await page.goto('/payments')
    const row = (text: string) => page.getByRole('row', { name: new RegExp(text) })
    await row('First').waitFor()
    await expect.poll(() => row('Today').textContent()).toMatch(/KES\s300.00 spent/)
    await expect.poll(async () => (await row('First').boundingBox())?.height).toBe(44)
    const panel = page.getByRole('complementary', { name: 'Payment', exact: true })
    for (const [key, amount] of [
      ['j', '200'],
      ['j', '100'],
      ['k', '200'],
    ] as const) {
      await page.keyboard.press(key)
      await panel.getByRole('heading', { name: new RegExp(`^KES\\s${amount} to`) }).waitFor()
    }
    await page.keyboard.press('Escape')
    await panel.waitFor({ state: 'detached' })
    const duration = () => page.evaluate<string>("getComputedStyle(document.querySelector('.pay-row')).transitionDuration")
    await page.evaluate(
      `addEventListener('transitionrun', ({ target }) => { if (target.matches('.pay-row')) window.arrived = target.textContent })`,
    )
    await pay('Third', '30000')
    await row('Third').waitFor()
    await expect.poll(() => page.evaluate('window.arrived')).toContain('Third')
    expect(new Set((await duration()).split(', '))).toEqual(new Set(['0.12s']))
    await page.emulateMedia({ reducedMotion: 'reduce' })
    await expect.poll(() => duration()).toBe('0s')
    expect(complaints).toEqual([])
    await close()
  })

  test('a payment without a known outcome says when the payment method was asked last, and when it is asked next', async () => {
    const payer = await newPayer(world)
    const silent = await newBeneficiary(payer.api, { display_name: 'Kilimo', destination: '254700004999' })
    const { body } = await payer.api.post('/v1/payments', { beneficiary_id: silent, amount_minor: '10000' })
    await world.service.settle()
    for (let passed = 0; passed < 1200; passed += 300) {
      world.service.clock.advance(300)
      await world.service.deps.jobs.sweep()
    }
    const { page, complaints, close } = await visitAs(world, payer)
    await page.goto(`/payments/${body.id}`)
    await page.getByText('The money may have moved. We’re checking').waitFor()
    await page.getByText(/^Last asked .+, next .+\.$/).waitFor()
    world.service.clock.set(new Date())
    expect(complaints).toEqual([])
    await close()
  })

  test('a payment that failed and was paid after all says so with its receipt, and is not offered again', async () => {
    const payer = await newPayer(world)
    const id = await payTo(payer, { payment_rail: 'PESALINK', destination: '99990001', bank_code: '57' })
    await world.service.settle()
    const order = lastOrder(world.service)
    const { page, complaints, close } = await visitAs(world, payer)
    await page.goto(`/payments/${id}`)
    const [again, back] = [page.getByRole('link', { name: 'Pay again' }), page.getByText('The money is back in the balance')]
    await again.waitFor()
    await back.waitFor()
    await deliver(order.resultUrl, transferCallback(order))
    await world.service.settle()
    await page.getByText('This payment was paid after all').waitFor()
    await page.getByText(/then confirmed KES\s1,500\.00 on .*Don’t pay again/).waitFor()
    await page.getByLabel('What happened').getByText(`, ${order.receipt}`).waitFor()
    await page.getByRole('button', { name: new RegExp(order.receipt) }).waitFor()
    expect([await again.count(), await back.count()]).toEqual([0, 0])
    expect(complaints).toEqual([])
    await close()
  })

  test('an item of a waiting batch is not cancelled alone: its page leads to the batch', async () => {
    const payer = await newPayer(world)
    const items = [{ beneficiary_id: payer.beneficiary, amount_minor: '600000' }]
    const { id } = (await payer.api.post('/v1/payment-batches', { items })).body
    const [item] = (await payer.api.get(`/v1/payments?batch_id=${id}`)).body.data
    const { page, complaints, close } = await visitAs(world, payer)
    await page.goto(`/payments/${item.id}`)
    await page.getByRole('button', { name: 'Reject' }).waitFor()
    expect(await page.getByRole('button', { name: 'Cancel payment' }).count()).toBe(0)
    await page.getByRole('link', { name: 'Open the batch' }).click()
    await page.getByRole('button', { name: 'Cancel batch' }).waitFor()
    expect(complaints).toEqual([])
    await close()
  })

  test('a link whose days or search text the service does not accept shows the payments without that filter', async () => {
    const payer = await newPayer(world)
    await payer.api.post('/v1/payments', { beneficiary_id: payer.beneficiary, amount_minor: '20000', narrative: 'Sugar' })
    const { page, complaints, close } = await visitAs(world, payer)
    for (const filter of ['from=20261-01-01', 'from=x', 'from=%2B020261-01-01', 'to=9999-12-31', 'q=S']) {
      await page.goto(`/payments?${filter}`)
      await page.getByRole('row', { name: /Sugar/ }).waitFor()
      await page.getByLabel('Totals').getByText('1 payment').waitFor()
    }
    expect(complaints).toEqual([])
    await close()
  })

  test('a failed payment shows the reason and that the money was returned, and can be paid again from there', async () => {
    const payer = await newPayer(world)
    const refusing = await newBeneficiary(payer.api, { display_name: 'Closed Line', destination: '254700002001' })
    const rent = { amount_minor: '10000', narrative: 'Rent', purpose_code: 'RENT' }
    const { body } = await payer.api.post('/v1/payments', { beneficiary_id: refusing, ...rent })
    const { page, close } = await visitAs(world, payer)
    await page.goto(`/payments/${body.id}`)
    await page.getByText('Waiting for M-PESA').waitFor()
    await world.service.settle()
    await page.getByText('This payment failed. The money is back in the balance').waitFor()
    const failed = (await payer.api.get(`/v1/payments/${body.id}`)).body
    await expect.poll(() => page.locator('main').textContent()).not.toContain(failed.failure_code)
    await page.getByRole('link', { name: 'Pay again' }).click()
    await page.getByRole('heading', { name: 'New payment' }).waitFor()
    await expect.poll(() => page.getByLabel('Amount').inputValue()).toBe('100')
    await expect.poll(() => page.getByLabel(/^Purpose(?! code)/).inputValue()).toBe('Rent')
    await page.getByText('More options').click()
    await expect.poll(() => page.getByLabel('Purpose code').inputValue()).toBe('RENT')
    // A return is not income.
    await follow(page, '/history')
    const back = page.getByRole('row', { name: /Released: payment to Closed Line/ })
    await back.waitFor()
    await expect.poll(() => back.locator('.good-text').count()).toBe(0)
    await close()
  })

  test('payments and activity are found by each member, also by those who are not on the first page of members', async () => {
    const team = await createTeam(world.service)
    await team.join('viewer', 'Amina Otieno')
    await team.join('viewer', 'Brian Kiptoo')
    await standIn(team.owner, team.workspaceId)
    const { page, complaints, close } = await visitAs(world, team.owner)
    await page.route(/\/members\?/, (route) => route.continue({ url: route.request().url().replace('limit=100', 'limit=1') }))
    const choices = (label: string) => page.getByLabel(label).getByRole('option').allTextContents()
    const everyone = expect.arrayContaining(['Wanjiku Kamau', 'Amina Otieno', 'Brian Kiptoo'])
    await page.goto('/payments')
    await page.getByRole('button', { name: 'By', exact: true }).click()
    await expect.poll(() => choices('Requested by')).toEqual(everyone)
    await page.goto('/workspace/activity')
    await expect.poll(() => choices('Person')).toEqual(everyone)
    // A person who has left is still named as the filter.
    const { accountId } = await signIn(world.service.api)
    for (const list of ['/payments', '/payments/refused']) {
      await page.goto(`${list}?person=${accountId}`)
      await page.getByRole('button', { name: 'By: a former member' }).waitFor()
    }
    await page.goto(`/workspace/activity?person=${accountId}`)
    await page
      .getByLabel('Person')
      .getByRole('option', { name: 'a former member', selected: true })
      .waitFor({ state: 'attached' })
    expect(complaints).toEqual([])
    await close()
  })
}
