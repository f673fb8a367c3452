import { readFile } from 'node:fs/promises'
import type { Locator } from 'playwright-core'
import { expect, test } from 'vitest'
import { countHours } from '../../../src/ledger/hours.ts'
import { fund, newBeneficiary } from '../../harness/money.ts'
import { createKey, signIn } from '../../harness/people.ts'
import { newPerson } from '../../identity/sign-in/providers.ts'
import { createTeam } from '../team.ts'
import { desk, follow, phone, visitAs } from '../visit.ts'
import type { World } from '../world.ts'

/** Every press of a button, a link or a row counts; typing in a field does not. */
const countSteps = () => {
  const walk = {
    steps: 0,
    press: async (target: Locator) => {
      await target.click()
      walk.steps += 1
    },
  }
  return walk
}

export const journeyFlows = (world: World): void => {
  test('a founder has an agent that pays within its limits, from an empty account, in ten steps', async () => {
    world.service.clock.set(new Date())
    const founder = await signIn(world.service.api)
    const { page, complaints, close } = await visitAs(world, founder)
    const walk = countSteps()
    await page.goto('/')
    await walk.press(page.getByRole('link', { name: 'Top up', exact: true }).last())
    await page.getByLabel('Amount').fill('5000')
    await page.getByLabel('M-PESA phone number').fill('0722 000 001')
    await walk.press(page.getByRole('button', { name: /Send M-PESA prompt/ }))
    await page.getByRole('heading', { name: 'Check your phone' }).waitFor()
    await world.service.settle()
    await walk.press(page.getByRole('link', { name: 'Agents', exact: true }))
    await walk.press(page.getByRole('link', { name: 'New API key' }))
    await page.getByLabel('Name', { exact: true }).fill('Errand bot')
    await page.getByLabel('Daily limit').fill('2000')
    await walk.press(page.getByRole('button', { name: 'Create key' }))
    const bearer = (await page.getByRole('dialog').locator('[data-secret]').textContent()) ?? ''
    await walk.press(page.getByRole('dialog').getByRole('button', { name: 'I’ve saved it' }))
    const bot = world.service.api.as({ bearer })
    const payee = await newBeneficiary(bot, { display_name: 'Njeri' })
    expect((await bot.post('/v1/payments', { beneficiary_id: payee, amount_minor: '50000' })).body.status).toBe(
      'pending_approval',
    )
    await walk.press(page.getByRole('link', { name: 'Overview', exact: true }))
    await walk.press(page.getByLabel('Needs you').getByRole('link', { name: 'Review' }))
    await walk.press(page.getByRole('button', { name: 'Approve' }).first())
    await walk.press(page.getByRole('dialog').getByRole('button', { name: /^Approve KES/ }))
    await page.getByText(/is on its way/).waitFor()
    expect(walk.steps).toBeLessThanOrEqual(10)
    // The next one to the same payee asks no one.
    expect((await bot.post('/v1/payments', { beneficiary_id: payee, amount_minor: '40000' })).body.status).toBe('processing')
    expect(complaints).toEqual([])
    await close()
  })

  test('twelve approvals are decided on a phone in five taps, and the warning of one is seen before and in the confirmation', async () => {
    world.service.clock.set(new Date())
    const team = await createTeam(world.service)
    const approver = await team.join('approver', 'Amina Otieno')
    await team.payUsually()
    const usual = Array.from({ length: 11 }, (_, index) => String(100_000 + index * 5_000))
    const ids = await team.hold(...usual, '990000')
    const { page, complaints, close } = await visitAs(world, approver, phone)
    const walk = countSteps()
    await page.goto('/approvals')
    await page.getByText('Select the other 11. 1 payment to open first').waitFor()
    await walk.press(page.locator('.inbox-link').first())
    await page.getByText('33 times the usual amount').waitFor()
    await walk.press(page.getByRole('link', { name: 'Approvals' }).first())
    await walk.press(page.getByLabel('Select all'))
    await walk.press(page.getByRole('button', { name: 'Approve 12' }))
    const dialog = page.getByRole('dialog')
    expect(await dialog.locator('li').count()).toBe(12)
    await dialog.getByText('33 × the usual').waitFor()
    await walk.press(dialog.getByRole('button', { name: /^Approve KES/ }))
    await page.getByText('12 payments approved').waitFor()
    expect(walk.steps).toBeLessThanOrEqual(5)
    const statuses = await Promise.all(
      ids.map(async (id) => (await team.within(approver).get(`/v1/approvals/${id}`)).body.status),
    )
    expect(new Set(statuses)).toEqual(new Set(['approved']))
    expect(complaints).toEqual([])
    await close()
  })

  test('what happened overnight stands on one page, and from it and from any payment an agent is stopped in two steps', async () => {
    world.service.clock.set(new Date())
    const person = await signIn(world.service.api)
    await fund(world.service, person, 5_000_000n)
    const payee = await newBeneficiary(person.api, { display_name: 'Baraka Stores' })
    await newBeneficiary(person.api, { display_name: 'Landlord', destination: '254722100001' })
    await person.api.post('/v1/spending-policies', { name: 'Office', monthly_limit_minor: '200000' })
    const bot = await createKey(person, {
      name: 'Invoice bot',
      spending_controls: { per_payment_limit_minor: '50000' },
    })
    const pay = (beneficiary_id: string, amount_minor: string) => bot.api.post('/v1/payments', { beneficiary_id, amount_minor })
    for (let count = 0; count < 4; count += 1) await pay(payee, '32000')
    expect((await pay(payee, '900000')).status).toBe(403)
    const proposed = await newBeneficiary(bot.api, { display_name: 'Mpya Traders' })
    expect((await pay(proposed, '45000')).body.status).toBe('pending_approval')
    await world.service.settle()
    const { page, complaints, close } = await visitAs(world, person)
    await page.goto('/')
    await page.getByText(/^KES\s1,280 was spent in 4 payments since yesterday. 4 things need you.$/).waitFor()
    const needs = page.getByLabel('Needs you')
    expect((await needs.locator('.item-title').allTextContents()).map((text) => text.replaceAll('\u00a0', ' '))).toEqual([
      '1 payment needs your approval',
      '4 payments of KES 320 to Baraka Stores',
      'The number of Landlord belongs to another name',
      'Office: 86 % of the monthly limit is used',
    ])
    const looks = page.getByLabel('Worth a look').locator('.item-title')
    expect((await looks.allTextContents()).map((text) => text.replaceAll('\u00a0', ' '))).toEqual([
      'KES 9,000 to Baraka Stores was refused for Invoice bot',
    ])
    const stop = async (button: Locator) => {
      const walk = countSteps()
      await walk.press(button)
      await walk.press(page.getByRole('dialog').getByRole('button', { name: 'Freeze' }))
      await page.getByText('Invoice bot frozen').first().waitFor()
      expect(walk.steps).toBeLessThanOrEqual(2)
      expect((await pay(payee, '100')).body.error).toBe('grant_frozen')
      await person.api.patch(`/v1/accounts/me/grants/${bot.grantId}`, { frozen: false })
    }
    await stop(needs.getByRole('button', { name: 'Freeze Invoice bot' }))
    await follow(page, '/payments')
    await stop(page.getByRole('row').getByRole('button', { name: 'Freeze Invoice bot' }).first())
    await page.setViewportSize(phone)
    await stop(page.getByRole('row').getByRole('button', { name: 'Freeze Invoice bot' }).last())
    await page.setViewportSize(desk)
    expect(complaints).toEqual([])
    await close()
  })

  test('what last month cost by payee is read in three steps, with the figures of that month alone', async () => {
    const now = new Date()
    const lastMonth = new Date(Date.UTC(now.getUTCFullYear(), now.getUTCMonth() - 1, 15, 9))
    world.service.clock.set(lastMonth)
    await countHours(world.service.deps.db, lastMonth)
    const before = await signIn(world.service.api)
    await fund(world.service, before, 5_000_000n)
    const baraka = await newBeneficiary(before.api, { display_name: 'Baraka Stores' })
    const landlord = await newBeneficiary(before.api, { display_name: 'Landlord', destination: '254722100002' })
    const pay = async (person: typeof before, beneficiary_id: string, amount_minor: string) =>
      expect((await person.api.post('/v1/payments', { beneficiary_id, amount_minor })).status).toBe(201)
    await pay(before, baraka, '120000')
    await pay(before, baraka, '30000')
    await pay(before, landlord, '900000')
    await world.service.settle()
    world.service.clock.set(now)
    const person = await signIn(world.service.api, before.wallet)
    await pay(person, baraka, '70000')
    await world.service.settle()
    const { page, complaints, close } = await visitAs(world, person)
    const walk = countSteps()
    await page.goto('/')
    await walk.press(page.getByRole('link', { name: 'History', exact: true }).first())
    await walk.press(page.getByRole('link', { name: /^Statement/ }).last())
    await page.getByRole('heading', { name: 'Out by payee' }).waitFor()
    await walk.press(page.getByRole('button', { name: 'Previous month' }))
    const byPayee = page.getByRole('table', { name: 'Out by payee' })
    await byPayee.getByRole('row', { name: /Landlord.*9,000\.00/ }).waitFor()
    const rows = await byPayee.getByRole('row').allTextContents()
    expect(rows.slice(1).map((text) => text.replace(/\s+/g, ' '))).toEqual([
      expect.stringMatching(/^Landlord ?1.*9,000\.00$/),
      expect.stringMatching(/^Baraka Stores ?2.*1,500\.00$/),
    ])
    await page.getByText('10,500.00').first().waitFor()
    expect(walk.steps).toBeLessThanOrEqual(3)
    expect(complaints).toEqual([])
    await close()
  })

  test('from a refused payment its limit is raised in four steps, and the payment then goes out', async () => {
    world.service.clock.set(new Date())
    const person = await signIn(world.service.api)
    await fund(world.service, person, 2_000_000n)
    const payee = await newBeneficiary(person.api, { display_name: 'Baraka Stores' })
    const bot = await createKey(person, { name: 'Invoice bot', spending_controls: { per_payment_limit_minor: '500000' } })
    const pay = () => bot.api.post('/v1/payments', { beneficiary_id: payee, amount_minor: '900000' })
    expect((await pay()).status).toBe(403)
    const { page, complaints, close } = await visitAs(world, person)
    const walk = countSteps()
    await page.goto('/')
    await page.getByText(/KES\s9,000 to Baraka Stores was refused for Invoice bot/).waitFor()
    await walk.press(page.getByRole('link', { name: 'See why' }))
    await page.getByText(/per-payment limit of key or agent "Invoice bot" is KES\s5,000.00/).waitFor()
    await walk.press(page.getByRole('link', { name: /Raise limit to KES\s9,000/ }))
    await walk.press(page.getByRole('dialog').getByRole('button', { name: 'Save limits' }))
    await page.getByText('Limits saved').waitFor()
    expect(walk.steps).toBeLessThanOrEqual(4)
    expect((await pay()).body.status).toBe('processing')
    expect(complaints).toEqual([])
    await close()
  })

  test('a developer makes a first call in three steps', async () => {
    const person = await signIn(world.service.api)
    const { page, complaints, close } = await visitAs(world, person)
    const walk = countSteps()
    await page.goto('/developers')
    await walk.press(page.getByRole('link', { name: 'New API key' }).first())
    await page.getByLabel('Name', { exact: true }).fill('First')
    await page.getByLabel('Daily limit').fill('2000')
    await walk.press(page.getByRole('button', { name: 'Create key' }))
    const dialog = page.getByRole('dialog')
    await walk.press(dialog.getByRole('button', { name: /^Copy/ }).first())
    const copied = await page.evaluate<string>('navigator.clipboard.readText()')
    const [bearer] = /service_live_[0-9a-f]{64}/.exec(copied) ?? []
    expect((await world.service.api.as({ bearer: bearer ?? '' }).get('/v1/credentials/current')).status).toBe(200)
    expect(walk.steps).toBeLessThanOrEqual(3)
    expect(complaints).toEqual([])
    await close()
  })

  test('a lost wallet is unlinked in four steps by who has another way in', async () => {
    const person = await signIn(world.service.api)
    const { email } = newPerson()
    const linked = await person.api.post('/v1/accounts/me/identities', { provider: 'google', return_to: '/account' })
    const { page, context, complaints, close } = await visitAs(world, person)
    await page.goto(linked.body.authorization_url)
    await page.getByRole('link', { name: 'Continue with Google' }).click()
    await page.getByLabel('Another e-mail').fill(email)
    await page.getByRole('button', { name: 'Be this person' }).click()
    await page.getByRole('heading', { name: 'Account' }).waitFor()
    await context.clearCookies()

    const walk = countSteps()
    await page.goto('/sign-in')
    await page.getByText('Lost your wallet?').waitFor()
    await walk.press(page.getByRole('button', { name: /Google/ }))
    // The provider's own page.
    await page.getByLabel('Another e-mail').fill(email)
    await page.getByRole('button', { name: 'Be this person' }).click()
    await walk.press(page.getByRole('link', { name: 'Account', exact: true }).first())
    await walk.press(page.getByRole('button', { name: /^Unlink Wallet/ }))
    await walk.press(page.getByRole('dialog').getByRole('button', { name: 'Unlink' }))
    await page.getByRole('button', { name: /^Unlink Wallet/ }).waitFor({ state: 'detached' })
    expect(walk.steps).toBeLessThanOrEqual(4)
    expect((await person.api.get('/v1/accounts/me')).status).toBe(401)
    expect(complaints).toEqual([])
    await close()
  })

  test('a payment is found by its amount as a bill writes it, in two steps by search and in one in the list', async () => {
    world.service.clock.set(new Date())
    const person = await signIn(world.service.api)
    await fund(world.service, person, 5_000_000n)
    const payee = await newBeneficiary(person.api, { display_name: 'Baraka Stores' })
    for (const amount_minor of ['196300', '196301', '19630'])
      await person.api.post('/v1/payments', { beneficiary_id: payee, amount_minor })
    const { page, complaints, close } = await visitAs(world, person)
    const walk = countSteps()
    await page.goto('/')
    await walk.press(page.getByRole('button', { name: /^Search/ }))
    await page.getByRole('combobox').fill('KES 1,963.00')
    const found = page.getByRole('option').filter({ hasText: 'Baraka Stores' })
    await found.first().waitFor()
    expect((await found.allTextContents()).map((text) => text.replaceAll('\u00a0', ' '))).toEqual([
      expect.stringContaining('KES 1,963.00 to Baraka Stores'),
    ])
    await walk.press(found.first())
    await page.getByRole('heading', { name: /1,963/ }).first().waitFor()
    expect(walk.steps).toBe(2)
    await follow(page, '/payments')
    await page.getByLabel('Search', { exact: true }).fill('1,963')
    await page.getByLabel('Totals').getByText('1 payment', { exact: true }).waitFor()
    await walk.press(page.getByRole('link', { name: 'Baraka Stores' }))
    expect(walk.steps).toBe(3)
    expect(complaints).toEqual([])
    await close()
  })

  test('an accountant has the month as a file and on paper in three steps, and sees where the money went in one more', async () => {
    const team = await createTeam(world.service)
    await team.payUsually()
    const accountant = await team.join('viewer', 'Vera Viewer')
    await accountant.api.put('/v1/workspaces/current', { workspace_id: team.workspaceId })
    const { page, complaints, close } = await visitAs(world, accountant)
    const walk = countSteps()
    await page.goto('/')
    await walk.press(page.getByRole('navigation', { name: 'Main' }).getByRole('link', { name: 'Statements' }))
    const file = page.waitForEvent('download')
    await walk.press(page.getByRole('button', { name: 'Export CSV' }))
    const saved = await (await file).path()
    expect(await readFile(saved, 'utf8')).toContain('Roastery Kiambu')
    await page.evaluate('window.print = () => { document.title = "printed" }')
    await walk.press(page.getByRole('button', { name: 'Print' }))
    await page.waitForFunction('document.title === "printed"')
    await walk.press(page.getByRole('navigation', { name: 'Main' }).getByRole('link', { name: 'Spending' }))
    const payees = page.getByRole('table', { name: 'Spent by payee and month' })
    const { body } = await accountant.api.get('/v1/payments/summary')
    const spent = Math.round(Number(body.spent.amount_minor) / 100)
    await payees
      .getByRole('row')
      .filter({ hasText: 'Everyone' })
      .getByTitle(`${spent.toLocaleString('en')}.00`, { exact: false })
      .waitFor()
    await payees.getByRole('row').filter({ hasText: 'Roastery Kiambu' }).waitFor()
    expect(walk.steps).toBe(4)
    expect(complaints).toEqual([])
    await close()
  })
}
