import { expect, test } from 'vitest'
import { credit, newBeneficiary } from '../harness/money.ts'
import { createKey, signIn } from '../harness/people.ts'
import { openService } from '../harness/service.ts'

const service = await openService()
const person = await signIn(service.api)
const beneficiary = await newBeneficiary(person.api)
await credit(service, person.accountId, 100_000_000n)

const simulate = (body: unknown, api = person.api) => api.post('/v1/spending-policies/simulate', body)
const counts = () =>
  service.deps.db.query(
    'select (select count(*) from payments) p, (select count(*) from events) e, (select count(*) from usage_counters) u, (select count(*) from ledger_transfers) t',
  )

test('a simulation answers as a payment would, and writes nothing', async () => {
  const someone = await signIn(service.api)
  await credit(service, someone.accountId, 1_000_000n)
  const to = await newBeneficiary(someone.api)
  await someone.api.post('/v1/spending-policies', { name: 'Ask', approval_threshold_minor: '100000' })
  const before = await counts()
  const dry = await simulate({ beneficiary_id: to, amount_minor: '100000' }, someone.api)
  expect(await counts()).toEqual(before)
  const real = await someone.api.post('/v1/payments', { beneficiary_id: to, amount_minor: '100000' })
  expect(dry.status).toBe(200)
  expect(dry.body).toEqual({ ...real.body.decision, fee_minor: real.body.fee_minor })
  expect(dry.body).toMatchObject({ outcome: 'require_approval', required_approvals: 1, remedy: { max_amount_minor: null } })
})

test('the whole body of a payment can be simulated as it will be sent, and has the same faults', async () => {
  const someone = await signIn(service.api)
  await credit(service, someone.accountId, 1_000_000n)
  const to = await newBeneficiary(someone.api)
  const order = { narrative: 'Nails, 5 kg', metadata: { order: '4711' }, purpose_code: 'GDDS', on_duplicate: 'confirm' }
  const whole = { beneficiary_id: to, amount_minor: '31000', ...order }
  const dry = await simulate(whole, someone.api)
  const real = await someone.api.post('/v1/payments', whole)
  expect([dry.status, real.status]).toEqual([200, 201])
  expect(dry.body).toEqual({ ...real.body.decision, fee_minor: '0' })
  for (const wrong of [{ narrative: 'x'.repeat(141) }, { metadata: { order: 4711 } }, { purpose_code: 'salary' }]) {
    const faults = async (answer: ReturnType<typeof simulate>) => {
      const { status, body } = await answer
      return [status, body.message, body.details.fields]
    }
    const body = { ...whole, ...wrong }
    expect(await faults(simulate(body, someone.api))).toEqual(await faults(someone.api.post('/v1/payments', body)))
  }
})

test('a proposed policy is decided as if it had existed all day', async () => {
  await person.api.post('/v1/payments', { beneficiary_id: beneficiary, amount_minor: '300000' })
  const policy = { daily_limit_minor: '350000' }
  expect((await simulate({ beneficiary_id: beneficiary, amount_minor: '50000', policy })).body.outcome).toBe('allow')
  const over = await simulate({ beneficiary_id: beneficiary, amount_minor: '60000', policy })
  expect(over.body.trace.find((entry: { decisive?: boolean }) => entry.decisive)).toMatchObject({
    source: { kind: 'policy', id: null, name: 'Proposed policy' },
    rule: 'daily_limit',
    used_minor: '300000',
  })
  expect((await person.api.get('/v1/spending-policies')).body.data).toEqual([])
})

test('a proposed policy names approvers only among those who may decide here, as a stored one does', async () => {
  const policy = { approval_threshold_minor: '10000', approver_ids: [person.accountId, (await signIn(service.api)).accountId] }
  const fields = async (answer: ReturnType<typeof simulate>) => {
    const { status, body } = await answer
    return [status, body.details.fields.map(({ path }: { path: string }) => path)]
  }
  expect(await fields(person.api.post('/v1/spending-policies', { name: 'Named', ...policy }))).toEqual([400, ['approver_ids.1']])
  const proposed = simulate({ beneficiary_id: beneficiary, amount_minor: '50000', policy })
  expect(await fields(proposed)).toEqual([400, ['policy.approver_ids.1']])
})

