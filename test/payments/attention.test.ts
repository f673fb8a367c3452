import { afterAll, beforeAll, expect, test } from 'vitest'
import { fund, newBeneficiary } from '../harness/money.ts'
import { createKey, signIn } from '../harness/people.ts'
import { startService, type TestService } from '../harness/service.ts'

let service: TestService
beforeAll(async () => {
  service = await startService()
})
afterAll(() => service.close())

const minute = 60

test('what needs a person is read at once: unknown, repeated and refused payments, and limits nearly used, of this workspace alone', async () => {
  const person = await signIn(service.api)
  const stranger = await signIn(service.api)
  await fund(service, person, 5_000_000n)
  const attention = async (api = person.api) => (await api.get('/v1/payments/attention')).body
  expect((await attention()).needs).toEqual([])
  const shop = await newBeneficiary(person.api, { display_name: 'Baraka Stores' })
  const silent = await newBeneficiary(person.api, { destination: '254711000008', display_name: 'Kilimo' })
  const bot = await createKey(person, { name: 'Invoice bot', spending_controls: { per_payment_limit_minor: '50000' } })
  const pay = (api: typeof person.api, beneficiary_id: string, amount_minor: string) =>
    api.post('/v1/payments', { beneficiary_id, amount_minor })
  for (let count = 0; count < 5; count += 1) {
    await pay(bot.api, shop, '20000')
    service.clock.advance(20 * minute)
  }
  // Three alike are no run, and five in five hours neither.
  for (let count = 0; count < 3; count += 1) await pay(bot.api, shop, '30000')
  for (let count = 0; count < 5; count += 1) {
    await pay(person.api, shop, '10000')
    service.clock.advance(60 * minute)
  }
  for (let count = 0; count < 2; count += 1) expect((await pay(bot.api, shop, '90000')).status).toBe(403)
  await person.api.post('/v1/spending-policies', { name: 'Office', monthly_limit_minor: '320000' })
  const unknown = (await pay(person.api, silent, '70000')).body
  await service.settle()
  await service.deps.db.query(`update payments set status = 'unknown', dispatch_due_at = null where beneficiary_id = $1`, [
    (await service.deps.db.query<{ id: string }>(`select id from beneficiaries where display_name = 'Kilimo'`, []))[0]?.id,
  ])
  const { needs, by_day: days } = await attention()
  const by = { account_id: person.accountId, grant_id: bot.grantId, label: 'Invoice bot' }
  expect(needs).toMatchObject([
    { kind: 'unknown_payments', count: 1, amount_minor: '70000', payment_id: unknown.id },
    { kind: 'repeated_payments', count: 5, amount_minor: '20000', beneficiary: { id: shop, display_name: 'Baraka Stores' }, by },
    {
      kind: 'refused_payments',
      count: 2,
      by,
      last: { amount_minor: '90000', beneficiary: { id: shop }, message: expect.stringMatching(/per-payment limit/) },
    },
    { kind: 'limit_nearly_used', name: 'Office', period: 'month', limit_minor: '320000' },
  ])
  expect(days).toHaveLength(30)
  expect(days.reduce((sum: bigint, day: { amount_minor: string }) => sum + BigInt(day.amount_minor), 0n)).toBe(310_000n)
  // A key reads of refusals what it was refused itself.
  const reader = await createKey(person, { name: 'Reader' })
  expect((await attention(reader.api)).needs.map(({ kind }: { kind: string }) => kind)).not.toContain('refused_payments')
  expect((await attention(stranger.api)).needs).toEqual([])
  expect((await service.api.get('/v1/payments/attention')).status).toBe(401)
  service.clock.advance(25 * 60 * minute)
  expect((await attention()).needs.map(({ kind }: { kind: string }) => kind)).not.toContain('repeated_payments')
})
