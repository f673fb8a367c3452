import { DrizzleQueryError } from 'drizzle-orm'
import pg from 'pg'
import { afterAll, expect, inject, test, vi } from 'vitest'
import { credit, newBeneficiary } from '../harness/money.ts'
import { createKey, signIn } from '../harness/people.ts'
import { refuseWrites } from '../harness/read-only.ts'
import { openService, startService } from '../harness/service.ts'
import { startSilentProxy } from '../harness/silent-proxy.ts'
import { openStream } from '../harness/stream.ts'

const service = await openService()
const person = await signIn(service.api)
const admin = new pg.Client({ connectionString: inject('testServer').adminUrl })
await admin.connect()
afterAll(() => admin.end())

const database = () => new URL(service.database.url).pathname.slice(1)

test('an internal error reveals only a request id, and no secret leaves the service', async () => {
  const canary = { destination: '254799111222', display_name: 'Canary Trading', legal_name: 'Canary-7f3a' }
  const key = await createKey(person)
  await service.deps.db.query('alter table beneficiaries rename column legal_name to lost_name')
  const answer = await key.api.post('/v1/beneficiaries', { type: 'supplier', payment_rail: 'MPESA_B2C', ...canary })
  await service.deps.db.query('alter table beneficiaries rename column lost_name to legal_name')
  expect([answer.status, answer.body]).toEqual([
    500,
    {
      error: 'internal_error',
      message: 'The service failed to process the request.',
      details: { doc_url: `${service.api.url}/docs/errors/internal_error`, request_id: answer.headers.get('x-request-id') },
    },
  ])
  expect(answer.text).not.toMatch(/select|insert|beneficiaries|legal_name|\.ts|node_modules/i)
  const lines = service.log.filter((line) => line.includes(answer.headers.get('x-request-id') ?? 'none'))
  expect(lines.some((line) => JSON.parse(line).sqlstate === '42703' && JSON.parse(line).stack)).toBe(true)
  for (const secret of [...Object.values(canary), '0799111222', key.key, key.key.slice(13), person.cookie]) {
    expect(service.log.join('\n')).not.toContain(secret)
  }
})

test('a connection that is dropped during a write leaves no written value in the log', async () => {
  const canary = 'Canary of a dropped connection'
  let dropped = 0
  service.deps.db.pool.on('acquire', (client) => {
    const { stream } = client.connection
    const write = stream.write.bind(stream)
    vi.spyOn(stream, 'write').mockImplementation((chunk, ...rest) => {
      if (!Buffer.from(chunk).includes(canary)) return write(chunk, ...rest)
      dropped += 1
      return stream.destroy().destroyed
    })
  })
  const answer = await person.api.patch('/v1/accounts/me', { display_name: canary })
  service.deps.db.pool.removeAllListeners('acquire')
  expect([answer.status, answer.body.error, dropped]).toEqual([503, 'unavailable', 1])
  const failure = new DrizzleQueryError('update accounts set display_name = $1', [`${canary}\n at once`], new Error('terminated'))
  service.http.log.error({ err: failure }, 'as a library logs it')
  const log = service.log.join('\n')
  for (const line of [answer.headers.get('x-request-id') ?? 'none', 'as a library logs it']) expect(log).toContain(line)
  for (const bound of [canary, 'at once', 'display_name =']) expect(log).not.toContain(bound)
})

test('while the database is unavailable requests are refused with the time to try again, and afterwards served without a restart', async () => {
  await admin.query(`alter database ${database()} with allow_connections false`)
  await admin.query('select pg_terminate_backend(pid, 60000) from pg_stat_activity where datname = $1', [database()])
  const read = await person.api.get('/v1/accounts/me')
  const write = await person.api.patch('/v1/accounts/me', { display_name: 'Nobody' })
  for (const answer of [read, write, await service.api.get('/readyz')]) {
    expect([answer.status, answer.body.error, Number(answer.headers.get('retry-after'))]).toEqual([503, 'unavailable', 1])
    expect(answer.body.details.request_id).toBe(answer.headers.get('x-request-id'))
    expect(answer.text).not.toMatch(/postgres|connection|database/i)
  }
  expect((await service.api.get('/healthz')).body).toEqual({ status: 'ok' })
  await admin.query(`alter database ${database()} with allow_connections true`)
  await expect.poll(async () => (await service.api.get('/readyz')).status).toBe(200)
  expect((await person.api.get('/v1/accounts/me')).body.display_name).toBeNull()
})

