import { readFileSync, writeFileSync } from 'node:fs'
import { afterAll, beforeEach, describe, expect, test } from 'vitest'
import { proofReason, withProofReason } from '../../scripts/fresh-proof.ts'
import type { RouteEntry } from '../../src/http/route-table.ts'
import { addPasskey } from '../harness/authenticator.ts'
import type { Client } from '../harness/client.ts'
import { newBeneficiary } from '../harness/money.ts'
import { authorizeAgent, newPkce, registerClient, requestConsent } from '../harness/oauth.ts'
import { createKey, newWallet, type Person, prove, signIn, walletMessage } from '../harness/people.ts'
import { startPushService } from '../harness/push-service.ts'
import { openService } from '../harness/service.ts'
import { createTeam, join, type Team } from '../workspaces/team.ts'

const service = await openService({ env: { RATE_LIMIT_ENABLED: 'false' } })
const site = service.deps.config.publicUrl
const pushes = await startPushService()
afterAll(() => pushes.close())

type Scene = {
  owner: Person
  team: Team
  keyId: string
  grantId: string
  frozenId: string
  identityId: string
  memberId: string
  approverId: string
  sessionId: string
  ownSessionId: string
  beneficiaryId: string
  frozenBeneficiaryId: string
  subscriptionId: string
}
type Act = readonly [method: string, path: string, body?: object]

/** A person with an eleven-minute-old session, and one record of each kind that such a session might change. */
let scene: Scene & { passkeyId: string; policyId: string; authorization: string; raw: Client }
beforeEach(async () => {
  const team = await createTeam(service)
  const { owner } = team
  const { api } = owner
  const [key, frozen, member, approver] = [
    await createKey(owner, { spending_controls: { daily_limit_minor: '5000' } }),
    await createKey(owner),
    await join(service, team, 'member'),
    await join(service, team, 'approver'),
  ]
  await api.patch(`/v1/accounts/me/grants/${frozen.grantId}`, { frozen: true })
  const second = newWallet()
  const message = await walletMessage(api, second)
  const linked = await api.post('/v1/accounts/me/identities', {
    provider: 'wallet',
    message,
    signature: await second.signMessage({ message }),
  })
  const policy = await api.post('/v1/spending-policies', { name: 'Ask', daily_limit_minor: '5000', required_approval_count: 2 })
  const passkey = await addPasskey(api, site)
  const [beneficiaryId, frozenBeneficiaryId] = [await newBeneficiary(api), await newBeneficiary(api)]
  await api.patch(`/v1/beneficiaries/${frozenBeneficiaryId}`, { status: 'frozen' })
  const elsewhere = await signIn(service.api, owner.wallet)
  const subscription = await elsewhere.api.post('/v1/accounts/me/push-subscriptions', pushes.browser().subscription)
  const others = (await api.get('/v1/accounts/me/sessions')).body
  service.clock.advance(660)
  const authorization = await requestConsent(owner, await registerClient(service.api), newPkce())
  scene = {
    owner,
    team,
    keyId: key.id,
    grantId: key.grantId,
    frozenId: frozen.grantId,
    identityId: linked.body.id,
    memberId: member.memberId,
    approverId: approver.memberId,
    beneficiaryId,
    frozenBeneficiaryId,
    subscriptionId: subscription.body.id,
    sessionId: others.data.find(({ current }: { current: boolean }) => !current).id,
    ownSessionId: others.data.find(({ current }: { current: boolean }) => current).id,
    passkeyId: passkey.passkey.id,
    policyId: policy.body.id,
    authorization,
    raw: service.api.as({ cookie: owner.cookie }),
  }
})

