import { expect, test } from 'vitest'
import { createKey, signIn } from '../../harness/people.ts'
import { openService, type TestService } from '../../harness/service.ts'

const service = await openService()

const mint = (api: TestService['api'], key?: string) =>
  api.post('/v1/auth/dashboard-tokens', undefined, key === undefined ? {} : { key })
const asToken = async (api: TestService['api']) => service.api.as({ bearer: (await mint(api)).body.token })

test('a token is shown once, is valid for fifteen minutes, and acts as the caller', async () => {
  const person = await signIn(service.api)
  const answer = await mint(person.api)
  expect(answer.status).toBe(201)
  expect(answer.body).toEqual({
    token: expect.stringMatching(/^service_dash_[0-9a-f]{64}$/),
    token_type: 'Bearer',
    expires_in: 900,
  })
  expect(answer.headers.get('cache-control')).toBe('no-store')
  const api = service.api.as({ bearer: answer.body.token })
  expect((await api.get('/v1/accounts/me')).body.id).toBe(person.accountId)
  service.clock.advance(899)
  expect((await api.get('/v1/accounts/me')).status).toBe(200)
  service.clock.advance(1)
  const over = await api.get('/v1/accounts/me')
  expect([over.status, over.body.error]).toEqual([401, 'token_expired'])
})

test('a retry with the same key gets the same answer without the token', async () => {
  const person = await signIn(service.api)
  const first = await mint(person.api, 'token-1')
  const again = await mint(person.api, 'token-1')
  expect(again.headers.get('idempotency-replayed')).toBe('true')
  expect(again.body).toEqual({ token_type: 'Bearer', expires_in: 900 })
  const { schemas } = (await service.api.get('/openapi.json')).body.components
  expect(Object.keys(again.body)).toEqual(expect.arrayContaining(schemas.DashboardToken.required))
  const rows = await service.deps.db.query<{ text: string }>('select row_to_json(d)::text as text from dashboard_tokens d')
  expect(rows.map(({ text }) => text).join()).not.toContain(first.body.token)
})

test('a token needs a credential, and cannot create another token', async () => {
  expect((await mint(service.api)).status).toBe(401)
  const person = await signIn(service.api)
  const refused = await mint(await asToken(person.api))
  expect([refused.status, refused.body.error]).toEqual([403, 'forbidden'])
})

test('it ends with the session that created it: by logout, or by revocation from elsewhere', async () => {
  const person = await signIn(service.api)
  const one = await asToken(person.api)
  await person.api.post('/v1/auth/logout')
  expect((await one.get('/v1/accounts/me')).body.error).toBe('session_revoked')
  const again = await signIn(service.api, person.wallet)
  const other = await signIn(service.api, person.wallet)
  const two = await asToken(again.api)
  const [, session] = (await other.api.get('/v1/accounts/me/sessions')).body.data
  await other.api.delete(`/v1/accounts/me/sessions/${session.id}`)
  expect((await two.get('/v1/accounts/me')).status).toBe(401)
})

test('logging out with it ends the session that created it', async () => {
  const person = await signIn(service.api)
  expect((await (await asToken(person.api)).post('/v1/auth/logout')).status).toBe(204)
  expect((await person.api.get('/v1/accounts/me')).body.error).toBe('session_revoked')
})

test('it ends with an idle session, before its own expiry', async () => {
  const person = await signIn(service.api)
  service.clock.advance(7 * 86_400 - 60)
  const api = await asToken(service.api.as({ cookie: person.cookie }))
  expect((await api.get('/v1/accounts/me')).status).toBe(200)
  const last = await signIn(service.api)
  service.clock.advance(30 * 86_400 - 60)
  const late = await mint(last.api)
  expect(late.status).toBe(401)
})

test("a key's token carries the key's grant: its permissions and nothing more", async () => {
  const person = await signIn(service.api)
  const key = await createKey(person, { permissions: ['account.read', 'topup.read'] })
  const api = await asToken(key.api)
  expect((await api.get('/v1/accounts/me')).status).toBe(200)
  const refused = await api.patch('/v1/accounts/me', { display_name: 'x' })
  expect([refused.status, refused.body.details.required_permission]).toEqual([403, 'account.manage'])
  expect((await api.get('/v1/accounts/me/sessions')).status).toBe(403)
})

test('it ends with the key that created it, and never outlives it', async () => {
  const person = await signIn(service.api)
  const expiresAt = new Date(service.clock.now().getTime() + 60_000).toISOString()
  const short = await createKey(person, { expires_at: expiresAt })
  const answer = await mint(short.api)
  expect(answer.body.expires_in).toBe(60)
  const key = await createKey(person)
  const api = await asToken(key.api)
  await person.api.delete(`/v1/accounts/me/api-keys/${key.id}`)
  expect((await api.get('/v1/accounts/me')).status).toBe(401)
  service.clock.advance(60)
  expect((await service.api.get('/v1/accounts/me', { bearer: answer.body.token })).body.error).toBe('token_expired')
})

test('a new token has an audit row that names its creator', async () => {
  const person = await signIn(service.api)
  await mint(person.api)
  const [row] = await service.deps.db.query<object>(
    `select a.action, a.credential_kind, a.subject_type, a.credential_id = s.id as by_session from audit_log a join sessions s on s.account_id = a.account_id
     where s.token_hash = sha256($1) order by a.id desc limit 1`,
    [Buffer.from(person.cookie)],
  )
  expect(row).toEqual({
    action: 'dashboard_token.create',
    credential_kind: 'session',
    subject_type: 'dashboard_token',
    by_session: true,
  })
})
