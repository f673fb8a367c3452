import { setTimeout as wait } from 'node:timers/promises'
import { pino } from 'pino'
import { afterEach, expect, test } from 'vitest'
import { migrate } from '../../src/db/migrate.ts'
import { warnOfUnsafeSettings } from '../../src/db/server-warnings.ts'
import { resumeAfterLoss } from '../../src/modules/exceptions/losses-service.ts'
import { shellOperator } from '../../src/modules/operators.ts'
import { credit, newBeneficiary } from '../harness/money.ts'
import { signIn } from '../harness/people.ts'
import { type Replicated, startReplicated } from '../harness/replicated.ts'
import { startService, type TestService } from '../harness/service.ts'
import { openStream } from '../harness/stream.ts'
import { findBreaches } from '../harness/verify.ts'
import { alerts, pass } from '../rails-flows/scene.ts'
import { isFull } from './world.ts'

let servers: Replicated
let service: TestService
afterEach(async () => {
  await service.stop()
  await service.sandbox.close()
  await servers.close()
})

const payees = [
  { payment_rail: 'MPESA_B2C', destination: '254722000801' },
  { payment_rail: 'MPESA_B2B', destination: '600801' },
  { payment_rail: 'PESALINK', destination: '0123456801', bank_code: '0012' },
]

const open = async (synchronous: boolean) => {
  servers = await startReplicated({ synchronous, prepare: async (url) => void (await migrate(url)) })
  service = await startService({ database: { url: servers.url, drop: async () => undefined } })
  const person = await signIn(service.api)
  await credit(service, person.accountId, 1_000_000_000n)
  const beneficiaries: string[] = []
  for (const payee of payees) beneficiaries.push(await newBeneficiary(person.api, payee))
  const pay = (count: number) =>
    Promise.all(
      Array.from({ length: count }, (_, index) =>
        person.api.post(
          '/v1/payments',
          { beneficiary_id: beneficiaries[index % beneficiaries.length], amount_minor: '150000' },
          { key: `payment ${index}` },
        ),
      ),
    )
  const statuses = async () => {
    const rows = await service.deps.db.query<{ status: string; count: number }>(
      'select status, count(*)::int from payments group by status order by status',
    )
    return Object.fromEntries(rows.map(({ status, count }) => [status, count]))
  }
  return { person, beneficiaries, pay, statuses }
}

const until = async (holds: () => Promise<boolean> | boolean, withinMs = 60_000): Promise<void> => {
  const from = performance.now()
  while (!(await Promise.resolve(holds()).catch(() => false))) {
    if (performance.now() - from > withinMs) throw new Error(`not within ${withinMs} ms`)
    await wait(50)
  }
}

/** Warnings about the servers at a start in production. */
const standbyWarnings = async (): Promise<string[]> => {
  const warnings: string[] = []
  await warnOfUnsafeSettings(service.deps.db, pino({ level: 'warn' }, { write: (line) => void warnings.push(line) }))
  return warnings.filter((line) => line.includes('synchronous'))
}
const answers = async () => (await service.api.get('/readyz')).status === 200

test('a standby that lagged is promoted: the loss is noticed within five seconds, no waiting payment is paid twice, and a person resumes', async () => {
  const { person, beneficiaries, pay, statuses } = await open(false)
  expect(await standbyWarnings()).toEqual([expect.stringContaining('synchronous_standby_names is empty')])
  const waiting = await pay(30)
  expect(waiting.map(({ status }) => status)).toEqual(Array(30).fill(201))
  const stream = await openStream(person.api)
  await servers.cutReplication()
  await service.settle()
  expect(service.sandbox.orders()).toHaveLength(30)
  const lost = await person.api.post(
    '/v1/payments',
    { beneficiary_id: beneficiaries[0], amount_minor: '170000' },
    { key: 'acknowledged, and lost' },
  )
  expect(lost.status).toBe(201)

  await servers.failOver()
  await until(answers)
  // An ordinary run shares its processors with other tests, and proves only the detection.
  await until(() => service.deps.lossDetection.state() === 'lost', isFull ? 5_000 : 60_000)
  await until(async () => (await statuses()).unknown === 30)
  await service.settle()
  await pass(service, 600)
  // Only the lost payment was not sent: its order is missing, and no order is there twice.
  expect(service.sandbox.orders()).toHaveLength(30)
  expect(new Set(service.sandbox.movements().map(({ key }) => key)).size).toBe(service.sandbox.movements().length)

  const ready = await service.api.get('/readyz')
  expect(JSON.stringify(ready.body.rails)).toContain('lost committed writes')
  expect(alerts(service).filter((alert) => alert === 'database_lost_writes')).toHaveLength(1)
  expect((await stream.next('stream.reset')).type).toBe('stream.reset')
  const again = await person.api.post(
    '/v1/payments',
    { beneficiary_id: beneficiaries[0], amount_minor: '170000' },
    { key: 'acknowledged, and lost' },
  )
  expect([again.status, again.body.details?.reason]).toEqual([503, 'database_lost_writes'])

  expect((await resumeAfterLoss(service.deps.db, shellOperator('a person'), [], 'a test')).resumed).toHaveLength(4)
  await until(() => service.deps.lossDetection.state() === 'trusted')
  expect(await findBreaches(service)).toEqual([])
})

test('a commit whose wait for its standby is cancelled is not acknowledged: 503, and the same key gives the answer', async () => {
  const { person, beneficiaries } = await open(true)
  await servers.cutReplication()
  const request = () =>
    person.api.post('/v1/payments', { beneficiary_id: beneficiaries[0], amount_minor: '150000' }, { key: 'cancelled' })
  const answer = request()
  await until(async () => {
    const waiting = await service.deps.db.query(
      `select pg_cancel_backend(pid) from pg_stat_activity where wait_event = 'SyncRep'`,
    )
    return waiting.length > 0
  })
  expect((await answer).status).toBe(503)
  await servers.asynchronous()
  expect(await request()).toMatchObject({ status: 201, headers: expect.anything() })
})

test('a synchronous standby is promoted: every acknowledged payment is there, is paid once, and nobody is needed', async () => {
  const { pay, statuses } = await open(true)
  expect(await standbyWarnings()).toEqual([])
  const acknowledged = await pay(30)
  expect(acknowledged.map(({ status }) => status)).toEqual(Array(30).fill(201))
  await servers.failOver()
  await until(answers)
  await until(() => service.deps.lossDetection.state() === 'trusted')
  // After each dead connection the service checks the server again, and sends nothing meanwhile.
  await until(async () => {
    await pass(service, 5)
    return (await statuses()).succeeded === 30
  })
  expect(service.sandbox.movements()).toHaveLength(30)
  expect(alerts(service)).not.toContain('database_lost_writes')
  expect(await findBreaches(service)).toEqual([])
})
