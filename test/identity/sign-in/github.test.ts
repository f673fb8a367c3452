import { createHash } from 'node:crypto'
import formbody from '@fastify/formbody'
import { fastify } from 'fastify'
import { afterAll, beforeEach, expect, test } from 'vitest'
import { createBrowser } from '../../harness/browser.ts'
import { openService } from '../../harness/service.ts'
import { me, startUrl } from './providers.ts'

type Answer = { status: number; body: unknown }
const ok = (body: unknown): Answer => ({ status: 200, body })

/** GitHub's next answers, and the requests that it received. */
let token: Answer
let user: Answer
let emails: Answer
let requests: { token: Record<string, string>; authorization: string[] }
let count = 1000
const github = fastify()
await github.register(formbody)
github.post('/login/oauth/access_token', async (request, reply) => {
  requests.token = request.body as Record<string, string>
  return reply.code(token.status).send(token.body)
})
github.get('/api/v3/user', async (request, reply) => {
  requests.authorization.push(request.headers.authorization ?? '')
  return reply.code(user.status).send(user.body)
})
github.get('/api/v3/user/emails', async (_request, reply) => reply.code(emails.status).send(emails.body))
const url = await github.listen({ host: '127.0.0.1', port: 0 })
const service = await openService({
  env: { GITHUB_URL: url, GITHUB_CLIENT_ID: 'our-client', GITHUB_CLIENT_SECRET: 'our-secret' },
})
afterAll(() => github.close())
beforeEach(() => {
  count += 1
  requests = { token: {}, authorization: [] }
  token = ok({ access_token: 'gho_canary_token', token_type: 'bearer', scope: 'user:email' })
  user = ok({ id: count, login: `octo-${count}`, name: null })
  emails = ok([
    { email: `other-${count}@example.com`, primary: false, verified: true },
    { email: `octo-${count}@example.com`, primary: true, verified: true },
  ])
})

const signIn = async () => {
  const browser = createBrowser()
  const start = await browser.step(startUrl(service, 'github'))
  const authorize = new URL(start.headers.get('location') ?? '')
  const callback = `${service.api.url}/v1/auth/github/callback?code=a-code&state=${authorize.searchParams.get('state')}`
  const response = await browser.step(callback, { accept: 'application/json' })
  const account = response.status === 303 ? await me(service, browser.cookies.get('service_session') ?? '') : null
  return { authorize, response, account, error: response.status === 303 ? null : JSON.parse(response.html).error }
}

test('the code is redeemed with the verifier behind the challenge, and the primary verified address is taken', async () => {
  const { authorize, account } = await signIn()
  const challenge = createHash('sha256')
    .update(requests.token.code_verifier ?? '')
    .digest('base64url')
  expect(authorize.searchParams.get('code_challenge')).toBe(challenge)
  expect(authorize.searchParams.get('scope')).toBe('read:user user:email')
  expect(requests.token).toMatchObject({ client_id: 'our-client', client_secret: 'our-secret', code: 'a-code' })
  expect(requests.token.redirect_uri).toBe(`${service.api.url}/v1/auth/github/callback`)
  expect(requests.authorization).toEqual(['Bearer gho_canary_token'])
  expect(account).toMatchObject({ email: `octo-${count}@example.com`, display_name: `octo-${count}` })
  expect(account.identities).toMatchObject([{ provider: 'github', subject: String(count), email_verified: true }])
  expect(service.log.join('\n')).not.toContain('gho_canary_token')
})

test.each<[string, () => Answer, object]>([
  [
    'an unverified primary address',
    () => ok([{ email: `octo-${count}@example.com`, primary: true, verified: false }]),
    { email_verified: false },
  ],
  [
    'a verified address that is not primary',
    () => ok([{ email: `o-${count}@example.com`, primary: false, verified: true }]),
    { email: null },
  ],
  ['no address at all', () => ok([]), { email: null }],
  [
    'addresses that it does not show',
    () => ({ status: 404, body: { message: 'Not Found' } }),
    { email: null, email_verified: false },
  ],
])('a person with %s gets an account without an address', async (_what, answer, identity) => {
  emails = answer()
  const { account } = await signIn()
  expect(account).toMatchObject({ email: null, identities: [identity] })
})

test.each<[string, () => void, number, string]>([
  ['a used code', () => (token = ok({ error: 'bad_verification_code' })), 400, 'invalid_request'],
  ['a wrong verifier', () => (token = ok({ error: 'incorrect_code_verifier' })), 400, 'invalid_request'],
  ['a wrong client', () => (token = ok({ error: 'incorrect_client_credentials' })), 502, 'provider_error'],
  ['a failing token endpoint', () => (token = { status: 500, body: {} }), 502, 'provider_error'],
  ['a token endpoint that redirects', () => (token = { status: 302, body: '' }), 502, 'provider_error'],
  ['a page where JSON belongs', () => (token = ok('<html>')), 502, 'provider_error'],
  ['a user without an id', () => (user = ok({ login: 'x' })), 502, 'provider_error'],
  ['an id that is no number', () => (user = ok({ id: '1', login: 'x' })), 502, 'provider_error'],
  ['a token that was revoked', () => (user = { status: 401, body: { message: 'Bad credentials' } }), 502, 'provider_error'],
  ['a list of addresses that cannot be read', () => (emails = ok({ email: 'x' })), 502, 'provider_error'],
])('%s gives no sign-in', async (_what, alter, status, code) => {
  alter()
  const { response, error } = await signIn()
  expect([response.status, error]).toEqual([status, code])
  expect(response.headers.getSetCookie().join()).not.toContain('service_session')
})
