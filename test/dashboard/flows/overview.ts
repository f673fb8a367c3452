import { expect, test } from 'vitest'
import { fund } from '../../harness/money.ts'
import { signIn } from '../../harness/people.ts'
import { createHousehold } from '../household.ts'
import { visitAs } from '../visit.ts'
import type { World } from '../world.ts'

export const overviewFlows = (world: World): void => {
  test('money that arrives is there without a reload, and the first step is done', async () => {
    const person = await signIn(world.service.api)
    const { page, complaints, close } = await visitAs(world, person)
    await page.goto('/')
    await page.getByText('0 of 5 done').waitFor()
    await fund(world.service, person, 500_000n)
    await page.getByLabel('Balance').getByText('5,000.00').first().waitFor()
    await page.getByText('1 of 5 done').waitFor()
    await page.getByText('Top-up', { exact: true }).waitFor()
    expect(complaints).toEqual([])
    await close()
  })

  test('a payment that waits is announced, and leads to its decision', async () => {
    const home = await createHousehold(world.service)
    const { page, close } = await visitAs(world, home.person)
    await page.goto('/')
    const banner = page.getByLabel('Waiting for you')
    await banner.getByText('1 payment waits for your decision').waitFor()
    await page.getByText('Held for Savannah Supplies Ltd').waitFor()
    await banner.getByRole('link', { name: /Savannah/ }).click()
    await page.getByRole('heading', { name: 'Approval', exact: true }).waitFor()
    expect(new URL(page.url()).pathname).toBe(`/approvals/${home.approvalId}`)
    await close()
  })
}
