import { expect, test } from 'vitest'
import { credit, newBeneficiary } from '../harness/money.ts'
import {
  type Agent,
  authorizeAgent,
  decide,
  newPkce,
  postForm,
  redeemCode,
  refresh,
  registerClient,
  requestConsent,
} from '../harness/oauth.ts'
import { type Person, signIn } from '../harness/people.ts'
import { openService } from '../harness/service.ts'
import { openStream } from '../harness/stream.ts'
import { connectAgent } from '../mcp/connect.ts'
import { createTeam } from '../workspaces/team.ts'

const service = await openService()
const person = await signIn(service.api)
const beneficiary = await newBeneficiary(person.api)
await credit(service, person.accountId, 100_000_000n)

const accessWith = (limits: Record<string, unknown>) => ({
  scope: 'payment.create payment.read account.read key.manage',
  authorization_details: JSON.stringify([{ type: 'payment', ...limits }]),
})
let serial = 0
/** Each payment has its own invoice: an agent would have to name a payment that it repeats. */
const pay = (api: Person['api'], shillings: number) => {
  serial += 1
  return api.post('/v1/payments', {
    beneficiary_id: beneficiary,
    amount_minor: String(shillings * 100),
    account_reference: `INV-${serial}`,
  })
}

test('an agent spends up to the limit of its consent, and is refused beyond it, with a remedy', async () => {
  const agent = await authorizeAgent(service.api, person, {
    request: accessWith({ daily_limit_minor: '500000' }),
    decision: { spending_controls: { daily_limit_minor: '100000' } },
  })
  expect((await pay(agent.api, 600)).status).toBe(201)
  expect((await pay(agent.api, 400)).status).toBe(201)
  const refused = await pay(agent.api, 10)
  expect([refused.status, refused.body.error]).toEqual([403, 'policy_denied'])
  expect(refused.headers.get('www-authenticate')).toBeNull()
  const rule = refused.body.details.decision.trace.find((entry: { outcome: string }) => entry.outcome === 'deny')
  expect(rule).toMatchObject({
    source: { kind: 'grant', name: 'Test agent' },
    limit_minor: '100000',
    used_minor: '100000',
    requested_minor: '1000',
  })
  // A new token or an own key does not avoid the limit.
  const { body } = await refresh(service.api, agent.client, agent.refreshToken)
  expect((await pay(service.api.as({ bearer: body.access_token }), 10)).status).toBe(403)
  const key = await agent.api.post('/v1/accounts/me/api-keys', { name: 'Helper', permissions: ['payment.create'] })
  expect((await pay(service.api.as({ bearer: key.body.key }), 10)).body.error).toBe('policy_denied')
  const [grant] = (await person.api.get('/v1/accounts/me/grants')).body.data.filter(
    (one: { kind: string }) => one.kind === 'oauth',
  )
  expect(grant).toMatchObject({
    label: 'Test agent',
    usage: { today_minor: '100000' },
    spending_controls: { daily_limit_minor: '100000' },
  })
  expect(grant.last_used_at).not.toBeNull()
  // The person can still pay, because the limit is the agent's.
  expect((await pay(person.api, 10)).status).toBe(201)
})

test('of twenty concurrent payments no more pass than fit under the limit', async () => {
  const agent = await authorizeAgent(service.api, person, {
    request: accessWith({ per_payment_limit_minor: '100000', daily_limit_minor: '500000' }),
  })
  expect((await pay(agent.api, 1001)).body.error).toBe('policy_denied')
  const answers = await Promise.all(Array.from({ length: 20 }, () => pay(agent.api, 1000)))
  expect(answers.filter(({ status }) => status === 201)).toHaveLength(5)
})

test('a changed limit, a freeze and its end apply from the next payment on', async () => {
  const agent = await authorizeAgent(service.api, person, { request: accessWith({ daily_limit_minor: '100000' }) })
  const path = `/v1/accounts/me/grants/${(await person.api.get('/v1/accounts/me/grants')).body.data[0].id}`
  expect((await pay(agent.api, 1000)).status).toBe(201)
  await person.api.patch(path, { spending_controls: { daily_limit_minor: '200000' } })
  expect((await pay(agent.api, 1000)).status).toBe(201)
  await person.api.patch(path, { frozen: true })
  expect((await pay(agent.api, 10)).body.error).toBe('grant_frozen')
  await person.api.delete(path)
  expect((await pay(agent.api, 10)).status).toBe(401)
})

test('an agent without the scope gets the name of the scope and where to request it', async () => {
  const agent = await authorizeAgent(service.api, person, { request: { scope: 'account.read' } })
  const refused = await pay(agent.api, 10)
  expect([refused.status, refused.body.error, refused.body.details.required_permission]).toEqual([
    403,
    'forbidden',
    'payment.create',
  ])
  expect(refused.headers.get('www-authenticate')).toBe(
    `Bearer resource_metadata="${service.api.url}/.well-known/oauth-protected-resource", error="insufficient_scope", scope="payment.create account.read"`,
  )
})

