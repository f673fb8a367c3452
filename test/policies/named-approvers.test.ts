import { expect, test } from 'vitest'
import type { Json } from '../harness/client.ts'
import { credit, newBeneficiary } from '../harness/money.ts'
import { type Person, signIn } from '../harness/people.ts'
import { openService } from '../harness/service.ts'
import { join, type Team, type Teammate } from '../workspaces/team.ts'

const service = await openService({ env: { RATE_LIMIT_ENABLED: 'false' } })
const path = '/v1/spending-policies'

type Scene = { team: Team; owner: Person; payee: string; named: Teammate; other: Teammate }
const createScene = async (): Promise<Scene> => {
  const owner = await signIn(service.api)
  await credit(service, owner.accountId, 10_000_000n)
  const { id } = (await owner.api.get('/v1/workspaces/current')).body.workspace
  const team = { id, owner }
  const named = await join(service, team, 'approver')
  const other = await join(service, team, 'approver')
  return { team, owner, payee: await newBeneficiary(owner.api), named, other }
}
const rule = { name: 'Rent', approval_threshold_minor: '100000' }
const make = async ({ owner }: Scene, terms: object): Promise<Json> => (await owner.api.post(path, { ...rule, ...terms })).body
const pay = ({ owner, payee }: Scene) => owner.api.post('/v1/payments', { beneficiary_id: payee, amount_minor: '150000' })
const decide = ({ api }: Person, payment: Json, decision = 'approve') =>
  api.post(`/v1/approvals/${payment.approval_id}/decide`, { decision })
const refusedAs = ({ status, body }: { status: number; body: Json }) => [status, body.error, body.details?.reason]
const notNamed = [403, 'forbidden', 'not_an_approver']

