import { afterAll, describe, expect, test } from 'vitest'
import type { Client, Json } from '../harness/client.ts'
import { createMandate } from '../harness/mandates.ts'
import { createKey, newWallet, type Person } from '../harness/people.ts'
import { openService } from '../harness/service.ts'
import { findBreaches } from '../harness/verify.ts'
import { answered, createScene, type Team } from './authority-scene.ts'

const administrator = newWallet()
const service = await openService({ env: { RATE_LIMIT_ENABLED: 'false', ADMIN_ACCOUNTS: administrator.address } })
afterAll(async () => {
  expect(await findBreaches(service)).toEqual([])
})

const { administer, approvalOf, decide, join, link, member, pay, paymentOf, sign, team, voidedEvents } = createScene(
  () => service,
  administrator,
)

describe('an approval by someone who may no longer approve', () => {
  const losses: Record<string, (of: Team, person: Person) => Promise<unknown>> = {
    removed: async (of, person) => answered(await of.owner.api.delete(await member(of, person))),
    suspended: async (of, person) => answered(await of.owner.api.patch(await member(of, person), { status: 'suspended' })),
    demoted: async (of, person) => answered(await of.owner.api.patch(await member(of, person), { role: 'viewer' })),
    'gone, having left': async (of, person) => answered(await person.api.delete(await member(of, person))),
  }
  for (const [loss, take] of Object.entries(losses)) {
    test(`does not count when the approver was ${loss}: the payment waits for another one`, async () => {
      const of = await team(2)
      const [first, second] = [await join(of), await join(of)]
      const payment = await pay(of, of.owner.api)
      expect(answered(await decide(first.api, payment)).approvals_given).toBe(1)
      await take(of, first)
      const waiting = await approvalOf(of, payment)
      expect(waiting).toMatchObject({ status: 'pending', approvals_given: 0, decisions: [{ voided_at: expect.any(String) }] })
      expect(answered(await decide(second.api, payment))).toMatchObject({ status: 'pending', approvals_given: 1 })
      expect((await paymentOf(of, payment)).status).toBe('pending_approval')
      expect(answered(await decide(of.owner.api, payment))).toMatchObject({ status: 'approved', approvals_given: 2 })
      await service.settle()
      expect((await paymentOf(of, payment)).status).toBe('succeeded')
    })

    test(`sends nothing when the approver was ${loss} after the last approval and before the sending`, async () => {
      const of = await team(2)
      const [first, second] = [await join(of), await join(of)]
      const payment = await pay(of, of.owner.api)
      await decide(first.api, payment)
      expect(answered(await decide(second.api, payment)).status).toBe('approved')
      await take(of, first)
      const moved = service.sandbox.movements().length
      await service.settle()
      expect(await paymentOf(of, payment)).toMatchObject({ status: 'failed', failure_code: 'policy_changed' })
      expect(service.sandbox.movements()).toHaveLength(moved)
    })
  }

  test('is voided with an event to the workspace, and once: what it lost does not come back', async () => {
    const of = await team(2)
    const [first, second] = [await join(of), await join(of)]
    const payment = await pay(of, of.owner.api)
    await decide(first.api, payment)
    const path = await member(of, first)
    answered(await of.owner.api.patch(path, { status: 'suspended' }))
    answered(await of.owner.api.patch(path, { status: 'active' }))
    expect(await voidedEvents(of)).toMatchObject([
      { workspace_id: of.workspace, data: { id: payment.approval_id, status: 'pending', approvals_given: 0 } },
    ])
    expect(answered(await decide(second.api, payment))).toMatchObject({ status: 'pending', approvals_given: 1 })
    // The approver of a voided decision may decide again.
    const again = answered(await decide(first.api, payment))
    expect(again).toMatchObject({ status: 'approved', approvals_given: 2 })
    expect(again.decisions.map((one: Json) => one.voided_at === null)).toEqual([false, true, true])
  })

  test('is voided when an administrator freezes the account', async () => {
    const of = await team(2)
    const [first, second] = [await join(of), await join(of)]
    const payment = await pay(of, of.owner.api)
    await decide(first.api, payment)
    await administer(first, { status: 'frozen' })
    expect(await approvalOf(of, payment)).toMatchObject({ approvals_given: 0 })
    expect(answered(await decide(second.api, payment))).toMatchObject({ status: 'pending', approvals_given: 1 })
  })
})

