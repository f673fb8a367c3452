import { describe, expect, test } from 'vitest'
import { resolveParts } from '../harness/document.ts'
import { createKey, signIn } from '../harness/people.ts'
import { openService } from '../harness/service.ts'
import { sendRaw } from './raw.ts'

const service = await openService()
const person = await signIn(service.api)

const beneficiary = { type: 'supplier', display_name: 'Acme', payment_rail: 'MPESA_B2C', destination: '0712345678' }

/** Posts bytes to a route that has a body. */
const post = (body: string | Buffer, contentType: string | null = 'application/json', headers: string[] = []) =>
  sendRaw(
    service.api.url,
    [
      'POST /v1/beneficiaries HTTP/1.1',
      `Cookie: service_session=${person.cookie}`,
      `Content-Length: ${Buffer.byteLength(body)}`,
      ...(contentType === null ? [] : [`Content-Type: ${contentType}`]),
      ...headers,
    ],
    body,
  )

const errorOf = (answer: { status: number; text: string }) => {
  const body = JSON.parse(answer.text)
  return [answer.status, body.error, body.details.fields?.[0]?.path]
}

describe('every refusal has the envelope and a request id', () => {
  const requests: [what: string, head: string[], status: number, code: string][] = [
    ['a path without a route', ['GET /v1/nothing HTTP/1.1'], 404, 'not_found'],
    ['a method that a path does not have', ['DELETE /v1/workspaces/current HTTP/1.1'], 405, 'method_not_allowed'],
    ['a path that cannot be decoded', ['GET /v1/%ff HTTP/1.1'], 404, 'not_found'],
    ['a path with a NUL', ['GET /v1/beneficiaries/%00 HTTP/1.1'], 404, 'not_found'],
    ['a parameter with a NUL', ['GET /v1/payments?q=a%00b HTTP/1.1'], 400, 'invalid_request'],
    ["a provider's answer with a NUL", ['GET /v1/auth/google/callback?code=%00 HTTP/1.1'], 400, 'invalid_request'],
    ['a path with an endless part', [`GET /v1/beneficiaries/${'a'.repeat(500)} HTTP/1.1`], 404, 'not_found'],
    ['no credential', ['GET /v1/accounts/me HTTP/1.1'], 401, 'authentication_required'],
    ['headers without end', ['GET /v1/accounts/me HTTP/1.1', `X-Long: ${'a'.repeat(20_000)}`], 413, 'payload_too_large'],
    ['what is not HTTP', ['HELLO'], 400, 'invalid_request'],
  ]
  test.each(requests)('%s', async (_what, head, status, code) => {
    const answer = await sendRaw(service.api.url, head)
    const body = JSON.parse(answer.text.replace(/^[0-9a-f]+\r\n|\r\n0\r\n\r\n$/g, ''))
    expect([answer.status, body.error]).toEqual([status, code])
    expect(Object.keys(body)).toEqual(['error', 'message', 'details'])
    expect(body.details.request_id).toBe(answer.headers['x-request-id'])
    expect(answer.headers['content-type']).toContain('application/json')
    expect(answer.headers['cache-control']).toBe('no-store')
  })

  test('the answers outside of any route have them too', async () => {
    const answer = await person.api.get('/v1/accounts/me')
    expect(answer.headers.get('x-request-id')).toMatch(/^[0-9a-f-]{36}$/)
    const line = service.log
      .map((entry) => JSON.parse(entry))
      .find((entry) => entry.requestId === answer.headers.get('x-request-id'))
    expect(line).toMatchObject({ operation: 'accounts.get', status: 200 })
  })

  test('the log has one line for each request, with public ids, the error and the address, and none for a probe that is answered', async () => {
    const before = service.log.length
    const key = await createKey(person)
    const answers = [await key.api.get('/v1/accounts/me'), await key.api.get('/v1/payments/pay_01h455vb4pex5vsknk084sn02q')]
    for (const probe of ['/healthz', '/readyz']) expect((await service.api.get(probe)).status).toBe(200)
    const lines = service.log.slice(before).map((entry) => JSON.parse(entry))
    const ofAnswers = answers.map(({ headers }) => lines.filter(({ requestId }) => requestId === headers.get('x-request-id')))
    expect(ofAnswers.map(({ length }) => length)).toEqual([1, 1])
    expect(ofAnswers.flat()).toMatchObject([
      { status: 200, account: person.accountId, credential: key.id, address: '127.0.0.1' },
      { status: 404, code: 'not_found', account: person.accountId, credential: key.id },
    ])
    expect(lines.some(({ operation }) => /^service\./.test(operation ?? ''))).toBe(false)
  })
})

