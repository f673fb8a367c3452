import { once } from 'node:events'
import { connect } from 'node:net'
import { setImmediate as turn } from 'node:timers/promises'
import pg from 'pg'
import { expect, onTestFinished, test, vi } from 'vitest'
import { parseId } from '../../src/lib/ids.ts'
import { waitingForLock } from '../harness/lock-waits.ts'
import { signIn } from '../harness/people.ts'
import { createTestDatabase } from '../harness/postgres.ts'
import { startService } from '../harness/service.ts'
import { openStream } from '../harness/stream.ts'

test('a service that closes answers the requests under way, ends its streams and does not wait for idle connections', async () => {
  const database = await createTestDatabase()
  const service = await startService({ database })
  const person = await signIn(service.api)
  const stream = await openStream(person.api)
  const { hostname, port } = new URL(service.api.url)
  const silent = connect({ host: hostname, port: Number(port) })
  await once(silent, 'connect')

  const blocker = new pg.Client({ connectionString: database.url })
  await blocker.connect()
  await blocker.query('begin')
  await blocker.query('select from accounts where id = $1 for update', [parseId('account', person.accountId)])
  const underWay = person.api.patch('/v1/accounts/me', { display_name: 'Written while closing' })
  await expect.poll(async () => (await blocker.query(`select from ${waitingForLock}`)).rowCount).toBeGreaterThan(0)

  // The limit for a request under way ends it.
  const ended = vi.spyOn(service.http.server, 'closeAllConnections')
  const closing = service.close()
  await stream.ended()
  await blocker.query('commit')
  await blocker.end()
  expect(await underWay).toMatchObject({ status: 200, body: { display_name: 'Written while closing' } })
  await once(silent.resume(), 'close')
  await closing
  expect(ended).not.toHaveBeenCalled()
  await database.drop()
})

test('a connection that was opened before the end and brings its request after it is answered', async () => {
  const service = await startService()
  // A slow machine must not exceed a connection's allowed silence.
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval', 'performance'] })
  onTestFinished(() => void vi.useRealTimers())
  const { hostname, port } = new URL(service.api.url)
  const late = connect({ host: hostname, port: Number(port) }).setEncoding('utf8')
  await once(late, 'connect')
  const closing = service.close()
  while (service.http.server.listening) await turn()
  // Longer than the interval between two checks of the remaining connections.
  vi.advanceTimersByTime(120)
  await turn()
  await turn()
  late.write(`GET /healthz HTTP/1.1\r\nHost: ${hostname}\r\n\r\n`)
  expect((await late.toArray()).join('')).toMatch(/^HTTP\/1\.1 200 OK\r\n[\s\S]*connection: close/i)
  await closing
})

test('rows that are old enough are deleted, and the others are kept', async () => {
  const service = await startService()
  const counts = async () => {
    const [row] = await service.deps.db.query<Record<string, number>>(
      'select (select count(*)::int from nonces) as nonces, (select count(*)::int from idempotency_keys) as keys',
    )
    return row
  }
  const person = await signIn(service.api)
  await person.api.post('/v1/accounts/me/api-keys', { name: 'Agent' }, { key: 'k' })
  const before = await counts()
  expect(before).toEqual({ nonces: 1, keys: 1 })
  service.clock.advance(86_400)
  await service.deps.jobs.sweep()
  expect(await counts()).toEqual(before)
  service.clock.advance(601)
  await service.deps.jobs.sweep()
  expect(await counts()).toEqual({ nonces: 0, keys: 0 })
  await service.close()
})

test('sessions, dashboard tokens and flows that ended long ago are deleted, and nothing that is active', async () => {
  const service = await startService()
  const counts = async () =>
    (
      await service.deps.db.query<Record<string, number>>(
        'select (select count(*)::int from sessions) as sessions, (select count(*)::int from dashboard_tokens) as tokens, (select count(*)::int from sign_in_flows) as flows',
      )
    )[0]
  const person = await signIn(service.api)
  await person.api.post('/v1/auth/dashboard-tokens')
  await person.api.post('/v1/auth/logout')
  await service.api.get('/v1/auth/google/start')
  const idle = await signIn(service.api, person.wallet)
  expect(await counts()).toEqual({ sessions: 2, tokens: 1, flows: 1 })
  service.clock.advance(29 * 86_400)
  await service.deps.jobs.sweep()
  expect(await counts()).toEqual({ sessions: 2, tokens: 1, flows: 0 })
  const living = await signIn(service.api, person.wallet)
  service.clock.advance(2 * 86_400)
  await service.deps.jobs.sweep()
  expect(await counts()).toEqual({ sessions: 2, tokens: 0, flows: 0 })
  expect((await idle.api.get('/v1/accounts/me')).status).toBe(401)
  expect((await living.api.get('/v1/accounts/me')).status).toBe(200)
  await service.close()
})
