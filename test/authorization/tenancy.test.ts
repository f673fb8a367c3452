import { readFileSync } from 'node:fs'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { parseTable, type Row } from '../../scripts/authorization.ts'
import { addPasskey } from '../harness/authenticator.ts'
import { createMandate } from '../harness/mandates.ts'
import { fund, newBeneficiary } from '../harness/money.ts'
import { authorizeAgent, newPkce, registerClient, requestConsent } from '../harness/oauth.ts'
import { createKey, newWallet, type Person, signIn } from '../harness/people.ts'
import { type PushService, startPushService } from '../harness/push-service.ts'
import { startService, type TestService } from '../harness/service.ts'
import { createTeam, join, memberIdOf, type Team } from '../workspaces/team.ts'
import { unknownPath } from './probe.ts'

const table = parseTable(readFileSync(new URL('../../docs/authorization.md', import.meta.url), 'utf8'))

/** Routes with an id, for people. Administrators' routes are for all tenants; a device's code is for anyone who has it. */
const ofTenants = table.filter(
  ({ path, needs }) =>
    path.includes(':') && !['public', 'admin'].includes(needs) && !path.startsWith('/link/') && !path.includes(':user_code'),
)

type Owned = { id: string; body?: object; version?: number }

let service: TestService
let pushes: PushService
let team: Team
let strangers: { name: string; api: Person['api'] }[]
/** The team's records, by the route that names them, with a body that would take effect for their owner. */
let owned: Record<string, Owned>

const made = async (answer: Promise<{ status: number; body: { id: string }; text: string }>): Promise<string> => {
  const { status, body, text } = await answer
  if (status !== 201) throw new Error(text)
  return body.id
}

