import { describe, expect, test } from 'vitest'
import {
  answerOf,
  authorizeAgent,
  authorizePath,
  decide,
  newPkce,
  postForm,
  redeemCode,
  refresh,
  refusal,
  registerClient,
  requestConsent,
} from '../harness/oauth.ts'
import { createKey, signIn } from '../harness/people.ts'
import { openService } from '../harness/service.ts'

const service = await openService()
const person = await signIn(service.api)
const client = await registerClient(service.api, { client_name: 'Agent <b>"Smith"</b>' })

const show = (id: string, as = person.api) => as.get(`/v1/oauth/authorizations/${id}`)
const limits = {
  type: 'payment',
  per_payment_limit_minor: '100000',
  daily_limit_minor: '300000',
  payment_types: ['MPESA_B2C', 'rent'],
}
const withLimits = { scope: 'account.read payment.create', authorization_details: JSON.stringify([limits]) }
const tokensFor = async (id: string, decision: Record<string, unknown>, pkce: ReturnType<typeof newPkce>) => {
  const code = answerOf(await decide(person, id, { decision: 'approve', ...decision })).get('code') ?? ''
  return (await redeemCode(service.api, client, code, pkce)).body
}

describe('the request on the consent page', () => {
  test('names the client, where the answer goes, the scopes, the limits and the workspaces', async () => {
    const id = await requestConsent(person, client, newPkce(), withLimits)
    const { workspace } = (await person.api.get('/v1/workspaces/current')).body
    expect((await show(id)).body).toEqual({
      id,
      flow: 'code',
      status: 'pending',
      client: { id: client.id, name: 'Agent <b>"Smith"</b>', uri: null, verified_host: null },
      user_code: null,
      redirect_host: '127.0.0.1:9876',
      redirect_is_local: true,
      scopes: ['account.read', 'payment.create'],
      spending_controls: { per_payment_limit_minor: '100000', daily_limit_minor: '300000', payment_types: ['MPESA_B2C', 'rent'] },
      resources: [service.api.url, `${service.api.url}/mcp`],
      workspaces: [{ id: workspace.id, name: workspace.name, role: 'owner', permissions: ['account.read', 'payment.create'] }],
      created_at: service.clock.now().toISOString(),
      expires_at: new Date(service.clock.now().getTime() + 600_000).toISOString(),
    })
  })

  test.each([
    ['no JSON', 'x'],
    ['no list', '{}'],
    ['no object', '[null]'],
    ['nothing', '[]'],
    ['another type', '[{"type":"account_information"}]'],
    ['two of them', '[{"type":"payment"},{"type":"payment"}]'],
    ['a misspelt limit', '[{"type":"payment","daily_limt_minor":"1"}]'],
    ['a limit that is a number', '[{"type":"payment","daily_limit_minor":1}]'],
    ['a misspelt limit with a suggestion', '[{"type":"payment","per_payment_limit":"1"}]'],
    ['a choice that does not exist', '[{"type":"payment","on_duplicate":"never"}]'],
    ['limits that cannot all be meant', '[{"type":"payment","daily_limit_minor":"1","monthly_limit_minor":"0"}]'],
    ['an empty list of beneficiaries', '[{"type":"payment","beneficiary_ids":[]}]'],
  ])('with %s in authorization_details is refused', async (_what, authorization_details) => {
    const path = authorizePath(client, newPkce(), { authorization_details })
    const answer = await service.api.get(path, { headers: { accept: 'application/json' } })
    expect(refusal(answer)).toEqual([400, 'invalid_authorization_details'])
    expect(answer.body.error_description).not.toMatch(/expected|Invalid|received|Unrecognized/)
    expect(answer.body.error_description).toMatch(/[^?][?.]$/)
  })
})

