import { beforeAll, describe, expect, test } from 'vitest'
import {
  authorizeAgent,
  authorizePath,
  decide,
  newPkce,
  type OAuthClient,
  obtainCode,
  postForm,
  redirectUri,
  refresh,
  refusal,
  registerClient,
  requestConsent,
} from '../harness/oauth.ts'
import { signIn } from '../harness/people.ts'
import { openService, startService } from '../harness/service.ts'

const service = await openService()
const person = await signIn(service.api)

const register = (metadata: unknown) => service.api.post('/v1/oauth/register', metadata)

describe('a registration', () => {
  test('returns what was registered: no null, a number for its time, the redirect URIs unchanged', async () => {
    const redirect_uris = [
      'https://client.example/cb?x=%7e',
      'http://localhost/cb',
      'com.example.app:/cb',
      'com.example.agent://callback/path',
    ]
    const answer = await register({
      client_name: 'An agent',
      client_uri: 'https://client.example',
      redirect_uris,
      token_endpoint_auth_method: 'none',
      logo_uri: 'x',
      unknown: 1,
    })
    expect(answer.status).toBe(201)
    expect(answer.headers.get('cache-control')).toBe('no-store')
    expect(answer.body).toEqual({
      client_id: expect.stringMatching(/^oac_/),
      client_id_issued_at: Math.floor(service.clock.now().getTime() / 1000),
      client_name: 'An agent',
      client_uri: 'https://client.example',
      redirect_uris,
      grant_types: ['authorization_code', 'refresh_token'],
      response_types: ['code'],
      token_endpoint_auth_method: 'none',
    })
  })

  // Editors register their own schemes, alone or beside other addresses.
  test.each([
    [['cursor://anysphere.cursor-mcp/oauth/callback']],
    [
      [
        'http://localhost:8787/callback',
        'cursor://anysphere.cursor-mcp/oauth/callback',
        'https://agents.example/mcp/oauth/callback',
      ],
    ],
    [['http://127.0.0.1:33418/', 'https://vscode.dev/redirect', 'vscode://dynauth']],
    [['com.example.app:/callback']],
  ])('of %s is accepted, and each is compared byte for byte', async (redirect_uris) => {
    const answer = await register({ client_name: 'Editor', redirect_uris, token_endpoint_auth_method: 'none' })
    expect([answer.status, answer.body.redirect_uris]).toEqual([201, redirect_uris])
    const editor = { id: answer.body.client_id, credentials: { client_id: answer.body.client_id } }
    for (const uri of redirect_uris) {
      const id = await requestConsent(person, editor, newPkce(), { redirect_uri: uri })
      const consent = (await person.api.get(`/v1/oauth/authorizations/${id}`)).body
      expect([consent.client.verified_host, consent.redirect_is_local]).toEqual([null, !uri.startsWith('https')])
      const answered = (await decide(person, id)).body.redirect_to
      expect(answered.startsWith(`${uri}?`)).toBe(true)
      const other = await person.api.get(authorizePath(editor, newPkce(), { redirect_uri: `${uri}x` }))
      expect(other.status).toBe(400)
    }
  })

  test('of nothing is refused: only a client that names the device grant needs no redirect URI', async () => {
    for (const metadata of [{}, { client_name: 'An agent' }, { grant_types: [] }])
      expect(refusal(await register(metadata))).toEqual([400, 'invalid_redirect_uri'])
    const device = await register({ grant_types: ['urn:ietf:params:oauth:grant-type:device_code'] })
    expect([device.status, device.body.redirect_uris]).toEqual([201, []])
  })

  test('of a confidential client returns a secret once, which is stored only as Argon2id', async () => {
    const answer = await register({ redirect_uris: [redirectUri] })
    expect(answer.body).toMatchObject({
      token_endpoint_auth_method: 'client_secret_basic',
      client_secret_expires_at: 0,
      client_name: '127.0.0.1:9876',
    })
    const rows = await service.deps.db.query<{ secret_hash: string }>(
      'select secret_hash from oauth_clients where secret_hash is not null',
    )
    expect(rows.length).toBeGreaterThan(0)
    for (const { secret_hash } of rows) expect(secret_hash).toMatch(/^\$argon2id\$/)
  })

  test('members that are null are absent', async () => {
    const nulls = {
      client_uri: null,
      scope: null,
      grant_types: null,
      response_types: null,
      token_endpoint_auth_method: null,
      logo_uri: null,
    }
    const registered = await service.api.post('/v1/oauth/register', {
      redirect_uris: [redirectUri],
      client_name: 'Null',
      ...nulls,
    })
    expect([registered.status, registered.body.client_uri, registered.body.token_endpoint_auth_method]).toEqual([
      201,
      undefined,
      expect.any(String),
    ])
    const page = await service.api.get(`/v1/oauth/authorize?client_id=oac_01h455vb4pex5vsknk084sn02q&response_type=code`, {
      headers: { accept: 'text/html' },
    })
    expect([page.status, page.text]).toEqual([400, expect.stringContaining('remove this connection and add it again')])
  })

  test.each([
    'javascript:alert(1)',
    'javascript://client.example/%0aalert(1)',
    'JavaScript:/x',
    'data:text/html,x',
    'smb://evil.example/share',
    'ldap://evil.example/x',
    'ssh://evil.example/x',
    'ms-msdt:/id',
    'about:blank',
    'blob:https://client.example/x',
    'vbscript:x',
    'googlechrome://evil.example/',
    'googlechromes://evil.example/',
    'microsoft-edge:https://evil.example/',
    'firefox://open-url?url=https://evil.example',
    'x-safari-https://evil.example/',
    'opera-https://evil.example/',
    'brave://open-url?url=https://evil.example',
    'chrome-extension://id/page',
    'intent://evil.example/#Intent;scheme=https;end',
    'content://evil/x',
    'web+pay://evil.example',
    'view-source:https://client.example/',
    'myapp:callback',
    'file:///etc/passwd',
    'http://client.example/cb',
    'http://127.0.0.1.evil.example/cb',
    'http://localhost@evil.example/cb',
    'https://user@client.example/cb',
    'https://client.example/cb#part',
    'https://*.client.example/cb',
    'https://client.example/\nx',
    'urn:ietf:wg:oauth:2.0:oob',
    '/callback',
    '',
  ])('with the redirect URI %j is refused', async (uri) => {
    expect(refusal(await register({ redirect_uris: [uri] }))).toEqual([400, 'invalid_redirect_uri'])
  })

  test.each([
    ['no redirect URI', { grant_types: ['authorization_code'] }, 'invalid_redirect_uri'],
    ['redirect URIs that are no list', { redirect_uris: 'https://client.example/' }, 'invalid_client_metadata'],
    [
      'a grant type that begins nothing',
      { redirect_uris: [redirectUri], grant_types: ['client_credentials', 'refresh_token'] },
      'invalid_client_metadata',
    ],
    [
      'an unknown way to prove itself',
      { redirect_uris: [redirectUri], token_endpoint_auth_method: 'private_key_jwt' },
      'invalid_client_metadata',
    ],
    ['another response type', { redirect_uris: [redirectUri], response_types: ['token'] }, 'invalid_client_metadata'],
    [
      'an address that a browser would run',
      { redirect_uris: [redirectUri], client_uri: 'javascript:alert(1)' },
      'invalid_client_metadata',
    ],
  ])('with %s is refused', async (_what, metadata, error) => {
    expect(refusal(await register(metadata))).toEqual([400, error])
  })

  test.each([
    [{ redirect_uris: [5] }, 'redirect_uris.0: must be a string: send "5"'],
    [{ redirect_uris: Array(21).fill(redirectUri) }, 'redirect_uris: must have at most 20 entries'],
    [{ client_name: 7, scope: ['x'] }, 'client_name: must be a string: send "7"; scope: '],
  ])('says of %j what to send instead', async (metadata, sentence) => {
    const answer = await register(metadata)
    expect(refusal(answer)).toEqual([400, 'invalid_client_metadata'])
    expect(answer.body.error_description).toContain(sentence)
    expect(answer.body.error_description).not.toMatch(/expected|Invalid|received/)
  })

  test('may have text that cannot be stored in a name, which is cleaned, and in what is ignored; elsewhere it is refused', async () => {
    const named = { redirect_uris: [redirectUri], client_name: 'a\0b \ud800', 'client_name#sw': '\0' }
    expect((await register(named)).body.client_name).toBe('a b \ufffd')
    const refused = await register({ redirect_uris: [`${redirectUri}?\0`] })
    expect(refusal(refused)).toEqual([400, 'invalid_redirect_uri'])
    for (const text of ['https://client.example/\0', 'https://client.example/\ud800'])
      expect(refusal(await register({ ...named, client_uri: text }))).toEqual([400, 'invalid_client_metadata'])
  })

  test('cannot have a name with characters that reverse or hide text', async () => {
    const { body } = await register({ redirect_uris: [redirectUri], client_name: ' Ba\u202enk\u200b\n of  Kenya ' })
    expect(body.client_name).toBe('Bank of Kenya')
    const long = await register({ redirect_uris: [redirectUri], client_name: 'x'.repeat(600) })
    expect([long.status, long.body.client_name]).toEqual([201, 'x'.repeat(120)])
  })

  test('must be small, and JSON', async () => {
    expect((await register({ redirect_uris: [redirectUri], client_name: 'x'.repeat(20_000) })).status).toBe(413)
    const form = await postForm(service.api, '/v1/oauth/register', { client_name: 'x' })
    expect(form.status).toBe(415)
    expect((await service.api.call('POST', '/v1/oauth/register', { raw: '{' })).body).toMatchObject({
      error: 'invalid_request',
      error_description: expect.any(String),
    })
  })

  test('has a limit for each address', async () => {
    const strict = await startService({ fixed: { rateLimitPublicPerMinute: 3 } })
    try {
      const statuses: number[] = []
      for (let count = 0; count < 4; count += 1)
        statuses.push((await strict.api.post('/v1/oauth/register', { redirect_uris: [redirectUri] })).status)
      expect(statuses).toEqual([201, 201, 201, 429])
    } finally {
      await strict.close()
    }
  })
})

