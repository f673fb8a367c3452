import { expect, test } from 'vitest'
import { signIn } from '../harness/people.ts'
import { openService } from '../harness/service.ts'

const service = await openService()

test('payees that several accounts name at once are found or made, each its own', async () => {
  const people = [await signIn(service.api), await signIn(service.api), await signIn(service.api), await signIn(service.api)]
  const nameAll = (first: number) =>
    Promise.all(
      people.map(({ api }, index) =>
        api.post('/v1/beneficiaries', {
          type: 'supplier',
          display_name: 'Supplier',
          payment_rail: 'MPESA_B2C',
          destination: `2547000000${first + index}`,
        }),
      ),
    )
  await nameAll(10)
  // The first two are known under other names, but in another workspace only. Each workspace has its own payees.
  const answers = await nameAll(12)
  expect(answers.map(({ status, body }) => [status, body.destination_mask.slice(-2)])).toEqual(
    [12, 13, 14, 15].map((end) => [201, String(end)]),
  )
  const rows = await service.deps.db.query<{ payees: number; beneficiaries: number }>(
    'select (select count(*)::int from payees) as payees, (select count(distinct payee_id)::int from beneficiaries) as beneficiaries',
  )
  expect(rows).toEqual([{ payees: 8, beneficiaries: 8 }])
})