test('backends that die under load cause some 503 answers, and nothing else', async () => {
  const patch = (index: number) => person.api.patch('/v1/accounts/me', { display_name: `Name ${index}` })
  const killAll = async () => {
    for (let count = 0; count < 5; count += 1)
      await admin.query('select pg_terminate_backend(pid) from pg_stat_activity where datname = $1', [database()])
  }
  const [answers] = await Promise.all([Promise.all(Array.from({ length: 150 }, (_, index) => patch(index))), killAll()])
  expect([...new Set(answers.map((answer) => answer.status))].filter((status) => status !== 200 && status !== 503)).toEqual([])
  await expect.poll(async () => (await patch(0)).status).toBe(200)
})

test('a service whose migrations are not those of its release is alive and not ready', async () => {
  const migrations = 'drizzle.__drizzle_migrations'
  const [last] = await service.deps.db.query<{ id: number; hash: string; created_at: bigint }>(
    `delete from ${migrations} where id = (select max(id) from ${migrations}) returning *`,
  )
  const other = await startService({ database: service.database, clock: service.clock })
  expect((await other.api.get('/readyz')).status).toBe(503)
  expect((await other.api.get('/healthz')).status).toBe(200)
  await service.deps.db.query(`insert into ${migrations} (id, hash, created_at) values ($1, $2, $3)`, [
    last?.id,
    last?.hash,
    last?.created_at,
  ])
  await expect.poll(async () => (await other.api.get('/readyz')).status).toBe(200)
  await other.close()
})

test('a database that takes no writes is not ready, though it answers', async () => {
  const reconnect = () =>
    admin.query('select pg_terminate_backend(pid, 60000) from pg_stat_activity where datname = $1', [database()])
  const takeWrites = refuseWrites(service.deps.db.pool)
  await reconnect()
  await expect.poll(async () => (await person.api.get('/v1/accounts/me')).status).toBe(200)
  expect((await service.api.get('/readyz')).status).toBe(503)
  const refused = await person.api.post('/v1/workspaces', { name: 'A write' })
  expect([refused.status, refused.body.error, refused.headers.get('retry-after')]).toEqual([503, 'unavailable', '1'])
  takeWrites()
  // The connection that could not write was given up: the next write uses another one.
  await expect.poll(async () => (await person.api.post('/v1/workspaces', { name: 'A write' })).status).toBe(201)
  await reconnect()
  await expect.poll(async () => (await service.api.get('/readyz')).status).toBe(200)
})

test('connections without an answer are closed: 503 in time, a new connection at once, and the result of a COMMIT is found by its key', async () => {
  const proxy = await startSilentProxy(service.database.url)
  const behind = await startService({
    database: { ...service.database, url: proxy.url },
    clock: service.clock,
    env: { DATABASE_POOL_SIZE: '3' },
    fixed: { DATABASE_STATEMENT_TIMEOUT_MS: 2_000 },
  })
  const payer = await signIn(behind.api)
  await credit(service, payer.accountId, 1_000_000n)
  const beneficiary_id = await newBeneficiary(payer.api)
  const pay = (key: string) => payer.api.post('/v1/payments', { beneficiary_id, amount_minor: '10000' }, { key })
  expect((await pay('before')).status).toBe(201)
  const stream = await openStream(payer.api)

  const isBack = () => expect.poll(async () => (await pay('before')).status, { interval: 50 }).toBe(201)
  const refusedInTime = async (ask: () => Promise<{ status: number }>) => {
    const from = performance.now()
    expect((await ask()).status).toBe(503)
    // The default is fifteen seconds.
    expect(performance.now() - from).toBeLessThan(12_000)
  }
  proxy.silence()
  await Promise.all([
    refusedInTime(() => pay('silent')),
    refusedInTime(() => payer.api.get('/v1/payments')),
    refusedInTime(() => behind.api.get('/readyz')),
  ])
  expect((await behind.api.get('/healthz')).status).toBe(200)
  proxy.serveNew()
  await isBack()
  expect((await behind.api.get('/readyz')).status).toBe(200)

  // The server commits, and its answer never comes.
  proxy.silenceAfter('commit\0')
  await refusedInTime(() => pay('committed'))
  proxy.serveNew()
  await isBack()
  const again = await pay('committed')
  expect([again.status, again.headers.get('idempotency-replayed')]).toEqual([201, 'true'])
  expect((await payer.api.get('/v1/payments')).body.data).toHaveLength(2)
  // The reader of events and its listener came back too.
  expect((await stream.next('payment.created')).data.data.id).toBe(again.body.id)
  stream.close()
  await behind.close()
  await proxy.close()
})
