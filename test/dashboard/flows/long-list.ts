import { expect, test } from 'vitest'
import { parseId } from '../../../src/lib/ids.ts'
import { fund, newBeneficiary } from '../../harness/money.ts'
import { signIn } from '../../harness/people.ts'
import { createHousehold } from '../household.ts'
import { follow, visitAs } from '../visit.ts'
import type { World } from '../world.ts'

/** Presses "Show more" until the list has this many rows. */
const unfoldTo = (count: number) => `new Promise((done) => {
  const list = document.querySelector('main [aria-label="Payments"]')
  const more = () => [...document.querySelectorAll('main button')].find((button) => button.textContent === 'Show more')
  const step = () => {
    if (list.querySelectorAll('tr.pay-row').length >= ${count}) return done()
    const button = more()
    if (button && button.getAttribute('aria-busy') !== 'true') button.click()
  }
  new MutationObserver(step).observe(document.querySelector('main'), { childList: true, subtree: true, attributes: true })
  step()
})`

/** Copies this payment to this many earlier ones: the test is about finding payments, not creating them. */
const copyPayment = (world: World, id: string, copies: number) =>
  world.service.deps.db.query(
    `insert into payments select (jsonb_populate_record(p, jsonb_build_object(
         'id', substr(p.id::text, 1, 15) || substr(gen_random_uuid()::text, 16), 'hold_transfer_id', gen_random_uuid(), 'provider_receipt', null))).*
       from payments p, generate_series(1, $2) where p.id = $1`,
    [parseId('payment', id), copies],
  )

export const longListFlows = (world: World): void => {
  test('a live event updates a list of 500 rows, and only its first page is read again', async () => {
    const payer = await signIn(world.service.api)
    await fund(world.service, payer, 2_000_000n)
    const beneficiary = await newBeneficiary(payer.api, { display_name: 'Many Times' })
    const pay = () => payer.api.post('/v1/payments', { beneficiary_id: beneficiary, amount_minor: '1000' })
    const { body } = await pay()
    await world.service.settle()
    await copyPayment(world, body.id, 503)
    const { page, close } = await visitAs(world, payer)
    await page.goto('/payments')
    const rows = page.getByLabel('Payments').locator('tr.pay-row')
    await rows.first().waitFor()
    await page.evaluate(unfoldTo(500))
    const requests: string[] = []
    page.on('request', (request) => {
      const { pathname, search } = new URL(request.url())
      if (pathname === '/v1/payments') requests.push(search)
    })
    await payer.api.post('/v1/payments', { beneficiary_id: beneficiary, amount_minor: '99900', narrative: 'The newest' })
    await page.getByText('The newest').waitFor()
    await expect.poll(() => rows.count()).toBeGreaterThan(500)
    // One request for the first page for each burst of events, and none for the twenty pages below it.
    expect(requests.length).toBeLessThanOrEqual(3)
    expect(requests.every((search) => !search.includes('cursor'))).toBe(true)
    await close()
  })

  test('the overview of a workspace with 2,000 beneficiaries makes at most 9 calls of at most 150 KB together', async () => {
    const home = await createHousehold(world.service)
    const payee = home.beneficiaries.phone
    await world.service.deps.db.query(
      `insert into beneficiaries select (jsonb_populate_record(b, jsonb_build_object('id', gen_random_uuid()))).*
         from beneficiaries b, generate_series(1, 2000) where b.id = $1`,
      [parseId('beneficiary', payee)],
    )
    const { page, close } = await visitAs(world, home.person)
    const read: Promise<{ path: string; bytes: number }>[] = []
    page.on('response', (response) => {
      const { pathname, search } = new URL(response.url())
      if (!pathname.startsWith('/v1/') || pathname.endsWith('/stream')) return
      read.push(response.body().then((body) => ({ path: pathname + search, bytes: body.length })))
    })
    await page.goto('/')
    await page.getByRole('heading', { name: 'Recent payments' }).waitFor()
    await page.waitForLoadState('networkidle')
    const calls = await Promise.all(read)
    expect(calls.length, calls.map(({ path }) => path).join('\n')).toBeLessThanOrEqual(9)
    expect(calls.reduce((sum, { bytes }) => sum + bytes, 0)).toBeLessThanOrEqual(150 * 1024)
    // The service finds any payment, whatever the first page has.
    await follow(page, '/payments/new')
    await page.getByLabel('Beneficiary').fill('Savannah')
    await page.locator('datalist option[value^="Savannah Supplies Ltd"]').first().waitFor({ state: 'attached' })
    await follow(page, '/beneficiaries')
    const people = page.getByLabel('Beneficiaries', { exact: true })
    await people.getByText('Brian Otieno').first().waitFor()
    await expect.poll(() => people.getByText('Savannah Supplies Ltd').count()).toBe(0)
    await page.getByRole('searchbox', { name: 'Search' }).fill('savannah')
    await people.getByText('Savannah Supplies Ltd').waitFor()
    await expect.poll(() => people.getByText('Brian Otieno').count()).toBe(0)
    await close()
  })
}
