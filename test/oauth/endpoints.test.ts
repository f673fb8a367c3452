import { describe, expect, test } from 'vitest'
import type { Answer } from '../harness/client.ts'
import {
  authorizeAgent,
  authorizePath,
  newPkce,
  obtainCode,
  postForm,
  redeemCode,
  refresh,
  refusal,
  registerClient,
} from '../harness/oauth.ts'
import { createKey, type Person, signIn } from '../harness/people.ts'
import { openService } from '../harness/service.ts'

const service = await openService()
const person = await signIn(service.api)
const client = await registerClient(service.api)
const confidential = await registerClient(service.api, { token_endpoint_auth_method: 'client_secret_post' })

const newAgent = (options: Parameters<typeof authorizeAgent>[2] = {}) =>
  authorizeAgent(service.api, person, { client, ...options })

describe('metadata', () => {
  test('names one issuer everywhere, byte for byte, and what clients insist on', async () => {
    const issuer = service.api.url
    const server = await service.api.get('/.well-known/oauth-authorization-server')
    const resource = await service.api.get('/.well-known/oauth-protected-resource')
    expect(server.body).toMatchObject({
      issuer,
      code_challenge_methods_supported: ['S256'],
      response_types_supported: ['code'],
      authorization_response_iss_parameter_supported: true,
      client_id_metadata_document_supported: true,
      authorization_details_types_supported: ['payment'],
      token_endpoint_auth_methods_supported: ['none', 'client_secret_basic', 'client_secret_post'],
      grant_types_supported: ['authorization_code', 'refresh_token', 'urn:ietf:params:oauth:grant-type:device_code'],
    })
    expect(resource.body).toMatchObject({
      resource: issuer,
      authorization_servers: [issuer],
      bearer_methods_supported: ['header'],
    })
    for (const [name, value] of Object.entries(server.body))
      if (name.endsWith('_endpoint')) expect(value).toMatch(new RegExp(`^${issuer}/v1/oauth/`))
  })

  test('is found at each address that clients make of the address of the MCP server', async () => {
    const body = async (path: string) => (await service.api.get(path)).body
    const server = await body('/.well-known/oauth-authorization-server')
    const resource = await body('/.well-known/oauth-protected-resource/mcp')
    for (const path of ['/.well-known/oauth-authorization-server/mcp', '/mcp/.well-known/oauth-authorization-server?x=1'])
      expect(await body(path)).toEqual(server)
    for (const path of ['/mcp/.well-known/oauth-protected-resource', '/mcp/.well-known/oauth-protected-resource/'])
      expect(await body(path)).toEqual(resource)
    for (const path of [
      '/.well-known/openid-configuration',
      '/.well-known/openid-configuration/mcp',
      '/constructor',
      '/__proto__',
    ])
      expect((await service.api.get(path)).status).toBe(404)
  })

  test('links to guides that exist', async () => {
    const answers = [
      await service.api.get('/.well-known/oauth-authorization-server'),
      await service.api.get('/.well-known/oauth-protected-resource'),
      await service.api.get('/.well-known/oauth-protected-resource/mcp'),
    ]
    const guides = answers.map(({ body }) => String(body.service_documentation ?? body.resource_documentation))
    expect(guides).toEqual(['oauth', 'quickstart', 'mcp'].map((name) => `${service.api.url}/docs/guides/${name}`))
    for (const guide of guides) expect((await service.api.get(new URL(guide).pathname)).status).toBe(200)
  })

  test('does not depend on the Host of a request', async () => {
    const headers = {
      host: 'evil.example',
      'x-forwarded-host': 'evil.example',
      'x-forwarded-proto': 'https',
      forwarded: 'host=evil.example',
    }
    for (const path of ['/.well-known/oauth-authorization-server', '/.well-known/oauth-protected-resource'])
      expect((await service.api.get(path, { headers })).text).not.toContain('evil')
    const refused = await service.api.get('/v1/accounts/me', { headers })
    expect(refused.headers.get('www-authenticate')).toBe(
      `Bearer resource_metadata="${service.api.url}/.well-known/oauth-protected-resource", scope="account.read"`,
    )
  })
})