describe('a confidential client', () => {
  let client: OAuthClient
  beforeAll(async () => {
    client = await registerClient(service.api, { token_endpoint_auth_method: 'client_secret_basic' })
  })
  const basic = (id: string, secret: string) =>
    `Basic ${Buffer.from(`${encodeURIComponent(id)}:${encodeURIComponent(secret)}`).toString('base64')}`
  const token = async (fields: Record<string, string | undefined>, authorization?: string) => {
    const { code, pkce } = await obtainCode(person, client)
    return postForm(
      service.api,
      '/v1/oauth/token',
      { grant_type: 'authorization_code', code, code_verifier: pkce.verifier, ...fields },
      { headers: authorization === undefined ? {} : { authorization } },
    )
  }

  test('authenticates by its secret, in the header or in the body', async () => {
    expect((await token({}, basic(client.id, client.secret ?? ''))).status).toBe(200)
    expect((await token({ client_id: client.id }, basic(client.id, client.secret ?? ''))).status).toBe(200)
    expect((await token({ client_id: client.id, client_secret: client.secret })).status).toBe(200)
  })

  test('without its secret, with a wrong one, or with both ways at once is refused', async () => {
    const wrong = await token({}, basic(client.id, 'wrong'))
    expect(refusal(wrong)).toEqual([401, 'invalid_client'])
    expect(wrong.headers.get('www-authenticate')).toMatch(/^Basic /)
    expect(wrong.body).toEqual({
      error: 'invalid_client',
      error_description: expect.any(String),
      message: wrong.body.error_description,
      details: { request_id: expect.any(String), doc_url: expect.stringContaining('/docs/errors/invalid_client') },
    })
    expect(refusal(await token({ client_id: client.id }))).toEqual([401, 'invalid_client'])
    expect(refusal(await token({ client_id: client.id, client_secret: '' }))).toEqual([401, 'invalid_client'])
    expect(refusal(await token({ client_secret: client.secret }, basic(client.id, client.secret ?? '')))).toEqual([
      400,
      'invalid_request',
    ])
    expect(refusal(await token({ client_id: 'oac_01h455vb4pex5vsknk084sn02q' }, basic(client.id, client.secret ?? '')))).toEqual([
      400,
      'invalid_request',
    ])
    for (const nonsense of ['Basic', 'Basic !', 'Bearer x', `Basic ${Buffer.from('%').toString('base64')}`])
      expect(refusal(await token({}, nonsense))).toEqual([401, 'invalid_client'])
  })

  test('has to authenticate for a refresh as well', async () => {
    const agent = await authorizeAgent(service.api, person, { client })
    expect(refusal(await refresh(service.api, { ...client, credentials: { client_id: client.id } }, agent.refreshToken))).toEqual(
      [401, 'invalid_client'],
    )
    expect((await refresh(service.api, client, agent.refreshToken)).status).toBe(200)
  })
})

