import fc from 'fast-check'
import { expect, test } from 'vitest'
import type { Answer } from '../harness/client.ts'
import { credit, newBeneficiary } from '../harness/money.ts'
import { createKey, type Person, signIn } from '../harness/people.ts'
import { openService } from '../harness/service.ts'

const service = await openService({ env: { RATE_LIMIT_ENABLED: 'false' } })

const shillings = fc.constantFrom(undefined, '20000', '50000', '100000')
const scene = fc.record({
  balance: fc.constantFrom(0n, 60_000n, 100_000_000n, 100_000_000n),
  controls: fc.record(
    { per_payment_limit_minor: shillings, approval_threshold_minor: shillings, new_payees: fc.constantFrom('allow', 'deny') },
    { requiredKeys: ['new_payees'] },
  ),
  policy: fc.option(
    fc.record({
      name: fc.constant('Day'),
      daily_limit_minor: fc.constantFrom('70000', '150000'),
      on_duplicate: fc.constantFrom('warn', 'confirm', 'deny'),
    }),
  ),
  payee: fc.constantFrom('plain', 'plain', 'plain', 'frozen', 'archived', 'own', 'till', 'open paybill'),
  payments: fc.array(
    fc.record(
      {
        amount_minor: fc.constantFrom('500', '10050', '20000', '20000', '60000', '25000100', '90000000'),
        payment_type: fc.constantFrom('salary', 'MPESA_B2C'),
        account_reference: fc.constantFrom(undefined, undefined, 'INV-1'),
        on_duplicate: fc.constant('confirm'),
        inHours: fc.constantFrom(undefined, undefined, 2, 26, 700),
      },
      { requiredKeys: ['amount_minor'] },
    ),
    { minLength: 2, maxLength: 4 },
  ),
  stopped: fc.constantFrom('nothing', 'nothing', 'nothing', 'grant', 'workspace'),
})
type Scene = typeof scene extends fc.Arbitrary<infer Value> ? Value : never

/** One value of each outcome, whatever the others are. */
const ordinary: Scene = {
  balance: 100_000_000n,
  controls: { approval_threshold_minor: '50000', new_payees: 'allow' },
  policy: null,
  payee: 'plain',
  payments: [{ amount_minor: '20000' }, { amount_minor: '60000' }, { amount_minor: '500' }],
  stopped: 'nothing',
}

/** An amount too large for today, and for the balance, is not refused for tomorrow. */
const later: Scene = {
  ...ordinary,
  balance: 60_000n,
  policy: { name: 'Day', daily_limit_minor: '70000', on_duplicate: 'warn' },
  payments: [{ amount_minor: '20000' }, { amount_minor: '60000', inHours: 26 }, { amount_minor: '60000' }],
}

const b2b = { payment_rail: 'MPESA_B2B', destination: '400200' }

const payeeOf = async ({ payee }: Scene, person: Person, agent: Person['api']): Promise<string> => {
  if (payee === 'own') return newBeneficiary(agent)
  const fields = { till: b2b, 'open paybill': { ...b2b, account_reference_required: true } }[payee as 'till']
  const id = await newBeneficiary(person.api, fields)
  if (payee === 'frozen') await person.api.patch(`/v1/beneficiaries/${id}`, { status: 'frozen' })
  if (payee === 'archived') await person.api.delete(`/v1/beneficiaries/${id}`)
  return id
}

const told = ({ status, body }: Answer): unknown[] => {
  if (status === 201) return [body.decision.outcome, body.decision.explanation, body.decision.trace]
  return ['deny', body.message]
}

test('a simulation and the payment that follows it never disagree, in the outcome or in the sentence', async () => {
  const outcomes = new Set<unknown>()
  await fc.assert(
    fc.asyncProperty(scene, async (given) => {
      const person = await signIn(service.api)
      if (given.balance > 0n) await credit(service, person.accountId, given.balance)
      const key = await createKey(person, { spending_controls: JSON.parse(JSON.stringify(given.controls)) })
      const beneficiary_id = await payeeOf(given, person, key.api)
      if (given.policy) expect((await person.api.post('/v1/spending-policies', given.policy)).status).toBe(201)
      if (given.stopped === 'grant') await person.api.patch(`/v1/accounts/me/grants/${key.grantId}`, { frozen: true })
      if (given.stopped === 'workspace') await person.api.post('/v1/workspaces/current/freeze', {})
      for (const { inHours, ...payment } of given.payments) {
        const at = inHours && new Date(service.clock.now().getTime() + inHours * 3_600_000).toISOString()
        const body = { beneficiary_id, ...payment, ...(at && { execute_at: at }) }
        const said = (await key.api.post('/v1/spending-policies/simulate', body)).body
        const done = told(await key.api.post('/v1/payments', body))
        outcomes.add(done[0])
        expect([said.outcome, said.explanation, said.trace].slice(0, done.length)).toEqual(done)
      }
    }),
    { numRuns: 40, seed: 7, examples: [[ordinary], [later]] },
  )
  expect([...outcomes].sort()).toEqual(['allow', 'deny', 'require_approval'])
})

test('what the balance does not cover is denied by a rule of its own, which names the balance only to those who may read it', async () => {
  const person = await signIn(service.api)
  const payee = await newBeneficiary(person.api)
  const simulate = async (api: Person['api']) =>
    (await api.post('/v1/spending-policies/simulate', { beneficiary_id: payee, amount_minor: '50000' })).body.trace[0]
  const entry = {
    source: { kind: 'capability', id: null, name: 'balance' },
    rule: 'available_balance',
    outcome: 'deny',
    decisive: true,
  }
  expect(await simulate(person.api)).toEqual({ ...entry, limit_minor: '0', requested_minor: '50000' })
  const blind = await createKey(person, { permissions: ['payment.create'] })
  expect(await simulate(blind.api)).toEqual({ ...entry, requested_minor: '50000' })
})

test('a caller that may not pay is told so', async () => {
  const person = await signIn(service.api)
  const payee = await newBeneficiary(person.api)
  const reader = await createKey(person, { permissions: ['policy.read'] })
  const said = await reader.api.post('/v1/spending-policies/simulate', { beneficiary_id: payee, amount_minor: '50000' })
  expect(said.body).toMatchObject({ outcome: 'deny', explanation: 'This needs the permission payment.create.' })
})
