import { expect, test } from 'vitest'
import { createHousehold } from '../household.ts'
import { follow, shareVisit, visitAs } from '../visit.ts'
import type { World } from '../world.ts'

export const policyFlows = (world: World): void => {
  const shared = shareVisit(world)

  test('a policy is shown as a sentence and replayed over past payments before it is turned on', async () => {
    const home = await createHousehold(world.service)
    const { page, complaints, close } = await visitAs(world, home.person)
    await page.goto('/policies/new')
    await page.getByLabel('Name', { exact: true }).fill('Careful')
    await page.getByLabel('Per-payment limit').fill('3000')
    await page.getByLabel('Require approval at or above').fill('1000')
    await page.getByLabel('Requester can’t approve their own payment').check()
    const sentence = page.locator('.sentence')
    await sentence.getByText(/limited to KES\s3,000.00 per payment/).waitFor()
    expect((await sentence.textContent())?.replaceAll('\u00a0', ' ')).toBe(
      'Every payment is limited to KES 3,000.00 per payment, and needs 1 approval from someone other than the requester at or above KES 1,000.00.',
    )
    await page.getByText('4 would be refused').waitFor()
    await page.getByText('1 would go through').waitFor()
    await page.getByRole('button', { name: 'Turn on policy' }).click()
    await page.getByText('Policy turned on').waitFor()
    const [policy] = (await home.person.api.get('/v1/spending-policies')).body.data
    expect(policy).toMatchObject({ name: 'Careful', per_payment_limit_minor: '300000', separation_of_duties: true })
    expect(complaints).toEqual([])
    await close()
  })

  test('a policy for one beneficiary is replayed over the payments to that beneficiary alone', async () => {
    const home = await world.household()
    const policies = (await home.person.api.get('/v1/spending-policies')).body.data
    const { id } = policies.find(({ name }: { name: string }) => name === 'Utilities')
    const { page, close } = await visitAs(world, home.person)
    await page.goto(`/policies/${id}`)
    await page.getByText('It would have applied to 1 payment:').waitFor()
    await page.getByText('1 would go through').waitFor()
    // A threshold means nothing while no approvals are needed.
    const hint = page.getByText('If empty, every payment needs approval.')
    expect(await hint.count()).toBe(0)
    await page.getByLabel('Approvals needed').selectOption('1 person')
    await hint.waitFor()
    await page.getByLabel('Require approval at or above').fill('100')
    await hint.waitFor({ state: 'detached' })
    await close()
  })

  test('a policy about repeated payments says so, is replayed, and keeps it when it is edited', async () => {
    const { page, person } = await shared.at('/policies')
    const terms = { on_duplicate: 'deny', duplicate_window_seconds: 90 }
    const policy = (await person.api.post('/v1/spending-policies', { name: 'No repeats', ...terms })).body
    await follow(page, `/policies/${policy.id}`)
    const sentence = page.locator('.sentence')
    await sentence.getByText(/^Every payment is refused if it repeats .* from the last 90 seconds\.$/).waitFor()
    await page.getByLabel('If a payment repeats a recent one').selectOption('Require approval')
    await page.getByLabel('How recent').selectOption('Within a day')
    await sentence.getByText(/^Every payment needs 1 approval if it repeats .* from the last day\.$/).waitFor()
    await page.getByRole('button', { name: 'Save policy' }).click()
    await page.getByText('Policy saved').waitFor()
    expect((await person.api.get(`/v1/spending-policies/${policy.id}`)).body).toMatchObject({
      on_duplicate: 'require_approval',
      duplicate_window_seconds: 86_400,
    })
    await person.api.delete(`/v1/spending-policies/${policy.id}`)
  })

  test('contradicting limits are marked; a policy that changed in the meantime is not overwritten', async () => {
    const { page, person } = await shared.at('/policies')
    const policy = (await person.api.post('/v1/spending-policies', { name: 'Rules', approval_threshold_minor: '1000000' })).body
    await follow(page, `/policies/${policy.id}`)
    await page.getByLabel('Per-payment limit').fill('900000')
    await page.getByLabel('Daily limit').fill('10')
    await page.getByRole('button', { name: 'Save policy' }).click()
    await page.getByText('Must not be more than the daily limit').first().waitFor()
    await page.context().setOffline(true)
    await person.api.patch(`/v1/spending-policies/${policy.id}`, { version: policy.version, name: 'Renamed' })
    await page.getByLabel('Per-payment limit').fill('')
    await page.getByLabel('Daily limit').fill('100000')
    await page.context().setOffline(false)
    await page.getByRole('heading', { name: 'Renamed' }).waitFor()
    expect((await person.api.get(`/v1/spending-policies/${policy.id}`)).body.version).toBe(policy.version + 1)
  })

  test('archiving a policy does not save unsaved changes of its form', async () => {
    const { page, person } = await shared.at('/policies')
    const limits = { name: 'Old rules', daily_limit_minor: '500000' }
    const { id } = (await person.api.post('/v1/spending-policies', limits)).body
    const sent: string[] = []
    page.on('request', (request) => {
      if (request.url().includes(id) && request.method() !== 'GET') sent.push(request.method())
    })
    await follow(page, `/policies/${id}`)
    await page.getByLabel('Daily limit').fill('9000')
    await page.getByRole('button', { name: 'Archive' }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Archive' }).click()
    await page.getByText('Policy archived').waitFor()
    expect(sent).toEqual(['DELETE'])
    expect((await person.api.get(`/v1/spending-policies/${id}`)).body).toMatchObject({ ...limits, status: 'archived' })
  })
}
