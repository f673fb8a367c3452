import { beforeEach, describe, expect, test } from 'vitest'
import type { Client, Json } from '../harness/client.ts'
import { createMandate } from '../harness/mandates.ts'
import { credit, newBeneficiary } from '../harness/money.ts'
import { createKey, newWallet, type Person, signIn } from '../harness/people.ts'
import { openService } from '../harness/service.ts'

let person: Person
let beneficiary: string
const service = await openService({ env: { RATE_LIMIT_ENABLED: 'false' } })
// Every payment needs one approval here, so that a mandate's approval is visible.
beforeEach(async () => {
  person = await signIn(service.api)
  await credit(service, person.accountId, 10_000_000n)
  beneficiary = await newBeneficiary(person.api)
  await policy({ approval_threshold_minor: '1000' })
})

const policy = async (fields: Record<string, unknown>) => {
  const answer = await person.api.post('/v1/spending-policies', { name: 'Ask', ...fields })
  if (answer.status !== 201) throw new Error(answer.text)
  return answer.body
}
const agree = (fields: Record<string, unknown> = {}) => createMandate(service, person.wallet, fields)
const pay = (mandate: Json, fields: Record<string, unknown> = {}, api: Client = person.api) =>
  api.post('/v1/payments', { beneficiary_id: beneficiary, amount_minor: '10000', mandate_id: mandate.id, ...fields })
const read = async (mandate: Json) => (await person.api.get(`/v1/intent-mandates/${mandate.id}`)).body
const used = async (mandate: Json) => {
  const { status, spent_minor, payments_made } = await read(mandate)
  return [status, spent_minor, payments_made]
}
const statusOf = async (payment: Json) => (await person.api.get(`/v1/payments/${payment.id}`)).body.status
const later = (seconds: number) => new Date(service.clock.now().getTime() + seconds * 1000).toISOString()
const decisiveRules = (answer: { body: Json }) =>
  answer.body.details.decision.trace
    .filter((entry: Json) => entry.outcome === 'deny' && entry.source.kind === 'mandate')
    .map((entry: Json) => entry.rule)

