import { describe, expect, test } from 'vitest'
import { StartupError } from '../../../src/lib/errors.ts'
import type { Answer } from '../../harness/client.ts'
import { createKey, newWallet, signIn, walletMessage } from '../../harness/people.ts'
import { openService, startService, type TestService } from '../../harness/service.ts'
import { createTeam, join } from '../../workspaces/team.ts'
import { continueWith, newPerson } from './providers.ts'

const productionEnv = () => ({
  NODE_ENV: 'production',
  PUBLIC_URL: 'https://pay.example.com',
  DATABASE_URL: service.database.url,
  RAILS: 'sandbox',
  SIGN_UP: 'open',
})
const service = await openService({ env: { CORS_ORIGINS: 'https://app.example.com' } })
const production = await openService({
  env: { ...productionEnv(), SESSION_COOKIE_DOMAIN: 'example.com', GOOGLE_CLIENT_ID: 'client', GOOGLE_CLIENT_SECRET: 'secret' },
  database: service.database,
  clock: service.clock,
})

const signInCookies = async (of: TestService) => {
  const wallet = newWallet()
  const message = (await walletMessage(of.api, wallet)).replaceAll('\r', '')
  const answer = await of.api.post('/v1/auth/wallet/verify', { message, signature: await wallet.signMessage({ message }) })
  expect(answer.headers.get('cache-control')).toBe('no-store')
  return answer.headers.getSetCookie()
}

describe("the session's cookie", () => {
  test('is for this host alone in development: HttpOnly, SameSite=Lax, Path=/, until the session ends', async () => {
    const [cookie, browser, ...others] = await signInCookies(service)
    expect(others).toEqual([])
    // Identifies this browser at its next sign-in.
    expect(browser).toMatch(/^service_browser=[\w-]{43}; Max-Age=34560000; Path=\/; HttpOnly; SameSite=Lax$/)
    expect(cookie?.replace(/=[\w-]{43};/, '=…;')).toBe(`service_session=…; Max-Age=2592000; Path=/; HttpOnly; SameSite=Lax`)
  })

  test('is Secure in production, and for the configured domain', async () => {
    const [cookie] = await signInCookies(production)
    expect(cookie?.replace(/=[\w-]{43};/, '=…;')).toBe(
      `service_session=…; Max-Age=2592000; Domain=example.com; Path=/; HttpOnly; Secure; SameSite=Lax`,
    )
  })

  test('is cleared at logout with the same attributes, so that the browser removes it', async () => {
    const cleared = (await production.api.post('/v1/auth/logout')).headers.getSetCookie()
    expect(cleared).toEqual([
      'service_session=; Max-Age=0; Domain=example.com; Path=/; Expires=Thu, 01 Jan 1970 00:00:00 GMT; HttpOnly; Secure; SameSite=Lax',
    ])
  })

  /** A browser's cookies: one for each domain and one for the host alone. It sends all of them with each request. */
  const createJar = () => {
    const jar = new Map<string, string>()
    return {
      keep: (answer: Answer) => {
        for (const header of answer.headers.getSetCookie()) {
          const domain = /; Domain=([^;]*)/.exec(header)?.[1] ?? 'host'
          const [, pair = ''] = /^(service_session=[^;]*)/.exec(header) ?? []
          if (header.includes('Max-Age=0;')) jar.delete(domain)
          else if (pair) jar.set(domain, pair)
        }
      },
      headers: () => ({ cookie: [...jar.values()].join('; ') }),
    }
  }

  test.each([
    ['set', undefined, 'example.com'],
    ['widened', 'pay.example.com', 'example.com'],
    ['removed', 'example.com', undefined],
  ])(
    'of another SESSION_COOKIE_DOMAIN, before it was %s, does not prevent sign-in or sign-out',
    async (_change, before, after) => {
      const start = (domain: string | undefined) => {
        const env = { ...productionEnv(), ...(domain !== undefined && { SESSION_COOKIE_DOMAIN: domain }) }
        return startService({ env, database: service.database, clock: service.clock })
      }
      const [old, now] = [await start(before), await start(after)]
      const jar = createJar()
      const signInWith = async ({ api }: TestService) => {
        const wallet = newWallet()
        const intent = 'sign_in'
        const { message } = (await api.post('/v1/auth/wallet/nonce', { address: wallet.address, intent })).body
        const signed = { message, signature: await wallet.signMessage({ message }), intent }
        const answer = await api.post('/v1/auth/wallet/verify', signed, { headers: jar.headers() })
        expect(answer.status).toBe(200)
        jar.keep(answer)
      }
      await signInWith(old)
      await signInWith(now)
      expect((await now.api.get('/v1/accounts/me', { headers: jar.headers() })).status).toBe(200)
      await signInWith(old)
      jar.keep(await now.api.post('/v1/auth/logout', undefined, { headers: jar.headers() }))
      expect(jar.headers().cookie).toBe('')
      await old.close()
      await now.close()
    },
  )

  test('holds an opaque token of which only a hash is kept', async () => {
    const person = await signIn(service.api)
    const rows = await service.deps.db.query<{ text: string }>('select row_to_json(s)::text as text from sessions s')
    expect(rows.map(({ text }) => text).join()).not.toContain(person.cookie)
    const [row] = await service.deps.db.query(`select from sessions where token_hash = sha256($1)`, [Buffer.from(person.cookie)])
    expect(row).toBeDefined()
  })
})