test('only the people whom a policy names decide about its payments: no other approver, not the owner, not by signature', async () => {
  const is = await createScene()
  const policy = await make(is, { approver_ids: [is.named.accountId] })
  expect(policy.approver_ids).toEqual([is.named.accountId])
  const payment = (await pay(is)).body
  expect(payment.decision).toMatchObject({ approver_ids: [is.named.accountId], outcome: 'require_approval' })
  for (const decision of ['approve', 'reject']) {
    expect(refusedAs(await decide(is.other, payment, decision))).toEqual(notNamed)
    expect(refusedAs(await decide(is.owner, payment, decision))).toEqual(notNamed)
  }
  const approval = (await is.other.api.get(`/v1/approvals/${payment.approval_id}`)).body
  expect([approval.approver_ids, approval.context.eligible_approvers]).toEqual([[is.named.accountId], [is.named.accountId]])
  expect(approval.signing.approve).toMatch(/\nOnly these people may decide: "0x/)
  const sign = async ({ wallet }: Person) =>
    service.api.post(`/v1/approvals/${payment.approval_id}/decide-by-signature`, {
      decision: 'approve',
      signature: await wallet.signMessage({ message: approval.signing.approve }),
    })
  expect(refusedAs(await sign(is.owner))).toEqual(notNamed)
  expect((await sign(is.named)).body).toMatchObject({ status: 'approved', approvals_given: 1 })
})

test.each(['a payment', 'a batch'])(
  'people whom a policy names while %s waits are shown as those who decide',
  async (requested) => {
    const is = await createScene()
    await make(is, {})
    const rest = await newBeneficiary(is.owner.api)
    const items = [rest, is.payee].map((beneficiary_id) => ({ beneficiary_id, amount_minor: '150000' }))
    const payment = (await (requested === 'a batch' ? is.owner.api.post('/v1/payment-batches', { items }) : pay(is))).body
    const shown = async () => {
      const { approver_ids, context } = (await is.other.api.get(`/v1/approvals/${payment.approval_id}`)).body
      const [listed] = (await is.other.api.get('/v1/approvals')).body.data
      expect([listed.approver_ids, listed.context?.eligible_approvers]).toEqual([approver_ids, context?.eligible_approvers])
      return [approver_ids, context?.eligible_approvers.toSorted()]
    }
    const all = [is.owner, is.named, is.other].map(({ accountId }) => accountId)
    expect(await shown()).toEqual([null, all.toSorted()])
    await make(is, { name: 'Later', approver_ids: [is.named.accountId], beneficiary_ids: [is.payee] })
    expect(await shown()).toEqual([[is.named.accountId], [is.named.accountId]])
    expect(refusedAs(await decide(is.other, payment))).toEqual(notNamed)
    expect((await decide(is.named, payment)).body.status).toBe('approved')
  },
)

test('one payment of a batch that is under such a policy decides who decides about the batch', async () => {
  const is = await createScene()
  await make(is, { approver_ids: [is.named.accountId], beneficiary_ids: [is.payee] })
  await make(is, { name: 'All' })
  const rest = await newBeneficiary(is.owner.api)
  const items = [rest, is.payee].map((beneficiary_id) => ({ beneficiary_id, amount_minor: '150000' }))
  const batch = (await is.owner.api.post('/v1/payment-batches', { items })).body
  expect(refusedAs(await decide(is.other, batch))).toEqual(notNamed)
  expect((await decide(is.named, batch)).body.status).toBe('approved')
})

const refusedWhole = async ({ owner }: Scene, payees: readonly string[], eligible: object) => {
  const items = payees.map((beneficiary_id) => ({ beneficiary_id, amount_minor: '150000' }))
  const execute_at = new Date(service.clock.now().getTime() + 3_600_000).toISOString()
  for (const [query, terms] of [['?dry_run=true'], [''], ['', { execute_at }]] as const) {
    const { status, body } = await owner.api.post(`/v1/payment-batches${query}`, { items, ...terms })
    expect([status, body.error, body.details.items]).toEqual([403, 'policy_denied', []])
    expect(body.details.decision.trace).toMatchObject([{ rule: 'eligible_approvers', outcome: 'deny', ...eligible }])
    expect(body.message).toContain('One approval covers the whole batch')
  }
  expect((await owner.api.get('/v1/payments')).body.data).toEqual([])
  for (const item of items) expect((await owner.api.post('/v1/payment-batches', { items: [item] })).status).toBe(201)
}

test.each([
  ['needs an approval', '100000'],
  ['needs none', '900000'],
])('a batch of two items that nobody may decide together is refused, also if the second %s', async (_, threshold) => {
  const is = await createScene()
  const theirs = await newBeneficiary(is.owner.api)
  await make(is, { approver_ids: [is.named.accountId], beneficiary_ids: [is.payee] })
  await make(is, { approver_ids: [is.other.accountId], beneficiary_ids: [theirs], approval_threshold_minor: threshold })
  await refusedWhole(is, [is.payee, theirs], { required_approvals: 1, eligible_approvers: 0, approver_ids: [] })
})

test('a batch is refused if one item asks for two approvals, another for separated duties, and too few people remain', async () => {
  const is = await createScene()
  const theirs = await newBeneficiary(is.owner.api)
  await is.owner.api.patch(`/v1/workspaces/current/members/${is.other.memberId}`, { status: 'suspended' })
  await make(is, { required_approval_count: 2, beneficiary_ids: [is.payee] })
  await make(is, { separation_of_duties: true, beneficiary_ids: [theirs] })
  await refusedWhole(is, [is.payee, theirs], { required_approvals: 2, eligible_approvers: 1 })
})

test('fewer of them who may decide now than the rule asks for: the payment is refused, and the refusal names them', async () => {
  const is = await createScene()
  const ids = [is.named.accountId, is.other.accountId]
  await make(is, { approver_ids: ids, required_approval_count: 2 })
  expect((await pay(is)).status).toBe(201)
  await is.owner.api.patch(`/v1/workspaces/current/members/${is.other.memberId}`, { status: 'suspended' })
  const refused = await pay(is)
  expect(refused.status).toBe(403)
  const { trace, explanation } = refused.body.details.decision
  expect(trace.find((entry: Json) => entry.rule === 'eligible_approvers')).toMatchObject({
    outcome: 'deny',
    required_approvals: 2,
    eligible_approvers: 1,
    approver_ids: ids.toSorted(),
  })
  for (const id of ids) expect(explanation).toContain(id)
})

test('who was named when they approved and is not named when the money would leave does not count', async () => {
  const is = await createScene()
  const policy = await make(is, { approver_ids: [is.named.accountId, is.other.accountId], required_approval_count: 2 })
  const payment = (await pay(is)).body
  expect((await decide(is.named, payment)).body.approvals_given).toBe(1)
  const fewer = { version: 1, approver_ids: [is.other.accountId], required_approval_count: 2 }
  // Removing an approver is a tightening, which takes effect at once.
  expect((await is.owner.api.patch(`${path}/${policy.id}`, fewer)).status).toBe(200)
  const last = (await decide(is.other, payment)).body
  expect((await is.owner.api.get(`/v1/payments/${payment.id}`)).body).toMatchObject({
    status: 'failed',
    failure_code: 'policy_changed',
  })
  expect(last.status).toBe('approved')
})

test('a first list and a removal tighten; adding, replacing and clearing loosen, and wait where the policy asks for two', async () => {
  const is = await createScene()
  const { id } = await make(is, { required_approval_count: 2 })
  const both = [is.named.accountId, is.other.accountId]
  const patch = async (approver_ids: string[] | null) => {
    const { version } = (await is.owner.api.get(`${path}/${id}`)).body
    return is.owner.api.patch(`${path}/${id}`, { version, approver_ids })
  }
  expect((await patch(both)).status).toBe(200)
  expect((await patch([is.named.accountId])).status).toBe(200)
  for (const looser of [both, [is.other.accountId], [], null]) {
    const waits = await patch(looser)
    expect([waits.status, waits.body.approver_ids]).toEqual([202, [is.named.accountId]])
    expect(waits.body.pending_change.message).toContain(`- Only approvers: "0x`)
    expect(waits.body.pending_change.message).toContain(`(${is.named.accountId}) → `)
    // An approver without a name in the list may confirm or withdraw: the list is about payments alone.
    expect((await is.other.api.delete(`${path}/${id}/pending-change`)).status).toBe(200)
  }
})

test.each([
  ['a viewer', async ({ team }: Scene) => (await join(service, team, 'viewer')).accountId],
  ['a stranger', async () => (await signIn(service.api)).accountId],
])('%s cannot be named', async (_, who) => {
  const is = await createScene()
  const refused = await is.owner.api.post(path, { ...rule, approver_ids: [is.named.accountId, await who(is)] })
  expect(refused.status).toBe(400)
  expect(refused.body.details.fields).toMatchObject([{ path: 'approver_ids.1' }])
})
