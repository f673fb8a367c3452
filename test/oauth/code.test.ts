import { describe, expect, test } from 'vitest'
import { parseId } from '../../src/lib/ids.ts'
import {
  type Agent,
  answerOf,
  authorizeAgent,
  authorizePath,
  decide,
  newPkce,
  obtainCode,
  postForm,
  redeemCode,
  redirectUri,
  refusal,
  registerClient,
  requestConsent,
} from '../harness/oauth.ts'
import { createKey, signIn } from '../harness/people.ts'
import { openService } from '../harness/service.ts'
import { findBreachesOf } from '../harness/verify.ts'

const service = await openService()
const person = await signIn(service.api)
const client = await registerClient(service.api)

const authorize = (options: Record<string, string | undefined>) =>
  service.api.get(authorizePath(client, newPkce(), options), { headers: { accept: 'application/json' } })
const canRead = async (agent: Pick<Agent, 'api'>) => (await agent.api.get('/v1/accounts/me')).status

describe('a client that a person has connected', () => {
  test('can call the API within its scopes, and gets the name of a missing scope', async () => {
    const agent = await authorizeAgent(service.api, person, { client, request: { scope: 'account.read payment.create' } })
    expect(agent.tokens).toMatchObject({ token_type: 'Bearer', expires_in: 3600, scope: 'account.read payment.create' })
    expect((await agent.api.get('/v1/accounts/me')).body.id).toBe(person.accountId)
    const refused = await agent.api.get('/v1/beneficiaries')
    expect(refusal(refused)).toEqual([403, 'forbidden'])
    expect(refused.headers.get('www-authenticate')).toBe(
      `Bearer resource_metadata="${service.api.url}/.well-known/oauth-protected-resource", error="insufficient_scope", scope="beneficiary.read account.read payment.create"`,
    )
  })

  test('gets no null in its answers, which must not be cached', async () => {
    const { code, pkce } = await obtainCode(person, client)
    const answer = await redeemCode(service.api, client, code, pkce)
    expect(answer.headers.get('cache-control')).toBe('no-store')
    expect(Object.values(answer.body)).not.toContain(null)
    expect(answer.body.authorization_details).toEqual([{ type: 'payment', on_duplicate: 'confirm' }])
  })

  test('cannot request what is not a scope, such as permissions that only a person may delegate', async () => {
    const scopes = (await service.api.get('/.well-known/oauth-authorization-server')).body.scopes_supported
    expect(scopes).toContain('payment.create')
    for (const never of [
      'account.manage',
      'grant.manage',
      'workspace.manage',
      'policy.manage',
      'mandate.manage',
      'approval.decide',
    ]) {
      expect(scopes).not.toContain(never)
      expect(refusal(await authorize({ scope: never }))).toEqual([400, 'invalid_scope'])
    }
    const agent = await authorizeAgent(service.api, person, { client })
    expect(`${agent.tokens.scope} offline_access`).toBe(scopes.join(' '))
  })

  test('that names no scope asks for reading only', async () => {
    const agent = await authorizeAgent(service.api, person, { client, request: { scope: undefined } })
    expect(agent.tokens.scope.split(' ')).toEqual(expect.arrayContaining(['account.read', 'payment.read']))
    expect(agent.tokens.scope.split(' ').filter((scope: string) => !scope.endsWith('.read'))).toEqual([])
    const paid = await agent.api.post('/v1/payments', { beneficiary_id: 'ben_01h455vb4pex5vsknk084sn02q', amount_minor: '1000' })
    expect(refusal(paid)).toEqual([403, 'forbidden'])
  })

  test('that registered no scope that reads has to name one, before a person is asked', async () => {
    const device = 'urn:ietf:params:oauth:grant-type:device_code'
    const grant_types = ['authorization_code', 'refresh_token', device]
    const payer = await registerClient(service.api, { scope: 'payment.create topup.create', grant_types })
    const { challenge } = newPkce()
    const fields = { ...payer.credentials, code_challenge: challenge, code_challenge_method: 'S256' }
    const requests = [
      await service.api.get(authorizePath(payer, newPkce()), { headers: { accept: 'application/json' } }),
      await postForm(service.api, '/v1/oauth/par', { ...fields, response_type: 'code', redirect_uri: redirectUri }),
      await postForm(service.api, '/v1/oauth/device_authorization', fields),
    ]
    expect(requests.map(refusal)).toEqual(Array(3).fill([400, 'invalid_scope']))
    expect(requests[1]?.body.error_description).toContain('scope is required')
    const agent = await authorizeAgent(service.api, person, { client: payer, request: { scope: 'payment.create' } })
    expect(agent.tokens.scope).toBe('payment.create')
  })

  test('may ask for offline_access, which changes nothing', async () => {
    const agent = await authorizeAgent(service.api, person, { client, request: { scope: 'offline_access account.read' } })
    expect(agent.tokens.scope).toBe('account.read')
    expect(agent.refreshToken).toMatch(/^service_ort_/)
  })

  test('is refused when its access token expires, by the clock alone', async () => {
    const agent = await authorizeAgent(service.api, person, { client })
    service.clock.advance(3599)
    expect(await canRead(agent)).toBe(200)
    service.clock.advance(1)
    expect(refusal(await agent.api.get('/v1/accounts/me'))).toEqual([401, 'token_expired'])
  })

  test('is found by the kind of its grant among the grants of the account and of the workspace', async () => {
    const someone = await signIn(service.api)
    const key = await createKey(someone)
    await authorizeAgent(service.api, someone, { client })
    for (const path of ['/v1/accounts/me/grants', '/v1/workspaces/current/grants']) {
      const kinds = async (query: string) =>
        (await someone.api.get(`${path}${query}`)).body.data.map(({ kind }: { kind: string }) => kind)
      expect([path, await kinds(''), await kinds('?kind=oauth')]).toEqual([path, ['oauth', 'api_key'], ['oauth']])
      expect((await someone.api.get(`${path}?kind=api_key`)).body.data).toMatchObject([{ id: key.grantId }])
      const wrong = await someone.api.get(`${path}?kind=agent`)
      expect([wrong.status, wrong.body.details.param]).toEqual([400, 'kind'])
      const page = await someone.api.get(`${path}?limit=1`)
      expect(refusal(await someone.api.get(`${path}?kind=oauth&cursor=${page.body.next_cursor}`))).toEqual([
        400,
        'invalid_cursor',
      ])
    }
  })

  test('is refused at once when its grant is revoked, and so is its refresh token', async () => {
    const agent = await authorizeAgent(service.api, person, { client })
    const [grant] = (await person.api.get('/v1/accounts/me/grants')).body.data
    expect(grant).toMatchObject({ kind: 'oauth', label: 'Test agent', revoked_at: null })
    expect((await person.api.delete(`/v1/accounts/me/grants/${grant.id}`)).status).toBe(200)
    expect(refusal(await agent.api.get('/v1/accounts/me'))).toEqual([401, 'invalid_token'])
    const answer = await postForm(service.api, '/v1/oauth/token', {
      grant_type: 'refresh_token',
      refresh_token: agent.refreshToken,
      ...client.credentials,
    })
    expect(refusal(answer)).toEqual([400, 'invalid_grant'])
  })

  test('is frozen with its grant: it still authenticates, and moves no money', async () => {
    const agent = await authorizeAgent(service.api, person, { client })
    const [grant] = (await person.api.get('/v1/accounts/me/grants')).body.data
    await person.api.patch(`/v1/accounts/me/grants/${grant.id}`, { frozen: true })
    expect(await canRead(agent)).toBe(200)
  })

  test('is stopped when the account may not use OAuth any more', async () => {
    const other = await signIn(service.api)
    const agent = await authorizeAgent(service.api, other, { client })
    const pkce = newPkce()
    const id = await requestConsent(other, client, pkce)
    const { code, pkce: before } = await obtainCode(other, client)
    await service.deps.db.query('update accounts set oauth_enabled = false where id = $1', [parseId('account', other.accountId)])
    expect(refusal(await agent.api.get('/v1/accounts/me'))).toEqual([403, 'capability_disabled'])
    expect(refusal(await decide(other, id))).toEqual([403, 'capability_disabled'])
    expect(refusal(await redeemCode(service.api, client, code, before))).toEqual([400, 'invalid_grant'])
  })

  test('is bound to the workspace of its grant', async () => {
    const agent = await authorizeAgent(service.api, person, { client })
    const other = (await signIn(service.api)).api
    const { workspace } = (await other.get('/v1/workspaces/current')).body
    const answer = await agent.api.get('/v1/accounts/me', { headers: { 'workspace-id': workspace.id } })
    expect(refusal(answer)).toEqual([404, 'not_found'])
  })

  test('is revoked with all other agents by one request, which does not revoke keys', async () => {
    const other = await signIn(service.api)
    const agents = await Promise.all([
      authorizeAgent(service.api, other, { client }),
      authorizeAgent(service.api, other, { client }),
    ])
    const key = await createKey(other)
    const child = await createKey({ api: agents[0].api })
    const revoked = await other.api.post('/v1/accounts/me/grants/revoke-all', { kind: 'oauth' })
    expect(revoked.body.data).toHaveLength(2)
    expect(revoked.body.data.every((grant: { revoked_at: string | null }) => grant.revoked_at !== null)).toBe(true)
    for (const agent of agents) expect(await canRead(agent)).toBe(401)
    expect(await canRead(child)).toBe(401)
    expect(await canRead(key)).toBe(200)
    expect(await canRead({ api: other.api })).toBe(200)
  })
})