const furnish = async (): Promise<Record<string, Owned>> => {
  const { owner } = team
  const { api } = owner
  await fund(service, owner, 5_000_000n)
  const member = await join(service, team, 'member')
  const key = await createKey(owner)
  const spare = await createKey(owner)
  const beneficiary = await newBeneficiary(api)
  const policy = await made(api.post('/v1/spending-policies', { name: 'Ask', approval_threshold_minor: '100000' }))
  const created = await api.post('/v1/payments', { beneficiary_id: beneficiary, amount_minor: '150000' })
  const batch = await made(api.post('/v1/payment-batches', { items: [{ beneficiary_id: beneficiary, amount_minor: '160000' }] }))
  const personal = (await owner.api.get('/v1/workspaces')).body.data.find(
    (view: { workspace: { kind: string } }) => view.workspace.kind === 'personal',
  )
  const mandate = await createMandate(service, owner.wallet, { workspace_id: team.id })
  const topup = await made(api.post('/v1/topups/initiate', { amount_minor: '100000', phone_number: '254722000001' }))
  const invitation = await made(api.post('/v1/workspaces/current/invitations', { role: 'viewer' }))
  const identity = (await api.get('/v1/accounts/me/identities')).body.data[0].id
  const passkey = (await addPasskey(owner.api, service.deps.config.publicUrl)).passkey.id
  const pushSubscription = await made(api.post('/v1/accounts/me/push-subscriptions', pushes.browser().subscription))
  const session = (await api.get('/v1/accounts/me/sessions')).body.data[0].id
  const client = await registerClient(service.api)
  const authorization = await requestConsent(owner, client, newPkce())
  expect(personal.workspace.owning_account_id).toBe(owner.accountId)
  return {
    'GET /v1/accounts/me/grants/:id': { id: key.grantId },
    'PATCH /v1/accounts/me/grants/:id': { id: key.grantId, body: { frozen: true } },
    'DELETE /v1/accounts/me/grants/:id': { id: key.grantId },
    'GET /v1/accounts/me/api-keys/:id': { id: key.id },
    'PATCH /v1/accounts/me/api-keys/:id': { id: key.id, body: { name: 'Mine' } },
    'POST /v1/accounts/me/api-keys/:id/rotate': { id: key.id, body: {} },
    'DELETE /v1/accounts/me/api-keys/:id': { id: key.id },
    'DELETE /v1/accounts/me/identities/:id': { id: identity },
    'DELETE /v1/accounts/me/passkeys/:id': { id: passkey },
    'DELETE /v1/accounts/me/push-subscriptions/:id': { id: pushSubscription },
    'DELETE /v1/accounts/me/sessions/:id': { id: session },
    'GET /v1/oauth/authorizations/:id': { id: authorization },
    'POST /v1/oauth/authorizations/:id/decision': { id: authorization, body: { decision: 'approve' } },
    'PATCH /v1/workspaces/current/members/:id': { id: member.memberId, body: { role: 'viewer' } },
    'DELETE /v1/workspaces/current/members/:id': { id: await memberIdOf(owner, owner.accountId) },
    'DELETE /v1/workspaces/current/invitations/:id': { id: invitation },
    'PATCH /v1/workspaces/current/grants/:id': { id: spare.grantId, body: { frozen: true } },
    'DELETE /v1/workspaces/current/grants/:id': { id: spare.grantId },
    'GET /v1/payment-batches/:id': { id: batch },
    'GET /v1/payment-batches/:id/lines': { id: batch },
    'POST /v1/payment-batches/:id/cancel': { id: batch },
    'GET /v1/beneficiaries/:id': { id: beneficiary },
    'GET /v1/beneficiaries/:id/payments': { id: beneficiary },
    'GET /v1/beneficiaries/:id/verifications': { id: beneficiary },
    'PATCH /v1/beneficiaries/:id': { id: beneficiary, body: { display_name: 'Mine' } },
    'DELETE /v1/beneficiaries/:id': { id: beneficiary },
    'POST /v1/beneficiaries/:id/confirm': { id: beneficiary },
    'POST /v1/beneficiaries/:id/verify': { id: beneficiary },
    'GET /v1/spending-policies/:id': { id: policy },
    'PATCH /v1/spending-policies/:id': { id: policy, body: { version: 1, name: 'Mine' } },
    'DELETE /v1/spending-policies/:id': { id: policy },
    'POST /v1/spending-policies/:id/pending-change/confirm': { id: policy, body: {} },
    'DELETE /v1/spending-policies/:id/pending-change': { id: policy },
    'GET /v1/payments/:id': { id: created.body.id },
    'GET /v1/payments/:id/receipt': { id: created.body.id },
    'POST /v1/payments/:id/cancel': { id: created.body.id },
    'GET /v1/approvals/:id': { id: created.body.approval_id },
    'POST /v1/approvals/:id/decide': { id: created.body.approval_id, body: { decision: 'approve' } },
    'GET /v1/intent-mandates/:id': { id: mandate.id },
    'POST /v1/intent-mandates/:id/revoke': { id: mandate.id },
    'GET /v1/topups/:id': { id: topup },
  }
}

beforeAll(async () => {
  pushes = await startPushService()
  service = await startService({ env: { RATE_LIMIT_ENABLED: 'false' } })
  team = await createTeam(service)
  owned = await furnish()
  const stranger = await signIn(service.api, newWallet())
  const key = await createKey(stranger, {
    permissions: (await stranger.api.post('/v1/accounts/me/api-keys', { name: 'All' })).body.permissions.concat(
      'account.manage',
      'grant.manage',
      'workspace.manage',
      'policy.manage',
      'mandate.manage',
      'approval.decide',
    ),
  })
  const agent = await authorizeAgent(service.api, stranger)
  const dashboard = service.api.as({ bearer: (await stranger.api.post('/v1/auth/dashboard-tokens')).body.token })
  strangers = [
    { name: 'a session', api: stranger.api },
    { name: 'a dashboard token', api: dashboard },
    { name: 'a key', api: key.api },
    { name: 'an agent', api: agent.api },
  ]
})
afterAll(async () => {
  await service.close()
  await pushes.close()
})

const routeOf = ({ method, path }: Row) => `${method} ${path}`
const call = (api: Person['api'], row: Row, path: string) => {
  const body = owned[routeOf(row)]?.body
  return api.call(row.method, path, { ...(body && { body }) })
}
const nameless = (text: string) => text.replace(/"request_id":"[^"]*"/, '')

test('every route that takes an id is tried here', () => {
  expect(
    ofTenants.map(routeOf).filter((route) => owned[route] === undefined),
    'add each to what `furnish` returns above: an id of the other tenant, with a body that would be accepted',
  ).toEqual([])
  expect(Object.keys(owned).filter((route) => !ofTenants.some((row) => routeOf(row) === route))).toEqual([])
})