describe('consent', () => {
  test('grants what was requested, and sends the client the granted limits', async () => {
    const pkce = newPkce()
    const tokens = await tokensFor(await requestConsent(person, client, pkce, withLimits), {}, pkce)
    expect(tokens.authorization_details).toEqual([{ ...limits, on_duplicate: 'confirm' }])
    const { spending_controls: held } = (await person.api.get('/v1/accounts/me/grants')).body.data[0]
    expect([{ type: 'payment', ...held }]).toEqual([{ ...limits, on_duplicate: 'confirm' }])
  })

  test('may be narrower than the request in every way', async () => {
    const pkce = newPkce()
    const id = await requestConsent(person, client, pkce, withLimits)
    const controls = { per_payment_limit_minor: '50000', monthly_limit_minor: '300000', payment_types: ['rent'] }
    const tokens = await tokensFor(id, { permissions: ['payment.create'], spending_controls: controls }, pkce)
    expect(tokens.scope).toBe('payment.create')
    expect(tokens.authorization_details).toEqual([
      { type: 'payment', daily_limit_minor: '300000', ...controls, on_duplicate: 'confirm' },
    ])
  })

  test('may set limits if the client requested none, and sends them to the client', async () => {
    const pkce = newPkce()
    const tokens = await tokensFor(
      await requestConsent(person, client, pkce),
      { spending_controls: { monthly_limit_minor: '1' } },
      pkce,
    )
    expect(tokens.authorization_details).toEqual([{ type: 'payment', monthly_limit_minor: '1', on_duplicate: 'confirm' }])
  })

  test.each([
    ['a permission more', { permissions: ['account.read', 'payment.read'] }, 'permissions'],
    ['a higher limit', { spending_controls: { daily_limit_minor: '300001' } }, 'spending_controls.daily_limit_minor'],
    ['a payment type more', { spending_controls: { payment_types: ['rent', 'gifts'] } }, 'spending_controls.payment_types'],
    [
      'limits that contradict what was asked',
      { spending_controls: { monthly_limit_minor: '299999' } },
      'spending_controls.daily_limit_minor',
    ],
    ['nothing left', { permissions: [] }, 'permissions'],
  ])('with %s is refused, and can still be given correctly', async (_what, decision, path) => {
    const id = await requestConsent(person, client, newPkce(), withLimits)
    const answer = await decide(person, id, { decision: 'approve', ...decision })
    expect(refusal(answer)).toEqual([400, 'invalid_request'])
    expect(answer.body.details.fields[0].path).toBe(path)
    expect(answer.body.message).not.toMatch(/\d{5}/)
    expect((await show(id)).body.status).toBe('pending')
  })

  test("to another tenant's beneficiary is refused like one that does not exist", async () => {
    const id = await requestConsent(person, client, newPkce())
    const controls = { beneficiary_ids: ['ben_01h455vb4pex5vsknk084sn02q'] }
    expect(refusal(await decide(person, id, { decision: 'approve', spending_controls: controls }))).toEqual([404, 'not_found'])
  })

  test('is given once', async () => {
    const id = await requestConsent(person, client, newPkce())
    const answers = await Promise.all(Array.from({ length: 5 }, () => decide(person, id)))
    expect(answers.filter((answer) => answer.status === 200)).toHaveLength(1)
    expect(answers.filter((answer) => answer.body.error === 'conflict')).toHaveLength(4)
    expect(refusal(await decide(person, id, { decision: 'deny' }))).toEqual([409, 'conflict'])
    expect((await show(id)).body.status).toBe('approved')
  })

  test('comes too late after ten minutes', async () => {
    const id = await requestConsent(person, client, newPkce())
    service.clock.advance(600)
    expect((await show(id)).body.status).toBe('expired')
    expect(refusal(await decide(person, id))).toEqual([409, 'conflict'])
  })

  test('can be given only by the person who was signed in where it was requested', async () => {
    const id = await requestConsent(person, client, newPkce())
    const other = await signIn(service.api)
    expect(refusal(await show(id, other.api))).toEqual([404, 'not_found'])
    expect(refusal(await decide(other, id))).toEqual([404, 'not_found'])
    const elsewhere = await signIn(service.api, person.wallet)
    expect(refusal(await decide(elsewhere, id))).toEqual([403, 'forbidden'])
    // The session's token belongs to the same browser, and proves nothing about the person.
    const token = (await person.api.post('/v1/auth/dashboard-tokens')).body.token
    expect(refusal(await decide({ api: service.api.as({ bearer: token }) }, id))).toEqual([403, 'step_up_required'])
    expect((await decide(person, id)).status).toBe(200)
  })

  test('comes after a sign-in if no person is signed in', async () => {
    const answer = await service.api.get(authorizePath(client, newPkce()))
    expect(answer.status).toBe(302)
    const to = new URL(answer.headers.get('location') ?? '', service.api.url)
    expect(to.pathname).toBe('/sign-in')
    const consent = to.searchParams.get('return_to') ?? ''
    expect(consent).toMatch(/^\/consent\?authorization=oaz_/)
    const id = consent.split('=')[1] ?? ''
    const late = await signIn(service.api)
    expect((await decide(late, id)).status).toBe(200)
  })

  test('is given only by a person: no key and no agent can see the request, give consent, or act as the browser', async () => {
    const id = await requestConsent(person, client, newPkce())
    const key = await createKey(person, { permissions: ['account.manage', 'grant.manage', 'account.read'] })
    const agent = await authorizeAgent(service.api, person, { client })
    const minted = (await agent.api.post('/v1/auth/dashboard-tokens')).body.token
    for (const api of [key.api, agent.api, service.api.as({ bearer: minted })]) {
      expect(refusal(await show(id, api))).toEqual([403, 'forbidden'])
      expect(refusal(await decide({ api }, id))).toEqual([403, 'forbidden'])
      const begun = await api.get(authorizePath(client, newPkce()))
      expect(begun.headers.get('location')).toMatch(/^\/sign-in/)
    }
    expect(refusal(await decide({ api: service.api }, id))).toEqual([401, 'authentication_required'])
    expect((await decide(person, id)).status).toBe(200)
  })

  test('names the workspace, and grants no more than the person has there', async () => {
    const owner = await signIn(service.api)
    const team = (await owner.api.post('/v1/workspaces', { name: 'Team' })).body.workspace
    const { token } = (
      await owner.api.post('/v1/workspaces/current/invitations', { role: 'viewer' }, { headers: { 'workspace-id': team.id } })
    ).body
    await person.api.post('/v1/workspaces/invitations/accept', { token })
    const pkce = newPkce()
    const id = await requestConsent(person, client, pkce, { scope: 'payment.read payment.create' })
    expect((await show(id)).body.workspaces).toContainEqual({
      id: team.id,
      name: 'Team',
      role: 'viewer',
      permissions: ['payment.read'],
    })
    const tokens = await tokensFor(id, { workspace_id: team.id }, pkce)
    expect(tokens.scope).toBe('payment.read')
    const here = await service.api.get('/v1/payments', { bearer: tokens.access_token, headers: { 'workspace-id': team.id } })
    expect(here.status).toBe(200)
    // The person may not pay there either: no scope would help, so the answer names none.
    const paid = await service.api.post('/v1/payments', {}, { bearer: tokens.access_token })
    expect([paid.status, paid.headers.get('www-authenticate')]).toEqual([403, null])
    const foreign = (await signIn(service.api)).api
    const { workspace } = (await foreign.get('/v1/workspaces/current')).body
    const again = await requestConsent(person, client, newPkce())
    expect(refusal(await decide(person, again, { decision: 'approve', workspace_id: workspace.id }))).toEqual([404, 'not_found'])
    const viewer = await requestConsent(person, client, newPkce(), { scope: 'payment.create' })
    expect(refusal(await decide(person, viewer, { decision: 'approve', workspace_id: team.id }))).toEqual([
      400,
      'invalid_request',
    ])
  })
})

