import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { keepDashboardFiles } from '../../src/http/dashboard-files.ts'
import { createKey, signIn } from '../harness/people.ts'
import { openService, startService } from '../harness/service.ts'

const days = (count: number): number => count * 86_400
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
    // The service's time, which the sandbox moves. Pages count from it.
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
        SIGN_UP: 'open',
      },
    })
    const { headers } = await production.api.get('/healthz')
    expect(headers.get('strict-transport-security')).toMatch(/^max-age=31536000/)
    expect(headers.get('content-security-policy')).toContain('upgrade-insecure-requests')
    await production.close()
  })
})

describe('the reference at /docs', () => {
  test.each(['/openapi.json', '/docs', '/docs/guides/quickstart', '/llms-full.txt'])(
    '%s is compressed with Brotli for clients that name it, and is the same text',
    async (path) => {
      const get = async (encoding: string) => {
        const { headers, text } = await fetch(`${service.api.url}${path}`, { headers: { 'accept-encoding': encoding } }).then(
          async (answer) => ({ headers: answer.headers, text: await answer.text() }),
        )
        return {
          text,
          encoding: headers.get('content-encoding'),
          vary: headers.get('vary'),
          bytes: headers.get('content-length'),
        }
      }
      const [plain, packed, again, refused] = [await get('identity'), await get('gzip, br'), await get('br'), await get('br;q=0')]
      expect([packed.text, again.text]).toEqual([plain.text, plain.text])
      expect([plain, packed, refused].map(({ encoding }) => encoding)).toEqual([null, 'br', null])
      expect(packed.vary).toMatch(/Accept, Accept-Encoding$/)
      expect(Number(packed.bytes)).toBeLessThan(Buffer.byteLength(plain.text) / 2)
    },
  )

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

describe('the files of the dashboard', () => {
  test('remain for a week after a deploy replaced them, and as long as a version is the newest', async () => {
    const { db } = service.deps
    const deploy = async (...names: string[]) => {
      const folder = await mkdtemp(join(tmpdir(), 'assets-'))
      for (const name of names) await writeFile(join(folder, name), `/* ${name} */`)
      await keepDashboardFiles(db, folder)
      await rm(folder, { recursive: true })
    }
    const statusOf = async (name: string) => (await service.api.get(`/assets/${name}`)).status
    await deploy('old-aaaaaaaa.js', 'same-bbbbbbbb.css', 'secret.txt')
    service.clock.advance(days(30))
    await deploy('new-cccccccc.js', 'same-bbbbbbbb.css')
    const old = await service.api.get('/assets/old-aaaaaaaa.js')
    expect([old.status, old.text]).toEqual([200, '/* old-aaaaaaaa.js */'])
    expect(old.headers.get('content-type')).toBe('text/javascript; charset=utf-8')
    expect(old.headers.get('cache-control')).toContain('immutable')
    expect(old.headers.get('x-content-type-options')).toBe('nosniff')
    // A process of another version serves a file that only the new one's folder has.
    expect(await statusOf('new-cccccccc.js')).toBe(200)
    service.clock.advance(days(8))
    await deploy('new-cccccccc.js', 'same-bbbbbbbb.css')
    expect(await Promise.all(['old-aaaaaaaa.js', 'new-cccccccc.js', 'same-bbbbbbbb.css'].map(statusOf))).toEqual([404, 200, 200])
    // A rollback makes a replaced file current again.
    await deploy('back-dddddddd.js')
    await deploy('new-cccccccc.js')
    service.clock.advance(days(8))
    await deploy('new-cccccccc.js')
    expect(await Promise.all(['back-dddddddd.js', 'new-cccccccc.js', 'secret.txt', 'none.js'].map(statusOf))).toEqual([
      404, 200, 404, 404,
    ])
  })

  test('make it an app on a phone: a manifest and icons of the right types and sizes', async () => {
    const page = await service.api.get('/')
    expect(page.text).toContain('<link rel="manifest" href="/manifest.webmanifest"')
    expect(page.headers.get('content-security-policy')).toContain("default-src 'self'")
    const manifest = await service.api.get('/manifest.webmanifest')
    expect(manifest.headers.get('content-type')).toContain('application/manifest+json')
    const { display, start_url, icons } = JSON.parse(manifest.text)
    expect([display, start_url]).toEqual(['standalone', '/'])
    expect(icons.map(({ sizes, purpose }: Record<string, string>) => [sizes, purpose])).toEqual([
      ['192x192', undefined],
      ['512x512', undefined],
      ['512x512', 'maskable'],
    ])
    const [, touch = ''] = /<link rel="apple-touch-icon" href="([^"]+)"/.exec(page.text) ?? []
    for (const { src, sizes } of [...icons, { src: touch, sizes: '180x180' }]) {
      const icon = await fetch(service.deps.config.publicUrl + src)
      const bytes = Buffer.from(await icon.arrayBuffer())
      expect([src, icon.status, icon.headers.get('content-type')]).toEqual([src, 200, 'image/png'])
      // The width and height in the header of a PNG.
      expect(`${bytes.readUInt32BE(16)}x${bytes.readUInt32BE(20)}`).toBe(sizes)
    }
  })
})