describe('the token endpoint', () => {
  let client: OAuthClient
  beforeAll(async () => {
    client = await registerClient(service.api)
  })
  const token = (fields: Record<string, string | string[] | undefined>) =>
    postForm(service.api, '/v1/oauth/token', { ...client.credentials, ...fields })

  test.each([
    ['no grant type', {}, 'invalid_request'],
    ['an unknown one', { grant_type: 'password' }, 'unsupported_grant_type'],
    ['no code', { grant_type: 'authorization_code' }, 'invalid_request'],
    ['an empty code', { grant_type: 'authorization_code', code: '' }, 'invalid_request'],
    ['an unknown code', { grant_type: 'authorization_code', code: 'x', code_verifier: newPkce().verifier }, 'invalid_grant'],
    ['a code twice', { grant_type: 'authorization_code', code: ['x', 'y'] }, 'invalid_request'],
    ['a NUL', { grant_type: 'authorization_code', code: 'x\u0000' }, 'invalid_request'],
    ['no refresh token', { grant_type: 'refresh_token' }, 'invalid_request'],
  ])('refuses %s', async (_what, fields, error) => {
    const answer = await token(fields)
    expect(refusal(answer)).toEqual([400, error])
    expect(answer.body.message).toBe(answer.body.error_description)
    expect(answer.headers.get('cache-control')).toBe('no-store')
  })

  test('names what is missing in a form without parameters, with a body or without', async () => {
    const empty = (path: string) => Promise.all([postForm(service.api, path, {}), service.api.call('POST', path)])
    for (const [path, name] of [
      ['/v1/oauth/token', 'grant_type'],
      ['/v1/oauth/revoke', 'token'],
      ['/v1/oauth/introspect', 'token'],
    ] as const)
      for (const { status, body } of await empty(path))
        expect([status, body.error, body.error_description]).toEqual([400, 'invalid_request', `${name} is required.`])
  })

  test('accepts only forms, while the rest of the API accepts only JSON', async () => {
    const json = await service.api.post('/v1/oauth/token', { grant_type: 'refresh_token' })
    expect(refusal(json)).toEqual([400, 'invalid_request'])
    const form = await postForm(person.api, '/v1/beneficiaries', { name: 'x' })
    expect(refusal(form)).toEqual([415, 'unsupported_media_type'])
  })

  test('ignores unknown parameters', async () => {
    const { code, pkce } = await obtainCode(person, client)
    const answer = await token({
      grant_type: 'authorization_code',
      code,
      code_verifier: pkce.verifier,
      audience: 'x',
      __proto__x: 'y',
    })
    expect(answer.status).toBe(200)
  })

  test('identifies a public client by its id, and refuses a secret from it', async () => {
    expect(refusal(await token({ client_id: undefined, grant_type: 'refresh_token' }))).toEqual([401, 'invalid_client'])
    expect(refusal(await token({ client_secret: 'x', grant_type: 'refresh_token' }))).toEqual([401, 'invalid_client'])
  })
})

