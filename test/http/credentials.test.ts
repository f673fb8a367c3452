import { expect, test } from 'vitest'
import { signIn } from '../harness/people.ts'
import { openService } from '../harness/service.ts'

const service = await openService()
const person = await signIn(service.api)

const metadata = () => `Bearer resource_metadata="${service.deps.config.publicUrl}/.well-known/oauth-protected-resource"`

test('on every route that needs a credential, a request without one gets the address of the metadata', async () => {
  const guarded = service.routes.filter(({ access }) => !/public|optional/.test(access))
  expect(guarded.length).toBeGreaterThan(60)
  for (const { method, path } of guarded) {
    const answer = await service.api.call(
      method,
      path.replace(/:\w+/g, 'x'),
      method === 'GET' || method === 'DELETE' ? {} : { body: {} },
    )
    expect([path, answer.status, answer.body.error]).toEqual([path, 401, 'authentication_required'])
    // The MCP server is a separate resource.
    expect(answer.headers.get('www-authenticate')?.replace('/mcp"', '"')).toContain(metadata())
  }
})

test('a refused bearer never falls through to a valid cookie, and a valid bearer needs none', async () => {
  for (const bearer of ['service_live_' + '0'.repeat(64), 'service_dash_x', 'service_oat_x', 'nonsense']) {
    const answer = await person.api.get('/v1/accounts/me', { bearer })
    expect([answer.status, answer.body.error]).toEqual([401, 'invalid_token'])
    expect(answer.headers.get('www-authenticate')).toContain('error="invalid_token"')
  }
  const other = await signIn(service.api)
  const token = (await other.api.post('/v1/auth/dashboard-tokens')).body.token
  expect((await person.api.get('/v1/accounts/me', { bearer: token })).body.id).toBe(other.accountId)
})

test('a token in the query string is ignored', async () => {
  const token = (await person.api.post('/v1/auth/dashboard-tokens')).body.token
  expect((await service.api.get(`/v1/accounts/me?access_token=${token}`)).status).toBe(401)
})
