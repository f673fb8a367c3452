import { createECDH } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { loadConfig } from '../../src/config.ts'
import { parseId } from '../../src/lib/ids.ts'
import { endpointProblem } from '../../src/modules/push/send.ts'
import { createKey, type Person, signIn } from '../harness/people.ts'
import { type PushService, startPushService } from '../harness/push-service.ts'
import { startService, type TestService } from '../harness/service.ts'

const path = '/v1/accounts/me/push-subscriptions'

let service: TestService
let pushes: PushService
let person: Person
beforeAll(async () => {
  pushes = await startPushService()
  service = await startService()
  person = await signIn(service.api)
})
afterAll(async () => {
  await service.close()
  await pushes.close()
})

const subscribe = (of: { api: Person['api'] } = person, subscription: object = pushes.browser().subscription) =>
  of.api.post(path, subscription)
const idsOf = async (of: Person): Promise<string[]> => (await of.api.get(path)).body.data.map(({ id }: { id: string }) => id)

test('the key is public, and is a point of P-256', async () => {
  const answer = await service.api.get('/v1/push/key')
  expect(answer.status).toBe(200)
  const key = Buffer.from(answer.body.public_key, 'base64url')
  expect([key.length, key[0]]).toEqual([65, 4])
  // The other implementation finds the point on the curve.
  const other = createECDH('prime256v1')
  other.generateKeys()
  expect(other.computeSecret(key)).toHaveLength(32)
})

test('a subscription is answered with its id, its time and its browser, and again the same for the same address', async () => {
  const { subscription } = pushes.browser()
  const first = await subscribe(person, subscription)
  expect(first.status).toBe(201)
  expect(first.body).toEqual({
    id: expect.stringMatching(/^psh_/),
    created_at: service.clock.now().toISOString(),
    user_agent: 'node',
  })
  service.clock.advance(60)
  const again = await subscribe(person, subscription)
  expect([again.status, again.body]).toEqual([201, first.body])
  expect(await idsOf(person)).toEqual([first.body.id])
})

test('a subscription that was removed is gone, and cannot be removed again', async () => {
  const { id } = (await subscribe()).body
  expect((await person.api.delete(`${path}/${id}`)).body.id).toBe(id)
  expect(await idsOf(person)).not.toContain(id)
  expect((await person.api.delete(`${path}/${id}`)).status).toBe(404)
})

test('neither the address nor the secret of a browser is stored in clear, in an answer or in a log line', async () => {
  const { subscription } = pushes.browser()
  const { text } = await subscribe(person, subscription)
  const rows = JSON.stringify(
    await service.deps.db.query("select encode(endpoint_ciphertext, 'escape') as sealed, to_jsonb(p) from push_subscriptions p"),
  )
  const everything = [text, (await person.api.get(path)).text, rows, ...service.log].join('\n')
  expect(everything).not.toContain(subscription.endpoint)
  expect(everything).not.toContain(subscription.keys.auth)
})

test('an account has at most twenty, and ended sessions leave room', async () => {
  const other = await signIn(service.api)
  const second = await signIn(service.api, other.wallet)
  for (let count = 0; count < 19; count += 1) expect((await subscribe(other)).status).toBe(201)
  expect((await subscribe(second)).status).toBe(201)
  const refused = await subscribe(other)
  expect([refused.status, refused.body.error, refused.body.details.reason]).toEqual([409, 'conflict', 'limit_reached'])
  await second.api.post('/v1/auth/logout')
  expect(await idsOf(other)).toHaveLength(19)
  expect((await subscribe(other)).status).toBe(201)
})

test('a browser gets the notices of the person who subscribed there last', async () => {
  const { subscription } = pushes.browser()
  const before = (await subscribe(person, subscription)).body.id
  const next = await signIn(service.api)
  const after = (await subscribe(next, subscription)).body.id
  expect(after).not.toBe(before)
  expect(await idsOf(person)).not.toContain(before)
  expect(await idsOf(next)).toEqual([after])
})

