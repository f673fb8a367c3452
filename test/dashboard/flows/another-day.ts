import { expect, test } from 'vitest'
import { credit, newBeneficiary } from '../../harness/money.ts'
import { signIn } from '../../harness/people.ts'
import { pass } from '../../rails-flows/scene.ts'
import { visitAs } from '../visit.ts'
import type { World } from '../world.ts'

/** Flows over several days, on a service of their own. */
export const anotherDayFlows = (world: World): void => {
  test('an approval that waits since another day shows what is used now', async () => {
    const { service } = world
    const person = await signIn(service.api)
    await credit(service, person.accountId, 10_000_000n)
    await person.api.post('/v1/spending-policies', {
      name: 'Office',
      daily_limit_minor: '100000',
      approval_threshold_minor: '50000',
      separation_of_duties: false,
    })
    const pay = async (destination: string, amount_minor: string) => {
      const beneficiary_id = await newBeneficiary(person.api, { destination })
      const paid = await person.api.post('/v1/payments', { beneficiary_id, amount_minor })
      expect(paid.status).toBe(201)
      return paid.body
    }
    await pay('254722000101', '40000')
    const waiting = await pay('254722000102', '60000')
    expect(waiting.status).toBe('pending_approval')
    await service.settle()

    const { page, complaints, close } = await visitAs(world, person)
    const checks = page.getByLabel('Policy checks')
    await page.goto(`/approvals/${waiting.approval_id}`)
    await checks.getByText('KES\u00a0400.00 of KES\u00a01,000.00 already used today').waitFor()
    await pass(service, 2 * 86_400)
    const later = await signIn(service.api, person.wallet)
    await close()

    const visit = await visitAs(world, later)
    await visit.page.goto(`/approvals/${waiting.approval_id}`)
    await visit.page.getByLabel('Policy checks').getByText('KES\u00a00.00 of KES\u00a01,000.00 already used today').waitFor()
    expect([...complaints, ...visit.complaints]).toEqual([])
    await visit.close()
  })
}