describe('a refused call', () => {
  const challenge = (answer: Answer) => answer.headers.get('www-authenticate') ?? ''

  test('without a credential names the required scope; with an invalid credential says that it is invalid', async () => {
    expect(challenge(await service.api.post('/v1/payments', {}))).toContain('scope="payment.create"')
    const bad = await service.api.get('/v1/payments', { bearer: `service_oat_${'0'.repeat(64)}` })
    expect(refusal(bad)).toEqual([401, 'invalid_token'])
    expect(challenge(bad)).toMatch(/^Bearer resource_metadata="[^"]+", error="invalid_token", scope="payment.read"$/)
  })

  test('names no scope where no scope would help', async () => {
    const agent = await newAgent()
    const refused = await agent.api.get('/v1/accounts/me/grants')
    expect(refusal(refused)).toEqual([403, 'forbidden'])
    expect(challenge(refused)).toBe('')
  })

  test('by a browser with a cookie, or with a token in the query, is refused as without them', async () => {
    const agent = await newAgent()
    expect(refusal(await service.api.get(`/v1/accounts/me?access_token=${agent.access}`))).toEqual([
      401,
      'authentication_required',
    ])
    const other = await signIn(service.api)
    const both = await other.api.get('/v1/accounts/me', { bearer: agent.access })
    expect(both.body.id).toBe(person.accountId)
    expect(refusal(await other.api.get('/v1/accounts/me', { bearer: 'service_oat_x' }))).toEqual([401, 'invalid_token'])
  })
})

describe('CORS', () => {
  const origin = 'https://inspector.example'
  const allowed = (answer: Answer) => answer.headers.get('access-control-allow-origin')

  test('lets a client in any browser read the metadata, register and get tokens, without cookies', async () => {
    const paths = ['/.well-known/oauth-authorization-server', '/.well-known/oauth-protected-resource']
    for (const path of paths) expect(allowed(await service.api.get(path, { headers: { origin } }))).toBe('*')
    for (const path of [
      '/v1/oauth/token',
      '/v1/oauth/register',
      '/v1/oauth/revoke',
      '/v1/oauth/par',
      '/v1/oauth/device_authorization',
      ...paths,
    ]) {
      const headers = { origin, 'access-control-request-method': 'POST', 'access-control-request-headers': 'content-type' }
      const preflight = await service.api.call('OPTIONS', path, { headers })
      expect([preflight.status, allowed(preflight), preflight.headers.get('access-control-allow-credentials')]).toEqual([
        204,
        '*',
        null,
      ])
    }
    const error = await postForm(service.api, '/v1/oauth/token', {}, { headers: { origin } })
    expect(allowed(error)).toBe('*')
    const unknown = ['/.well-known/openid-configuration/none', '/mcp/.well-known/oauth-protected-resource/none', '/v1/oauth/none']
    for (const path of unknown) {
      const answer = await service.api.get(path, { headers: { origin } })
      expect([answer.status, allowed(answer), answer.headers.get('access-control-allow-credentials')]).toEqual([404, '*', null])
    }
  })

  test('lets a page of any origin use the MCP server by its bearer token, never by a cookie', async () => {
    const headers = {
      origin,
      'access-control-request-method': 'POST',
      'access-control-request-headers': 'authorization, mcp-method',
    }
    const preflight = await service.api.call('OPTIONS', '/mcp', { headers })
    expect([preflight.status, allowed(preflight)]).toEqual([204, '*'])
    expect(preflight.headers.get('access-control-allow-headers')).toContain('mcp-method')
    const listing = { jsonrpc: '2.0', id: 1, method: 'tools/list' }
    const { key } = await createKey(person)
    const listed = await service.api.post('/mcp', listing, { bearer: key, headers: { origin, 'sec-fetch-site': 'cross-site' } })
    expect([listed.status, allowed(listed)]).toEqual([200, '*'])
    const bare = await service.api.post('/mcp', listing, { cookie: person.cookie, headers: { origin } })
    expect([bare.status, allowed(bare)]).toEqual([403, '*'])
  })

  test('lets no page read the authorization endpoint or the consent', async () => {
    for (const path of [
      authorizePath(client, newPkce()),
      '/consent',
      '/device',
      '/v1/oauth/authorizations/oaz_01h455vb4pex5vsknk084sn02q',
    ]) {
      expect(allowed(await person.api.get(path, { headers: { origin } }))).toBeNull()
      const preflight = await service.api.call('OPTIONS', path, { headers: { origin, 'access-control-request-method': 'GET' } })
      expect(allowed(preflight)).toBeNull()
    }
  })
})

