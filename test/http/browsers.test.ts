import { describe, expect, test } from 'vitest'
import { createKey, signIn } from '../harness/people.ts'
import { openService, startService } from '../harness/service.ts'

const allowed = 'https://dashboard.example'
const service = await openService({ env: { CORS_ORIGINS: allowed } })
const person = await signIn(service.api)

describe('an unsafe request with a cookie must come from this site or an allowed origin', () => {
  const rename = (headers: Record<string, string>, person_ = person.api) =>
    person_.patch('/v1/accounts/me', { display_name: 'A' }, { headers })

  test.each([
    ['a client that is no browser', {}],
    ['this site, by Fetch Metadata', { 'sec-fetch-site': 'same-origin' }],
    ['the address bar', { 'sec-fetch-site': 'none' }],
    ['an allowed origin', { origin: allowed, 'sec-fetch-site': 'cross-site' }],
  ])('%s is let through', async (_what, headers) => {
    expect((await rename(headers)).status).toBe(200)
  })

  test('this site is recognised by Origin alone', async () => {
    expect((await rename({ origin: service.deps.config.publicUrl })).status).toBe(200)
  })

  test.each([
    ['another site, by Fetch Metadata', { 'sec-fetch-site': 'cross-site' }],
    ['a neighbour below the same domain', { 'sec-fetch-site': 'same-site' }],
    ['another site that claims both', { 'sec-fetch-site': 'cross-site', origin: 'https://evil.example' }],
    ['another site, by Origin alone', { origin: 'https://evil.example' }],
    ['an origin that hides', { origin: 'null' }],
    ['an origin that begins like an allowed one', { origin: `${allowed}.evil.example` }],
  ])('%s is refused', async (_what, headers) => {
    const answer = await rename(headers)
    expect([answer.status, answer.body.error]).toEqual([403, 'csrf_rejected'])
    expect((await person.api.get('/v1/accounts/me')).status).toBe(200)
  })

  test('a bearer token from another site is accepted, because no browser sends it automatically', async () => {
    const key = await createKey(person, { permissions: ['beneficiary.manage'] })
    const body = { type: 'x', display_name: 'y', payment_rail: 'MPESA_B2C', destination: '0712345678' }
    const answer = await key.api.post('/v1/beneficiaries', body, {
      headers: { 'sec-fetch-site': 'cross-site', origin: 'https://evil.example' },
    })
    expect(answer.status).toBe(201)
  })

  test('a read from another site is answered without a header that lets the page read it', async () => {
    const answer = await person.api.get('/v1/accounts/me', { headers: { origin: 'https://evil.example' } })
    expect([answer.status, answer.headers.get('access-control-allow-origin')]).toEqual([200, null])
  })
})

describe('cross-origin requests', () => {
  const preflight = (origin: string, method: string) =>
    service.api.call('OPTIONS', '/v1/accounts/me', {
      headers: {
        origin,
        'access-control-request-method': method,
        'access-control-request-headers': 'authorization,content-type,idempotency-key',
      },
    })

  test.each(['GET', 'POST', 'PUT', 'PATCH', 'DELETE'])('an allowed origin may %s', async (method) => {
    const answer = await preflight(allowed, method)
    expect(answer.status).toBe(204)
    expect(answer.headers.get('access-control-allow-origin')).toBe(allowed)
    expect(answer.headers.get('access-control-allow-credentials')).toBe('true')
    expect(answer.headers.get('access-control-allow-methods')).toContain(method)
    expect(answer.headers.get('access-control-allow-headers')).toContain('idempotency-key')
  })

  test('another origin may do nothing, and the answer varies by origin', async () => {
    const answer = await preflight('https://evil.example', 'GET')
    expect(answer.headers.get('access-control-allow-origin')).toBeNull()
    const plain = await service.api.get('/healthz', { headers: { origin: 'https://evil.example' } })
    expect(plain.headers.get('access-control-allow-origin')).toBeNull()
    expect(plain.headers.get('vary')?.toLowerCase()).toContain('origin')
  })

  test('an allowed origin reads the headers that it needs, errors included', async () => {
    const answer = await service.api.get('/v1/accounts/me', { headers: { origin: allowed } })
    expect(answer.status).toBe(401)
    expect(answer.headers.get('access-control-allow-origin')).toBe(allowed)
    expect(answer.headers.get('access-control-expose-headers')).toContain('retry-after')
  })
})