describe('a payment that names a mandate it fits', () => {
  test('is sent without an approval in the dashboard, and the mandate counts it', async () => {
    const mandate = await agree()
    const created = await person.api.post('/v1/payments', { beneficiary_id: beneficiary, amount_minor: '10000' })
    expect(created.body.status).toBe('pending_approval')
    const paid = await pay(mandate)
    expect([paid.status, paid.body.status, paid.body.mandate_id, paid.body.approval_id]).toEqual([
      201,
      'processing',
      mandate.id,
      null,
    ])
    expect(await used(mandate)).toEqual(['active', '10000', 1])
    await service.settle()
    expect(await statusOf(paid.body)).toBe('succeeded')
    expect(await used(mandate)).toEqual(['active', '10000', 1])
  })

  test('has one approval by the signer: a second required approval must come from another approver', async () => {
    await policy({ approval_threshold_minor: '1000', required_approval_count: 2 })
    const team = (await person.api.post('/v1/workspaces', { name: 'Team' })).body.workspace.id
    await credit(service, team, 1_000_000n)
    const alone = await pay(await agree())
    expect([alone.status, alone.body.error]).toEqual([403, 'policy_denied'])
    const colleague = await signIn(service.api)
    const inTeam = { 'workspace-id': team }
    const call = (method: string, path: string, body?: unknown, api = person.api) =>
      api.call(method, path, { headers: inTeam, ...(body !== undefined && { body }) })
    await call('POST', '/v1/spending-policies', { name: 'Two', approval_threshold_minor: '1000', required_approval_count: 2 })
    const invited = await call('POST', '/v1/workspaces/current/invitations', {
      role: 'approver',
      wallet_address: colleague.wallet.address,
    })
    expect((await colleague.api.post('/v1/workspaces/invitations/accept', { token: invited.body.token })).status).toBe(200)
    const payee = await call('POST', '/v1/beneficiaries', {
      type: 'supplier',
      display_name: 'Jane',
      payment_rail: 'MPESA_B2C',
      destination: '0712345678',
    })
    const mandate = await agree({ workspace_id: team })
    const made = await call('POST', '/v1/payments', {
      beneficiary_id: payee.body.id,
      amount_minor: '10000',
      mandate_id: mandate.id,
    })
    expect([made.status, made.body.status]).toEqual([201, 'pending_approval'])
    const approval = `/v1/approvals/${made.body.approval_id}`
    expect((await call('GET', approval)).body).toMatchObject({ required_approvals: 2, approvals_given: 1 })
    const own = await call('POST', `${approval}/decide`, { decision: 'approve' })
    expect([own.status, own.body.status, own.body.approvals_given]).toEqual([200, 'pending', 1])
    const second = await call('POST', `${approval}/decide`, { decision: 'approve' }, colleague.api)
    expect([second.status, second.body.status]).toEqual([200, 'approved'])
    await service.settle()
    expect((await call('GET', `/v1/payments/${made.body.id}`)).body.status).toBe('succeeded')
  })

  test('still has to fit every limit', async () => {
    const mandate = await agree()
    await policy({ daily_limit_minor: '15000' })
    expect((await pay(mandate)).status).toBe(201)
    const over = await pay(mandate)
    expect([over.status, over.body.error]).toEqual([403, 'policy_denied'])
    expect(await used(mandate)).toEqual(['active', '10000', 1])
  })

  test('gets no approval from its own initiator under separation of duties', async () => {
    await policy({ approval_threshold_minor: '1000', separation_of_duties: true })
    const refused = await pay(await agree())
    expect([refused.status, refused.body.error]).toEqual([403, 'policy_denied'])
    expect(refused.body.details.decision.trace.map((entry: Json) => entry.rule)).toContain('eligible_approvers')
  })

  test('is simulated with it, and nothing is counted', async () => {
    const mandate = await agree({ max_per_payment_minor: '10000' })
    const simulate = (amount: string) =>
      person.api.post('/v1/spending-policies/simulate', {
        beneficiary_id: beneficiary,
        amount_minor: amount,
        mandate_id: mandate.id,
      })
    expect((await simulate('10000')).body.outcome).toBe('allow')
    expect((await simulate('10001')).body.outcome).toBe('deny')
    expect(await used(mandate)).toEqual(['active', '0', 0])
  })
})