describe('housekeeping', () => {
  test('deletes unused registrations, used codes and ended tokens, and nothing that is active', async () => {
    const unused = await registerClient(service.api)
    const used = await registerClient(service.api)
    const other = await signIn(service.api)
    let agent = await authorizeAgent(service.api, other, { client: used })
    const knows = async (id: string) =>
      (await postForm(service.api, '/v1/oauth/token', { client_id: id, grant_type: 'x' })).status === 400
    const count = async (table: string) =>
      Number((await service.deps.db.query<{ n: string }>(`select count(*) as n from ${table}`))[0]?.n)
    service.clock.advance(8 * 86_400)
    await service.deps.jobs.sweep()
    expect(await knows(unused.id)).toBe(false)
    expect(await knows(used.id)).toBe(true)
    expect(await count('oauth_authorizations')).toBe(0)
    expect(await count('oauth_access_tokens')).toBe(0)
    for (let month = 0; month < 5; month += 1) {
      const again = await refresh(service.api, used, agent.refreshToken)
      expect(again.status).toBe(200)
      agent = { ...agent, refreshToken: again.body.refresh_token }
      service.clock.advance(25 * 86_400)
      await service.deps.jobs.sweep()
    }
    expect(await knows(used.id)).toBe(true)
    service.clock.advance(150 * 86_400)
    await service.deps.jobs.sweep()
    expect(await knows(used.id)).toBe(false)
    expect(await count('oauth_grants')).toBe(0)
  })
})
