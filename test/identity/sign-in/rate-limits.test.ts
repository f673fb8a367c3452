import { afterAll, beforeAll, expect, test } from 'vitest'
import type { Answer } from '../../harness/client.ts'
import { signIn } from '../../harness/people.ts'
import { startService, type TestService } from '../../harness/service.ts'

const services: TestService[] = []
const limited = async (): Promise<TestService> => {
  const service = await startService({ fixed: { rateLimitPublicPerMinute: 5 } })
  services.push(service)
  return service
}
afterAll(async () => {
  for (const service of services) await service.close()
})

let service: TestService
beforeAll(async () => {
  service = await limited()
})

const until429 = async (send: () => Promise<Answer>, most = 12): Promise<{ passed: number; answer: Answer }> => {
  for (let passed = 0; ; passed += 1) {
    const answer = await send()
    if (answer.status === 429 || passed === most) return { passed, answer }
  }
}

test('the routes that issue credentials share one limit for each address, and answer with Retry-After', async () => {
  const routes = [
    () => service.api.post('/v1/auth/wallet/nonce'),
    () => service.api.post('/v1/auth/wallet/verify', { message: 'x', signature: 'y' }),
    () => service.api.get('/v1/auth/google/start'),
    () => service.api.get('/v1/auth/github/callback?state=x&code=y'),
  ]
  let turn = 0
  const { passed, answer } = await until429(() => (routes[turn++ % routes.length] ?? service.api.get)('/'))
  expect(passed).toBe(5)
  expect([answer.status, answer.body.error]).toEqual([429, 'rate_limited'])
  expect(Number(answer.headers.get('retry-after'))).toBeGreaterThan(0)
  expect(Number(answer.headers.get('retry-after'))).toBeLessThanOrEqual(60)
  expect(answer.headers.get('ratelimit-limit')).toBe('5')
  expect(answer.headers.get('ratelimit-remaining')).toBe('0')
  for (const route of routes) expect((await route()).status).toBe(429)
  expect((await service.api.get('/healthz')).status).toBe(200)
})

test('a forwarded address without a configured proxy gives no further attempts', async () => {
  let turn = 0
  const headers = () => ({ 'x-forwarded-for': `10.0.0.${turn++}`, forwarded: `for=10.0.1.${turn}` })
  expect((await until429(() => service.api.post('/v1/auth/wallet/nonce', undefined, { headers: headers() }))).passed).toBe(0)
})

test('guessing keys, tokens and sessions uses up the allowance of the address', async () => {
  const other = await limited()
  const guesses = [
    { bearer: `service_live_${'0'.repeat(64)}` },
    { bearer: `service_dash_${'0'.repeat(64)}` },
    { cookie: 'A'.repeat(43) },
  ]
  let turn = 0
  const { passed, answer } = await until429(() => other.api.get('/v1/accounts/me', guesses[turn++ % guesses.length]))
  expect(passed).toBe(5)
  expect(answer.headers.get('retry-after')).toMatch(/^\d+$/)
})

test('a person who is signed in has a separate allowance', async () => {
  const other = await limited()
  const person = await signIn(other.api)
  const { passed } = await until429(() => person.api.get('/v1/accounts/me'), 20)
  expect(passed).toBe(20)
})