describe('revocation', () => {
  const revoke = (token: string | undefined, as = client, more: Record<string, string> = {}) =>
    postForm(service.api, '/v1/oauth/revoke', { token, ...as.credentials, ...more })
  const canRead = async (agent: { api: Person['api'] }) => (await agent.api.get('/v1/accounts/me')).status

  test.each(['access', 'refreshToken'] as const)(
    'of the %s ends the grant, all its tokens and what was made through it',
    async (kind) => {
      const agent = await newAgent()
      const child = await createKey({ api: agent.api })
      const answer = await revoke(agent[kind], client, { token_type_hint: 'whatever' })
      // Clients read every answer as JSON.
      expect([answer.status, answer.body]).toEqual([200, {}])
      expect(await canRead(agent)).toBe(401)
      expect(await canRead(child)).toBe(401)
      expect(refusal(await refresh(service.api, client, agent.refreshToken))).toEqual([400, 'invalid_grant'])
      expect((await revoke(agent[kind])).status).toBe(200)
    },
  )

  test('of a refresh token that was rotated already ends the grant too', async () => {
    const agent = await newAgent()
    const { body } = await refresh(service.api, client, agent.refreshToken)
    expect((await revoke(agent.refreshToken)).status).toBe(200)
    expect(await canRead({ api: service.api.as({ bearer: body.access_token }) })).toBe(401)
  })

  test("of an unknown token is not an error, and of another client's token has no effect", async () => {
    const agent = await newAgent()
    const thief = await registerClient(service.api)
    for (const token of ['x', `service_oat_${'0'.repeat(64)}`, agent.refreshToken.replace(/.$/, 'x')])
      expect((await revoke(token)).status).toBe(200)
    expect((await revoke(agent.access, thief)).status).toBe(200)
    expect((await revoke(agent.refreshToken, thief)).status).toBe(200)
    expect(await canRead(agent)).toBe(200)
    expect(refusal(await revoke(undefined))).toEqual([400, 'invalid_request'])
    expect(refusal(await revoke(agent.access, { ...client, credentials: { client_id: confidential.id } }))).toEqual([
      401,
      'invalid_client',
    ])
  })
})