describe('PKCE', () => {
  test.each([
    ['no challenge', { code_challenge: undefined }],
    ['no method, which would mean plain', { code_challenge_method: undefined }],
    ['the method plain', { code_challenge_method: 'plain' }],
    ['a challenge that no hash has', { code_challenge: 'short' }],
  ])('an authorization request with %s is refused', async (_what, options) => {
    expect(refusal(await authorize(options))).toEqual([400, 'invalid_request'])
    const { code_challenge, code_challenge_method } = {
      code_challenge: newPkce().challenge,
      code_challenge_method: 'S256',
      ...options,
    }
    const pushed = await postForm(service.api, '/v1/oauth/par', {
      ...client.credentials,
      response_type: 'code',
      redirect_uri: redirectUri,
      code_challenge,
      code_challenge_method,
    })
    expect(refusal(pushed)).toEqual([400, 'invalid_request'])
  })

  test('a code without its verifier is refused, and stays valid', async () => {
    const { code, pkce } = await obtainCode(person, client)
    const wrong: [string | undefined, string][] = [
      [undefined, 'invalid_request'],
      [newPkce().verifier, 'invalid_grant'],
      [pkce.challenge, 'invalid_grant'],
      ['short', 'invalid_grant'],
      [`${pkce.verifier} `, 'invalid_grant'],
    ]
    for (const [verifier, error] of wrong) {
      const answer = await redeemCode(service.api, client, code, pkce, { code_verifier: verifier })
      expect(refusal(answer)).toEqual([400, error])
    }
    expect((await redeemCode(service.api, client, code, pkce)).status).toBe(200)
  })

  test('a verifier that does not match the challenge is refused in the device flow too', async () => {
    const device = await registerClient(service.api, { grant_types: ['urn:ietf:params:oauth:grant-type:device_code'] })
    const challenge = { code_challenge: newPkce().challenge, code_challenge_method: 'S256' }
    const started = (await postForm(service.api, '/v1/oauth/device_authorization', { ...device.credentials, ...challenge })).body
    await person.api.post(`/v1/oauth/device/${started.user_code}/decision`, { decision: 'approve' })
    const fields = {
      grant_type: 'urn:ietf:params:oauth:grant-type:device_code',
      device_code: started.device_code,
      ...device.credentials,
    }
    const answer = await postForm(service.api, '/v1/oauth/token', { ...fields, code_verifier: newPkce().verifier })
    expect(refusal(answer)).toEqual([400, 'invalid_grant'])
  })
})

