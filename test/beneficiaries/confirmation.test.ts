import { beforeEach, describe, expect, test } from 'vitest'
import type { Client, Json } from '../harness/client.ts'
import { createMandate } from '../harness/mandates.ts'
import { credit, newBeneficiary } from '../harness/money.ts'
import { createKey, type Person, signIn, signInThroughKey } from '../harness/people.ts'
import { openService } from '../harness/service.ts'

let person: Person
const service = await openService({ env: { RATE_LIMIT_ENABLED: 'false' } })
beforeEach(async () => {
  person = await signIn(service.api)
  await credit(service, person.accountId, 100_000_000n)
})

const pay = (api: Client, beneficiary: string, fields: Record<string, unknown> = {}) =>
  api.post('/v1/payments', { beneficiary_id: beneficiary, amount_minor: '19900', ...fields })
const read = async (id: string) => (await person.api.get(`/v1/beneficiaries/${id}`)).body
const confirm = (id: string, api: Client = person.api) => api.post(`/v1/beneficiaries/${id}/confirm`)
const rulesOf = (decision: Json) => decision.trace.filter((entry: Json) => entry.decisive).map((entry: Json) => entry.rule)
const warningsOf = ({ body }: { body: Json }) => body.decision.warnings.map(({ code }: Json) => code)
const agentOf = (controls?: Record<string, unknown>) =>
  createKey(person, { name: 'Buyer', ...(controls && { spending_controls: controls }) })

describe('a payee that a key created', () => {
  test('says who made it, and asks a person once', async () => {
    const agent = await agentOf()
    const id = await newBeneficiary(agent.api)
    const maker = { account_id: person.accountId, grant_id: agent.grantId, label: 'Buyer' }
    expect(await read(id)).toMatchObject({ confirmation: 'proposed', created_by: maker, changed_by: null })
    const held = await pay(agent.api, id)
    expect([held.status, held.body.status, rulesOf(held.body.decision)]).toEqual([201, 'pending_approval', ['unconfirmed_payee']])
    expect(held.body.decision.warnings).toMatchObject([{ code: 'new_payee', by: maker }])
    const approved = await person.api.post(`/v1/approvals/${held.body.approval_id}/decide`, { decision: 'approve' })
    expect(approved.body.status).toBe('approved')
    expect(await read(id)).toMatchObject({ confirmation: 'confirmed', created_by: maker })
    const next = await pay(agent.api, id, { amount_minor: '20000' })
    expect([next.body.status, warningsOf(next)]).toEqual(['processing', []])
    await service.settle()
    expect((await person.api.get(`/v1/payments/${held.body.id}`)).body.status).toBe('succeeded')
  })

  test('stays proposed after a rejection, and a person may confirm it without a payment', async () => {
    const agent = await agentOf()
    const id = await newBeneficiary(agent.api)
    const held = await pay(agent.api, id)
    await person.api.post(`/v1/approvals/${held.body.approval_id}/decide`, { decision: 'reject' })
    expect((await read(id)).confirmation).toBe('proposed')
    for (let n = 0; n < 2; n += 1) {
      const confirmed = await confirm(id)
      expect([confirmed.status, confirmed.body.confirmation]).toEqual([200, 'confirmed'])
    }
    expect((await pay(agent.api, id, { amount_minor: '20000' })).body.status).toBe('processing')
  })

  test('is confirmed by no key, its maker or another', async () => {
    const agent = await agentOf()
    const other = await createKey(person, { permissions: ['beneficiary.manage', 'beneficiary.read'] })
    const id = await newBeneficiary(agent.api)
    for (const { api } of [agent, other]) {
      const answer = await confirm(id, api)
      expect([answer.status, answer.body.error]).toEqual([403, 'forbidden'])
    }
    expect((await read(id)).confirmation).toBe('proposed')
  })

  test('ten of them below an approval threshold are ten questions', async () => {
    await person.api.post('/v1/spending-policies', { name: 'Large', approval_threshold_minor: '20000' })
    const agent = await agentOf()
    for (let n = 0; n < 10; n += 1) {
      const id = await newBeneficiary(agent.api, { display_name: 'Otieno Hardware' })
      expect((await pay(agent.api, id)).body.status).toBe('pending_approval')
    }
  })

  test('warns a person who pays it in person, and is not held', async () => {
    const agent = await agentOf()
    const old = await newBeneficiary(person.api, { display_name: 'Landlord' })
    await agent.api.call('DELETE', `/v1/beneficiaries/${old}`)
    const id = await newBeneficiary(agent.api, { display_name: 'Landlord' })
    const paid = await pay(person.api, id, { amount_minor: '5000000' })
    expect([paid.body.status, warningsOf(paid)]).toEqual(['processing', ['new_payee']])
    expect(paid.body.decision.warnings[0].by).toMatchObject({ grant_id: agent.grantId, label: 'Buyer' })
  })

  test('is paid at once by a key whose owner allows it, and refused to one whose owner does not', async () => {
    const allowed = await agentOf({ new_payees: 'allow' })
    const id = await newBeneficiary(allowed.api)
    expect((await pay(allowed.api, id)).body.status).toBe('processing')
    expect((await read(id)).confirmation).toBe('proposed')
    const strict = await agentOf({ new_payees: 'deny' })
    const refused = await pay(strict.api, id)
    expect([refused.status, refused.body.error, rulesOf(refused.body.details.decision)]).toEqual([
      403,
      'policy_denied',
      ['unconfirmed_payee'],
    ])
  })

  test('is not allowed by a key for its own child, nor by the child for itself', async () => {
    const parent = await agentOf()
    const child = await createKey(parent, { spending_controls: { new_payees: 'allow' } })
    expect((await pay(child.api, await newBeneficiary(child.api))).body.status).toBe('pending_approval')
  })

  test('follows a policy of the workspace where that is stricter, for people too', async () => {
    const agent = await agentOf({ new_payees: 'allow' })
    const id = await newBeneficiary(agent.api)
    const made = await person.api.post('/v1/spending-policies', { name: 'Known payees', new_payees: 'deny' })
    expect(made.body).toMatchObject({
      new_payees: 'deny',
      created_by: { account_id: person.accountId, grant_id: null, label: null },
    })
    for (const api of [agent.api, person.api]) expect((await pay(api, id)).body.error).toBe('policy_denied')
    await confirm(id)
    for (const api of [agent.api, person.api]) expect((await pay(api, id)).status).toBe(201)
  })
})