test.each([
  [1, {}],
  [2, { approval_threshold_minor: '300000' }],
])(
  'a proposed threshold for %i people counts what fewer approved today, although no stored rule asks for as many',
  async (count, stored) => {
    const someone = await signIn(service.api)
    await credit(service, someone.accountId, 1_000_000n)
    const to = await newBeneficiary(someone.api)
    if (count > 1) await someone.api.post('/v1/spending-policies', { name: 'One', ...stored })
    const paid = (await someone.api.post('/v1/payments', { beneficiary_id: to, amount_minor: '300000' })).body
    if (paid.approval_id) await someone.api.post(`/v1/approvals/${paid.approval_id}/decide`, { decision: 'approve' })
    const policy = { approval_threshold_minor: '320000', required_approval_count: count }
    const { body } = await simulate({ beneficiary_id: to, amount_minor: '50000', policy }, someone.api)
    expect(body.trace.find(({ source }: { source: { name: string } }) => source.name === 'Proposed policy')).toMatchObject({
      rule: 'approval_threshold',
      outcome: 'require_approval',
      used_minor: '300000',
    })
  },
)

test('a remedy never names an amount that the rail cannot send', async () => {
  const someone = await signIn(service.api)
  await credit(service, someone.accountId, 60_000_000n)
  const to = await newBeneficiary(someone.api)
  await someone.api.post('/v1/spending-policies', {
    name: 'Day',
    daily_limit_minor: '40000500',
    approval_threshold_minor: '1000',
  })
  const most = async () =>
    (await simulate({ beneficiary_id: to, amount_minor: '1000' }, someone.api)).body.remedy.max_amount_minor
  // M-PESA sends from 10 to 250,000 shillings at a time.
  expect(await most()).toBe('25000000')
  for (const amount_minor of ['25000000', '15000000']) {
    const paid = await someone.api.post('/v1/payments', { beneficiary_id: to, amount_minor })
    expect(paid.status).toBe(201)
  }
  expect(await most()).toBeNull()
})

test('a payment for later is decided without what today has used and without the balance, and only for 90 days ahead', async () => {
  const someone = await signIn(service.api)
  await credit(service, someone.accountId, 60_000n)
  const to = await newBeneficiary(someone.api)
  await someone.api.post('/v1/spending-policies', { name: 'Day', daily_limit_minor: '70000' })
  expect((await someone.api.post('/v1/payments', { beneficiary_id: to, amount_minor: '50000' })).status).toBe(201)
  const order = { beneficiary_id: to, amount_minor: '65000' }
  const at = (days: number) => new Date(service.clock.now().getTime() + days * 86_400_000).toISOString()
  expect((await simulate(order, someone.api)).body.outcome).toBe('deny')
  expect((await simulate({ ...order, execute_at: at(1) }, someone.api)).body.outcome).toBe('allow')
  expect((await simulate({ ...order, amount_minor: '70001', execute_at: at(1) }, someone.api)).body.outcome).toBe('deny')
  const tooFar = await simulate({ ...order, execute_at: at(91) }, someone.api)
  expect([tooFar.status, tooFar.body.details.fields]).toEqual([
    400,
    [{ path: 'execute_at', message: 'must be at most 90 days from now' }],
  ])
})

test("a key's simulation applies the key's own controls", async () => {
  const key = await createKey(person, { spending_controls: { per_payment_limit_minor: '20000' } })
  expect((await simulate({ beneficiary_id: beneficiary, amount_minor: '30000' }, key.api)).body).toMatchObject({
    outcome: 'deny',
  })
  expect((await simulate({ beneficiary_id: beneficiary, amount_minor: '20000' }, key.api)).body).toMatchObject({
    outcome: 'allow',
  })
})

test('a refusal by a rail or a freeze is in the trace', async () => {
  const small = await simulate({ beneficiary_id: beneficiary, amount_minor: '500' })
  expect(small.body).toMatchObject({ outcome: 'deny' })
  expect(small.body.trace[0]).toMatchObject({
    source: { kind: 'rail', name: 'MPESA_B2C' },
    rule: 'amount_minor',
    outcome: 'deny',
  })
  const stopped = await newBeneficiary(person.api)
  await person.api.patch(`/v1/beneficiaries/${stopped}`, { status: 'frozen' })
  expect((await simulate({ beneficiary_id: stopped, amount_minor: '50000' })).body.trace[0]).toMatchObject({
    rule: 'beneficiary_frozen',
    outcome: 'deny',
  })
})

test.each([
  [{}, 'beneficiary_id'],
  [
    { beneficiary_id: beneficiary, amount_minor: '1', policy: { daily_limit_minor: '1', per_payment_limit_minor: '2' } },
    'policy.per_payment_limit_minor',
  ],
])('%j is refused: %s', async (body, path) => {
  const answer = await simulate(body)
  expect([answer.status, answer.body.details.fields[0].path]).toEqual([400, path])
})

test('401 without a credential, 403 without policy.read, 404 for another tenant', async () => {
  const body = { beneficiary_id: beneficiary, amount_minor: '50000' }
  expect((await simulate(body, service.api)).status).toBe(401)
  expect((await simulate(body, (await createKey(person, { permissions: ['payment.read'] })).api)).status).toBe(403)
  expect((await simulate(body, (await signIn(service.api)).api)).status).toBe(404)
})
