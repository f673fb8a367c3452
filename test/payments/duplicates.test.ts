import { afterAll, beforeAll, expect, test } from 'vitest'
import { credit, newBeneficiary } from '../harness/money.ts'
import { createKey, type Person, signIn } from '../harness/people.ts'
import { startService, type TestService } from '../harness/service.ts'

let service: TestService
let second: TestService
beforeAll(async () => {
  service = await startService()
  second = await startService({ database: service.database, clock: service.clock })
})
afterAll(async () => {
  await second.close()
  await service.close()
})

type Payer = Person & { beneficiary: string }

const payer = async (policy?: Record<string, unknown>): Promise<Payer> => {
  const person = await signIn(service.api)
  await credit(service, person.accountId, 10_000_000n)
  if (policy) expect((await person.api.post('/v1/spending-policies', { name: 'Twice', ...policy })).status).toBe(201)
  return { ...person, beneficiary: await newBeneficiary(person.api, { destination: '254722111222' }) }
}
const pay = (from: Payer, fields: Record<string, unknown> = {}, api = from.api) =>
  api.post('/v1/payments', { beneficiary_id: from.beneficiary, amount_minor: '150000', ...fields })
const warnings = async (answer: ReturnType<typeof pay>) => (await answer).body.decision.warnings

test('a payment of the same amount to the same payee within the hour has a warning, with any credential and beneficiary', async () => {
  const someone = await payer()
  const first = (await pay(someone)).body
  expect(first.decision.warnings).toEqual([])
  const warning = { code: 'possible_duplicate', payment_id: first.id, created_at: first.created_at }
  const again = await newBeneficiary(someone.api, { destination: '0722 111 222', display_name: 'The same, once more' })
  const key = await createKey(someone)
  const repeated = (await pay(someone, { beneficiary_id: again }, key.api)).body
  expect(repeated.decision).toMatchObject({ outcome: 'allow', warnings: [warning] })
  const simulated = await someone.api.post('/v1/spending-policies/simulate', {
    beneficiary_id: someone.beneficiary,
    amount_minor: '150000',
  })
  expect(simulated.body.warnings).toEqual([{ ...warning, payment_id: repeated.id, created_at: repeated.created_at }])
})

test('another amount, another reference, another payee and another hour are not duplicates', async () => {
  const someone = await payer()
  await pay(someone, { account_reference: 'INV-1' })
  expect(await warnings(pay(someone, { account_reference: 'INV-2' }))).toEqual([])
  expect(await warnings(pay(someone, { account_reference: 'INV-1', amount_minor: '150100' }))).toEqual([])
  expect(await warnings(pay(someone, { account_reference: 'INV-1', beneficiary_id: await newBeneficiary(someone.api) }))).toEqual(
    [],
  )
  expect(await warnings(pay(someone, { account_reference: 'INV-1' }))).toHaveLength(1)
  service.clock.advance(3_600)
  expect(await warnings(pay(someone, { account_reference: 'INV-1' }))).toEqual([])
})

test('a repetition with the same idempotency key is the same payment and not a duplicate', async () => {
  const someone = await payer()
  const body = { beneficiary_id: someone.beneficiary, amount_minor: '150000' }
  const first = await someone.api.post('/v1/payments', body, { key: 'invoice-7' })
  const repeated = await someone.api.post('/v1/payments', body, { key: 'invoice-7' })
  expect(repeated.text).toBe(first.text)
  expect(repeated.headers.get('idempotency-replayed')).toBe('true')
})

test('a payment that moved nothing is not duplicated', async () => {
  const someone = await payer({ approval_threshold_minor: '100000' })
  const first = (await pay(someone)).body
  await someone.api.post(`/v1/payments/${first.id}/cancel`)
  expect(await warnings(pay(someone))).toEqual([])
})

test('a policy can require approval for duplicates or deny them within its own window, and the denial says when the payment would pass', async () => {
  const payerWithPolicy = await payer({ on_duplicate: 'require_approval' })
  await pay(payerWithPolicy)
  expect((await pay(payerWithPolicy)).body).toMatchObject({
    status: 'pending_approval',
    decision: { outcome: 'require_approval' },
  })

  const denied = await payer({ on_duplicate: 'deny', duplicate_window_seconds: 60 })
  const first = (await pay(denied)).body
  const refused = await pay(denied)
  expect([refused.status, refused.body.error]).toEqual([403, 'policy_denied'])
  expect(refused.body.details.decision).toMatchObject({
    warnings: [{ payment_id: first.id }],
    remedy: { passes_at: new Date(Date.parse(first.created_at) + 60_000).toISOString() },
  })
  service.clock.advance(60)
  expect((await pay(denied)).status).toBe(201)
})

test('of many concurrent duplicates over two processes, all but one have the warning; under a policy that denies, one is paid', async () => {
  const warned = await payer()
  const other = second.api.as({ cookie: warned.cookie })
  const answers = await Promise.all(Array.from({ length: 12 }, (_, n) => pay(warned, {}, n % 2 ? other : warned.api)))
  expect(answers.map(({ status }) => status)).toEqual(Array(12).fill(201))
  expect(answers.filter(({ body }) => body.decision.warnings.length === 0)).toHaveLength(1)

  const denied = await payer({ on_duplicate: 'deny' })
  const elsewhere = second.api.as({ cookie: denied.cookie })
  const raced = await Promise.all(Array.from({ length: 12 }, (_, n) => pay(denied, {}, n % 2 ? elsewhere : denied.api)))
  expect(raced.filter(({ status }) => status === 201)).toHaveLength(1)
  expect(raced.filter(({ body }) => body.error === 'policy_denied')).toHaveLength(11)
})

test.each([
  ['Salary', 'send "salary"'],
  ['Staff Costs', 'send "staff_costs"'],
  ['mpesa_b2c', 'send "MPESA_B2C"'],
  ['Mpesa_B2C', 'send "MPESA_B2C"'],
  ['séjour', 'lower-case word'],
])('a payment type has one spelling, so that another spelling does not avoid a limit: %s', async (type, hint) => {
  const someone = await payer()
  const problems = [
    await pay(someone, { payment_type: type }),
    await someone.api.post('/v1/spending-policies', { name: 'Types', payment_types: [type] }),
    await someone.api.post('/v1/accounts/me/api-keys', { name: 'Types', spending_controls: { payment_types: [type] } }),
    await someone.api.post('/v1/spending-policies/simulate', {
      beneficiary_id: someone.beneficiary,
      amount_minor: '150000',
      payment_type: type,
    }),
  ]
  for (const { status, text } of problems) {
    expect(status).toBe(400)
    expect(JSON.parse(text).details.fields[0].message).toContain(hint)
  }
})

test('a policy for payment types that the initiator chooses has a warning that another type avoids it', async () => {
  const someone = await payer()
  const custom = await someone.api.post('/v1/spending-policies', { name: 'Travel', payment_types: ['travel'] })
  expect(custom.body.warnings).toMatchObject([{ code: 'custom_payment_types' }])
  const rail = await someone.api.post('/v1/spending-policies', { name: 'Rail', payment_types: ['travel', 'MPESA_B2C'] })
  expect(rail.body.warnings).toEqual([])
})