describe('an approval by a wallet that was unlinked', () => {
  test('does not count: neither for the quorum nor before the sending, and its account may decide again', async () => {
    const of = await team(2)
    const [first, second] = [await join(of), await join(of)]
    const stolen = await link(first.api)
    const [waiting, sending] = [await pay(of, of.owner.api), await pay(of, of.owner.api)]
    for (const payment of [waiting, sending]) expect(answered(await sign(stolen.wallet, payment)).approvals_given).toBe(1)
    expect(answered(await decide(second.api, sending)).status).toBe('approved')
    answered(await first.api.delete(stolen.path))
    expect(await approvalOf(of, waiting)).toMatchObject({ status: 'pending', approvals_given: 0 })
    expect((await sign(stolen.wallet, waiting)).body.error).toBe('invalid_signature')
    expect(answered(await decide(second.api, waiting))).toMatchObject({ status: 'pending', approvals_given: 1 })
    await service.settle()
    expect(await paymentOf(of, sending)).toMatchObject({ status: 'failed', failure_code: 'policy_changed' })
    expect(answered(await decide(first.api, waiting, 'reject')).status).toBe('rejected')
    expect(await paymentOf(of, waiting)).toMatchObject({ status: 'rejected' })
  })

  test('by another of the same account’s wallets counts on', async () => {
    const of = await team(2)
    const first = await join(of)
    const spare = await link(first.api)
    const payment = await pay(of, of.owner.api)
    await sign(first.wallet, payment)
    answered(await first.api.delete(spare.path))
    expect(await approvalOf(of, payment)).toMatchObject({ approvals_given: 1 })
  })
})

describe('an approver', () => {
  test('may take an approval back until the approval ends', async () => {
    const of = await team(2)
    const [first, second] = [await join(of), await join(of)]
    const [waiting, approved] = [await pay(of, of.owner.api), await pay(of, of.owner.api)]
    for (const payment of [waiting, approved]) await decide(first.api, payment)
    const rejected = answered(await decide(first.api, waiting, 'reject'))
    expect(rejected).toMatchObject({
      status: 'rejected',
      approvals_given: 0,
      decisions: [
        { decision: 'approve', voided_at: expect.any(String) },
        { decision: 'reject', voided_at: null },
      ],
    })
    expect((await decide(first.api, waiting, 'approve')).status).toBe(409)
    await decide(second.api, approved)
    const late = await decide(first.api, approved, 'reject')
    expect([late.status, late.body.details]).toMatchObject([409, { your_decision: 'approve', decided_by: second.accountId }])
    await service.settle()
    expect((await paymentOf(of, approved)).status).toBe('succeeded')
  })
})