test("a flow's cookie cannot be set by a sibling domain in production", async () => {
  const answer = await production.api.get('/v1/auth/google/start')
  expect(answer.status).toBe(302)
  expect(answer.headers.get('location')).toMatch(/^https:\/\/accounts\.google\.com\/o\/oauth2\/v2\/auth\?/)
  expect(answer.headers.getSetCookie()[0]).toMatch(
    /^__Host-service_flow=[\w-]{43}; Max-Age=600; Path=\/; HttpOnly; Secure; SameSite=Lax$/,
  )
})

test('no provider is simulated in production: one that is not configured is 503', async () => {
  expect((await production.api.get('/v1/auth/github/start')).body.error).toBe('provider_not_configured')
  expect((await production.api.get('/sandbox/identity/github/login/oauth/authorize')).status).toBe(404)
})

test('production does not start on a database with simulated identities', async () => {
  await continueWith(service, 'google', newPerson())
  const start = startService({ env: productionEnv(), database: service.database, clock: service.clock })
  await expect(start).rejects.toThrow(StartupError)
  await expect(start).rejects.toThrow(/sandbox identity provider/)
})

describe('logging out', () => {
  test('ends the session with its next request', async () => {
    const person = await signIn(service.api)
    expect((await person.api.post('/v1/auth/logout')).status).toBe(204)
    expect((await person.api.get('/v1/accounts/me')).body.error).toBe('session_revoked')
  })

  test('ends the session whatever workspace the request names: one that the person has left, or none', async () => {
    for (const name of ['', 'nonsense']) {
      const team = await createTeam(service)
      const member = await join(service, team, 'member')
      expect((await member.api.delete(`/v1/workspaces/current/members/${member.memberId}`)).status).toBe(200)
      const headers = { 'workspace-id': name || team.id }
      expect((await member.api.get('/v1/accounts/me', { headers })).status).toBe(name ? 400 : 404)
      expect((await member.api.post('/v1/auth/logout', undefined, { headers })).status).toBe(204)
      expect((await member.api.get('/v1/accounts/me')).body.error).toBe('session_revoked')
    }
  })

  test.each(['stale', 'A'.repeat(43)])(
    'with a cookie that is no longer valid (%s) is 204 and clears the cookie',
    async (cookie) => {
      const answer = await service.api.post('/v1/auth/logout', undefined, { cookie })
      expect(answer.status).toBe(204)
      expect(answer.headers.getSetCookie()[0]).toContain('Expires=Thu, 01 Jan 1970')
    },
  )

  test('twice is 204 both times, with one audit row', async () => {
    const person = await signIn(service.api)
    await person.api.post('/v1/auth/logout')
    expect((await person.api.post('/v1/auth/logout')).status).toBe(204)
    const rows = await service.deps.db.query(
      `select from audit_log where action = 'session.revoke' and account_id = (select account_id from sessions where token_hash = sha256($1))`,
      [Buffer.from(person.cookie)],
    )
    expect(rows).toHaveLength(1)
  })

  test('with a key, an agent or a dashboard token of one is 403, names what ends it, and ends nothing', async () => {
    const person = await signIn(service.api)
    const key = await createKey(person)
    const token = (await key.api.post('/v1/auth/dashboard-tokens')).body.token
    for (const api of [key.api, service.api.as({ bearer: token })]) {
      const answer = await api.post('/v1/auth/logout')
      expect([answer.status, answer.body.error, answer.headers.getSetCookie()]).toEqual([403, 'forbidden', []])
      expect(answer.body.message).toContain('DELETE /v1/accounts/me/api-keys/:id')
      expect((await api.get('/v1/credentials/current')).status).toBe(200)
    }
    expect((await person.api.get('/v1/accounts/me')).status).toBe(200)
  })

  test('with a bad bearer is 401: an explicit credential is never ignored', async () => {
    const answer = await service.api.post('/v1/auth/logout', undefined, { bearer: `service_live_${'0'.repeat(64)}` })
    expect(answer.status).toBe(401)
  })
})

