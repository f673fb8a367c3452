import { once } from 'node:events'
import { type AddressInfo, createServer } from 'node:net'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { createKey, signIn } from '../harness/people.ts'
import { startService, type TestService } from '../harness/service.ts'
import { startSilentProxy } from '../harness/silent-proxy.ts'

const limitsOf = (headers: Headers) => ['ratelimit-limit', 'ratelimit-remaining'].map((name) => Number(headers.get(name)))

describe('requests in a minute', () => {
  let service: TestService
  beforeAll(async () => {
    service = await startService({ env: { RATE_LIMIT_PER_MINUTE: '12' }, fixed: { rateLimitPublicPerMinute: 60 } })
  })
  afterAll(() => service.close())

  test('each principal has its own allowance and sees it in every answer; beyond it is 429 with the time to wait', async () => {
    const person = await signIn(service.api)
    const other = await signIn(service.api)
    const key = await createKey(person)
    const first = await person.api.get('/v1/accounts/me')
    const second = await person.api.get('/v1/accounts/me')
    expect(limitsOf(first.headers)[0]).toBe(12)
    expect((limitsOf(first.headers)[1] ?? 0) - (limitsOf(second.headers)[1] ?? 0)).toBe(1)
    expect(Number(first.headers.get('ratelimit-reset'))).toBeGreaterThan(0)
    const answers = await Promise.all(Array.from({ length: 20 }, () => person.api.get('/v1/accounts/me')))
    const refused = answers.filter((answer) => answer.status === 429)
    expect(refused.length).toBeGreaterThan(7)
    expect(refused[0]?.body.error).toBe('rate_limited')
    expect(Number(refused[0]?.headers.get('retry-after'))).toBeGreaterThan(0)
    expect(limitsOf(refused[0]?.headers ?? new Headers())).toEqual([12, 0])
    // The account's agents and other accounts are not affected.
    expect((await key.api.get('/v1/accounts/me')).status).toBe(200)
    expect((await other.api.get('/v1/accounts/me')).status).toBe(200)
  })

  test('a key gains nothing by the keys that it makes: all below one root share its allowance', async () => {
    const person = await signIn(service.api)
    const root = await createKey(person)
    const [child, sibling] = [await createKey(root), await createKey(root)]
    const grandchild = await createKey(child)
    const keys = [root, child, sibling, grandchild]
    const answers = await Promise.all(
      Array.from({ length: 40 }, (_, index) => keys[index % 4]?.api.get('/v1/credentials/current')),
    )
    // Three of the twelve requests created keys.
    expect(answers.filter((answer) => answer?.status === 200)).toHaveLength(9)
    expect(answers.filter((answer) => answer?.status === 429)).toHaveLength(31)
    const other = await createKey(person)
    expect((await other.api.get('/v1/credentials/current')).status).toBe(200)
  })

  test('all keys of an account have three times that together, and none of it is the person’s own', async () => {
    const person = await signIn(service.api)
    const roots = []
    for (let count = 0; count < 5; count += 1) roots.push(await createKey(person))
    const answers = await Promise.all(
      roots.flatMap(({ api }) => Array.from({ length: 14 }, () => api.get('/v1/credentials/current'))),
    )
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(36)
    expect((await person.api.get('/v1/accounts/me')).status).toBe(200)
  })

  test('each message of a JSON-RPC batch is a request', async () => {
    const key = await createKey(await signIn(service.api))
    const message = { jsonrpc: '2.0', method: 'tools/call', params: { name: 'get_balance', arguments: {} } }
    const batch = (size: number) =>
      key.api.post(
        '/mcp',
        Array.from({ length: size }, (_, index) => ({ ...message, id: index + 1 })),
        {
          headers: { accept: 'application/json, text/event-stream' },
        },
      )
    const small = await batch(5)
    expect(Number(small.headers.get('ratelimit-remaining'))).toBe(7)
    const large = await batch(10)
    expect([large.status, large.body.error]).toEqual([429, 'rate_limited'])
    expect((await key.api.get('/v1/credentials/current')).status).toBe(429)
  })

  test('liveness has no limit', async () => {
    const answers = await Promise.all(Array.from({ length: 40 }, () => service.api.get('/healthz')))
    expect(new Set(answers.map((answer) => answer.status))).toEqual(new Set([200]))
  })
})

describe('guessing', () => {
  let service: TestService
  beforeAll(async () => {
    service = await startService({ env: { RATE_LIMIT_PER_MINUTE: '1000' }, fixed: { rateLimitPublicPerMinute: 10 } })
  })
  afterAll(() => service.close())

  test('keys uses up the allowance of the address; a caller with a credential is not affected', async () => {
    const person = await signIn(service.api)
    const guess = (index: number) =>
      service.api.get('/v1/accounts/me', { bearer: `service_live_${String(index).padStart(64, '0')}` })
    const answers = []
    for (let index = 0; index < 14; index += 1) answers.push(await guess(index))
    expect(answers.map((answer) => answer.status)).toEqual([...Array(10).fill(401), ...Array(4).fill(429)])
    expect(answers.at(-1)?.headers.get('retry-after')).toBeTruthy()
    expect((await person.api.get('/v1/accounts/me')).status).toBe(200)
  })

  test('a forwarded address from an untrusted client is ignored', async () => {
    const answers = []
    for (let index = 0; index < 14; index += 1) {
      answers.push(await service.api.post('/v1/auth/wallet/nonce', {}, { headers: { 'x-forwarded-for': `203.0.113.${index}` } }))
    }
    expect(answers.at(-1)?.status).toBe(429)
  })
})