describe('a payment that names a mandate it does not fit is refused, never paid without it', () => {
  test.each([
    ['the total', { max_total_minor: '9999' }, {}, 'mandate_total'],
    ['the most for one payment', { max_per_payment_minor: '9999' }, {}, 'mandate_per_payment'],
    ['the payment types', { payment_types: ['rent'] }, { payment_type: 'food' }, 'mandate_payment_types'],
    ['the window', { valid_from: '2026-03-04T23:00:00Z', expires_at: '2026-03-05T00:00:00Z' }, {}, 'mandate_window'],
  ])('for %s', async (_, terms, fields, rule) => {
    const mandate = await agree(terms)
    const refused = await pay(mandate, fields)
    expect([refused.status, refused.body.error, decisiveRules(refused)]).toEqual([403, 'policy_denied', [rule]])
    expect(await used(mandate)).toEqual(['active', '0', 0])
  })

  test('for the beneficiary; the same payee under another name fits', async () => {
    const other = await newBeneficiary(person.api)
    const mandate = await agree({ beneficiary_ids: [other] })
    expect(decisiveRules(await pay(mandate))).toEqual(['mandate_beneficiary_ids'])
    const payee = { type: 'supplier', payment_rail: 'MPESA_B2C', destination: '0733111222' }
    const one = (await person.api.post('/v1/beneficiaries', { ...payee, display_name: 'One' })).body.id
    const twin = (await person.api.post('/v1/beneficiaries', { ...payee, display_name: 'Twin' })).body.id
    expect((await pay(await agree({ beneficiary_ids: [one] }), { beneficiary_id: twin })).status).toBe(201)
  })

  test('for the number of payments, until one of them failed', async () => {
    const mandate = await agree({ max_payments: 1 })
    const doomed = await newBeneficiary(person.api, { destination: '254700000001' })
    const first = await pay(mandate, { beneficiary_id: doomed })
    expect([first.status, await used(mandate)]).toEqual([201, ['active', '10000', 1]])
    expect(decisiveRules(await pay(mandate))).toEqual(['mandate_max_payments'])
    await service.settle()
    expect([await statusOf(first.body), await used(mandate)]).toEqual(['failed', ['active', '0', 0]])
    expect((await pay(mandate)).status).toBe(201)
  })

  test('because of the payer: bound to a grant it covers that grant and its descendants, unbound the account itself', async () => {
    const agent = await createKey(person)
    const helper = await createKey(agent)
    const sibling = await createKey(person)
    const bound = await agree({ grant_id: agent.grantId })
    const unbound = await agree()
    for (const api of [agent.api, helper.api]) expect((await pay(bound, {}, api)).status).toBe(201)
    for (const api of [sibling.api, person.api]) expect(decisiveRules(await pay(bound, {}, api))).toEqual(['mandate_initiator'])
    for (const api of [agent.api, sibling.api]) expect((await pay(unbound, {}, api)).status).toBe(201)
  })

  test('for another member of the workspace', async () => {
    const team = (await person.api.post('/v1/workspaces', { name: 'Team' })).body.workspace.id
    await credit(service, team, 1_000_000n)
    const colleague = await signIn(service.api)
    const headers = { 'workspace-id': team }
    const invitation = { role: 'member', wallet_address: colleague.wallet.address }
    const { token } = (await person.api.post('/v1/workspaces/current/invitations', invitation, { headers })).body
    await colleague.api.post('/v1/workspaces/invitations/accept', { token })
    const mandate = await agree({ workspace_id: team })
    const payee = { type: 'supplier', display_name: 'Jane', payment_rail: 'MPESA_B2C', destination: '0712345678' }
    const id = (await person.api.post('/v1/beneficiaries', payee, { headers })).body.id
    const body = { beneficiary_id: id, amount_minor: '10000', mandate_id: mandate.id }
    expect(decisiveRules(await colleague.api.post('/v1/payments', body, { headers }))).toEqual(['mandate_initiator'])
    expect((await person.api.post('/v1/payments', body, { headers })).status).toBe(201)
  })

  test('for another workspace’s or tenant’s mandate: it does not exist there', async () => {
    const team = (await person.api.post('/v1/workspaces', { name: 'Team' })).body.workspace.id
    await credit(service, team, 1_000_000n)
    const stranger = await signIn(service.api)
    const foreign = await createMandate(service, stranger.wallet)
    for (const mandate of [await agree({ workspace_id: team }), foreign, { id: 'man_01h455vb4pex5vsknk084sn02q' }]) {
      const refused = await pay(mandate)
      expect([refused.status, refused.body.error]).toEqual([404, 'not_found'])
    }
  })

  test('for another tenant’s mandate, even while its owner pays with it', async () => {
    const stranger = await signIn(service.api)
    await credit(service, stranger.accountId, 10_000_000n)
    const own = await newBeneficiary(stranger.api)
    const mandate = await agree()
    const answers = await Promise.all(
      Array.from({ length: 12 }, async (_, n) => {
        const isOwner = n % 2 === 0
        const answer = isOwner ? pay(mandate) : pay(mandate, { beneficiary_id: own }, stranger.api)
        return [isOwner, (await answer).status]
      }),
    )
    expect(answers).toEqual(answers.map(([isOwner]) => [isOwner, isOwner ? 201 : 404]))
  })

  test('after its end: expired, swept or not, or revoked', async () => {
    const mandate = await agree({ expires_at: later(60) })
    const revoked = await agree()
    await person.api.post(`/v1/intent-mandates/${revoked.id}/revoke`)
    expect(decisiveRules(await pay(revoked))).toEqual(['mandate_status'])
    service.clock.advance(60)
    expect(decisiveRules(await pay(mandate))).toEqual(['mandate_window'])
    await service.deps.jobs.sweep()
    expect(decisiveRules(await pay(mandate))).toEqual(['mandate_status', 'mandate_window'])
  })
})