describe('a cookie alone does not prove that the person made the request', () => {
  const own = () => service.deps.config.publicUrl
  test.each<[string, () => Record<string, string>, number]>([
    ['this site', () => ({ 'sec-fetch-site': 'same-origin', origin: own() }), 200],
    ['this site, without Fetch Metadata', () => ({ origin: own() }), 200],
    ['an allowed origin', () => ({ 'sec-fetch-site': 'cross-site', origin: 'https://app.example.com' }), 200],
    ['a program, which says nothing', () => ({}), 200],
    ['another site', () => ({ 'sec-fetch-site': 'cross-site', origin: 'https://evil.example' }), 403],
    ['another site that hides its origin', () => ({ 'sec-fetch-site': 'cross-site' }), 403],
    ['a sibling domain', () => ({ 'sec-fetch-site': 'same-site', origin: 'https://blog.example.com' }), 403],
    ['another site, without Fetch Metadata', () => ({ origin: 'https://evil.example' }), 403],
    ['a sandboxed frame', () => ({ origin: 'null' }), 403],
    ['a name that only begins like ours', () => ({ origin: `${own()}.evil.example` }), 403],
  ])('a write from %s', async (_who, headers, status) => {
    const person = await signIn(service.api)
    const answer = await person.api.patch('/v1/accounts/me', { display_name: 'Changed' }, { headers: headers() })
    expect(answer.status).toBe(status)
    if (status === 403) expect(answer.body.error).toBe('csrf_rejected')
    expect((await person.api.get('/v1/accounts/me')).body.display_name).toBe(status === 200 ? 'Changed' : null)
  })

  test('another site cannot log a person out, or sign them in as another person', async () => {
    const person = await signIn(service.api)
    const headers = { 'sec-fetch-site': 'cross-site', origin: 'https://evil.example' }
    expect((await person.api.post('/v1/auth/logout', undefined, { headers })).status).toBe(403)
    expect((await person.api.get('/v1/accounts/me')).status).toBe(200)
    for (const type of [
      'text/plain',
      'application/x-www-form-urlencoded',
      'multipart/form-data; boundary=x',
      'application/json\t',
    ]) {
      const answer = await service.api.call('POST', '/v1/auth/wallet/verify', {
        raw: '{"message":"x","signature":"y"}',
        headers: { 'content-type': type },
      })
      expect([400, 415]).toContain(answer.status)
    }
  })

  test('a bearer token needs no such proof, because no browser sends it automatically', async () => {
    const person = await signIn(service.api)
    const { token } = (await person.api.post('/v1/auth/dashboard-tokens')).body
    const headers = { 'sec-fetch-site': 'cross-site', origin: 'https://evil.example' }
    expect((await service.api.patch('/v1/accounts/me', { display_name: 'x' }, { bearer: token, headers })).status).toBe(200)
  })
})

describe('two credentials in one request', () => {
  test('the bearer decides', async () => {
    const [one, two] = [await signIn(service.api), await signIn(service.api)]
    const { token } = (await two.api.post('/v1/auth/dashboard-tokens')).body
    expect((await service.api.get('/v1/accounts/me', { cookie: one.cookie, bearer: token })).body.id).toBe(two.accountId)
    expect((await service.api.get('/v1/accounts/me', { cookie: one.cookie, bearer: 'service_dash_x' })).status).toBe(401)
  })

  test('a credential in the address is ignored', async () => {
    const person = await signIn(service.api)
    const { token } = (await person.api.post('/v1/auth/dashboard-tokens')).body
    expect((await service.api.get(`/v1/accounts/me?access_token=${token}&token=${token}`)).status).toBe(401)
  })
})