test('of two people who subscribe a browser at once, one keeps it', async () => {
  const people = [await signIn(service.api), await signIn(service.api)]
  for (let round = 0; round < 10; round += 1) {
    const { subscription } = pushes.browser()
    const answers = await Promise.all([...people, ...people].map((one) => subscribe(one, subscription)))
    expect(answers.map(({ status }) => status)).toEqual([201, 201, 201, 201])
  }
  const owned = await Promise.all(people.map(idsOf))
  expect(owned.flat()).toHaveLength(10)
})

test('a browser whose person signed in again stays one subscription, which ends with the new session', async () => {
  const someone = await signIn(service.api)
  const { subscription } = pushes.browser()
  const { id } = (await subscribe(someone, subscription)).body
  const again = await signIn(service.api, someone.wallet)
  expect((await subscribe(again, subscription)).body.id).toBe(id)
  await someone.api.post('/v1/auth/logout')
  expect(await idsOf(again)).toEqual([id])
})

test('a dashboard token subscribes for its session; a key or an agent never does', async () => {
  const { token } = (await person.api.post('/v1/auth/dashboard-tokens')).body
  const dashboard = { api: service.api.as({ bearer: token }) }
  expect((await subscribe(dashboard)).status).toBe(201)
  expect((await subscribe(await createKey(person))).status).toBe(403)
})

const point = () => {
  const ecdh = createECDH('prime256v1')
  ecdh.generateKeys()
  return ecdh.getPublicKey()
}
const offCurve = () => {
  const bytes = point()
  bytes[64] = (bytes[64] ?? 0) ^ 1
  return bytes
}

describe('what is no subscription is refused with the field that is wrong', () => {
  test.each<[string, string, (given: { endpoint: string; keys: { p256dh: string; auth: string } }) => object]>([
    ['no address', 'endpoint', (given) => ({ ...given, endpoint: 'nonsense' })],
    ['another scheme', 'endpoint', (given) => ({ ...given, endpoint: 'file:///etc/passwd' })],
    ['a host that is no push service', 'endpoint', (given) => ({ ...given, endpoint: 'https://example.com/push' })],
    ['a host that only ends like one', 'endpoint', (given) => ({ ...given, endpoint: 'https://evil-fcm.googleapis.com/push' })],
    ['a host below one without a star', 'endpoint', (given) => ({ ...given, endpoint: 'https://a.fcm.googleapis.com/push' })],
    ['a host with one in its user', 'endpoint', (given) => ({ ...given, endpoint: 'https://fcm.googleapis.com@example.com/' })],
    ['a user', 'endpoint', (given) => ({ ...given, endpoint: 'https://me:secret@fcm.googleapis.com/' })],
    ['another port', 'endpoint', (given) => ({ ...given, endpoint: 'https://fcm.googleapis.com:8443/' })],
    ['plain http', 'endpoint', (given) => ({ ...given, endpoint: 'http://fcm.googleapis.com/' })],
    ['an address of a private network', 'endpoint', (given) => ({ ...given, endpoint: 'https://10.0.0.1/push' })],
    [
      'an address that is too long',
      'endpoint',
      (given) => ({ ...given, endpoint: `https://fcm.googleapis.com/${'a'.repeat(2048)}` }),
    ],
    ['a key that is too short', 'keys.p256dh', ({ keys, ...given }) => ({ ...given, keys: { ...keys, p256dh: 'AAAA' } })],
    [
      'a key off the curve',
      'keys.p256dh',
      ({ keys, ...given }) => ({ ...given, keys: { ...keys, p256dh: offCurve().toString('base64url') } }),
    ],
    ['no base64url', 'keys.auth', ({ keys, ...given }) => ({ ...given, keys: { ...keys, auth: '!'.repeat(22) } })],
    ['a secret of another length', 'keys.auth', ({ keys, ...given }) => ({ ...given, keys: { ...keys, auth: 'A'.repeat(24) } })],
    ['a further field', 'options', (given) => ({ ...given, options: {} })],
  ])('%s', async (_, field, change) => {
    const answer = await subscribe(person, change(pushes.browser().subscription))
    expect([answer.status, answer.body.error]).toEqual([400, 'invalid_request'])
    expect(JSON.stringify(answer.body.details.fields)).toContain(field)
  })

  test.each(['http://127.0.0.1:9/push', 'http://localhost/push', 'https://localhost/push', 'https://[::1]/push'])(
    'this machine is no push service in production: %s',
    (endpoint) => {
      const { config } = service.deps
      expect(endpointProblem(endpoint, { ...config, NODE_ENV: 'production' })).toMatch(/^must be/)
      expect(endpointProblem(endpoint, { ...config, NODE_ENV: 'development' })).toBeUndefined()
    },
  )

  test.each([
    'https://fcm.googleapis.com/fcm/send/abc',
    'https://jmt17.google.com/fcm/send/abc',
    'https://updates.push.services.mozilla.com/wpush/v2/abc',
    'https://web.push.apple.com/abc',
    'https://wns2-par02p.notify.windows.com/w/?token=abc',
  ])('the push services of the browsers are accepted: %s', async (endpoint) => {
    const { keys } = pushes.browser().subscription
    expect((await subscribe(person, { endpoint, expirationTime: null, keys })).status).toBe(201)
  })
})