test('a frozen workspace gets no new agent, even from a session in another workspace, and consent can be denied', async () => {
  const team = (await person.api.post('/v1/workspaces', { name: 'Team' })).body.workspace
  const there = person.api.as({ cookie: person.cookie })
  const freeze = await there.post('/v1/workspaces/current/freeze', {}, { headers: { 'workspace-id': team.id } })
  expect(freeze.status).toBe(200)
  const id = await requestConsent(person, client, newPkce())
  const refused = await decide(person, id, { decision: 'approve', workspace_id: team.id })
  expect(refusal(refused)).toEqual([403, 'workspace_frozen'])
  expect((await decide(person, id, { decision: 'deny' })).status).toBe(200)
  await person.api.post('/v1/workspaces/current/freeze', {})
  const own = await requestConsent(person, client, newPkce())
  expect(refusal(await decide(person, own, { decision: 'approve' }))).toEqual([403, 'workspace_frozen'])
  await person.api.post('/v1/workspaces/current/unfreeze')
  expect((await decide(person, own, { decision: 'approve' })).status).toBe(200)
})

describe('an agent', () => {
  test('cannot raise its own limits, create a key with more, or add or remove a sign-in method', async () => {
    const agent = await authorizeAgent(service.api, person, {
      client,
      request: { scope: 'account.read key.manage payment.create' },
    })
    const [{ id: own }] = (await person.api.get('/v1/accounts/me/grants')).body.data
    expect(refusal(await agent.api.patch(`/v1/accounts/me/grants/${own}`, { spending_controls: {} }))).toEqual([403, 'forbidden'])
    expect(refusal(await agent.api.post('/v1/accounts/me/api-keys', { name: 'x', permissions: ['payment.read'] }))).toEqual([
      403,
      'forbidden',
    ])
    expect(refusal(await agent.api.post('/v1/accounts/me/api-keys', { name: 'x', permissions: ['account.manage'] }))).toEqual([
      403,
      'forbidden',
    ])
    const [{ id: identity }] = (await person.api.get('/v1/accounts/me/identities')).body.data
    expect(refusal(await agent.api.delete(`/v1/accounts/me/identities/${identity}`))).toEqual([403, 'forbidden'])
    expect((await agent.api.post('/v1/accounts/me/api-keys', { name: 'x', permissions: ['payment.create'] })).status).toBe(201)
  })

  test("'s dashboard token can do what its access token could, and ends with its grant", async () => {
    const agent = await authorizeAgent(service.api, person, { client, request: { scope: 'account.read payment.read' } })
    const { body } = await agent.api.post('/v1/auth/dashboard-tokens')
    const minted = service.api.as({ bearer: body.token })
    expect((await minted.get('/v1/accounts/me')).status).toBe(200)
    expect((await minted.get('/v1/beneficiaries')).status).toBe(403)
    const [{ id }] = (await person.api.get('/v1/accounts/me/grants')).body.data
    await person.api.delete(`/v1/accounts/me/grants/${id}`)
    expect(refusal(await minted.get('/v1/accounts/me'))).toEqual([401, 'invalid_token'])
  })
})

