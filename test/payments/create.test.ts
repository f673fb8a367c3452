import { describe, expect, test } from 'vitest'
import { credit, newBeneficiary } from '../harness/money.ts'
import { createKey, type Person, signIn } from '../harness/people.ts'
import { openService, startService } from '../harness/service.ts'

const service = await openService()
const person = await signIn(service.api)
const beneficiary = await newBeneficiary(person.api)
await credit(service, person.accountId, 10_000_000n)

const newcomer = async (amount = 1_000_000n) => {
  const someone = await signIn(service.api)
  await credit(service, someone.accountId, amount)
  return { ...someone, beneficiary: await newBeneficiary(someone.api) }
}
const balance = async (someone: Pick<Person, 'api'>) => (await someone.api.get('/v1/accounts/me')).body.balance

describe('a payment', () => {
  test('is processing at once if no rule refuses it, with its money held and its decision shown', async () => {
    const someone = await newcomer()
    const answer = await someone.api.post('/v1/payments', {
      beneficiary_id: someone.beneficiary,
      amount_minor: '150000',
      narrative: 'March rent',
      account_reference: 'INV-7',
      metadata: { invoice: '7' },
    })
    expect(answer.status).toBe(201)
    expect(answer.body).toMatchObject({
      status: 'processing',
      amount_minor: '150000',
      fee_minor: '0',
      currency: 'KES',
      beneficiary_id: someone.beneficiary,
      beneficiary: { id: someone.beneficiary, destination_mask: expect.stringMatching(/^\*+\d{4}$/) },
      payment_type: 'MPESA_B2C',
      narrative: 'March rent',
      account_reference: 'INV-7',
      metadata: { invoice: '7' },
      approval_id: null,
      mandate_id: null,
      initiated_by: { account_id: someone.accountId, grant_id: null, label: null },
      decision: { outcome: 'allow', required_approvals: 0 },
      failure_code: null,
      completed_at: null,
    })
    expect(await balance(someone)).toEqual({ currency: 'KES', available_minor: '850000', held_minor: '150000' })
    expect((await someone.api.get(`/v1/payments/${answer.body.id}`)).text).toBe(answer.text)
  })

  test.each(['NULL', 'a "quoted" \\ name, {in} braces', 'a (b), c;d | e\\\\n é 👩‍⚕️'])(
    'keeps its texts unchanged: %j',
    async (words) => {
      const narrative = `for ${words}.`
      const input = {
        beneficiary_id: beneficiary,
        amount_minor: '12300',
        narrative,
        account_reference: words.slice(0, 20).trim(),
        metadata: { [words]: words },
      }
      const answer = await person.api.post('/v1/payments', input, { key: words.slice(0, 3) })
      expect(answer.body).toMatchObject({ narrative, metadata: { [words]: words }, account_reference: input.account_reference })
      const again = await person.api.post('/v1/payments', input, { key: words.slice(0, 3) })
      expect([again.body, again.headers.get('idempotency-replayed')]).toEqual([answer.body, 'true'])
      expect((await person.api.get(`/v1/payments/${answer.body.id}`)).body).toEqual(answer.body)
      const events = (await person.api.get('/v1/notifications?limit=100')).body.data.filter(
        (event: { data: { id?: string } }) => event.data.id === answer.body.id,
      )
      // Events are many, so their decision has no trace.
      const { trace: _, ...decision } = answer.body.decision
      const told = { ...answer.body, decision }
      expect(events.map((event: { type: string; data: unknown }) => [event.type, event.data])).toEqual([
        ['payment.processing', told],
        ['payment.created', told],
      ])
    },
  )

  test('is 402 and stores nothing if the balance does not cover it', async () => {
    const someone = await newcomer(100_000n)
    const answer = await someone.api.post(
      '/v1/payments',
      { beneficiary_id: someone.beneficiary, amount_minor: '100100' },
      { key: 'k' },
    )
    expect([answer.status, answer.body.error]).toEqual([402, 'insufficient_funds'])
    expect((await someone.api.get('/v1/payments')).body.data).toEqual([])
    const covered = await someone.api.post(
      '/v1/payments',
      { beneficiary_id: someone.beneficiary, amount_minor: '100000' },
      { key: 'k' },
    )
    expect(covered.status).toBe(201)
  })
})