describe('a body is JSON that every parser reads in the same way', () => {
  const wellFormed = JSON.stringify(beneficiary)
  test.each<[what: string, body: string | Buffer, path: string | undefined]>([
    ['is cut off', '{"type":', 'body'],
    ['is empty', '', 'body'],
    ['is null', 'null', 'body'],
    ['is a list', '[]', 'body'],
    ['is not UTF-8', Buffer.from([0x22, 0xff, 0x22]), 'body'],
    ['names a field twice', '{"type":"a","type":"b"}', 'type'],
    ['names a field twice, once with an escape', '{"type":"a","typ\\u0065":"b"}', 'type'],
    ['names a field of a part twice', '{"metadata":{"a":"1","a":"2"}}', 'a'],
    ['reaches for the prototype', '{"__proto__":{"status":"active"}}', '__proto__'],
    ['reaches for the prototype by a part', '{"metadata":{"__proto__":{"a":1}}}', 'metadata.__proto__'],
    ['holds a NUL', '{"type":"a\\u0000b"}', 'type'],
    ['holds half a surrogate', '{"type":"\\ud800"}', 'type'],
    ['holds half a surrogate in a name', '{"\\udc00":"x"}', 'body'],
    ['is nested without end', `${'{"a":'.repeat(100)}1${'}'.repeat(100)}`, `a${'.a'.repeat(16)}`],
    ['opens lists without end', '['.repeat(60_000), 'body'],
  ])('400 when it %s', async (_what, body, path) => {
    expect(errorOf(await post(body))).toEqual([400, 'invalid_request', path])
  })

  test('a body that is packed is refused, an unpacked one may say so', async () => {
    for (const encoding of ['gzip', 'br', 'gzip, identity', 'x'])
      expect((await post(wellFormed, 'application/json', [`Content-Encoding: ${encoding}`])).status).toBe(415)
    expect((await post(wellFormed, 'application/json', ['Content-Encoding: identity'])).status).toBe(201)
  })

  test('a field that is not known is refused and named, also in nested objects', async () => {
    const answer = await person.api.post('/v1/beneficiaries', { ...beneficiary, status: 'active', account_id: person.accountId })
    expect([answer.status, answer.body.error]).toEqual([400, 'invalid_request'])
    expect(answer.body.details.fields.map((field: { path: string }) => field.path)).toEqual(['status', 'account_id'])
    const inPart = await person.api.post('/v1/accounts/me/api-keys', { name: 'x', spending_controls: { daily_limit: '1' } })
    expect([inPart.status, inPart.body.details.fields[0].path]).toEqual([400, 'spending_controls.daily_limit'])
  })

  test.each(['1e3', '-1', '01', '1.0', '', ' 1', '0x1', '9'.repeat(30)])('the amount %j is refused', async (amount) => {
    const answer = await person.api.post('/v1/spending-policies', { name: 'x', daily_limit_minor: amount })
    expect([answer.status, answer.body.details.fields[0].path]).toEqual([400, 'daily_limit_minor'])
    const number = await person.api.post('/v1/spending-policies', { name: 'x', daily_limit_minor: 1000 })
    expect(number.status).toBe(400)
  })

  test('a byte order mark is ignored, also with an idempotency key', async () => {
    expect((await post(`\ufeff${wellFormed}`, 'application/json', ['Idempotency-Key: marked'])).status).toBe(201)
  })

  test('a body beyond 64 KiB is refused, with any Content-Length', async () => {
    const limit = JSON.stringify({ ...beneficiary, filler: '' }).length
    expect(errorOf(await post(JSON.stringify({ ...beneficiary, filler: 'x'.repeat(65_536 - limit) })))[0]).toBe(400)
    expect(errorOf(await post(JSON.stringify({ ...beneficiary, filler: 'x'.repeat(65_537 - limit) })))).toEqual([
      413,
      'payload_too_large',
      undefined,
    ])
    expect((await post('x'.repeat(1_048_576))).status).toBe(413)
    const chunk = 'x'.repeat(100_000)
    const chunked = await sendRaw(
      service.api.url,
      [
        'POST /v1/beneficiaries HTTP/1.1',
        `Cookie: service_session=${person.cookie}`,
        'Content-Type: application/json',
        'Transfer-Encoding: chunked',
      ],
      `${chunk.length.toString(16)}\r\n${chunk}\r\n0\r\n\r\n`,
    )
    expect(chunked.status).toBe(413)
  })

  test.each([
    'text/plain',
    'application/x-www-form-urlencoded',
    'multipart/form-data; boundary=x',
    'application/jsonx',
    'application/vnd.api+json',
    'application/json, text/plain',
    'application/\tjson',
    'application/json\t; charset=utf-8',
    'text/plain;\tapplication/json',
    null,
  ])('415 as %j', async (contentType) => {
    expect(errorOf(await post(wellFormed, contentType))).toEqual([415, 'unsupported_media_type', undefined])
  })

  test.each(['application/json', 'Application/JSON; charset=utf-8', 'application/json;charset=UTF-8'])(
    '201 as %s',
    async (contentType) => {
      expect((await post(wellFormed, contentType)).status).toBe(201)
    },
  )
})

