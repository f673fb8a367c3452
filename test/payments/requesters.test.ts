import { afterAll, describe, expect, test } from 'vitest'
import type { Client, Json } from '../harness/client.ts'
import { createMandate } from '../harness/mandates.ts'
import { newBeneficiary } from '../harness/money.ts'
import { authorizeAgent, postForm, redeemCode } from '../harness/oauth.ts'
import { createKey, newWallet, type Person, signIn } from '../harness/people.ts'
import { openService } from '../harness/service.ts'
import { findBreaches } from '../harness/verify.ts'
import { answered, createScene, type Team } from './authority-scene.ts'

const administrator = newWallet()
const service = await openService({ env: { RATE_LIMIT_ENABLED: 'false', ADMIN_ACCOUNTS: administrator.address } })
afterAll(async () => {
  expect(await findBreaches(service)).toEqual([])
})

const { administer, approvalOf, decide, join, link, member, pay, paymentOf, sign, team } = createScene(
  () => service,
  administrator,
)

const balance = async ({ owner }: Team): Promise<Json> => (await owner.api.get('/v1/accounts/me')).body.balance
const untouched = { available_minor: '10000000', held_minor: '0' }
const agentPermissions = ['payment.create', 'payment.read', 'beneficiary.read', 'approval.read']

describe('what a requester asked for', () => {
  const losses: Record<string, (of: Team, person: Person) => Promise<unknown>> = {
    'is removed': async (of, person) => answered(await of.owner.api.delete(await member(of, person))),
    leaves: async (of, person) => answered(await person.api.delete(await member(of, person))),
    'is suspended': async (of, person) => answered(await of.owner.api.patch(await member(of, person), { status: 'suspended' })),
    'gets a role without payment.create': async (of, person) =>
      answered(await of.owner.api.patch(await member(of, person), { role: 'viewer' })),
  }
  for (const [loss, take] of Object.entries(losses)) {
    test(`is cancelled while it waits when the requester ${loss}, and fails when it was approved and not sent`, async () => {
      const of = await team(1)
      const [requester, other] = [await join(of, 'member'), await join(of, 'member')]
      const key = await createKey(requester, { permissions: agentPermissions })
      const [waiting, approved, byKey] = [await pay(of, requester.api), await pay(of, requester.api), await pay(of, key.api)]
      const kept = await pay(of, other.api)
      answered(await decide(of.owner.api, approved))
      await take(of, requester)
      expect(await paymentOf(of, waiting)).toMatchObject({ status: 'cancelled' })
      expect(await approvalOf(of, waiting)).toMatchObject({ status: 'cancelled' })
      expect(await paymentOf(of, byKey)).toMatchObject({ status: 'cancelled' })
      expect(await paymentOf(of, approved)).toMatchObject({ status: 'failed', failure_code: 'policy_changed' })
      expect(await paymentOf(of, kept)).toMatchObject({ status: 'pending_approval' })
      expect((await decide(of.owner.api, waiting)).status).toBe(409)
      const moved = service.sandbox.movements().length
      await service.settle()
      expect(service.sandbox.movements()).toHaveLength(moved)
      expect(await balance(of)).toMatchObject({ available_minor: '9850000', held_minor: '150000' })
    })
  }

  test('by a grant ends with the grant, also in a workspace of another owner, and nothing else does', async () => {
    const of = await team(1)
    const requester = await join(of, 'member')
    const root = await createKey(requester, { permissions: [...agentPermissions, 'key.manage'] })
    const child = await createKey(root, { permissions: agentPermissions })
    const [byRoot, byChild, byPerson] = [await pay(of, root.api), await pay(of, child.api), await pay(of, requester.api)]
    answered(await requester.api.delete(`/v1/accounts/me/grants/${root.grantId}`))
    for (const payment of [byRoot, byChild]) expect(await paymentOf(of, payment)).toMatchObject({ status: 'cancelled' })
    expect(await paymentOf(of, byPerson)).toMatchObject({ status: 'pending_approval' })
  })

  test('by a session that began with a wallet of a key ends with the key, scheduled or waiting, a payment or a list', async () => {
    const of = await team(1)
    const key = await createKey(of.owner, { permissions: ['account.read', 'account.manage'] })
    const session = await signIn(service.api, (await link(key.api)).wallet)
    const execute_at = new Date(service.clock.now().getTime() + 3_600_000).toISOString()
    const order = { beneficiary_id: of.beneficiary, amount_minor: '20000' }
    const later = async (api: Client) => answered(await api.post('/v1/payments', { ...order, execute_at }), 201)
    const list = answered(
      await session.api.post('/v1/payment-batches', { items: [order, { ...order, amount_minor: '30000' }], execute_at }),
      201,
    )
    const [scheduled, waiting] = [await later(session.api), await pay(of, session.api)]
    const kept = [await later(of.owner.api), await pay(of, of.owner.api)]
    answered(await of.owner.api.delete(`/v1/accounts/me/grants/${key.grantId}`))
    for (const payment of [scheduled, waiting]) expect(await paymentOf(of, payment)).toMatchObject({ status: 'cancelled' })
    expect(await approvalOf(of, waiting)).toMatchObject({ status: 'cancelled' })
    expect(answered(await of.owner.api.get(`/v1/payment-batches/${list.id}`))).toMatchObject({ status: 'cancelled' })
    expect(await Promise.all(kept.map((payment) => paymentOf(of, payment)))).toMatchObject([
      { status: 'scheduled' },
      { status: 'pending_approval' },
    ])
  })

  test('by a grant that ends by itself is cancelled by the sweep, and not sent before', async () => {
    const of = await team(1)
    const requester = await join(of, 'member')
    const expires_at = new Date(service.clock.now().getTime() + 3_600_000).toISOString()
    const key = await createKey(requester, { permissions: agentPermissions, expires_at })
    const payment = await pay(of, key.api)
    service.clock.advance(3_601)
    await service.deps.jobs.sweep()
    await service.deps.jobs.sweep()
    expect(await paymentOf(of, payment)).toMatchObject({ status: 'cancelled' })
    expect(await balance(of)).toMatchObject(untouched)
  })

  test('by an agent is cancelled when the agent gives its token back', async () => {
    const of = await team(1)
    const agent = await authorizeAgent(service.api, await join(of, 'member'))
    const payment = await pay(of, agent.api)
    answered(await postForm(service.api, '/v1/oauth/revoke', { token: agent.access, ...agent.client.credentials }))
    expect(await paymentOf(of, payment)).toMatchObject({ status: 'cancelled' })
    expect(await approvalOf(of, payment)).toMatchObject({ status: 'cancelled' })
    expect(await balance(of)).toMatchObject(untouched)
  })

  test('by an agent whose stolen code ended its grant is cancelled by the next approval, whichever of two it is', async () => {
    const of = await team(2)
    const [first, second] = [await join(of), await join(of)]
    const agent = await authorizeAgent(service.api, await join(of, 'member'))
    const alone = await pay(of, agent.api)
    const order = (amount_minor: string, more: object = {}) =>
      agent.api.post('/v1/payments', { beneficiary_id: of.beneficiary, amount_minor, ...more })
    const half = answered(await order('160000'), 201)
    const execute_at = new Date(service.clock.now().getTime() + 3_600_000).toISOString()
    const later = answered(await order('170000', { execute_at }), 201)
    answered(await decide(first.api, half))
    expect((await redeemCode(service.api, agent.client, agent.code, agent.pkce)).status).toBe(400)
    const approvals = [
      [alone, first],
      [half, second],
      [later, first],
    ] as const
    for (const [payment, approver] of approvals) {
      const late = await decide(approver.api, payment)
      expect([late.status, late.body.details]).toMatchObject([409, { reason: 'decided', status: 'cancelled' }])
      expect(await paymentOf(of, payment)).toMatchObject({ status: 'cancelled' })
      expect(await approvalOf(of, payment)).toMatchObject({ status: 'cancelled' })
    }
    const { data } = (await of.owner.api.get('/v1/notifications?type=approval.approved')).body
    expect(data).toEqual([])
    expect(await balance(of)).toMatchObject(untouched)
  })
})