test('the rows of sessions that ended long ago are deleted with them, and no others', async () => {
  const someone = await signIn(service.api)
  await subscribe(someone)
  const living = await signIn(service.api)
  await subscribe(living)
  await someone.api.post('/v1/auth/logout')
  service.clock.advance(20 * 86_400)
  await subscribe(await signIn(service.api, living.wallet))
  const left = async () =>
    service.deps.db.query(
      'select p.id from push_subscriptions p join accounts a on a.id = p.account_id where a.id = any($1::uuid[])',
      [[someone, living].map(({ accountId }) => parseId('account', accountId))],
    )
  expect(await left()).toHaveLength(3)
  service.clock.advance(11 * 86_400)
  await service.deps.jobs.sweep()
  expect(await left()).toHaveLength(2)
})

test('without a key push is off: 503, and what was subscribed before can still be ended', async () => {
  const off = await startService({ env: { VAPID_KEYS: '' }, database: service.database, clock: service.clock })
  const someone = await signIn(service.api)
  const { id } = (await subscribe(someone)).body
  const there = { api: off.api.as({ cookie: someone.cookie }) }
  for (const answer of [await off.api.get('/v1/push/key'), await subscribe(there)])
    expect([answer.status, answer.body.error]).toEqual([503, 'provider_not_configured'])
  expect((await there.api.delete(`${path}/${id}`)).status).toBe(200)
  await off.close()
})

test.each([
  ...['mailto:ops@localhost', 'mailto:ops@pay.local', 'mailto:ops@pay.invalid', 'mailto:ops@intranet', 'mailto: ops@example.com'],
  ...['mailto:<ops@example.com>', 'ops@example.com', 'http://example.com', 'https://localhost:3000', 'https://10.0.0.1/'],
])('a subject that push services refuse is refused at start: %s', (subject) => {
  expect(() => loadConfig({ VAPID_SUBJECT: subject })).toThrow(/VAPID_SUBJECT: must be a mailto: or https URL/)
})

test('where none is named, PUBLIC_URL is the subject, and one that they refuse is refused at start', () => {
  const start = (PUBLIC_URL: string) => () =>
    loadConfig({ PUBLIC_URL, VAPID_KEYS: `id:${Buffer.alloc(32, 7).toString('base64')}` })
  for (const url of ['https://pay.internal', 'https://10.0.0.1', 'http://pay.example.com'])
    expect(start(url)).toThrow(/VAPID_SUBJECT must be set/)
  for (const url of ['https://pay.example.com', 'http://localhost:3000']) expect(start(url)).not.toThrow()
})

test.each(['mailto:ops@pay.example.com', 'https://pay.example.co.ke', 'https://pay.example.com:8443/contact'])(
  'a subject that somebody can reach is taken: %s',
  (subject) => expect(loadConfig({ VAPID_SUBJECT: subject }).VAPID_SUBJECT).toBe(subject),
)