describe('the headers of every answer', () => {
  test.each(['/healthz', '/v1/accounts/me', '/v1/nothing', '/openapi.json'])('%s', async (path) => {
    const { headers } = await service.api.get(path)
    const policy = headers.get('content-security-policy') ?? ''
    expect(policy).toContain("script-src 'self'")
    expect(policy).toContain("frame-ancestors 'none'")
    expect(policy).not.toMatch(/unsafe-inline|unsafe-eval|\*|https:/)
    expect(headers.get('x-content-type-options')).toBe('nosniff')
    // The service's time, which the sandbox moves: pages count from it.
    expect(headers.get('date')).toBe(service.clock.now().toUTCString())
    expect(headers.get('x-frame-options')).toBe('DENY')
    expect(headers.get('referrer-policy')).toBe('no-referrer')
    expect(headers.get('x-powered-by')).toBeNull()
    expect(headers.get('strict-transport-security')).toBeNull()
  })

  test('an answer to or with a credential must not be stored by caches', async () => {
    const key = await createKey(person)
    const answers = [
      await person.api.get('/v1/accounts/me'),
      await key.api.get('/v1/beneficiaries'),
      await key.api.post('/v1/beneficiaries', {}),
      await service.api.post('/v1/auth/wallet/nonce', {}),
      await person.api.call('HEAD', '/v1/accounts/me'),
    ]
    expect(answers.map((answer) => answer.headers.get('cache-control'))).toEqual(answers.map(() => 'no-store'))
  })

  test('in production only: HSTS, and a cookie that travels over TLS alone', async () => {
    const production = await startService({
      env: {
        NODE_ENV: 'production',
        PUBLIC_URL: 'https://pay.example',
        DATABASE_URL: 'postgresql://localhost/named-for-the-check',
        RAILS: 'sandbox',
      },
    })
    const { headers } = await production.api.get('/healthz')
    expect(headers.get('strict-transport-security')).toMatch(/^max-age=31536000/)
    expect(headers.get('content-security-policy')).toContain('upgrade-insecure-requests')
    await production.close()
  })
})

describe('the reference at /docs', () => {
  test.each(['/docs', '/docs/'])('%s has scripts of the service only', async (path) => {
    const page = await service.api.get(path)
    expect([page.status, page.headers.get('content-type')]).toEqual([200, 'text/html; charset=utf-8'])
    const policy = page.headers.get('content-security-policy') ?? ''
    expect(policy).toContain("default-src 'none'")
    expect(policy).toContain("script-src 'self';")
    expect(policy).toContain("connect-src 'self'")
    expect(policy).not.toMatch(/https?:|\*/)
    expect(page.text).not.toMatch(/<script(?![^>]*\ssrc=)|\son\w+=|https?:\/\//i)
    const scripts = [...page.text.matchAll(/<script[^>]*\ssrc="([^"]+)"/g)].map((match) => match[1] ?? '')
    expect(scripts).toHaveLength(2)
    for (const script of scripts) {
      const { status, headers, text } = await service.api.get(script)
      expect([script, status, headers.get('content-type')]).toEqual([script, 200, 'application/javascript; charset=utf-8'])
      expect(text.length).toBeGreaterThan(100)
    }
  })

  test('the Host of a request never appears in it', async () => {
    const page = await service.api.get('/docs', { headers: { 'x-forwarded-host': 'evil.example' } })
    expect(page.text).not.toContain('evil')
  })
})