/** The list in section 5 of the contract, by operation. `also`: what the same operation does without a proof. */
const acts: Readonly<Record<string, { needs: (is: typeof scene) => Act[]; also?: (is: typeof scene) => Act[] }>> = {
  'identities.link': { needs: () => [] },
  'sign_in.wallet_verify': { needs: () => [] },
  'sign_in.google_callback': { needs: () => [] },
  'sign_in.github_callback': { needs: () => [] },
  'identities.unlink': { needs: ({ identityId }) => [['DELETE', `/v1/accounts/me/identities/${identityId}`]] },
  'passkeys.add': { needs: () => [['POST', '/v1/accounts/me/passkeys', {}]] },
  'passkeys.remove': { needs: ({ passkeyId }) => [['DELETE', `/v1/accounts/me/passkeys/${passkeyId}`]] },
  'api_keys.create': { needs: () => [['POST', '/v1/accounts/me/api-keys', { name: 'Mine' }]] },
  'api_keys.rotate': { needs: ({ keyId }) => [['POST', `/v1/accounts/me/api-keys/${keyId}/rotate`]] },
  'api_keys.update': {
    needs: ({ keyId }) => [
      ['PATCH', `/v1/accounts/me/api-keys/${keyId}`, { spending_controls: { daily_limit_minor: '5001' } }],
      ['PATCH', `/v1/accounts/me/api-keys/${keyId}`, { name: 'Other', spending_controls: { daily_limit_minor: null } }],
    ],
    also: ({ keyId }) => [
      ['PATCH', `/v1/accounts/me/api-keys/${keyId}`, { name: 'Other' }],
      ['PATCH', `/v1/accounts/me/api-keys/${keyId}`, { spending_controls: { daily_limit_minor: '4999' } }],
    ],
  },
  'grants.update': {
    needs: ({ grantId, frozenId }) => [
      ['PATCH', `/v1/accounts/me/grants/${grantId}`, { spending_controls: { daily_limit_minor: '5001' } }],
      ['PATCH', `/v1/accounts/me/grants/${frozenId}`, { frozen: false }],
    ],
    also: ({ grantId, frozenId }) => [
      ['PATCH', `/v1/accounts/me/grants/${grantId}`, { spending_controls: { per_payment_limit_minor: '1' } }],
      ['PATCH', `/v1/accounts/me/grants/${grantId}`, { frozen: true }],
      ['PATCH', `/v1/accounts/me/grants/${frozenId}`, { frozen: true }],
    ],
  },
  'workspace_grants.freeze': {
    needs: ({ frozenId }) => [['PATCH', `/v1/workspaces/current/grants/${frozenId}`, { frozen: false }]],
    also: ({ grantId }) => [['PATCH', `/v1/workspaces/current/grants/${grantId}`, { frozen: true }]],
  },
  'invitations.create': { needs: () => [['POST', '/v1/workspaces/current/invitations', { role: 'viewer' }]] },
  'members.update': {
    needs: ({ memberId, approverId }) => [
      ['PATCH', `/v1/workspaces/current/members/${memberId}`, { role: 'approver' }],
      ['PATCH', `/v1/workspaces/current/members/${approverId}`, { role: 'viewer' }],
      ['PATCH', `/v1/workspaces/current/members/${approverId}`, { status: 'suspended' }],
    ],
    also: ({ memberId }) => [['PATCH', `/v1/workspaces/current/members/${memberId}`, { role: 'viewer' }]],
  },
  'members.remove': {
    needs: ({ approverId }) => [['DELETE', `/v1/workspaces/current/members/${approverId}`]],
    also: ({ memberId }) => [['DELETE', `/v1/workspaces/current/members/${memberId}`]],
  },
  'workspaces.separate_balance': { needs: () => [['POST', '/v1/workspaces/current/separate-balance', { amount_minor: '1' }]] },
  'workspaces.confirm_separation': { needs: () => [['POST', '/v1/workspaces/current/separate-balance/confirm', {}]] },
  'workspaces.unfreeze': {
    needs: () => [['POST', '/v1/workspaces/current/unfreeze']],
    also: () => [['POST', '/v1/workspaces/current/freeze', {}]],
  },
  'workspaces.update': {
    needs: () => [['PATCH', '/v1/workspaces/current', { time_zone: 'Pacific/Kiritimati' }]],
    also: () => [['PATCH', '/v1/workspaces/current', { name: 'Renamed', time_zone: 'Africa/Nairobi' }]],
  },
  'beneficiaries.update': {
    needs: ({ frozenBeneficiaryId }) => [['PATCH', `/v1/beneficiaries/${frozenBeneficiaryId}`, { status: 'active' }]],
    also: ({ beneficiaryId }) => [
      ['PATCH', `/v1/beneficiaries/${beneficiaryId}`, { display_name: 'Other', status: 'active' }],
      ['PATCH', `/v1/beneficiaries/${beneficiaryId}`, { status: 'frozen' }],
      ['DELETE', `/v1/beneficiaries/${beneficiaryId}`],
    ],
  },
  'notification_settings.update': {
    needs: () => [['PATCH', '/v1/accounts/me/notification-settings', { approvals: { email: false } }]],
    also: () => [['PATCH', '/v1/accounts/me/notification-settings', { language: 'sw' }]],
  },
  'push_subscriptions.delete': {
    needs: ({ subscriptionId }) => [['DELETE', `/v1/accounts/me/push-subscriptions/${subscriptionId}`]],
  },
  'oauth.decide_authorization': {
    needs: ({ authorization }) => [['POST', `/v1/oauth/authorizations/${authorization}/decision`, { decision: 'approve' }]],
    also: ({ authorization }) => [['POST', `/v1/oauth/authorizations/${authorization}/decision`, { decision: 'deny' }]],
  },
  'oauth.decide_device': { needs: () => [] },
  'policies.update': {
    needs: ({ policyId }) => [
      ['PATCH', `/v1/spending-policies/${policyId}`, { version: 1, daily_limit_minor: '5001' }],
      ['PATCH', `/v1/spending-policies/${policyId}`, { version: 1, daily_limit_minor: '1', required_approval_count: 1 }],
    ],
    also: ({ policyId }) => [['PATCH', `/v1/spending-policies/${policyId}`, { version: 1, daily_limit_minor: '4999' }]],
  },
  'policies.confirm_change': {
    needs: ({ policyId }) => [['POST', `/v1/spending-policies/${policyId}/pending-change/confirm`, {}]],
  },
  'policies.archive': { needs: ({ policyId }) => [['DELETE', `/v1/spending-policies/${policyId}`]] },
  'sessions.revoke': {
    needs: ({ sessionId, ownSessionId }) => [
      ['DELETE', `/v1/accounts/me/sessions/${sessionId}`],
      ['DELETE', `/v1/accounts/me/sessions/${sessionId}?end=everything`],
      ['DELETE', `/v1/accounts/me/sessions/${ownSessionId}?end=everything`],
    ],
    also: ({ ownSessionId }) => [['DELETE', `/v1/accounts/me/sessions/${ownSessionId}`]],
  },
  'accounts.close': { needs: () => [['DELETE', '/v1/accounts/me']] },
}

