import { afterAll, beforeAll, expect, test } from 'vitest'
import { recordSuspense } from '../../src/modules/suspense/service.ts'
import { startAdministered } from '../admin/administrators.ts'
import { fund, newBeneficiary } from '../harness/money.ts'
import { createKey, type Person, signIn } from '../harness/people.ts'
import type { TestService } from '../harness/service.ts'

let service: TestService
let admin: Person
beforeAll(async () => {
  ;({ service, admin } = await startAdministered())
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
  // Three alike are not a run, nor are five in five hours.
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
  // A key reads only its own refusals.
  const reader = await createKey(person, { name: 'Reader' })
  expect((await attention(reader.api)).needs.map(({ kind }: { kind: string }) => kind)).not.toContain('refused_payments')
  expect((await attention(stranger.api)).needs).toEqual([])
  expect((await service.api.get('/v1/payments/attention')).status).toBe(401)
  service.clock.advance(25 * 60 * minute)
  expect((await attention()).needs.map(({ kind }: { kind: string }) => kind)).not.toContain('repeated_payments')
})

test('a payee whose number is registered under another name needs a person until it is renamed or archived', async () => {
  const person = await signIn(service.api)
  const needs = async (api = person.api) => (await api.get('/v1/payments/attention')).body.needs
  const known = async (display_name: string) => {
    const id = await newBeneficiary(person.api, { destination: '254722100001', display_name })
    await service.settle()
    return id
  }
  await known('Wanjiru Kamau')
  expect(await needs()).toEqual([])
  const landlord = await known('Landlord')
  const plumber = await known('Plumber')
  expect(await needs()).toEqual([
    {
      kind: 'names_differ',
      count: 2,
      beneficiary: { id: plumber, display_name: 'Plumber' },
      reported_name: 'WANJIRU N**** K****',
    },
  ])
  const named = await person.api.get('/v1/beneficiaries?verification=no_match')
  expect(named.body.data.map(({ id }: { id: string }) => id)).toEqual([plumber, landlord])
  expect((await person.api.get('/v1/beneficiaries?verification=other')).status).toBe(400)
  // A key that reads payments but not payees learns no payee's name this way.
  const reader = await createKey(person, { name: 'Reader', permissions: ['payment.read'] })
  expect(await needs(reader.api)).toEqual([])
  await person.api.delete(`/v1/beneficiaries/${plumber}`)
  expect(await needs()).toMatchObject([{ count: 1, beneficiary: { id: landlord } }])
  await person.api.patch(`/v1/beneficiaries/${landlord}`, { legal_name: 'Wanjiru Kamau' })
  await service.settle()
  expect(await needs()).toEqual([])
})

test('money in suspense needs a signed-in administrator of the service, and no one else', async () => {
  const needs = async (api: Person['api']) => (await api.get('/v1/payments/attention')).body.needs
  expect(await needs(admin.api)).toEqual([])
  const at = await service.deps.db.transaction(async (tx) => {
    const finding = { rail: 'MPESA', direction: 'in', reason: 'not_in_our_books', amountMinor: 500n } as const
    for (const receipt of ['FIRST', 'SECOND']) await recordSuspense(tx, { ...finding, receipt, book: true, alerted: true })
    return tx.at.toISOString()
  })
  expect(await needs(admin.api)).toEqual([{ kind: 'deposits_in_suspense', count: 2, amount_minor: '1000', oldest_at: at }])
  const key = await createKey(admin, { name: 'Reader' })
  expect(await needs(key.api)).toEqual([])
  expect(await needs((await signIn(service.api)).api)).toEqual([])
})