describe('a payment that the rail cannot carry is 400', () => {
  test.each([
    ['MPESA_B2C', { amount_minor: '150050' }, 'amount_minor'],
    ['MPESA_B2C', { amount_minor: '900' }, 'amount_minor'],
    ['MPESA_B2C', { amount_minor: '25000100' }, 'amount_minor'],
    ['MPESA_B2C', { amount_minor: '0' }, 'amount_minor'],
    ['MPESA_B2C', { amount_minor: 1500 }, 'amount_minor'],
    ['MPESA_B2C', { amount_minor: '1e3' }, 'amount_minor'],
    ['MPESA_B2C', { amount_minor: '-1' }, 'amount_minor'],
    ['MPESA_B2C', { amount_minor: '01' }, 'amount_minor'],
    ['MPESA_B2C', { amount_minor: '9'.repeat(30) }, 'amount_minor'],
    ['MPESA_B2C', { payment_type: 'PESALINK' }, 'payment_type'],
    ['MPESA_B2C', { narrative: 'x'.repeat(141) }, 'narrative'],
    ['MPESA_B2C', { account_reference: 'x'.repeat(21) }, 'account_reference'],
    ['MPESA_B2C', { status: 'succeeded' }, 'status'],
    ['MPESA_B2C', { metadata: Object.fromEntries(Array.from({ length: 21 }, (_, n) => [`k${n}`, ''])) }, 'metadata'],
    ['MPESA_B2B', { account_reference: 'x'.repeat(14) }, 'account_reference'],
    ['PESALINK', { amount_minor: '99999901' }, 'amount_minor'],
  ])('%s %j', async (rail, fields, path) => {
    const destination = { MPESA_B2C: '0712345678', MPESA_B2B: '123456', PESALINK: '0712345678' }[rail]
    const id = await newBeneficiary(person.api, { payment_rail: rail, destination })
    const answer = await person.api.post('/v1/payments', { beneficiary_id: id, amount_minor: '150000', ...fields })
    expect([answer.status, answer.body.error]).toEqual([400, 'invalid_request'])
    expect(answer.body.details.fields.map((field: { path: string }) => field.path)).toContain(path)
  })

  test('PesaLink moves cents; a reference that the beneficiary requires must be given', async () => {
    const bank = await newBeneficiary(person.api, { payment_rail: 'PESALINK', destination: '1234567890', bank_code: '0012' })
    expect((await person.api.post('/v1/payments', { beneficiary_id: bank, amount_minor: '150050' })).status).toBe(201)
    const strict = await newBeneficiary(person.api, { account_reference_required: true })
    expect((await person.api.post('/v1/payments', { beneficiary_id: strict, amount_minor: '150000' })).status).toBe(400)
  })
})

describe('a payment that is stopped', () => {
  test('a frozen beneficiary is not paid, under any name', async () => {
    const first = await newBeneficiary(person.api, { destination: '0733000001' })
    const second = await newBeneficiary(person.api, { destination: '0733000001' })
    await person.api.patch(`/v1/beneficiaries/${first}`, { status: 'frozen' })
    const answer = await person.api.post('/v1/payments', { beneficiary_id: second, amount_minor: '150000' })
    expect([answer.status, answer.body.error]).toEqual([403, 'beneficiary_frozen'])
  })
  test('an archived beneficiary is not paid', async () => {
    const id = await newBeneficiary(person.api)
    await person.api.delete(`/v1/beneficiaries/${id}`)
    expect((await person.api.post('/v1/payments', { beneficiary_id: id, amount_minor: '150000' })).status).toBe(409)
  })
  test("another tenant's beneficiary is the same 404 as a missing one", async () => {
    const other = await newcomer()
    const foreign = await person.api.post('/v1/payments', { beneficiary_id: other.beneficiary, amount_minor: '150000' })
    const missing = await person.api.post('/v1/payments', {
      beneficiary_id: 'ben_01h455vb4pex5vsknk084sn02q',
      amount_minor: '150000',
    })
    expect([foreign.status, foreign.body.error, foreign.body.message]).toEqual([404, 'not_found', missing.body.message])
  })
  test('no credential is 401; a key without payment.create is 403 and says what it lacks', async () => {
    const body = { beneficiary_id: beneficiary, amount_minor: '150000' }
    expect((await service.api.post('/v1/payments', body)).status).toBe(401)
    const key = await createKey(person, { permissions: ['payment.read'] })
    const answer = await key.api.post('/v1/payments', body)
    expect([answer.status, answer.body.error, answer.body.details.required_permission]).toEqual([
      403,
      'forbidden',
      'payment.create',
    ])
  })
})

