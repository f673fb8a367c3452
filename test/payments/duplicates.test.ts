import { describe, expect, test } from 'vitest'
import { parseId } from '../../src/lib/ids.ts'
import type { Json } from '../harness/client.ts'
import { createMandate } from '../harness/mandates.ts'
import { credit, newBeneficiary } from '../harness/money.ts'
import { authorizeAgent } from '../harness/oauth.ts'
import { createKey, type Person, signIn } from '../harness/people.ts'
import { openService } from '../harness/service.ts'

const service = await openService()
const second = await openService({ database: service.database, clock: service.clock })

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

describe('where a duplicate must be confirmed', () => {
  const refusal = ({ status, body }: { status: number; body: Json }) => [
    status,
    body.error,
    body.details?.reason,
    body.details?.existing_payment_id,
  ]
  const balance = async (from: Payer) => (await from.api.get('/v1/accounts/me')).body.balance

  test.each([
    ['a policy', { policy: { on_duplicate: 'confirm' } }],
    ['a key', { controls: { on_duplicate: 'confirm' } }],
    ['a person’s consent to an agent', { agent: true }],
    ['the request itself', { fields: { on_duplicate: 'confirm' } }],
  ])('by %s, it is refused with the payment that it looks like and moves nothing, until it names that one', async (_, by) => {
    const { policy, controls, agent, fields } = { policy: undefined, controls: undefined, agent: false, fields: {}, ...by }
    const someone = await payer(policy)
    const key = agent
      ? await authorizeAgent(service.api, someone, { request: { scope: 'payment.create' } })
      : await createKey(someone, controls && { spending_controls: controls })
    const first = (await pay(someone, fields, key.api)).body
    const before = await balance(someone)
    expect(refusal(await pay(someone, fields, key.api))).toEqual([409, 'conflict', 'possible_duplicate', first.id])
    expect(await balance(someone)).toEqual(before)
    const second = await pay(someone, { ...fields, duplicate_of: first.id }, key.api)
    expect([second.status, second.body.decision.warnings]).toMatchObject([201, [{ payment_id: first.id }]])
    // The next one would repeat the second.
    const third = await pay(someone, { ...fields, duplicate_of: first.id }, key.api)
    expect(refusal(third)).toEqual([409, 'conflict', 'possible_duplicate', second.body.id])
  })

  test('an id of no payment of the workspace is not found, and another rule that refuses is answered first', async () => {
    const someone = await payer({ on_duplicate: 'confirm', per_payment_limit_minor: '150000' })
    const others = await payer()
    const foreign = (await pay(others)).body.id
    for (const id of [foreign, `pay_${'0'.repeat(26)}`]) {
      const answer = await pay(someone, { duplicate_of: id })
      expect([answer.status, answer.body.details.field]).toEqual([404, 'duplicate_of'])
    }
    const limits = await payer({ on_duplicate: 'confirm', daily_limit_minor: '200000' })
    await pay(limits)
    expect((await pay(limits)).body.error).toBe('policy_denied')
  })

  test('of many at once over two processes one is paid', async () => {
    const someone = await payer({ on_duplicate: 'confirm' })
    const other = second.api.as({ cookie: someone.cookie })
    const answers = await Promise.all(Array.from({ length: 12 }, (_, n) => pay(someone, {}, n % 2 ? other : someone.api)))
    const [paid, ...more] = answers.filter(({ status }) => status === 201)
    expect(more).toEqual([])
    for (const answer of answers.filter((one) => one !== paid))
      expect(refusal(answer)).toEqual([409, 'conflict', 'possible_duplicate', paid?.body.id])
  })
})

const unknownPayment = async (from: Payer): Promise<string> => {
  const { id } = (await pay(from)).body
  await service.deps.db.query(`update payments set status = 'unknown', dispatch_due_at = null where id = $1`, [
    parseId('payment', id),
  ])
  return id
}

test('an older payment whose outcome is unknown hides no newer one: a policy, a batch and a confirmation compare with the newest', async () => {
  const denied = await payer({ on_duplicate: 'deny', duplicate_window_seconds: 3_600 })
  await unknownPayment(denied)
  const confirmed = await payer({ on_duplicate: 'confirm', duplicate_window_seconds: 604_800 })
  const unknown = await unknownPayment(confirmed)
  service.clock.advance(80 * 3_600)
  const first = (await pay(denied)).body
  const refused = await pay(denied)
  expect([refused.status, refused.body.error]).toEqual([403, 'policy_denied'])
  expect(refused.body.details.decision.warnings).toMatchObject([{ code: 'possible_duplicate', payment_id: first.id }])
  service.clock.advance(2 * 3_600)
  const items = [{ beneficiary_id: denied.beneficiary, amount_minor: '150000' }]
  const list = await denied.api.post('/v1/payment-batches', { items })
  expect([list.status, list.body.details.items]).toMatchObject([409, [{ existing_payment_id: first.id }]])

  const meant = await pay(confirmed, { duplicate_of: unknown })
  expect(meant.status).toBe(201)
  const third = await pay(confirmed, { duplicate_of: unknown })
  expect([third.status, third.body.details.existing_payment_id]).toEqual([409, meant.body.id])
})

test('of many concurrent requests by a key that repeat a payment whose outcome is unknown, every one waits for a person', async () => {
  const someone = await payer()
  await unknownPayment(someone)
  const key = await createKey(someone)
  const answers = await Promise.all(Array.from({ length: 12 }, () => pay(someone, {}, key.api)))
  expect(answers.map(({ body }) => body.status)).toEqual(Array(12).fill('pending_approval'))
})

test('a key never repeats a payment whose outcome is unknown without a person, with a mandate and a word that it is meant, and weeks later', async () => {
  const someone = await payer()
  const key = await createKey(someone)
  const silent = { beneficiary_id: await newBeneficiary(someone.api, { destination: '254711000004' }) }
  const first = (await pay(someone, silent, key.api)).body
  await service.deps.db.query(`update payments set status = 'unknown', dispatch_due_at = null where id = $1`, [
    parseId('payment', first.id),
  ])
  service.clock.advance(20 * 86_400)
  const mandate = await createMandate(service, someone.wallet, {
    max_total_minor: '900000',
    beneficiary_ids: [silent.beneficiary_id],
  })
  const named = { ...silent, duplicate_of: first.id, mandate_id: mandate.id }
  const held = await pay(someone, named, key.api)
  expect([held.status, held.body.status]).toEqual([201, 'pending_approval'])
  expect(held.body.decision.warnings).toMatchObject([{ code: 'possible_duplicate', payment_id: first.id }])
  expect(held.body.decision.explanation).toContain('outcome is not known')
  // The person who creates it is the person who decides.
  const again = await signIn(service.api, someone.wallet)
  expect((await pay(someone, silent, again.api)).body.status).toBe('processing')
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
  ['séjour', 'lowercase word'],
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