test('every operation says why it needs a fresh proof or not, and a new one without a reason is noticed', () => {
  for (const route of service.routes) expect(proofReason(route)).toMatch(/\.$/)
  const planted = { ...service.routes.find(({ operation }) => operation === 'members.remove'), operation: 'members.planted' }
  expect(() => proofReason(planted as RouteEntry)).toThrow('members.planted')
  const operations = service.routes.map(({ operation }) => operation)
  expect(withProofReason.filter((operation) => !operations.includes(operation))).toEqual([])
})

test('the routes that need a fresh proof are these, and no others', () => {
  const declared = service.routes.filter(({ freshProof, rule }) => freshProof !== null && rule !== 'admin')
  expect(declared.map(({ operation }) => operation).toSorted()).toEqual(Object.keys(acts).toSorted())
  const administrators = service.routes.filter(({ method, rule }) => rule === 'admin' && method !== 'GET')
  expect(administrators.length).toBeGreaterThan(8)
  expect(administrators.filter(({ freshProof }) => freshProof !== 'always')).toEqual([])
})

type Holder = 'young' | 'old' | 'token'
/** Each request's answer, by the request: the table of docs/security.md. */
const outcomes = new Map<string, Partial<Record<Holder, string>>>()

const send = async (api: Client, act: Act, holder: Holder) => {
  const [method, path, body] = act
  const answer = await api.call(method, path, body ? { body } : {})
  const ids = { approver: scene.approverId, member: scene.memberId, own: scene.ownSessionId, other: scene.sessionId }
  const whose = Object.entries(ids).reduce((text, [name, id]) => text.replace(id, `:${name}`), path)
  const named = `${method} ${whose} ${body ? JSON.stringify(body) : ''}`.replaceAll(/\b[a-z]{3}_[0-9a-z]{26}\b/g, ':id').trim()
  // An ended session says nothing about its proof.
  if (answer.status !== 401)
    outcomes.set(named, { ...outcomes.get(named), [holder]: answer.body?.error === 'step_up_required' ? '403' : 'yes' })
  return answer
}