describe('a stop that can be lifted', () => {
  const approve = async (approver: Person, payment: Json) => [
    (await decide(approver.api, payment)).body.error,
    (await sign(approver.wallet, payment)).body.error,
    (await approver.api.get(`/v1/approvals/${payment.approval_id}`)).body.refusal_now?.error,
  ]
  const waits = async (of: Team, payment: Json) => {
    expect(await paymentOf(of, payment)).toMatchObject({ status: 'pending_approval' })
    expect(await approvalOf(of, payment)).toMatchObject({ status: 'pending', approvals_given: 0, decisions: [] })
  }

  test('of the paying account gives a button and a signature the same answer, and nothing is lost', async () => {
    const of = await team(1)
    const approver = await join(of)
    const payment = await pay(of, of.owner.api)
    await administer(of.owner, { status: 'frozen' })
    expect(await approve(approver, payment)).toEqual(Array(3).fill('workspace_frozen'))
    const [listed] = (await approver.api.get('/v1/approvals')).body.data
    expect(listed.refusal_now.error).toBe('workspace_frozen')
    await waits(of, payment)
    await administer(of.owner, { status: 'active' })
    expect(answered(await sign(approver.wallet, payment)).status).toBe('approved')
    await service.settle()
    expect(await paymentOf(of, payment)).toMatchObject({ status: 'succeeded' })
  })

  test('of the approver’s own account does too', async () => {
    const of = await team(1)
    const approver = await join(of)
    const payment = await pay(of, of.owner.api)
    await administer(approver, { status: 'frozen' })
    expect(await approve(approver, payment)).toEqual(Array(3).fill('account_frozen'))
    await waits(of, payment)
  })

  test('of the approver’s key stops its approvals and those by a wallet that it linked, but no rejection', async () => {
    const of = await team(1)
    const requester = await join(of, 'member')
    const key = await createKey(of.owner, { permissions: ['account.manage', 'approval.decide', 'approval.read'] })
    const approver = { ...of.owner, api: key.api, wallet: (await link(key.api)).wallet }
    const payment = await pay(of, requester.api)
    const freeze = (frozen: boolean) => of.owner.api.patch(`/v1/accounts/me/grants/${key.grantId}`, { frozen })
    answered(await freeze(true))
    expect(await approve(approver, payment)).toEqual(Array(3).fill('grant_frozen'))
    await waits(of, payment)
    for (const reject of [decide(approver.api, payment, 'reject'), sign(approver.wallet, await pay(of, requester.api), 'reject')])
      expect(answered(await reject).status).toBe('rejected')
    answered(await freeze(false))
    expect(answered(await sign(approver.wallet, await pay(of, requester.api))).status).toBe('approved')
  })

  test('of a list is said as its approval says it, and the payee of one item or a time that is to come stops none', async () => {
    const of = await team(1)
    const [approver, requester] = [await join(of), await join(of, 'member')]
    const key = await createKey(requester, { permissions: agentPermissions })
    const payee = (status: string) => of.owner.api.patch(`/v1/beneficiaries/${of.beneficiary}`, { status })
    const other = await newBeneficiary(of.owner.api, { destination: '254734999888' })
    const items = [of.beneficiary, other].map((beneficiary_id) => ({ beneficiary_id, amount_minor: '150000' }))
    const execute_at = new Date(service.clock.now().getTime() + 3_600_000).toISOString()
    const list = answered(await key.api.post('/v1/payment-batches', { items }), 201)
    const later = answered(await key.api.post('/v1/payments', { ...items[1], amount_minor: '160000', execute_at }), 201)
    const said = async ({ approval_id }: Json) => (await approver.api.get(`/v1/approvals/${approval_id}`)).body.refusal_now?.error
    await requester.api.patch(`/v1/accounts/me/grants/${key.grantId}`, { frozen: true })
    expect([await said(list), (await decide(approver.api, list)).body.error]).toEqual(['grant_frozen', 'grant_frozen'])
    expect([await said(later), answered(await decide(approver.api, later)).status]).toEqual([undefined, 'approved'])
    await requester.api.patch(`/v1/accounts/me/grants/${key.grantId}`, { frozen: false })
    await payee('frozen')
    expect([await said(list), answered(await decide(approver.api, list)).status]).toEqual([undefined, 'approved'])
    await service.settle()
  })

  test('of a list refuses its approval also where an item fails for good: what is sent after it is the rest', async () => {
    const of = await team(1)
    const [approver, requester] = [await join(of), await join(of, 'member')]
    const key = await createKey(requester, { permissions: agentPermissions })
    const gone = await newBeneficiary(of.owner.api, { destination: '254734999777' })
    const items = [gone, of.beneficiary].map((beneficiary_id) => ({ beneficiary_id, amount_minor: '150000' }))
    const list = answered(await key.api.post('/v1/payment-batches', { items }), 201)
    const freeze = (frozen: boolean) => requester.api.patch(`/v1/accounts/me/grants/${key.grantId}`, { frozen })
    await of.owner.api.delete(`/v1/beneficiaries/${gone}`)
    await freeze(true)
    const { refusal_now: refusal } = (await approver.api.get(`/v1/approvals/${list.approval_id}`)).body
    expect([refusal?.error, (await decide(approver.api, list)).body.error]).toEqual(['grant_frozen', 'grant_frozen'])
    await freeze(false)
    expect(answered(await decide(approver.api, list)).status).toBe('approved')
    await service.settle()
    const { data } = (await of.owner.api.get(`/v1/payments?batch_id=${list.id}`)).body
    const ends = data.map(({ beneficiary_id, status, failure_code }: Json) => [beneficiary_id, status, failure_code])
    expect(ends).toEqual(
      expect.arrayContaining([
        [gone, 'failed', 'policy_changed'],
        [of.beneficiary, 'succeeded', null],
      ]),
    )
  })

  test('of the requester, its grant, its capabilities or the payee refuses an approval, and what was approved is not sent', async () => {
    const of = await team(1)
    const [approver, requester] = [await join(of), await join(of, 'member')]
    const key = await createKey(requester, { permissions: agentPermissions })
    const frozenPayee = (status: string) => of.owner.api.patch(`/v1/beneficiaries/${of.beneficiary}`, { status })
    const stops: [string, () => Promise<unknown>, () => Promise<unknown>][] = [
      ['account_frozen', () => administer(requester, { status: 'frozen' }), () => administer(requester, { status: 'active' })],
      [
        'capability_disabled',
        () => administer(requester, { capabilities: { payments: 'disabled' } }),
        () => administer(requester, { capabilities: { payments: 'active' } }),
      ],
      [
        'capability_disabled',
        () => administer(requester, { capabilities: { api_keys: 'disabled' } }),
        () => administer(requester, { capabilities: { api_keys: 'active' } }),
      ],
      [
        'grant_frozen',
        () => requester.api.patch(`/v1/accounts/me/grants/${key.grantId}`, { frozen: true }),
        () => requester.api.patch(`/v1/accounts/me/grants/${key.grantId}`, { frozen: false }),
      ],
      ['beneficiary_frozen', () => frozenPayee('frozen'), () => frozenPayee('active')],
    ]
    for (const [error, stop, lift] of stops) {
      const [waiting, approved] = [await pay(of, key.api), await pay(of, key.api)]
      answered(await decide(approver.api, approved))
      await stop()
      expect(await approve(approver, waiting)).toEqual([error, error, error])
      await waits(of, waiting)
      const moved = service.sandbox.movements().length
      await service.settle()
      expect(await paymentOf(of, approved)).toMatchObject({ status: 'failed', failure_code: 'policy_changed' })
      expect(service.sandbox.movements()).toHaveLength(moved)
      await lift()
      expect((await approver.api.get(`/v1/approvals/${waiting.approval_id}`)).body.refusal_now).toBeUndefined()
      expect(answered(await sign(approver.wallet, waiting)).status).toBe('approved')
    }
  })
})

