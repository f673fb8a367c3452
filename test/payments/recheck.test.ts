import { describe, expect, test } from 'vitest'
import type { Json } from '../harness/client.ts'
import { credit, newBeneficiary } from '../harness/money.ts'
import { createKey, type Person, signIn } from '../harness/people.ts'
import { openService } from '../harness/service.ts'

const service = await openService()

type Held = { person: Person; beneficiary: string; payment: Json; policy: Json }

const held = async (by?: (person: Person) => Promise<Person['api']>, policy: Record<string, unknown> = {}): Promise<Held> => {
  const person = await signIn(service.api)
  await credit(service, person.accountId, 1_000_000n)
  const beneficiary = await newBeneficiary(person.api)
  const made = await person.api.post('/v1/spending-policies', { name: 'Ask', approval_threshold_minor: '100000', ...policy })
  const api = by ? await by(person) : person.api
  const payment = (await api.post('/v1/payments', { beneficiary_id: beneficiary, amount_minor: '150000' })).body
  return { person, beneficiary, payment, policy: made.body }
}

const approve = ({ person, payment }: Held) =>
  person.api.post(`/v1/approvals/${payment.approval_id}/decide`, { decision: 'approve' })
const outcome = async ({ person, payment }: Held) => {
  await service.settle()
  const { status, failure_code } = (await person.api.get(`/v1/payments/${payment.id}`)).body
  const { held_minor, available_minor } = (await person.api.get('/v1/accounts/me')).body.balance
  return { status, failure_code, held_minor, available_minor }
}
const failed = { status: 'failed', failure_code: 'policy_changed', held_minor: '0', available_minor: '1000000' }
const paid = { status: 'succeeded', failure_code: null, held_minor: '0', available_minor: '850000' }

describe('between the approval and the sending', () => {
  test('if nothing has changed, the payment succeeds, and does not count against itself', async () => {
    const one = await held(undefined, { daily_limit_minor: '150000', per_payment_limit_minor: '150000' })
    await approve(one)
    expect(await outcome(one)).toEqual(paid)
  })

  test('if the beneficiary was frozen, the payment is not sent and everything is released', async () => {
    const moved = service.sandbox.movements().length
    const one = await held()
    await approve(one)
    await one.person.api.patch(`/v1/beneficiaries/${one.beneficiary}`, { status: 'frozen' })
    expect(await outcome(one)).toEqual(failed)
    expect(service.sandbox.movements()).toHaveLength(moved)
  })

  test('if the beneficiary was archived, the payment is not sent', async () => {
    const one = await held()
    await approve(one)
    await one.person.api.delete(`/v1/beneficiaries/${one.beneficiary}`)
    expect(await outcome(one)).toEqual(failed)
  })

  test('if a new policy denies it, the payment is not sent', async () => {
    const one = await held()
    await approve(one)
    await one.person.api.post('/v1/spending-policies', { name: 'New', per_payment_limit_minor: '100000' })
    expect(await outcome(one)).toEqual(failed)
  })

  test('if the policy now requires more approvals than were given, the payment is not sent', async () => {
    const one = await held()
    await approve(one)
    await one.person.api.patch(`/v1/spending-policies/${one.policy.id}`, { version: 1, required_approval_count: 2 })
    expect(await outcome(one)).toEqual(failed)
  })

  test('if the policy was changed in a way that the approval covers, the payment is sent', async () => {
    const one = await held()
    await approve(one)
    await one.person.api.patch(`/v1/spending-policies/${one.policy.id}`, { version: 1, approval_threshold_minor: '50000' })
    expect(await outcome(one)).toEqual(paid)
  })

  test('if the initiating grant was frozen or revoked, the payment is not sent', async () => {
    for (const stop of ['frozen', 'revoked']) {
      let grantId = ''
      const one = await held(async (person) => {
        const key = await createKey(person)
        grantId = key.grantId
        return key.api
      })
      await approve(one)
      if (stop === 'frozen') await one.person.api.patch(`/v1/accounts/me/grants/${grantId}`, { frozen: true })
      else await one.person.api.delete(`/v1/accounts/me/grants/${grantId}`)
      expect(await outcome(one)).toEqual(failed)
    }
  })

  test('if the workspace was frozen, payments under way finish', async () => {
    const one = await held()
    await approve(one)
    await one.person.api.post('/v1/workspaces/current/freeze', { reason: 'Lost phone' })
    expect(await outcome(one)).toEqual(paid)
  })
})