describe('an authorization request does not redirect', () => {
  test.each([
    ['an unknown client', { client_id: 'oac_01h455vb4pex5vsknk084sn02q' }],
    ['no client', { client_id: undefined }],
    ['no such kind of client', { client_id: 'somebody' }],
    ['another host', { redirect_uri: 'https://evil.example/callback' }],
    ['another path', { redirect_uri: 'http://127.0.0.1:9876/callback/more' }],
    ['another loopback name', { redirect_uri: 'http://localhost:9876/callback' }],
    ['a user name before the host', { redirect_uri: 'http://127.0.0.1:9876@evil.example/callback' }],
    ['a query more', { redirect_uri: 'http://127.0.0.1:9876/callback?more' }],
  ])('for %s', async (_what, options) => {
    const answer = await person.api.get(authorizePath(client, newPkce(), options))
    expect(answer.status).toBe(400)
    expect(answer.headers.get('location')).toBeNull()
    expect(answer.headers.get('content-type')).toContain('text/html')
  })

  test('without a consent: with prompt=none or a bad scope, a new client gets no redirect', async () => {
    const stranger = await registerClient(service.api)
    for (const options of [{ prompt: 'none' }, { scope: 'everything' }, { response_type: 'token' }]) {
      for (const api of [service.api, person.api]) {
        const answer = await api.get(authorizePath(stranger, newPkce(), options))
        expect(answer.status).toBe(400)
        expect(answer.headers.get('location')).toBeNull()
      }
    }
  })

  test.each([
    ['a missing challenge', { code_challenge: undefined }, 'invalid_request'],
    ['an unknown scope', { scope: 'everything' }, 'invalid_scope'],
    ['an unknown resource', { resource: 'https://mcp.example/' }, 'invalid_target'],
  ])('but the page that tells of %s links back with the error and the state', async (_, options, error) => {
    const stranger = await registerClient(service.api, { redirect_uris: ['cursor://editor.example/callback?from=<b>'] })
    const redirect_uri = 'cursor://editor.example/callback?from=<b>'
    const answer = await person.api.get(authorizePath(stranger, newPkce(), { ...options, redirect_uri }))
    expect([answer.status, answer.headers.get('location')]).toEqual([400, null])
    const href = /<a rel="noreferrer" href="([^"]*)">Back to cursor:\/\/<\/a>/.exec(answer.text)?.[1] ?? ''
    expect(href).toContain('from=&lt;b&gt;')
    const back = new URL(href.replaceAll('&amp;', '&').replaceAll('&lt;', '<').replaceAll('&gt;', '>'))
    expect(Object.fromEntries(back.searchParams)).toMatchObject({ error, state: 'a state', iss: service.api.url })
    await authorizeAgent(service.api, person, { client: stranger, request: { redirect_uri } })
    const known = await person.api.get(authorizePath(stranger, newPkce(), { ...options, redirect_uri }))
    expect(known.status).toBe(302)
    expect(known.headers.get('location')).toContain(`error=${error}`)
  })

  test('except to a client that this person has consented to before, with the error, the state and iss', async () => {
    await authorizeAgent(service.api, person, { client })
    const answer = await person.api.get(authorizePath(client, newPkce(), { prompt: 'none' }))
    expect(answer.status).toBe(302)
    const location = new URL(answer.headers.get('location') ?? '')
    expect(location.origin + location.pathname).toBe(redirectUri)
    expect(Object.fromEntries(location.searchParams)).toMatchObject({
      error: 'consent_required',
      state: 'a state',
      iss: service.api.url,
    })
  })
})