describe('a delegate', () => {
  test('cancels only what its own lineage asked for', async () => {
    const of = await team(1)
    const permissions = [...agentPermissions, 'key.manage']
    const [agent, other] = [await createKey(of.owner, { permissions }), await createKey(of.owner, { permissions })]
    const child = await createKey(agent, { permissions: agentPermissions })
    const payments = { owner: await pay(of, of.owner.api), agent: await pay(of, agent.api), child: await pay(of, child.api) }
    const cancel = (api: Client, payment: Json) => api.post(`/v1/payments/${payment.id}/cancel`)
    const refused = [
      [other.api, payments.owner],
      [other.api, payments.agent],
      [agent.api, payments.owner],
      [child.api, payments.agent],
    ] as const
    for (const [api, payment] of refused) {
      const answer = await cancel(api, payment)
      expect([answer.status, answer.body.error]).toEqual([403, 'forbidden'])
      expect(await paymentOf(of, payment)).toMatchObject({ status: 'pending_approval' })
    }
    expect(answered(await cancel(agent.api, payments.child)).status).toBe('cancelled')
    expect(answered(await cancel(agent.api, payments.agent)).status).toBe('cancelled')
    expect(answered(await cancel(of.owner.api, payments.owner)).status).toBe('cancelled')
    const stranger = await signIn(service.api)
    expect((await cancel(stranger.api, payments.owner)).status).toBe(404)
  })

  test('approves nothing that it asked for by a wallet that it linked, by a session begun with it, or by a key made in that session', async () => {
    const of = await team(1)
    const key = await createKey(of.owner, { permissions: [...agentPermissions, 'account.manage', 'key.manage'] })
    const child = await createKey(key, { permissions: agentPermissions })
    const linked = await link(key.api)
    const session = await signIn(service.api, linked.wallet)
    const derived = await createKey(session, { permissions: ['approval.decide', ...agentPermissions] })
    for (const api of [key.api, child.api, derived.api, session.api]) {
      const payment = await pay(of, api)
      const answers = [
        await sign(linked.wallet, payment),
        await decide(session.api, payment),
        await decide(derived.api, payment),
        await decide(session.api, payment, 'reject'),
      ]
      expect(answers.map(({ body }) => body.error)).toEqual(Array(4).fill('separation_of_duties'))
      expect(answered(await sign(of.owner.wallet, payment)).status).toBe('approved')
    }
    // A person's own request belongs to another lineage.
    expect(answered(await sign(linked.wallet, await pay(of, of.owner.api))).status).toBe('approved')
  })
})