describe('limits', () => {
  test('a refusal has the whole decision: the rule, the limit, its usage, when it resets, and the remedy', async () => {
    const someone = await newcomer()
    const policy = (await someone.api.post('/v1/spending-policies', { name: 'Tight', daily_limit_minor: '200000' })).body
    expect((await someone.api.post('/v1/payments', { beneficiary_id: someone.beneficiary, amount_minor: '150000' })).status).toBe(
      201,
    )
    const answer = await someone.api.post('/v1/payments', { beneficiary_id: someone.beneficiary, amount_minor: '60000' })
    expect([answer.status, answer.body.error]).toEqual([403, 'policy_denied'])
    expect(answer.body.details.decision).toMatchObject({ outcome: 'deny', remedy: { max_amount_minor: '50000' } })
    expect(answer.body.details.decision.trace).toContainEqual({
      source: { kind: 'policy', id: policy.id, name: 'Tight' },
      rule: 'daily_limit',
      outcome: 'deny',
      limit_minor: '200000',
      used_minor: '150000',
      requested_minor: '60000',
      resets_at: '2026-03-04T21:00:00.000Z',
      decisive: true,
    })
    expect(await balance(someone)).toMatchObject({ held_minor: '150000' })
  })

  test("a key's own controls apply, and count only its own payments", async () => {
    const someone = await newcomer()
    const key = await createKey(someone, { spending_controls: { daily_limit_minor: '100000', per_payment_limit_minor: '60000' } })
    const pay = (api: Person['api'], amount: string) =>
      api.post('/v1/payments', { beneficiary_id: someone.beneficiary, amount_minor: amount })
    expect((await pay(someone.api, '200000')).status).toBe(201)
    expect((await pay(key.api, '70000')).body.error).toBe('policy_denied')
    expect((await pay(key.api, '60000')).status).toBe(201)
    expect((await pay(key.api, '50000')).body.error).toBe('policy_denied')
    expect((await pay(key.api, '40000')).status).toBe(201)
  })

  test('a policy counts the payments made before it on the same day, and a looser version still counts them', async () => {
    const someone = await newcomer()
    await someone.api.post('/v1/payments', { beneficiary_id: someone.beneficiary, amount_minor: '150000' })
    const policy = (await someone.api.post('/v1/spending-policies', { name: 'Late', daily_limit_minor: '160000' })).body
    const over = { beneficiary_id: someone.beneficiary, amount_minor: '20000' }
    expect((await someone.api.post('/v1/payments', over)).body.error).toBe('policy_denied')
    await someone.api.patch(`/v1/spending-policies/${policy.id}`, { version: 1, daily_limit_minor: '170000' })
    expect((await someone.api.post('/v1/payments', over)).status).toBe(201)
    expect((await someone.api.post('/v1/payments', { ...over, amount_minor: '1000' })).body.error).toBe('policy_denied')
  })
})

describe('concurrent requests over two processes', () => {
  test('exactly one of fifty concurrent payments passes if the balance covers one', async () => {
    const second = await startService({ database: service.database, clock: service.clock })
    const someone = await newcomer(150_000n)
    const sides = [someone.api, second.api.as({ cookie: someone.cookie })]
    const body = { beneficiary_id: someone.beneficiary, amount_minor: '100000' }
    const answers = await Promise.all(
      Array.from({ length: 50 }, (_, n) => (sides[n % 2] ?? someone.api).post('/v1/payments', body)),
    )
    expect(answers.filter((answer) => answer.status === 201)).toHaveLength(1)
    expect(answers.filter((answer) => answer.body.error === 'insufficient_funds')).toHaveLength(49)
    expect(await balance(someone)).toMatchObject({ available_minor: '50000', held_minor: '100000' })
    await second.close()
  })

  test('exactly seven of two hundred concurrent payments pass if the limit allows seven', async () => {
    const second = await startService({ database: service.database, clock: service.clock })
    const someone = await newcomer(100_000_000n)
    await someone.api.post('/v1/spending-policies', { name: 'Seven', daily_limit_minor: '70000' })
    const sides = [someone.api, second.api.as({ cookie: someone.cookie })]
    const body = { beneficiary_id: someone.beneficiary, amount_minor: '10000' }
    const answers = await Promise.all(
      Array.from({ length: 200 }, (_, n) => (sides[n % 2] ?? someone.api).post('/v1/payments', body)),
    )
    expect(answers.filter((answer) => answer.status === 201)).toHaveLength(7)
    expect(answers.filter((answer) => answer.body.error === 'policy_denied')).toHaveLength(193)
    await second.close()
  })

  test('fifty concurrent requests with one idempotency key make one payment and get one answer', async () => {
    const someone = await newcomer()
    const body = { beneficiary_id: someone.beneficiary, amount_minor: '100000' }
    const answers = await Promise.all(Array.from({ length: 50 }, () => someone.api.post('/v1/payments', body, { key: 'once' })))
    expect(new Set(answers.map((answer) => answer.text)).size).toBe(1)
    expect((await someone.api.get('/v1/payments')).body.data).toHaveLength(1)
  })
})