describe('the answer', () => {
  test('names the issuer, for an approval and for a denial', async () => {
    const yes = answerOf(await decide(person, await requestConsent(person, client, newPkce())))
    expect([yes.get('iss'), yes.get('state'), yes.get('code')]).toEqual([
      service.api.url,
      'a state',
      expect.stringMatching(/^service_oac_/),
    ])
    const no = answerOf(await decide(person, await requestConsent(person, client, newPkce()), { decision: 'deny' }))
    expect([no.get('iss'), no.get('state'), no.get('error'), no.get('code')]).toEqual([
      service.api.url,
      'a state',
      'access_denied',
      null,
    ])
  })

  test.each([
    ['http://127.0.0.1:33418', 'http://127.0.0.1:33418/'],
    ['http://localhost/', 'http://localhost:5000'],
    ['http://[::1]/cb', 'http://[::1]:5000/cb/'],
    ['http://127.0.0.1/?x=1', 'http://127.0.0.1:5000?x=1'],
  ])('%s may be asked for as %s: the last slash of a loopback address does not count', async (registered, asked) => {
    const native = await registerClient(service.api, { redirect_uris: [registered] })
    const { code, pkce } = await obtainCode(person, native, { request: { redirect_uri: asked } })
    const [address = '', query] = asked.split('?')
    const toggled = address.endsWith('/') ? address.slice(0, -1) : `${address}/`
    const redirect_uri = query === undefined ? toggled : `${toggled}?${query}`
    expect(refusal(await redeemCode(service.api, native, code, pkce, { redirect_uri: `${redirect_uri}#` }))).toEqual([
      400,
      'invalid_grant',
    ])
    expect((await redeemCode(service.api, native, code, pkce, { redirect_uri })).status).toBe(200)
  })

  test('goes to any port of a loopback address, with the query that was registered as it was', async () => {
    const native = await registerClient(service.api, { redirect_uris: ['http://127.0.0.1/cb?x=%7e'] })
    const id = await requestConsent(person, native, newPkce(), { redirect_uri: 'http://127.0.0.1:51234/cb?x=%7e' })
    const { redirect_to: to } = (await decide(person, id)).body
    expect(to).toMatch(/^http:\/\/127\.0\.0\.1:51234\/cb\?x=%7e&code=/)
  })

  test('goes to the only redirect URI when none is named', async () => {
    const { redirect_to: to } = (
      await decide(person, await requestConsent(person, client, newPkce(), { redirect_uri: undefined }))
    ).body
    expect(to.startsWith(`${redirectUri}?code=`)).toBe(true)
  })
})

