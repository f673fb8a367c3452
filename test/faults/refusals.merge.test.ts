import { createServer, type Server } from 'node:net'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { createTestClock } from '../harness/clock.ts'
import { credit, newBeneficiary } from '../harness/money.ts'
import { signIn } from '../harness/people.ts'
import { createTestDatabase } from '../harness/postgres.ts'
import { openService, startService } from '../harness/service.ts'
import { findBreaches } from '../harness/verify.ts'
import { findFaults } from './belief.ts'

const database = await createTestDatabase()
const service = await openService({ database, env: { DATABASE_POOL_SIZE: '2' } })
const person = await signIn(service.api)
await credit(service, person.accountId, 1_000_000_000n)
const payee = await newBeneficiary(person.api)
afterAll(() => database.drop())

const sound = async () =>
  expect([...(await findFaults(database.url, service.sandbox.movements())), ...(await findBreaches(service))]).toEqual([])
const pay = (key: string, api = person.api) =>
  api.post('/v1/payments', { beneficiary_id: payee, amount_minor: '100000' }, { key })

/** Makes the database fail in the middle of a payment's transaction, with this code, a number of times. */
const failWith = async (code: string): Promise<void> => {
  await service.deps.db.query(
    `create or replace function fail_for_a_test() returns trigger language plpgsql as $$ begin raise exception 'a test' using errcode = '${code}'; end $$`,
  )
  await service.deps.db.query(
    'create trigger fail_for_a_test before insert on payments for each row execute function fail_for_a_test()',
  )
}
const recover = () => service.deps.db.query('drop trigger fail_for_a_test on payments')

describe('a database that cannot write now gives 503 and leaves nothing half done', () => {
  test.each([
    ['a full disk', '53100', 'database', 'The service is temporarily unavailable. Try again.'],
    ['no memory', '53200', 'database', 'The service is temporarily unavailable. Try again.'],
    ['too many connections', '53300', 'connection_timeout', 'The service is busy. Try again.'],
    ['a lock time-out', '55P03', 'lock_timeout', 'Another request locked the same records for too long. Try again.'],
    ['a statement time-out', '57014', 'statement_timeout', 'The request took too long. Try again.'],
    ['a deadlock each time', '40P01', 'contention', 'Other requests changed the same records at the same time. Try again.'],
    ['a server that shuts down', '57P01', 'database', 'The service is temporarily unavailable. Try again.'],
  ])('%s', async (name, code, reason, sentence) => {
    const counted = async () => {
      const metrics = await (await fetch(`${service.operatorUrl}/metrics`)).text()
      return Number(metrics.split(`requests_unavailable_total{reason="${reason}"} `)[1]?.split('\n')[0])
    }
    const before = await counted()
    await failWith(code)
    const refused = await pay(`refused ${name}`)
    await recover()
    expect([refused.status, refused.body.error, refused.body.message]).toEqual([503, 'unavailable', sentence])
    expect(await counted()).toBe(before + 1)
    expect(refused.headers.get('retry-after')).not.toBeNull()
    expect((await pay(`refused ${name}`)).status).toBe(201)
    await service.settle()
    await sound()
  })
})

test('fifty requests at two connections are all answered, and each payment is made once', async () => {
  const answers = await Promise.all(Array.from({ length: 50 }, (_, index) => pay(`crowd ${index % 25}`)))
  expect(answers.every(({ status }) => status === 201 || status === 503)).toBe(true)
  const again = await Promise.all(Array.from({ length: 25 }, (_, index) => pay(`crowd ${index}`)))
  expect(again.map(({ status }) => status)).toEqual(Array.from({ length: 25 }, () => 201))
  expect(new Set(again.map(({ body }) => body.id)).size).toBe(25)
  await service.settle()
  await sound()
})

test('two processes whose clocks are ten minutes apart pay each payment once and keep every promise', async () => {
  const ahead = createTestClock(new Date(service.clock.now().getTime() + 600_000))
  const behind = createTestClock(new Date(service.clock.now().getTime() - 600_000))
  const others = [
    await startService({ database, clock: ahead, provider: service }),
    await startService({ database, clock: behind, provider: service }),
  ]
  const everywhere = [service, ...others].map(({ api }) => api.as({ cookie: person.cookie }))
  const answers = await Promise.all(
    Array.from({ length: 30 }, (_, index) => pay(`apart ${index % 10}`, everywhere[index % 3] ?? person.api)),
  )
  expect(answers.every(({ status }) => status === 201)).toBe(true)
  expect(new Set(answers.map(({ body }) => body.id)).size).toBe(10)
  await Promise.all([service, ...others].map((each) => each.deps.jobs.drain()))
  service.clock.advance(1_200)
  await service.deps.jobs.sweep()
  await service.settle()
  await sound()
  await Promise.all(others.map((each) => each.close()))
})

describe('parts around the service that do not answer', () => {
  let silent: Server
  let port: number
  beforeAll(async () => {
    // Accepts connections and never answers.
    silent = createServer(() => undefined)
    await new Promise<void>((ready) => silent.listen(0, '127.0.0.1', ready))
    const address = silent.address()
    port = typeof address === 'object' && address ? address.port : 0
  })
  afterAll(() => void silent.close())

  test('a Redis that does not answer holds no payment', async () => {
    const limited = await startService({
      database,
      clock: service.clock,
      provider: service,
      env: { REDIS_URL: `redis://127.0.0.1:${port}` },
    })
    expect((await pay('mute redis', limited.api.as({ cookie: person.cookie }))).status).toBe(201)
    await limited.close()
  })
})