describe('a mandate', () => {
  const large = { max_total_minor: '1000000' }
  const agentPays = async (of: Team, api: Client, mandate: Json) =>
    api.post('/v1/payments', { beneficiary_id: of.beneficiary, amount_minor: '150000', mandate_id: mandate.id })

  test('ends with its wallet: nothing more goes by it, and what was not yet sent is not sent', async () => {
    const of = await team(1)
    const second = await link(of.owner.api)
    const mandate = await createMandate(service, second.wallet, large)
    const payment = answered(await agentPays(of, of.owner.api, mandate), 201)
    expect(payment.status).toBe('processing')
    answered(await of.owner.api.delete(second.path))
    expect(answered(await of.owner.api.get(`/v1/intent-mandates/${mandate.id}`))).toMatchObject({
      status: 'revoked',
      revoked_at: expect.any(String),
    })
    const moved = service.sandbox.movements().length
    await service.settle()
    expect(await paymentOf(of, payment)).toMatchObject({ status: 'failed', failure_code: 'policy_changed' })
    const after = await agentPays(of, of.owner.api, mandate)
    expect([after.status, after.body.error]).toEqual([403, 'policy_denied'])
    expect(service.sandbox.movements()).toHaveLength(moved)
  })

  test('ends with the key that linked its wallet', async () => {
    const of = await team(1)
    const key = await createKey(of.owner, { permissions: ['account.manage', 'account.read'] })
    const agent = await createKey(of.owner)
    const thief = await link(key.api)
    const mandate = await createMandate(service, thief.wallet, { ...large, grant_id: agent.grantId })
    answered(await of.owner.api.delete(`/v1/accounts/me/api-keys/${key.id}`))
    expect(answered(await of.owner.api.get(`/v1/intent-mandates/${mandate.id}`)).status).toBe('revoked')
    const answer = await agentPays(of, agent.api, mandate)
    expect([answer.status, answer.body.error]).toEqual([403, 'policy_denied'])
  })

  test('approves nothing while the key that linked its wallet is frozen, for no requester, and again afterwards', async () => {
    const of = await team(1)
    const key = await createKey(of.owner, { permissions: ['account.manage', 'account.read'] })
    const agent = await createKey(of.owner)
    const mandate = await createMandate(service, (await link(key.api)).wallet, large)
    const freeze = async (frozen: boolean) =>
      answered(await of.owner.api.patch(`/v1/accounts/me/grants/${key.grantId}`, { frozen }))
    const sending = answered(await agentPays(of, agent.api, mandate), 201)
    expect(sending.status).toBe('processing')
    await freeze(true)
    const moved = service.sandbox.movements().length
    await service.settle()
    expect(await paymentOf(of, sending)).toMatchObject({ status: 'failed', failure_code: 'policy_changed' })
    expect(service.sandbox.movements()).toHaveLength(moved)
    for (const api of [agent.api, of.owner.api]) {
      const waiting = answered(await agentPays(of, api, mandate), 201)
      expect(waiting.status).toBe('pending_approval')
      expect(await approvalOf(of, waiting)).toMatchObject({ approvals_given: 0 })
    }
    await freeze(false)
    expect(answered(await agentPays(of, agent.api, mandate), 201).status).toBe('processing')
  })

  test('counts a scheduled payment only when it is due: until then its approval shows the whole budget', async () => {
    const of = await team(2)
    await join(of)
    const mandate = await createMandate(service, of.owner.wallet, large)
    const execute_at = new Date(service.clock.now().getTime() + 600_000).toISOString()
    const order = { beneficiary_id: of.beneficiary, amount_minor: '150000', mandate_id: mandate.id, execute_at }
    const payment = answered(await of.owner.api.post('/v1/payments', order), 201)
    const { decision_now: decision } = await approvalOf(of, payment)
    expect(decision.trace).toContainEqual(expect.objectContaining({ rule: 'mandate_total', used_minor: '0' }))
  })

  test('that is revoked takes its approval back from what still waits for a second one', async () => {
    const of = await team(2)
    const [first, second] = [await join(of), await join(of)]
    const mandate = await createMandate(service, of.owner.wallet, large)
    const payment = answered(await agentPays(of, of.owner.api, mandate), 201)
    expect(await approvalOf(of, payment)).toMatchObject({ status: 'pending', approvals_given: 1 })
    answered(await of.owner.api.post(`/v1/intent-mandates/${mandate.id}/revoke`))
    expect(await approvalOf(of, payment)).toMatchObject({ approvals_given: 0 })
    expect(answered(await decide(first.api, payment)).status).toBe('pending')
    expect(answered(await decide(second.api, payment)).status).toBe('approved')
    await service.settle()
    // The mandate's limits are part of the payment: a revoked mandate covers nothing.
    expect(await paymentOf(of, payment)).toMatchObject({ status: 'failed', failure_code: 'policy_changed' })
  })
})