describe('a mandate', () => {
  test('confirms the payee that it names, and no other', async () => {
    const agent = await agentOf()
    const id = await newBeneficiary(agent.api)
    const open = await createMandate(service, person.wallet, { grant_id: agent.grantId, max_total_minor: '1000000' })
    expect((await pay(agent.api, id, { mandate_id: open.id })).body.status).toBe('pending_approval')
    const named = await createMandate(service, person.wallet, {
      grant_id: agent.grantId,
      max_total_minor: '1000000',
      beneficiary_ids: [id],
    })
    expect((await pay(agent.api, id, { mandate_id: named.id, amount_minor: '20000' })).body.status).toBe('processing')
  })
})

describe('a payee that a key renamed', () => {
  test('is proposed again, and warns everybody with the name of who did it', async () => {
    const agent = await agentOf()
    const id = await newBeneficiary(person.api, { display_name: 'Wanjiku' })
    await agent.api.patch(`/v1/beneficiaries/${id}`, { metadata: { note: 'x' } })
    expect((await read(id)).confirmation).toBe('confirmed')
    await agent.api.patch(`/v1/beneficiaries/${id}`, { display_name: 'KENYA REVENUE AUTHORITY' })
    expect(await read(id)).toMatchObject({ confirmation: 'proposed', changed_by: { grant_id: agent.grantId, label: 'Buyer' } })
    const own = await pay(person.api, id)
    expect([own.body.status, warningsOf(own)]).toEqual(['processing', ['changed_payee']])
    expect((await pay(agent.api, id, { amount_minor: '20000' })).body.status).toBe('pending_approval')
    await confirm(id)
    expect(warningsOf(await pay(person.api, id, { amount_minor: '30000' }))).toEqual([])
  })

  test('while an approval waits, is shown to the approver as it was asked for, and is not confirmed by it', async () => {
    const agent = await agentOf({ approval_threshold_minor: '1000' })
    const id = await newBeneficiary(person.api, { display_name: 'Wanjiku' })
    const held = await pay(agent.api, id)
    await agent.api.patch(`/v1/beneficiaries/${id}`, { display_name: 'KENYA REVENUE AUTHORITY' })
    const approval = (await person.api.get(`/v1/approvals/${held.body.approval_id}`)).body
    expect(approval.payment.beneficiary.display_name).toBe('Wanjiku')
    expect(approval.signing.approve).toContain('Beneficiary: Wanjiku')
    await person.api.post(`/v1/approvals/${held.body.approval_id}/decide`, { decision: 'approve' })
    expect((await read(id)).confirmation).toBe('proposed')
  })

  test('in its legal name alone, or there and back, while an approval waits, is not confirmed by it either', async () => {
    const agent = await agentOf({ approval_threshold_minor: '1000' })
    const renames = [[{ legal_name: 'KENYA REVENUE AUTHORITY' }], [{ display_name: 'Other' }, { display_name: 'Wanjiku' }]]
    for (const changes of renames) {
      const id = await newBeneficiary(person.api, { display_name: 'Wanjiku' })
      const held = await pay(agent.api, id, { amount_minor: `${changes.length}9900` })
      for (const change of changes) await agent.api.patch(`/v1/beneficiaries/${id}`, change)
      const approved = await person.api.post(`/v1/approvals/${held.body.approval_id}/decide`, { decision: 'approve' })
      expect([approved.body.status, (await read(id)).confirmation]).toEqual(['approved', 'proposed'])
    }
  })

  test('through a session of a wallet that it linked is proposed again, and warns the owner', async () => {
    const key = await createKey(person, { name: 'Manager', permissions: ['account.read', 'account.manage'] })
    const session = await signInThroughKey(service.api, key)
    const id = await newBeneficiary(person.api, { display_name: 'Wanjiku' })
    await session.api.patch(`/v1/beneficiaries/${id}`, { display_name: 'KENYA REVENUE AUTHORITY' })
    const by = { account_id: person.accountId, grant_id: key.grantId, label: 'Manager' }
    expect(await read(id)).toMatchObject({ confirmation: 'proposed', changed_by: by })
    const own = await pay(person.api, id)
    expect(own.body.decision.warnings).toMatchObject([{ code: 'changed_payee', by }])
    const made = await newBeneficiary(session.api)
    expect(await read(made)).toMatchObject({ confirmation: 'proposed', created_by: by })
    expect(warningsOf(await pay(person.api, made))).toEqual(['new_payee'])
  })

  test('by a person stays confirmed, and warns others for a week', async () => {
    const id = await newBeneficiary(person.api)
    const agent = await agentOf()
    await person.api.patch(`/v1/beneficiaries/${id}`, { display_name: 'New name' })
    expect((await read(id)).confirmation).toBe('confirmed')
    expect(warningsOf(await pay(person.api, id))).toEqual([])
    const seen = await pay(agent.api, id, { amount_minor: '20000' })
    expect([seen.body.status, warningsOf(seen)]).toEqual(['processing', ['changed_payee']])
    service.clock.advance(8 * 86_400)
    person = await signIn(service.api, person.wallet)
    expect(warningsOf(await pay(agent.api, id, { amount_minor: '30000' }))).toEqual([])
  })
})

test('everything that a key made stands in one list of payees and one of policies', async () => {
  const agent = await agentOf()
  const mine = await newBeneficiary(person.api)
  const made = await newBeneficiary(agent.api)
  await newBeneficiary(person.api)
  await agent.api.patch(`/v1/beneficiaries/${mine}`, { display_name: 'Renamed' })
  const rule = await agent.api.post('/v1/spending-policies', { name: 'Own', daily_limit_minor: '1000' })
  const ids = async (path: string) => (await person.api.get(path)).body.data.map(({ id }: Json) => id)
  expect(await ids(`/v1/beneficiaries?made_by_grant_id=${agent.grantId}`)).toEqual([made, mine])
  expect(await ids('/v1/beneficiaries?confirmation=proposed')).toEqual([made, mine])
  expect(await ids(`/v1/spending-policies?made_by_grant_id=${agent.grantId}`)).toEqual([rule.body.id])
  await confirm(made)
  expect(await ids('/v1/beneficiaries?confirmation=proposed')).toEqual([mine])
  expect((await ids('/v1/beneficiaries?confirmation=confirmed')).length).toBe(2)
})