test('a key approves nothing that it asked for by a mandate of a wallet that it linked, nor does what comes from that wallet', async () => {
  const of = await team(1)
  const permissions = [...agentPermissions, 'beneficiary.manage', 'account.manage', 'key.manage']
  const key = await createKey(of.owner, { permissions })
  const child = await createKey(key, { permissions: agentPermissions })
  const linked = await link(key.api)
  const session = await signIn(service.api, linked.wallet)
  const derived = await createKey(session, { permissions: agentPermissions })
  const own = await newBeneficiary(key.api)
  const terms = { max_total_minor: '10000000', beneficiary_ids: [own, of.beneficiary] }
  const mandate = await createMandate(service, linked.wallet, terms)
  // Above the threshold, below it (its parts would add up to more), and to a payee that no person has confirmed.
  const orders = [
    [of.beneficiary, '150000'],
    [of.beneficiary, '90000'],
    [own, '10000'],
  ].map(([beneficiary_id, amount_minor]) => ({ beneficiary_id, amount_minor, mandate_id: mandate.id }))
  for (const api of [key.api, child.api, session.api, derived.api])
    for (const order of orders) {
      expect((await api.post('/v1/spending-policies/simulate', order)).body.outcome).toBe('require_approval')
      const payment = answered(await api.post('/v1/payments', order), 201)
      expect([payment.status, payment.decision.approvals_by_mandate]).toEqual(['pending_approval', 0])
      expect(payment.decision.trace).toContainEqual(
        expect.objectContaining({ rule: 'mandate_signer', outcome: 'require_approval', required_approvals: 1 }),
      )
      expect(await approvalOf(of, payment)).toMatchObject({ approvals_given: 0, decisions: [] })
    }
  const asked = answered(await key.api.post('/v1/payments', orders[0]), 201)
  expect(answered(await decide(of.owner.api, asked)).status).toBe('approved')
  await service.settle()
  expect(await paymentOf(of, asked)).toMatchObject({ status: 'succeeded' })
  // A person's own request, and that of another key, belong to other lineages.
  const other = await createKey(of.owner, { permissions: agentPermissions })
  for (const { api } of [of.owner, other])
    expect(answered(await api.post('/v1/payments', orders[0]), 201).status).toBe('processing')
})