describe('the consent pages', () => {
  test('cannot be framed, stored or scripted from elsewhere', async () => {
    const id = await requestConsent(person, client, newPkce())
    const pages = [
      await person.api.get(`/consent?authorization=${id}`),
      await service.api.get(`/consent?authorization=${id}`),
      await service.api.get('/sign-in?return_to=/consent'),
      await person.api.get('/device'),
      await person.api.get('/device?outcome=approved'),
      await person.api.get('/device?user_code=BBBB-BBBB'),
      await service.api.get('/v1/oauth/authorize'),
    ]
    for (const page of pages) {
      expect(page.headers.get('content-type')).toContain('text/html')
      expect(page.headers.get('cache-control')).toBe('no-store')
      expect(page.headers.get('x-frame-options')).toBe('DENY')
      const policy = page.headers.get('content-security-policy') ?? ''
      expect(policy).toContain("frame-ancestors 'none'")
      expect(policy).not.toContain("'unsafe-inline'")
    }
  })

  test('contain nothing of the request: only the person who decides reads it, by the API', async () => {
    const id = await requestConsent(person, client, newPkce(), withLimits)
    expect((await person.api.get(`/consent?authorization=${id}`)).text).not.toContain('Smith')
    const stranger = await signIn(service.api)
    expect((await stranger.api.get(`/v1/oauth/authorizations/${id}`)).status).toBe(404)
    expect((await service.api.get(`/v1/oauth/authorizations/${id}`)).status).toBe(401)
    expect((await person.api.get(`/v1/oauth/authorizations/${id}`)).body.client.name).toContain('Smith')
  })

  test('decide nothing from another site, and nothing by a form', async () => {
    const id = await requestConsent(person, client, newPkce())
    const path = `/v1/oauth/authorizations/${id}/decision`
    const elsewhere = { origin: 'https://evil.example', 'sec-fetch-site': 'cross-site' }
    const forged = await person.api.post(path, { decision: 'approve' }, { headers: elsewhere })
    expect([forged.status, forged.body.error]).toEqual([403, 'csrf_rejected'])
    const form = { 'content-type': 'application/x-www-form-urlencoded' }
    expect((await person.api.call('POST', path, { raw: 'decision=approve', headers: form })).status).toBe(415)
    expect((await person.api.get(`/v1/oauth/authorizations/${id}`)).body.status).toBe('pending')
  })
})