describe('a freeze', () => {
  test('of a workspace refuses payments and approvals, and accepts rejections and cancellations, until it is unfrozen', async () => {
    const [one, two] = [await held(), await held()]
    for (const { person } of [one, two]) await person.api.post('/v1/workspaces/current/freeze', {})
    const refused = await one.person.api.post('/v1/payments', { beneficiary_id: one.beneficiary, amount_minor: '10000' })
    expect([refused.status, refused.body.error]).toEqual([403, 'workspace_frozen'])
    expect((await approve(one)).body.error).toBe('workspace_frozen')
    const { message } = (await service.api.get(`/v1/approvals/${one.payment.approval_id}/message`)).body
    const signature = await one.person.wallet.signMessage({ message })
    const signed = await service.api.post(`/v1/approvals/${one.payment.approval_id}/decide-by-signature`, {
      decision: 'approve',
      signature,
    })
    expect(signed.body.error).toBe('workspace_frozen')
    expect(
      (await one.person.api.post(`/v1/approvals/${one.payment.approval_id}/decide`, { decision: 'reject' })).body.status,
    ).toBe('rejected')
    expect((await two.person.api.post(`/v1/payments/${two.payment.id}/cancel`)).body.status).toBe('cancelled')
    await one.person.api.post('/v1/workspaces/current/unfreeze')
    expect((await one.person.api.post('/v1/payments', { beneficiary_id: one.beneficiary, amount_minor: '10000' })).status).toBe(
      201,
    )
  })

  test('of a grant or of its ancestor leaves it authenticating and moves no money', async () => {
    const person = await signIn(service.api)
    await credit(service, person.accountId, 1_000_000n)
    const beneficiary = await newBeneficiary(person.api)
    const parent = await createKey(person)
    const child = await createKey({ api: parent.api })
    await person.api.patch(`/v1/accounts/me/grants/${parent.grantId}`, { frozen: true })
    for (const key of [parent, child]) {
      expect((await key.api.get('/v1/accounts/me')).status).toBe(200)
      const answer = await key.api.post('/v1/payments', { beneficiary_id: beneficiary, amount_minor: '10000' })
      expect([answer.status, answer.body.error]).toEqual([403, 'grant_frozen'])
    }
    await person.api.patch(`/v1/accounts/me/grants/${parent.grantId}`, { frozen: false })
    expect((await child.api.post('/v1/payments', { beneficiary_id: beneficiary, amount_minor: '10000' })).status).toBe(201)
  })

  test("a child spends its ancestors' limits too, at any depth", async () => {
    const person = await signIn(service.api)
    await credit(service, person.accountId, 1_000_000n)
    const beneficiary = await newBeneficiary(person.api)
    const parent = await createKey(person, { spending_controls: { daily_limit_minor: '50000' } })
    const child = await createKey({ api: parent.api }, { spending_controls: { daily_limit_minor: '40000' } })
    const pay = (api: Person['api'], amount: string) =>
      api.post('/v1/payments', { beneficiary_id: beneficiary, amount_minor: amount })
    expect((await pay(child.api, '30000')).status).toBe(201)
    const over = await pay(parent.api, '30000')
    expect(over.body.details.decision.trace.find((entry: Json) => entry.decisive)).toMatchObject({
      source: { kind: 'grant', id: parent.grantId },
      rule: 'daily_limit',
      used_minor: '30000',
      limit_minor: '50000',
    })
    expect((await pay(parent.api, '20000')).status).toBe(201)
    expect((await pay(child.api, '10000')).body.error).toBe('policy_denied')
  })
})