test('an agent that may not hand on a permission gets the name of the scope that it lacks; none, where no scope would help', async () => {
  const agent = await authorizeAgent(service.api, person, { request: { scope: 'key.manage payment.read' } })
  const handOn = async (permission: string) => {
    const answer = await agent.api.post('/v1/accounts/me/api-keys', { name: 'Helper', permissions: [permission] })
    expect([answer.status, answer.body.details.required_permission]).toEqual([403, permission])
    return /scope="(.*)"/.exec(answer.headers.get('www-authenticate') ?? '')?.[1]
  }
  expect(await handOn('payment.create')).toBe('payment.create key.manage payment.read')
  expect(await handOn('account.manage')).toBeUndefined()
})

test.each<[string, (agent: Agent) => Promise<unknown>]>([
  [
    'its token is revoked',
    ({ client, access }) => postForm(service.api, '/v1/oauth/revoke', { token: access, ...client.credentials }),
  ],
  ['its code is used again', ({ client, code, pkce }) => redeemCode(service.api, client, code, pkce)],
  [
    'a refresh token is used again',
    async ({ client, refreshToken }) => {
      for (let times = 0; times < 2; times += 1) await refresh(service.api, client, refreshToken)
    },
  ],
  [
    'it expires',
    async () => {
      await service.deps.db.query('update grants set expires_at = $1 where kind = $2', [service.clock.now(), 'oauth'])
      await service.deps.jobs.sweep()
    },
  ],
])("what an agent asked for from a team's balance is cancelled with its grant, once %s", async (_how, end) => {
  const team = await createTeam(service)
  await credit(service, team.id, 1_000_000n)
  await team.owner.api.post('/v1/spending-policies', { name: 'Ask', required_approval_count: 1 })
  const agent = await authorizeAgent(service.api, team.owner, { decision: { workspace_id: team.id } })
  const input = { beneficiary_id: await newBeneficiary(team.owner.api), amount_minor: '1000' }
  const { body: payment } = await agent.api.post('/v1/payments', input)
  expect(payment.status).toBe('pending_approval')
  await end(agent)
  expect((await team.owner.api.get(`/v1/payments/${payment.id}`)).body.status).toBe('cancelled')
})

test("the agent's stream ends when its grant does", async () => {
  const agent = await authorizeAgent(service.api, person, { request: accessWith({}) })
  const stream = await openStream(agent.api)
  expect(stream.status).toBe(200)
  await pay(agent.api, 10)
  expect((await stream.next('payment.created')).data.data.initiated_by.account_id).toBe(person.accountId)
  await person.api.post('/v1/accounts/me/grants/revoke-all', { kind: 'oauth' })
  await stream.ended()
})

test('the budget of a consent is charged by the agent and its keys, its days do not renew it, and its holder cannot raise it', async () => {
  const request = accessWith({ total_limit_minor: '6000000' })
  const id = await requestConsent(person, await registerClient(service.api), newPkce(), request)
  const consent = (total_limit_minor: string) =>
    decide(person, id, { decision: 'approve', spending_controls: { total_limit_minor } })
  expect((await consent('6000001')).body).toMatchObject({
    error: 'invalid_request',
    details: { fields: [{ path: 'spending_controls.total_limit_minor' }] },
  })
  const agent = await authorizeAgent(service.api, person, {
    request,
    decision: { spending_controls: { total_limit_minor: '4000000' } },
  })
  expect(agent.tokens.authorization_details).toMatchObject([{ type: 'payment', total_limit_minor: '4000000' }])
  const { key } = (await agent.api.post('/v1/accounts/me/api-keys', { name: 'Helper', permissions: ['payment.create'] })).body
  const helper = service.api.as({ bearer: key })
  expect((await pay(agent.api, 20_000)).status).toBe(201)
  expect((await pay(helper, 7700)).status).toBe(201)
  const headroom = async (of: Person['api']) => (await of.get('/v1/credentials/current')).body.headroom.total_minor
  expect([await headroom(agent.api), await headroom(helper)]).toEqual(['1230000', '1230000'])
  const mcp = await connectAgent(service.api.url, { bearer: agent.access })
  expect((await mcp.call('get_credential')).headroom.total_minor).toBe('1230000')
  service.clock.advance(3000)
  const refused = await pay(helper, 12_310)
  expect([refused.status, refused.body.error]).toEqual([403, 'policy_denied'])
  expect(refused.body.details.decision.remedy).toMatchObject({
    max_amount_minor: '1230000',
    passes_at: null,
    changes: [{ source: { kind: 'grant', name: 'Test agent' }, rule: 'total_limit', to_minor: '4001000' }],
  })
  const order = { beneficiary_id: beneficiary, amount: '12310', account_reference: 'OVER', idempotency_key: 'over' }
  const { structuredContent: told } = await mcp.raw('create_payment', order)
  expect(told).toMatchObject({
    status: 'refused',
    next: 'change_request',
    message: expect.stringContaining('KES 40,000.00: KES 27,700.00 is used'),
    decision: { change: { max_amount_minor: '1230000', passes_at: null, limits: [{ rule: 'total_limit' }] } },
  })
  await mcp.close()
  expect((await pay(helper, 12_300)).status).toBe(201)
  expect(await headroom(agent.api)).toBe('0')
})