describe('a route without a body', () => {
  const send = (headers: string[], body = '') =>
    sendRaw(
      service.api.url,
      ['POST /v1/auth/dashboard-tokens HTTP/1.1', `Cookie: service_session=${person.cookie}`, ...headers],
      body,
    )

  test.each(['text/plain', 'application/x-www-form-urlencoded', 'application/json', 'image/png'])(
    'accepts an empty body as %s',
    async (contentType) => {
      expect((await send([`Content-Type: ${contentType}`, 'Content-Length: 0'])).status).toBe(201)
      expect((await send([`Content-Type: ${contentType}`, 'Transfer-Encoding: chunked'], '0\r\n\r\n')).status).toBe(201)
    },
  )

  test('accepts an empty object, and refuses one with fields', async () => {
    expect((await person.api.post('/v1/auth/dashboard-tokens', {})).status).toBe(201)
    const answer = await person.api.post('/v1/auth/dashboard-tokens', { expires_in: 60 })
    expect([answer.status, answer.body.error, answer.body.details.fields[0].path]).toEqual([400, 'invalid_request', 'expires_in'])
    expect((await person.api.post('/v1/auth/dashboard-tokens', [])).status).toBe(400)
  })
})

test('no route that writes answers to a GET', async () => {
  const writes = service.routes.filter((route) => route.method !== 'GET')
  const reads = new Set(service.routes.filter((route) => route.method === 'GET').map((route) => route.path))
  const only = writes.filter((route) => !reads.has(route.path) && !route.path.includes(':'))
  expect(only.length).toBeGreaterThan(10)
  // In the place of an id, the word is taken for one.
  for (const { path } of only)
    expect([path, [404, 405]]).toEqual([path, expect.arrayContaining([(await person.api.get(path)).status])])
})

test.each([
  '0000-01-01T00:00:00Z',
  '0000-12-31T23:59:59+14:00',
  '9999-12-31T23:59:59-14:00',
  '9999-01-01T00:00:00Z',
  '0001-01-01T00:00:00+05:00',
])('the time %s is refused in every field that takes a time', async (time) => {
  const person = await signIn(service.api)
  const encoded = encodeURIComponent(time)
  const answers = [
    await person.api.post('/v1/accounts/me/api-keys', { name: 'Agent', expires_at: time }),
    await person.api.get(`/v1/accounts/me/history?created_after=${encoded}`),
    await person.api.get(`/v1/payments?created_before=${encoded}`),
    await person.api.get(`/v1/workspaces/current/audit-log?created_after=${encoded}`),
  ]
  expect(answers.map(({ status, body }) => [status, body.error])).toEqual(answers.map(() => [400, 'invalid_request']))
})

test('a date at either end of the calendar is answered or refused, in every parameter that takes one', async () => {
  const document = resolveParts((await person.api.get('/openapi.json')).body)
  const dated = Object.entries<Record<string, { parameters?: { name: string; in: string; schema: { format?: string } }[] }>>(
    document.paths,
  ).flatMap(([path, item]) =>
    (item.get?.parameters ?? [])
      .filter((one) => one.in === 'query' && ['date', 'date-time'].includes(one.schema.format ?? ''))
      .map(({ name, schema }) => ({
        path: path.replace(/\{\w+\}/g, 'ben_01h455vb4pex5vsknk084sn02q'),
        name,
        format: schema.format,
      })),
  )
  expect(dated.length).toBeGreaterThan(10)
  const days = ['0000-01-01', '0001-01-01', '1969-12-31', '1970-01-01', '1970-01-02', '9998-12-31', '9999-12-31']
  for (const { path, name, format } of dated)
    for (const day of days) {
      const query = `${path}?${new URLSearchParams({ [name]: format === 'date' ? day : `${day}T23:59:59+14:00` })}`
      const { status } = await person.api.get(query)
      expect([query, [200, 400, 403, 404].includes(status)]).toEqual([query, true])
    }
})
