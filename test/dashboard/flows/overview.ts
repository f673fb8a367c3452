import { expect, test } from 'vitest'
import { countHours } from '../../../src/ledger/count-hours.ts'
import { fund, newBeneficiary } from '../../harness/money.ts'
import { createKey, signIn } from '../../harness/people.ts'
import { takeScreenshots } from '../screenshots.ts'
import { createTeam } from '../team.ts'
import { follow, visitAs } from '../visit.ts'
import type { World } from '../world.ts'

export const overviewFlows = (world: World): void => {
  test('each first step leads to the next: top-up, approval policy, beneficiary, payment, approval', async () => {
    world.service.clock.set(new Date())
    const person = await signIn(world.service.api)
    const { page, complaints, close } = await visitAs(world, person)
    let clicks = 0
    const click = async (role: 'link' | 'button', name: string | RegExp) => {
      await page
        .getByRole(role, { name, exact: typeof name === 'string' })
        .last()
        .click()
      clicks += 1
    }
    await page.goto('/')
    await page.getByText('0 of 6 done').waitFor()
    expect(await world.inspector.inBothThemes(page)).toEqual([])
    await takeScreenshots(page, 'first-steps')
    // Every step is possible at once.
    await page.getByRole('link', { name: 'New agent key' }).click()
    await expect.poll(() => page.getByLabel('Require approval at or above').inputValue()).toBe('5,000')
    await follow(page, '/')
    await page.getByRole('link', { name: 'Invite', exact: true }).click()
    await page.getByRole('dialog').getByLabel('Only for').waitFor()
    await page.keyboard.press('Escape')
    await follow(page, '/')
    await page.getByRole('heading', { name: 'Get started' }).waitFor()
    await click('link', 'Top up')
    await page.getByLabel('Amount').fill('5000')
    await page.getByLabel('M-PESA phone number').fill('0722 000 001')
    await click('button', /Send M-PESA prompt/)
    await page.getByRole('heading', { name: 'Check your phone' }).waitFor()
    await world.service.settle()
    await click('link', 'Add someone to pay')
    await page.getByLabel('Name', { exact: true }).fill('Njeri')
    await page.getByLabel('Mobile number').fill('0712 345 678')
    await click('button', 'Add beneficiary')
    await page.getByRole('heading', { name: 'New payment' }).waitFor()
    await follow(page, '/')
    await page.getByText('2 of 6 done').waitFor()
    await click('button', /^From KES\s1,000/)
    await page.getByText('3 of 6 done').waitFor()
    await click('link', 'New payment')
    await page.getByLabel('Beneficiary').selectOption('Njeri')
    await page.getByLabel('Amount').fill('1200')
    await page.getByRole('heading', { name: 'It needs 1 approval' }).waitFor()
    await click('button', /^Review KES/)
    await click('button', 'Request approval')
    await click('button', 'Approve')
    await page
      .getByRole('dialog')
      .getByRole('button', { name: /^Approve KES/ })
      .click()
    clicks += 1
    await page.getByText(/is on its way/).waitFor()
    await world.service.settle()
    await page.getByLabel('What happened').getByText('Succeeded').waitFor()
    expect(clicks).toBeLessThanOrEqual(10)
    expect(complaints).toEqual([])
    await close()
  })

  test('one press asks for two people, an approver is invited, and the key of an agent asks above its threshold: each counts as a step', async () => {
    world.service.clock.set(new Date())
    const { api, accountId, cookie, wallet } = await signIn(world.service.api)
    const { page, complaints, close } = await visitAs(world, { api, accountId, cookie, wallet })
    await page.goto('/')
    await page.getByRole('button', { name: /^Two people from KES\s50,000$/ }).click()
    await page.getByText('1 of 6 done').waitFor()
    const policies = (await api.get('/v1/spending-policies')).body.data
    expect(policies).toMatchObject([{ approval_threshold_minor: '5000000', required_approval_count: 2 }])
    await page.getByRole('link', { name: 'Invite', exact: true }).click()
    await page.getByLabel('Only for').fill('brian@example.com')
    await page.getByRole('button', { name: 'Create invitation' }).click()
    await page.getByText('We emailed it to brian@example.com').waitFor()
    await page.getByRole('button', { name: 'Done' }).click()
    await follow(page, '/')
    await page.getByText('2 of 6 done').waitFor()
    await page.getByRole('link', { name: 'New agent key' }).click()
    await page.getByLabel('Name', { exact: true }).fill('Shopper')
    await page.getByRole('button', { name: 'Create key' }).click()
    await page
      .getByText(/service_live_/)
      .first()
      .waitFor()
    expect((await api.get('/v1/accounts/me/grants')).body.data).toMatchObject([
      { label: 'Shopper', spending_controls: { approval_threshold_minor: '500000', on_duplicate: 'confirm' } },
    ])
    await page.goto('/')
    await page.getByText('3 of 6 done').waitFor()
    expect(complaints).toEqual([])
    await close()
  })

  test('money that arrives appears without a reload, in the balance and in the chart by day', async () => {
    world.service.clock.set(new Date())
    const person = await signIn(world.service.api)
    const { page, complaints, close } = await visitAs(world, person)
    await page.goto('/')
    await page.getByText('0 of 6 done').waitFor()
    await fund(world.service, person, 500_000n)
    await page.getByLabel('Balance').getByText('5,000.00').first().waitFor()
    await page.getByText('1 of 6 done').waitFor()
    await page.getByText(/In KES\s5,000/).waitFor()
    await page.getByText('Show as a table').click()
    await page.getByRole('row', { name: /KES\s5,000.00/ }).waitFor()
    expect(complaints).toEqual([])
    await close()
  })

  test('money that is short for what is scheduled is announced on any page, and the overview says how much, until when, and where to add some', async () => {
    world.service.clock.set(new Date())
    const person = await signIn(world.service.api)
    await fund(world.service, person, 500_000n)
    const beneficiary_id = await newBeneficiary(person.api)
    const execute_at = new Date(world.service.clock.now().getTime() + 7_200_000).toISOString()
    await person.api.post('/v1/payments', { beneficiary_id, amount_minor: '800000', execute_at })
    const { page, complaints, close } = await visitAs(world, person)
    await page.goto('/beneficiaries')
    await page.getByRole('heading', { name: 'Beneficiaries' }).waitFor()
    await world.service.deps.jobs.sweep()
    await page.getByText(/Scheduled payments are KES\s3,000 short/).waitFor()
    await page.getByRole('button', { name: 'See it' }).click()
    await page.getByText(/KES\s8,000.00 is due from/).waitFor()
    await takeScreenshots(page, 'short')
    await page.getByLabel('Needs your attention').getByRole('link', { name: 'Top up' }).click()
    await page.getByLabel('M-PESA phone number').waitFor()
    expect(complaints).toEqual([])
    await close()
  })

  test('approvals of another workspace are shown, with what the agents spent and a row for each payment', async () => {
    const team = await createTeam(world.service)
    const approver = await team.join('approver', 'Amina Otieno')
    await team.hold('450000')
    const { page, close } = await visitAs(world, approver)
    await page.goto('/')
    const banner = page.getByLabel('Needs your attention')
    await banner.getByText('1 payment needs your approval').waitFor()
    await banner.getByText('in Savannah Coffee').waitFor()
    await close()

    const home = await world.household()
    const own = await visitAs(world, home.person)
    await own.page.goto('/')
    // KES 60,000 a day and 500,000 a month: the day has less left.
    await own.page.getByRole('meter', { name: 'Procurement agent, used today' }).waitFor()
    await own.page.getByText(/^KES\s23,949 of KES\s60,000 today$/).waitFor()
    await own.page.getByRole('link', { name: /Kenya Power/ }).waitFor()
    await expect.poll(() => own.page.getByRole('link', { name: /Kenya Power/ }).count()).toBe(1)
    await own.page.getByLabel('Needs your attention').getByRole('link', { name: 'Review' }).click()
    await own.page.getByRole('heading', { name: /KES\s23,499 to Savannah Supplies Ltd/ }).waitFor()
    await own.close()
  })

  test('a day with a batch of payments flattens no other day, and stands above the scale in words', async () => {
    const now = new Date()
    const before = new Date(now.getTime() - 4 * 86_400_000)
    world.service.clock.set(before)
    await countHours(world.service.deps.db, before)
    const earlier = await signIn(world.service.api)
    await fund(world.service, earlier, 60_000_000n)
    const pay = (beneficiary_id: string, amount_minor: string) =>
      earlier.api.post('/v1/payments', { beneficiary_id, amount_minor })
    expect((await pay(await newBeneficiary(earlier.api), '50000')).status).toBe(201)
    await world.service.settle()
    world.service.clock.set(now)
    const person = await signIn(world.service.api, earlier.wallet)
    const items = Array.from({ length: 4 }, (_, index) => ({
      display_name: `Person ${index}`,
      destination: `0722${String(100_000 + index)}`,
      amount_minor: '12500000',
    }))
    expect((await person.api.post('/v1/payment-batches', { name: 'Salaries', items })).status).toBe(201)
    await world.service.settle()
    const { page, complaints, close } = await visitAs(world, person)
    await page.goto('/')
    await page.getByText(/^Above the scale: KES\s500,000 on/).waitFor()
    const heights = await page.evaluate<number[]>(
      `[...document.querySelectorAll('.day-chart rect.chart-spent')].map((bar) => Number(bar.getAttribute('height'))).filter(Boolean)`,
    )
    expect(heights).toHaveLength(2)
    expect(Math.min(...heights)).toBeGreaterThan(Math.max(...heights) / 2)
    // Each chart has a scale of three amounts, and names the amount of the day under the pointer.
    for (const picture of ['.day-chart', '.balance-line']) {
      const amounts = await page.locator(`${picture} .chart-scale > span`).allTextContents()
      expect(amounts).toHaveLength(3)
      expect(amounts.at(-1)).toBe('0')
    }
    await page.locator('.balance-line .chart-hit').nth(27).hover()
    await page.locator('.balance-line title', { hasText: /^KES\s599,500 on / }).waitFor({ state: 'attached' })
    await takeScreenshots(page, 'overview-with-a-list')
    expect(complaints).toEqual([])
    await close()
  })

  test('the spending of a workspace with three agents and twelve payees is read in at most twelve calls', async () => {
    world.service.clock.set(new Date())
    const person = await signIn(world.service.api)
    await fund(world.service, person, 5_000_000n)
    for (const name of ['Invoice bot', 'Errand bot', 'Payroll bot']) {
      const { api } = await createKey(person, { name })
      for (let payee = 0; payee < 4; payee += 1) {
        const destination = `0722${100_000 + name.length * 10 + payee}`
        const beneficiary_id = await newBeneficiary(person.api, { display_name: `${name} ${payee}`, destination })
        expect((await api.post('/v1/payments', { beneficiary_id, amount_minor: '20000' })).status).toBe(201)
      }
    }
    await world.service.settle()
    const { page, complaints, close } = await visitAs(world, person)
    await page.goto('/payments')
    await page.getByLabel('Totals').getByText('12 payments').waitFor()
    const calls: string[] = []
    page.on('request', (request) => calls.push(new URL(request.url()).pathname))
    await follow(page, '/spending')
    const agents = page.getByRole('table', { name: 'Spent by agent and month' })
    await agents.getByRole('row').filter({ hasText: 'Payroll bot' }).getByText('800').waitFor()
    const payees = page.getByRole('table', { name: 'Spent by beneficiary and month' })
    await payees.getByRole('row').filter({ hasText: 'All others' }).waitFor()
    for (const table of [agents, payees])
      expect(await table.getByRole('row').filter({ hasText: 'Everyone' }).getByRole('cell').last().textContent()).toBe('2.4k')
    expect(calls.filter((path) => path.startsWith('/v1/')).length).toBeLessThanOrEqual(12)
    await takeScreenshots(page, 'spending-by-agent-and-payee')
    expect(complaints).toEqual([])
    await close()
  })

  test('a page that is older than the service leaves out a need that it does not know, and shows the rest', async () => {
    const { page, complaints, close } = await visitAs(world, await signIn(world.service.api))
    await page.route('**/v1/payments/attention', async (route) => {
      const response = await route.fetch()
      return route.fulfill({ response, json: { ...(await response.json()), needs: [{ kind: 'of_a_later_release' }] } })
    })
    await page.goto('/')
    await page.getByText('Recent payments').waitFor()
    await page
      .getByText(/^Nothing was spent/)
      .first()
      .waitFor()
    expect(complaints).toEqual([])
    await close()
  })

  test('a part of a page that is refused is asked for once, and the page says why and shows the rest', async () => {
    const { page, complaints, close } = await visitAs(world, await signIn(world.service.api))
    for (const [path, refused, rest, none] of [
      ['/', '**/v1/payments/attention', 'Recent payments', /^Nothing was spent/],
      ['/agents', '**/v1/accounts/me/grants?*', 'Connect an agent', 'No agents yet'],
      ['/spending', '**/v1/payments/summary?*', 'Next 30 days', 'Others'],
      ['/spending', '**/v1/spending-policies?*', 'Next 30 days', 'No policy or agent has a daily or monthly limit'],
      ['/payments/new', '**/v1/beneficiaries?*', 'New payment', 'First, add someone to pay'],
    ] as const) {
      let asked = 0
      await page.route(refused, (route) => {
        asked += 1
        return route.fulfill({ status: 403, json: { error: 'permission_denied', message: 'Not now.' } })
      })
      await page.goto(path)
      await page.getByRole('alert').getByText('Not now').first().waitFor()
      await page.getByText(rest).first().waitFor()
      await expect.poll(() => page.getByText(none).count()).toBe(0)
      expect([path, asked]).toEqual([path, 1])
      await page.unroute(refused)
      await page.getByRole('button', { name: 'Try again' }).first().click()
      await expect.poll(() => page.getByRole('alert').count()).toBe(0)
    }
    expect(complaints).toEqual([])
    await close()
  })
}