describe('introspection', () => {
  const introspect = async (token: string, as = confidential) =>
    (await postForm(service.api, '/v1/oauth/introspect', { token, ...as.credentials })).body

  test('shows a client its own token: account, audience, expiry and the current limits', async () => {
    const authorization_details = JSON.stringify([{ type: 'payment', daily_limit_minor: '1000' }])
    const agent = await newAgent({
      request: { scope: 'payment.create', resource: `${service.api.url}/mcp/`, authorization_details },
    })
    const [grant] = (await person.api.get('/v1/accounts/me/grants')).body.data
    const now = Math.floor(service.clock.now().getTime() / 1000)
    expect(await introspect(agent.access, client)).toEqual({
      active: true,
      token_type: 'Bearer',
      scope: 'payment.create',
      client_id: client.id,
      sub: person.accountId,
      aud: `${service.api.url}/mcp`,
      iss: service.api.url,
      iat: now,
      exp: now + 3600,
      grant_id: grant.id,
      workspace_id: grant.workspace_id,
      authorization_details: [{ type: 'payment', daily_limit_minor: '1000', on_duplicate: 'confirm' }],
    })
    await person.api.patch(`/v1/accounts/me/grants/${grant.id}`, { spending_controls: { daily_limit_minor: '500' } })
    expect((await introspect(agent.access, client)).authorization_details).toEqual([
      { type: 'payment', daily_limit_minor: '500', on_duplicate: 'confirm' },
    ])
    await person.api.delete(`/v1/accounts/me/grants/${grant.id}`)
    expect(await introspect(agent.access, client)).toEqual({ active: false })
  })

  test('reveals nothing about a token that is unknown, expired, used or another client’s', async () => {
    const agent = await newAgent()
    const stranger = await registerClient(service.api)
    expect((await introspect(agent.access, client)).active).toBe(true)
    expect((await introspect(agent.refreshToken, client)).active).toBe(true)
    // Anyone may register, so no client, public or with a secret, learns about another's tokens.
    expect(await introspect(agent.access, stranger)).toEqual({ active: false })
    expect(await introspect(agent.access)).toEqual({ active: false })
    expect(await introspect(agent.refreshToken)).toEqual({ active: false })
    expect(await introspect('x')).toEqual({ active: false })
    const key = await createKey(person)
    expect(await introspect(key.key)).toEqual({ active: false })
    await refresh(service.api, client, agent.refreshToken)
    expect(await introspect(agent.refreshToken, client)).toEqual({ active: false })
    service.clock.advance(3600)
    expect(await introspect(agent.access, client)).toEqual({ active: false })
  })

  test('requires client authentication', async () => {
    const refused = await postForm(service.api, '/v1/oauth/introspect', { token: 'x', client_id: confidential.id })
    expect(refusal(refused)).toEqual([401, 'invalid_client'])
    expect(refusal(await postForm(service.api, '/v1/oauth/introspect', { token: 'x' }))).toEqual([401, 'invalid_client'])
    for (const authorization of ['Bearer service_oat_x', 'Basic', `Basic ${Buffer.from('no colon').toString('base64')}`]) {
      const form = { token: 'x', client_id: confidential.id }
      const answer = await postForm(service.api, '/v1/oauth/introspect', form, { headers: { authorization } })
      expect(refusal(answer)).toEqual([401, 'invalid_client'])
      expect(answer.body.message).toContain('must be "Basic" and the form-encoded client id and secret')
      expect(answer.headers.get('www-authenticate')).toMatch(/^Basic /)
    }
    expect(refusal(await postForm(service.api, '/v1/oauth/introspect', { ...confidential.credentials }))).toEqual([
      400,
      'invalid_request',
    ])
  })
})

test('registration, consent, tokens, their refresh and their end are in the audit log, and no secret is', async () => {
  const agent = await newAgent()
  const { body } = await refresh(service.api, client, agent.refreshToken)
  await postForm(service.api, '/v1/oauth/revoke', { token: body.access_token, ...client.credentials })
  const reused = await obtainCode(person, client)
  await redeemCode(service.api, client, reused.code, reused.pkce)
  await redeemCode(service.api, client, reused.code, reused.pkce)
  const rows = await service.deps.db.query<{ action: string; text: string }>(
    'select action, audit_log::text as text from audit_log',
  )
  const actions = new Set(rows.map(({ action }) => action))
  for (const action of [
    'oauth_client.register',
    'oauth_consent.approve',
    'oauth_token.issue',
    'oauth_token.refresh',
    'oauth_token.revoke',
    'oauth_code.reused',
    'grant.create',
    'grant.revoke',
  ])
    expect(actions).toContain(action)
  const all = rows.map(({ text }) => text).join('\n') + service.log.join('\n')
  for (const secret of [
    agent.access,
    agent.refreshToken,
    agent.code,
    agent.pkce.verifier,
    confidential.secret ?? '',
    body.access_token,
  ])
    expect(all).not.toContain(secret.slice(-32))
})