test('behind a trusted proxy, the address is the one that it forwards', async () => {
  const service = await startService({ env: { TRUST_PROXY: '127.0.0.1,::1' }, fixed: { rateLimitPublicPerMinute: 2 } })
  const ask = (from: string) => service.api.post('/v1/auth/wallet/nonce', {}, { headers: { 'x-forwarded-for': from } })
  for (let index = 0; index < 6; index += 1) expect((await ask(`203.0.113.${index}`)).status).toBe(200)
  const answers = [await ask('198.51.100.7'), await ask('198.51.100.7'), await ask('198.51.100.7')]
  expect(answers.map((answer) => answer.status)).toEqual([200, 200, 429])
  // Some proxies write the connection's port, or brackets: it is the same client.
  for (const from of ['198.51.100.7:51234', '198.51.100.7:51235']) expect((await ask(from)).status).toBe(429)
  for (const port of [1, 2]) expect((await ask(`[2001:db8::${port}]:5123${port}`)).status).toBe(200)
  for (const from of ['[2001:db8::3]', '"[2001:db8::4]:443"', '2001:db8::5']) expect((await ask(from)).status).toBe(429)
  await service.api.get('/v1/auth/google/start', {
    headers: { 'x-forwarded-for': '192.0.2.44:51234', accept: 'application/json' },
  })
  expect(await service.deps.db.query(`select ip from audit_log where action = 'sign_in.start'`)).toMatchObject([
    { ip: '192.0.2.44' },
  ])
  // Only the last hop is the proxy's own. The client may have invented the earlier ones.
  expect((await ask('203.0.113.99, 198.51.100.7')).status).toBe(429)
  await service.close()
})

test('while the shared counter cannot be reached each process counts for itself: allowed requests pass, and the limit still holds', async () => {
  const service = await startService({ env: { REDIS_URL: 'redis://127.0.0.1:1' }, fixed: { rateLimitPublicPerMinute: 3 } })
  const answers = []
  for (let count = 0; count < 5; count += 1) answers.push(await service.api.post('/v1/auth/wallet/nonce', {}))
  expect(answers.map((answer) => answer.status)).toEqual([200, 200, 200, 429, 429])
  await service.close()
})

/** The parts of Redis's protocol for a counter: a greeting, INFO, and a script that answers a count and the remaining time. */
const startCounter = async () => {
  let count = 0
  let received = ''
  const server = createServer((socket) =>
    socket.on('data', (bytes) => {
      received += bytes.toString()
      for (const command of bytes.toString().matchAll(/\r\n(hello|info|evalsha|eval|client)\r\n/gi)) {
        const name = command[1]?.toLowerCase()
        if (name === 'info') socket.write('$19\r\nredis_version:7.0.0\r\n')
        else if (name === 'hello') socket.write('%1\r\n$5\r\nproto\r\n:3\r\n')
        else if (name === 'client') socket.write('+OK\r\n')
        else {
          count += 1
          socket.write(`*2\r\n:${count}\r\n:60000\r\n`)
        }
      }
    }),
  )
  await once(server.listen(0, '127.0.0.1'), 'listening')
  return {
    url: `redis://127.0.0.1:${(server.address() as AddressInfo).port}`,
    counted: () => count,
    received: () => received,
    close: () => server.close(),
  }
}

test('a shared counter without an answer delays a request for a tenth of a second, and later requests not at all', async () => {
  const counter = await startCounter()
  const proxy = await startSilentProxy(counter.url)
  const service = await startService({ env: { REDIS_URL: proxy.url }, fixed: { rateLimitPublicPerMinute: 3 } })
  const ask = async () => {
    const from = performance.now()
    const { status } = await service.api.post('/v1/auth/wallet/nonce', {})
    return { status, ms: performance.now() - from }
  }
  await expect.poll(async () => (await ask()) && counter.counted()).toBe(1)
  expect(counter.received()).toContain('rate:credentials:')
  expect(counter.received()).not.toContain('undefined')
  proxy.silence()
  const answers = [await ask(), await ask(), await ask(), await ask()]
  expect(answers.at(-1)?.status).toBe(429)
  // The fastest answer counts, because the others may wait for a processor.
  expect(Math.min(...answers.map(({ ms }) => ms))).toBeLessThan(1_000)
  // The counter's connection was closed, and until another one exists nothing waits.
  await expect.poll(async () => (await ask()).ms, { interval: 100 }).toBeLessThan(90)
  await service.close()
  await proxy.close()
  counter.close()
})