test('a scheduled payment of a key is not approved by a mandate of a wallet that the key linked, when it is due', async () => {
  const of = await team(1)
  const key = await createKey(of.owner, { permissions: [...agentPermissions, 'account.manage'] })
  const mandate = await createMandate(service, (await link(key.api)).wallet, { max_total_minor: '10000000' })
  const execute_at = new Date(service.clock.now().getTime() + 600_000).toISOString()
  const order = { beneficiary_id: of.beneficiary, amount_minor: '20000', mandate_id: mandate.id, execute_at }
  const payment = answered(await key.api.post('/v1/payments', order), 201)
  expect(payment).toMatchObject({ status: 'scheduled', approval_id: expect.any(String) })
  service.clock.advance(600)
  await service.deps.jobs.sweep()
  await service.settle()
  expect(await paymentOf(of, payment)).toMatchObject({ status: 'failed', failure_code: 'approval_expired' })
})

describe('a disabled capability', () => {
  const reads = (api: Client) => api.get('/v1/payments')
  test('stops every key when it is api_keys, and they work again afterwards', async () => {
    const of = await team(1)
    const key = await createKey(of.owner, { permissions: agentPermissions })
    await administer(of.owner, { capabilities: { api_keys: 'disabled' } })
    const refused = await reads(key.api)
    expect([refused.status, refused.body.error, refused.body.details.capability]).toEqual([
      403,
      'capability_disabled',
      'api_keys',
    ])
    const paid = await key.api.post('/v1/payments', { beneficiary_id: of.beneficiary, amount_minor: '1000' })
    expect([paid.status, paid.body.error]).toEqual([403, 'capability_disabled'])
    expect((await reads(of.owner.api)).status).toBe(200)
    await administer(of.owner, { capabilities: { api_keys: 'active' } })
    expect((await reads(key.api)).status).toBe(200)
  })

  test('stops every token and every key and dashboard token made through one when it is oauth, and no other key', async () => {
    const of = await team(1)
    const request = { scope: 'payment.create payment.read key.manage account.read' }
    const agent = await authorizeAgent(service.api, of.owner, { request })
    const child = await createKey(agent, { permissions: ['payment.read', 'account.read'] })
    const page = answered(await child.api.post('/v1/auth/dashboard-tokens'), 201)
    const [token, byToken] = [
      child.api.as({ bearer: page.token }),
      agent.api.as({ bearer: answered(await agent.api.post('/v1/auth/dashboard-tokens'), 201).token }),
    ]
    const other = await createKey(of.owner, { permissions: ['payment.read'] })
    const ofAgent = [agent.api, child.api, token, byToken]
    for (const api of [...ofAgent, other.api]) expect((await reads(api)).status).toBe(200)
    await administer(of.owner, { capabilities: { oauth: 'disabled' } })
    for (const api of ofAgent) {
      const refused = await reads(api)
      expect([refused.status, refused.body.error, refused.body.details.capability]).toEqual([403, 'capability_disabled', 'oauth'])
    }
    expect((await reads(other.api)).status).toBe(200)
  })
})