describe('an id of another tenant is the same 404, byte for byte, as an id that does not exist', () => {
  test.each(ofTenants.map((row) => [routeOf(row), row] as const))('%s', async (route, row) => {
    for (const { name, api } of strangers) {
      const path = row.path.replace(':id', owned[route]?.id ?? '')
      const [foreign, none] = [await call(api, row, path), await call(api, row, unknownPath(row.path))]
      // Without the permission both give the same 403, so an agent learns nothing. Nor does a token, which proves no identity.
      const lacks = ['a key', 'an agent'].includes(name) && foreign.body.error === 'forbidden'
      const proves = name === 'a dashboard token' && foreign.body.error === 'step_up_required'
      const expected = foreign.status === 403 && (lacks || proves) ? 403 : 404
      expect([name, foreign.status, nameless(foreign.text)]).toEqual([name, expected, nameless(none.text)])
      expect(foreign.headers.get('content-type')).toBe(none.headers.get('content-type'))
      if (expected === 403) continue
      const malformed = await call(api, row, row.path.replace(':id', 'nonsense'))
      expect([name, malformed.status, nameless(malformed.text)]).toEqual([name, expected, nameless(none.text)])
    }
    expect((await call(strangers[0]?.api ?? service.api, row, row.path.replace(':id', owned[route]?.id ?? ''))).status).toBe(404)
  })
})

test('its owners still see all of it: the attempts changed nothing', async () => {
  for (const row of ofTenants.filter(({ method }) => method === 'GET')) {
    const answer = await call(team.owner.api, row, row.path.replace(':id', owned[routeOf(row)]?.id ?? ''))
    // A receipt exists once the payment has ended.
    expect([routeOf(row), answer.status]).toEqual([routeOf(row), row.path.endsWith('/receipt') ? expect.any(Number) : 200])
  }
  const payment = await team.owner.api.get(`/v1/payments/${owned['GET /v1/payments/:id']?.id}`)
  expect(payment.body.status).toBe('pending_approval')
  expect((await team.owner.api.get(`/v1/intent-mandates/${owned['GET /v1/intent-mandates/:id']?.id}`)).body.status).toBe('active')
})

test('it cannot be named in a body either', async () => {
  const api = strangers[0]?.api ?? service.api
  const id = (route: string) => owned[route]?.id
  const beneficiary_id = id('GET /v1/beneficiaries/:id')
  const own = await newBeneficiary(api)
  const attempts = await Promise.all([
    api.post('/v1/payments', { beneficiary_id, amount_minor: '100000' }),
    api.post('/v1/payments', { beneficiary_id: own, amount_minor: '100000', mandate_id: id('GET /v1/intent-mandates/:id') }),
    api.post('/v1/spending-policies', { name: 'x', beneficiary_ids: [beneficiary_id] }),
    api.post('/v1/spending-policies/simulate', { beneficiary_id, amount_minor: '100000' }),
    api.post('/v1/accounts/me/api-keys', { name: 'x', spending_controls: { beneficiary_ids: [beneficiary_id] } }),
    api.put('/v1/workspaces/current', { workspace_id: team.id }),
    api.get('/v1/accounts/me', { headers: { 'workspace-id': team.id } }),
  ])
  expect(attempts.map(({ status }) => status)).toEqual([404, 404, 400, 404, 404, 404, 404])
  for (const { text } of attempts) expect(text).not.toContain(team.owner.accountId)
})

/** The stranger's own requests, with the paths that it has tried. */
const ownRequests = '/v1/request-log'

test('lists hold nothing of another tenant', async () => {
  const ids = new Set(Object.values(owned).map(({ id }) => id))
  const lists = table.filter(
    ({ method, path, needs }) =>
      method === 'GET' && !path.includes(':') && /^[a-z]+\.|^authenticated/.test(needs) && !path.endsWith('/stream'),
  )
  expect(lists.length).toBeGreaterThan(10)
  for (const { path } of lists.filter((list) => list.path !== ownRequests)) {
    const { status, text } = await (strangers[0]?.api ?? service.api).get(path)
    expect([path, status]).toEqual([path, 200])
    expect([...ids].filter((id) => text.includes(id))).toEqual([])
  }
})