describe.each(Object.entries(acts).filter(([, { needs }]) => needs({} as typeof scene).length > 0))('%s', (operation, act) => {
  test('in an old session is refused with the time of its proof, and what only narrows is not', async () => {
    for (const one of act.needs(scene)) {
      const refused = await send(scene.raw, one, 'old')
      expect([one, refused.status, refused.body]).toMatchObject([
        one,
        403,
        { error: 'step_up_required', details: { max_age_seconds: 600, proven_at: expect.stringMatching(/Z$/) } },
      ])
    }
    for (const one of act.also?.(scene) ?? []) expect([one, (await send(scene.raw, one, 'old')).status]).toEqual([one, 200])
  })

  test('with a dashboard token is refused, however fresh its session is, which may do it itself', async () => {
    await prove({ api: scene.raw, wallet: scene.owner.wallet })
    const bearer = (await scene.raw.post('/v1/auth/dashboard-tokens')).body.token
    for (const one of act.needs(scene)) {
      const refused = await send(service.api.as({ bearer }), one, 'token')
      expect([one, refused.status, refused.body]).toMatchObject([
        one,
        403,
        { error: 'step_up_required', details: { max_age_seconds: 600, proven_at: null } },
      ])
    }
    // The tests below need the session that this would end.
    if (operation !== 'sessions.revoke')
      for (const one of act.also?.(scene) ?? []) await send(service.api.as({ bearer }), one, 'token')
    for (const one of act.needs(scene)) {
      const again = await send(scene.raw, one, 'young')
      expect([operation, again.body?.error]).not.toEqual([operation, 'step_up_required'])
    }
    for (const one of act.also?.(scene) ?? []) await send(scene.raw, one, 'young')
  })
})

test('a key, its dashboard token and an agent need no proof for what a person gave them', async () => {
  await prove({ api: scene.raw, wallet: scene.owner.wallet })
  const permissions = ['key.manage', 'account.manage', 'policy.manage', 'grant.manage', 'workspace.manage', 'account.read']
  const key = await createKey({ api: scene.raw }, { permissions })
  service.clock.advance(86_400)
  const bearer = (await key.api.post('/v1/auth/dashboard-tokens')).body.token
  for (const api of [key.api, service.api.as({ bearer })]) {
    expect((await api.post('/v1/accounts/me/api-keys', { name: 'Child' })).status).toBe(201)
    const wallet = newWallet()
    const message = await walletMessage(api, wallet)
    const linked = await api.post('/v1/auth/wallet/verify', { message, signature: await wallet.signMessage({ message }) })
    expect([linked.status, linked.body.outcome]).toEqual([200, 'linked'])
  }
  // The change waits for the approver's confirmation.
  expect((await key.api.delete(`/v1/spending-policies/${scene.policyId}`)).status).toBe(202)
  const agent = await authorizeAgent(service.api, await signIn(service.api))
  service.clock.advance(900)
  expect((await agent.api.post('/v1/accounts/me/api-keys', { name: 'Child' })).status).not.toBe(403)
})

test('reading, and what the rules of the workspace guard, needs no proof of any of them', async () => {
  const { beneficiaryId: beneficiary_id } = scene
  const free: Act[] = [
    ['GET', '/v1/accounts/me'],
    ['GET', '/v1/payments'],
    ['POST', '/v1/payments', { beneficiary_id, amount_minor: '100' }],
    ['POST', '/v1/beneficiaries', { type: 'supplier' }],
    ['POST', '/v1/workspaces', {}],
  ]
  const bearer = (await scene.raw.post('/v1/auth/dashboard-tokens')).body.token
  const notRefused = async (api: Client, holder: Holder) => {
    for (const one of free) expect([one, (await send(api, one, holder)).body.error]).not.toEqual([one, 'step_up_required'])
  }
  await notRefused(scene.raw, 'old')
  await notRefused(service.api.as({ bearer }), 'token')
  await prove({ api: scene.raw, wallet: scene.owner.wallet })
  await notRefused(scene.raw, 'young')
})

test('docs/security.md says what a stolen cookie can do, as these requests were answered', () => {
  const page = new URL('../../docs/security.md', import.meta.url)
  const text = readFileSync(page, 'utf8')
  const cell = (outcome: string | undefined) => outcome ?? ''
  const rows = [...outcomes].map(
    ([request, { young, old, token }]) => `| \`${request}\` | ${cell(young)} | ${cell(old)} | ${cell(token)} |`,
  )
  const written = ['| Request | Young | Old | Token |', '|---|---|---|---|', ...rows.toSorted()].join('\n')
  const [begin, end] = ['<!-- stolen cookie -->\n', '\n<!-- /stolen cookie -->']
  const now = `${text.slice(0, text.indexOf(begin) + begin.length)}${written}${text.slice(text.indexOf(end))}`
  if (process.env.RECORD_EXAMPLES) writeFileSync(page, now)
  else expect(text).toBe(now)
})
