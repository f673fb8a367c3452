import { expect, test } from 'vitest'
import { fund } from '../../harness/money.ts'
import { signIn } from '../../harness/people.ts'
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
    await page.getByText('0 of 5 done').waitFor()
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
    await page.getByText('2 of 5 done').waitFor()
    await click('button', /KES\s1,000 and more/)
    await page.getByText('3 of 5 done').waitFor()
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

  test('money that arrives appears without a reload, in the balance and in the chart by day', async () => {
    world.service.clock.set(new Date())
    const person = await signIn(world.service.api)
    const { page, complaints, close } = await visitAs(world, person)
    await page.goto('/')
    await page.getByText('0 of 5 done').waitFor()
    await fund(world.service, person, 500_000n)
    await page.getByLabel('Balance').getByText('5,000.00').first().waitFor()
    await page.getByText('1 of 5 done').waitFor()
    await page.getByText(/In KES\s5,000/).waitFor()
    await page.getByText('Show as a table').click()
    await page.getByRole('row', { name: /KES\s5,000.00/ }).waitFor()
    expect(complaints).toEqual([])
    await close()
  })

  test('approvals of another workspace are shown, with what the agents spent and a row for each payment', async () => {
    const team = await createTeam(world.service)
    const approver = await team.join('approver', 'Amina Otieno')
    await team.hold('450000')
    const { page, close } = await visitAs(world, approver)
    await page.goto('/')
    const banner = page.getByLabel('Needs you')
    await banner.getByText('1 payment needs your approval').waitFor()
    await banner.getByText('in Savannah Coffee').waitFor()
    await close()

    const home = await world.household()
    const own = await visitAs(world, home.person)
    await own.page.goto('/')
    await own.page.getByRole('meter', { name: 'Procurement agent, used this month' }).waitFor()
    await own.page.getByRole('link', { name: /Kenya Power/ }).waitFor()
    expect(await own.page.getByRole('link', { name: /Kenya Power/ }).count()).toBe(1)
    await own.page.getByLabel('Needs you').getByRole('link', { name: 'Review' }).click()
    await own.page.getByRole('heading', { name: /KES\s23,499 to Savannah Supplies Ltd/ }).waitFor()
    await own.close()
  })
}