describe('a code', () => {
  test('works once: a second use revokes what the first one returned', async () => {
    const agent = await authorizeAgent(service.api, person, { client })
    expect(refusal(await redeemCode(service.api, client, agent.code, agent.pkce))).toEqual([400, 'invalid_grant'])
    expect(await canRead(agent)).toBe(401)
  })

  test('that is used by twenty at once returns tokens once', async () => {
    const { code, pkce } = await obtainCode(person, client)
    const answers = await Promise.all(Array.from({ length: 20 }, () => redeemCode(service.api, client, code, pkce)))
    const good = answers.filter((answer) => answer.status === 200)
    expect(good).toHaveLength(1)
    expect(answers.filter((answer) => answer.body.error === 'invalid_grant')).toHaveLength(19)
    expect((await service.api.get('/v1/accounts/me', { bearer: good[0]?.body.access_token })).status).toBe(401)
  })

  test('cannot be used by another client, and stays valid for its own', async () => {
    const { code, pkce } = await obtainCode(person, client)
    const thief = await registerClient(service.api)
    expect(refusal(await redeemCode(service.api, thief, code, pkce))).toEqual([400, 'invalid_grant'])
    expect((await redeemCode(service.api, client, code, pkce)).status).toBe(200)
  })

  test('expires, and leaves no grant that could be used', async () => {
    const { code, pkce } = await obtainCode(person, client)
    service.clock.advance(120)
    expect(refusal(await redeemCode(service.api, client, code, pkce))).toEqual([400, 'invalid_grant'])
    await service.deps.jobs.sweep()
    const [grant] = (await person.api.get('/v1/accounts/me/grants')).body.data
    expect(grant.revoked_at).not.toBeNull()
  })

  test('may be redeemed without redirect_uri, but a wrong one is refused', async () => {
    const { code, pkce } = await obtainCode(person, client)
    expect(refusal(await redeemCode(service.api, client, code, pkce, { redirect_uri: 'http://127.0.0.1:9876/other' }))).toEqual([
      400,
      'invalid_grant',
    ])
    expect((await redeemCode(service.api, client, code, pkce, { redirect_uri: redirectUri })).status).toBe(200)
  })
})