describe('a budget', () => {
  test('is exhausted when payments that succeeded have used it up, not while one of them may still fail', async () => {
    const mandate = await agree({ max_total_minor: '20000' })
    const paid = [await pay(mandate), await pay(mandate)]
    expect(paid.map((answer) => answer.status)).toEqual([201, 201])
    expect(await used(mandate)).toEqual(['active', '20000', 2])
    expect(decisiveRules(await pay(mandate, { amount_minor: '1000' }))).toEqual(['mandate_total'])
    await service.settle()
    expect(await used(mandate)).toEqual(['exhausted', '20000', 2])
    const events = await service.deps.db.query<{ data: Json }>(
      "select data from events where type = 'mandate.exhausted' and data->>'id' = $1",
      [mandate.id],
    )
    expect(events.map(({ data }) => data)).toEqual([await read(mandate)])
    expect(decisiveRules(await pay(mandate, { amount_minor: '1000' }))).toContain('mandate_status')
  })

  test('is available again when the last payment fails', async () => {
    const mandate = await agree({ max_total_minor: '20000' })
    const doomed = await newBeneficiary(person.api, { destination: '254700000001' })
    await pay(mandate)
    await pay(mandate, { beneficiary_id: doomed })
    await service.settle()
    expect(await used(mandate)).toEqual(['active', '10000', 1])
    await pay(mandate)
    await service.settle()
    expect(await used(mandate)).toEqual(['exhausted', '20000', 2])
  })

  test('of a number of payments is used up like one of money', async () => {
    const mandate = await agree({ max_payments: 1 })
    await pay(mandate)
    await service.settle()
    expect(await used(mandate)).toEqual(['exhausted', '10000', 1])
  })
})

describe('between the payment and its sending', () => {
  test('if the mandate is revoked, the payment is not sent and everything is released', async () => {
    const mandate = await agree()
    const paid = await pay(mandate)
    await person.api.post(`/v1/intent-mandates/${mandate.id}/revoke`)
    await service.settle()
    const payment = (await person.api.get(`/v1/payments/${paid.body.id}`)).body
    expect([payment.status, payment.failure_code]).toEqual(['failed', 'policy_changed'])
    expect(await used(mandate)).toEqual(['revoked', '0', 0])
  })

  test('if the mandate expires, the payment is sent, because it was created in time', async () => {
    const mandate = await agree({ expires_at: later(60) })
    const paid = await pay(mandate)
    service.clock.advance(60)
    await service.deps.jobs.sweep()
    await service.settle()
    expect(await statusOf(paid.body)).toBe('succeeded')
    expect((await read(mandate)).status).toBe('expired')
  })

  test('if the signing wallet is unlinked, the mandate is revoked, and says so to that wallet too', async () => {
    const mandate = await agree()
    const second = newWallet()
    const prepared = (await service.api.post('/v1/auth/wallet/nonce', { address: second.address })).body.message
    const linked = await person.api.post('/v1/accounts/me/identities', {
      provider: 'wallet',
      message: prepared,
      signature: await second.signMessage({ message: prepared }),
    })
    expect(linked.status).toBe(201)
    const old = (await person.api.get('/v1/accounts/me/identities')).body.data.find(
      (identity: Json) => identity.subject === person.wallet.address,
    )
    expect((await person.api.delete(`/v1/accounts/me/identities/${old.id}`)).status).toBe(200)
    // The wallet's session ends with it.
    const again = await signIn(service.api, second)
    expect((await again.api.get(`/v1/intent-mandates/${mandate.id}`)).body.status).toBe('revoked')
    expect(decisiveRules(await pay(mandate, {}, again.api))).toEqual(['mandate_status'])
    const { message } = (await service.api.get(`/v1/intent-mandates/${mandate.id}/message`)).body
    const revoked = await service.api.post(`/v1/intent-mandates/${mandate.id}/revoke`, {
      signature: await person.wallet.signMessage({ message }),
    })
    expect([revoked.status, revoked.body.status]).toEqual([200, 'revoked'])
  })
})