test.each([
  ['a lone surrogate', '[{"type":"payment","payment_types":["\\ud800"]}]'],
  ['a name given twice', '[{"type":"payment","daily_limit_minor":"1","daily_limit_minor":"900000"}]'],
  ['NUL', '[{"type":"payment","payment_types":["\\u0000"]}]'],
  ['a prototype', '[{"type":"payment","__proto__":{"daily_limit_minor":"1"}}]'],
  ['endless nesting', `${'['.repeat(5000)}${']'.repeat(5000)}`],
  ['no end', `[{"type":"payment","payment_types":["${'x'.repeat(25_000)}"]}]`],
])('authorization_details with %s are refused, at every endpoint that takes them', async (_what, authorization_details) => {
  const client = await registerClient(service.api, {
    grant_types: ['authorization_code', 'urn:ietf:params:oauth:grant-type:device_code'],
  })
  const { challenge } = newPkce()
  const ask = {
    ...client.credentials,
    code_challenge: challenge,
    code_challenge_method: 'S256',
    response_type: 'code',
    authorization_details,
  }
  for (const path of ['/v1/oauth/par', '/v1/oauth/device_authorization']) {
    const answer = await postForm(service.api, path, ask)
    expect([path, answer.status]).toEqual([path, 400])
    expect(['invalid_authorization_details', 'invalid_request']).toContain(answer.body.error)
  }
})

describe('an expiry that the person sets', () => {
  const dayMs = 86_400_000
  test('applies however often the tokens are refreshed, and is shown in the grant', async () => {
    const ends = new Date(service.clock.now().getTime() + dayMs)
    const agent = await authorizeAgent(service.api, person, { client, decision: { expires_at: ends.toISOString() } })
    service.clock.advance(86_400 - 600)
    const renewed = await refresh(service.api, client, agent.refreshToken)
    expect(renewed.status).toBe(200)
    expect(renewed.body.expires_in).toBe(600)
    const grants = (await person.api.get('/v1/accounts/me/grants')).body.data
    expect(grants[0].expires_at).toBe(ends.toISOString())
    service.clock.advance(601)
    const api = service.api.as({ bearer: renewed.body.access_token })
    expect((await api.get('/v1/accounts/me')).status).toBe(401)
    expect((await refresh(service.api, client, renewed.body.refresh_token)).body.error).toBe('invalid_grant')
  })

  test('must be in the future', async () => {
    const id = await requestConsent(person, client, newPkce(), withLimits)
    const past = new Date(service.clock.now().getTime() - 1).toISOString()
    const answer = await decide(person, id, { decision: 'approve', expires_at: past })
    expect(refusal(answer)).toEqual([400, 'invalid_request'])
    expect((await show(id)).body.status).toBe('pending')
  })
})