describe('a resource', () => {
  const own = service.api.url

  // The worst answer is a consent whose token opens nothing: every form either works or is refused before anybody is asked.
  test.each([
    ['is absent', undefined, 200, 200],
    ['is the origin', own, 200, 200],
    ['is the origin with a slash', `${own}/`, 200, 200],
    ['is the MCP server', `${own}/mcp`, 401, 200],
    ['is the MCP server with a slash', `${own}/mcp/`, 401, 200],
  ])('that %s leads to a token that opens what it names', async (_, resource, api, mcp) => {
    const agent = await authorizeAgent(service.api, person, { client, request: { scope: 'account.read', resource } })
    expect((await agent.api.get('/v1/accounts/me')).status).toBe(api)
    const list = { jsonrpc: '2.0', id: 1, method: 'tools/list', params: {} }
    const headers = { accept: 'application/json, text/event-stream', 'mcp-protocol-version': '2025-06-18' }
    for (const path of ['/mcp', '/mcp/']) expect((await agent.api.post(path, list, { headers })).status).toBe(mcp)
  })

  test('of this service may be written with or without its last slash', async () => {
    const agent = await authorizeAgent(service.api, person, {
      client,
      request: { resource: `${service.api.url}/` },
      redeem: { resource: service.api.url },
    })
    expect(await canRead(agent)).toBe(200)
  })

  test('cannot be wider at the token endpoint than at the consent, and may be narrower', async () => {
    const { code, pkce } = await obtainCode(person, client, { request: { resource: `${own}/mcp` } })
    for (const resource of [own, [`${own}/mcp`, own], 'https://mcp.example/'])
      expect(refusal(await redeemCode(service.api, client, code, pkce, { resource }))).toEqual([400, 'invalid_target'])
    expect((await redeemCode(service.api, client, code, pkce, { resource: `${own}/mcp/` })).status).toBe(200)
    const narrower = await authorizeAgent(service.api, person, { client, redeem: { resource: `${own}/mcp` } })
    expect((await narrower.api.get('/v1/accounts/me')).status).toBe(401)
    expect(await findBreachesOf(service, service.deps.db, 'every row of grants')).toEqual([])
  })

  test.each([
    'mcp.example',
    'https://mcp.example/mcp',
    'http://127.0.0.1:1/mcp',
    `${own}/v1`,
    `${own}/mcp/x`,
    `${own}/mcp?x`,
    `${own}/#part`,
    'javascript:alert(1)',
  ])('%s is not a resource', async (resource) => {
    expect(refusal(await authorize({ resource }))).toEqual([400, 'invalid_target'])
  })
})

describe('a pushed request', () => {
  const push = (fields: Record<string, string | undefined> = {}, as = client) => {
    const pkce = newPkce()
    const ask = {
      response_type: 'code',
      redirect_uri: redirectUri,
      state: 's',
      code_challenge: pkce.challenge,
      code_challenge_method: 'S256',
    }
    return postForm(service.api, '/v1/oauth/par', { ...as.credentials, ...ask, ...fields }).then((answer) => ({ answer, pkce }))
  }
  const open = (requestUri: string, as = client) =>
    person.api.get(`/v1/oauth/authorize?${new URLSearchParams({ client_id: as.id, request_uri: requestUri })}`)

  test('is opened once, by its own client, and shows what was pushed', async () => {
    const { answer, pkce } = await push({ scope: 'payment.read' })
    expect(answer.status).toBe(201)
    expect(answer.body).toEqual({ request_uri: expect.stringMatching(/^urn:ietf:params:oauth:request_uri:/), expires_in: 90 })
    const stranger = await registerClient(service.api)
    expect((await open(answer.body.request_uri, stranger)).status).toBe(400)
    const opened = await open(answer.body.request_uri)
    expect(opened.status).toBe(302)
    expect((await open(answer.body.request_uri)).status).toBe(400)
    const id = new URL(opened.headers.get('location') ?? '', service.api.url).searchParams.get('authorization') ?? ''
    const code = answerOf(await decide(person, id)).get('code') ?? ''
    expect((await redeemCode(service.api, client, code, pkce)).body.scope).toBe('payment.read')
  })

  test('with text that no database can store is refused, with the name of its field', async () => {
    const { answer } = await push({ state: 'half\u0000' })
    expect(refusal(answer)).toEqual([400, 'invalid_request'])
    expect(JSON.stringify(answer.body)).toContain('state')
  })

  test('cannot be decided before a browser has opened it, and cannot be opened after it expired', async () => {
    const { answer } = await push()
    service.clock.advance(90)
    expect((await open(answer.body.request_uri)).status).toBe(400)
  })

  test('is checked when it is pushed', async () => {
    expect(refusal((await push({ redirect_uri: 'https://evil.example/' })).answer)).toEqual([400, 'invalid_request'])
    expect(refusal((await push({ scope: 'everything' })).answer)).toEqual([400, 'invalid_scope'])
    expect(refusal((await push({ request_uri: 'urn:x' })).answer)).toEqual([400, 'invalid_request'])
    expect(refusal((await push({ client_id: 'oac_01h455vb4pex5vsknk084sn02q' })).answer)).toEqual([401, 'invalid_client'])
  })
})
