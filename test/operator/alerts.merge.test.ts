import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { afterAll, afterEach, expect, test, vi } from 'vitest'
import { parse } from 'yaml'
import { inTx } from '../../src/db/client.ts'
import { createMovableClock } from '../../src/lib/clock.ts'
import { pauseRail } from '../../src/modules/exceptions/pauses-service.ts'
import { shellOperator } from '../../src/modules/operators.ts'
import { credit } from '../harness/money.ts'
import { type Person, signIn } from '../harness/people.ts'
import { freePort } from '../harness/ports.ts'
import { createTestDatabase } from '../harness/postgres.ts'
import { startService, type TestService } from '../harness/service.ts'
import { pay } from '../rails-flows/scene.ts'
import { evaluate, parseScrape } from './promql.ts'

type Rule = { alert: string; expr: string }
const file = fileURLToPath(new URL('../../deploy/rules.yml', import.meta.url))
const { groups } = parse(readFileSync(file, 'utf8')) as { groups: { rules: Rule[] }[] }
const rules = new Map(groups.flatMap(({ rules }) => rules.map(({ alert, expr }) => [alert, String(expr)])))

/** Prometheus' view of a process. `up` is Prometheus' own series. */
const scrape = async (service: TestService) => {
  const text = await fetch(`${service.operatorUrl}/metrics`).then(
    async (answer) => `${await answer.text()}\nup{job="payments"} 1`,
    () => 'up{job="payments"} 0',
  )
  return parseScrape(text)
}

type Scene = { service: TestService; person: Person }
const services: TestService[] = []
const open = async (options: Parameters<typeof startService>[0] = {}): Promise<Scene> => {
  const service = await startService(options)
  services.push(service)
  const person = await signIn(service.api)
  await credit(service, person.accountId, 10_000_000n)
  await service.deps.lossDetection.check()
  return { service, person }
}
afterEach(() => void vi.restoreAllMocks())
afterAll(async () => {
  for (const service of services) await service.close().catch(() => undefined)
})

const phone = { payment_rail: 'MPESA_B2C', destination: '254722000971' }
const sql = (text: string) => (scene: Scene) =>
  scene.service.deps.db.query(text, text.includes('$1') ? [scene.service.clock.now()] : [])
const later =
  (seconds: number) =>
  ({ service }: Scene) =>
    service.clock.advance(seconds)
const railFails = ({ service }: Scene) =>
  service.sandbox.rules.add({ effect: 'spike_arrest', rail: 'MPESA_B2C', times: null, delay_ms: 0 })
const sendInVain = async (scene: Scene) => {
  railFails(scene)
  await pay(scene.person, phone)
  await scene.service.settle()
}
const slowly = async (work: () => Promise<unknown>) => {
  const { now } = performance
  let passed = 0
  vi.spyOn(performance, 'now').mockImplementation(() => {
    passed += 20_000
    return now.call(performance) + passed
  })
  await work()
  vi.restoreAllMocks()
}
const payOnce = ({ person }: Scene) => pay(person, phone)

/** Each alert, with the fault that calls somebody. */
const faults: Readonly<Record<string, ((scene: Scene) => unknown)[]>> = {
  PaymentsUnknown: [
    payOnce,
    sql(`update payments set status = 'unknown', dispatch_due_at = null, updated_at = $1`),
    later(1_000),
  ],
  PromiseBroken: [sql(`insert into verify_points (name, totals, at, through) values ('last', '{"broken": "1"}', $1, '0')`)],
  DatabaseLostWrites: [
    async ({ service }) => {
      service.deps.lossDetection.declareWith(async () => undefined)
      await inTx(service.deps.db, (tx) => pauseRail(tx, shellOperator('x'), 'MPESA_B2C', 'lost', 'lost_writes'))
    },
    ({ service: { deps } }) => inTx(deps.db, (tx) => pauseRail(tx, shellOperator('x'), 'MPESA_B2C', 'unknown', 'unknown_sender')),
  ],
  PromisesNotVerified: [
    sql(`insert into verify_points (name, totals, at, through) values ('whole', '{}', $1, '0')`),
    later(9 * 86_400),
  ],
  BooksDiffer: [
    sql(
      `insert into suspense_items (id, rail, direction, amount_minor, reason, fingerprint, created_at) values (gen_random_uuid(), 'MPESA_B2C', 'in', 100, 'not_in_our_books', 'x', $1)`,
    ),
  ],
  ProviderContradicts: [
    async ({ person, service }) => {
      await pay(person, { payment_rail: 'MPESA_B2C', destination: '254711000007' })
      await service.settle()
    },
  ],
  ProviderWord: [
    sql(
      `insert into provider_alerts (id, fingerprint, rail, subject_kind, subject_id, word, created_at) values (gen_random_uuid(), 'x', 'PESALINK', 'payment', gen_random_uuid(), 'CANCELLED', $1)`,
    ),
  ],
  LateSuccess: [
    payOnce,
    sql(
      `update payments set status = 'failed', dispatch_due_at = null, failure_code = 'x', late_success_at = $1, late_success_receipt = 'LATE000001'`,
    ),
  ],
  WorkFailing: [
    sql('alter table nonces rename to elsewhere'),
    async ({ service }) => {
      for (let run = 0; run < 3; run += 1) await service.deps.jobs.sweep().catch(() => undefined)
    },
  ],
  AuditUnsealed: [payOnce, later(700)],
  TotalsLate: [later(20_000)],
  PaymentsFailing: [
    async ({ person, service }) => {
      await pay(person, { payment_rail: 'MPESA_B2C', destination: '254700002001' })
      await service.settle()
    },
  ],
  RailDown: [sendInVain],
  PaymentsWaitLong: [sendInVain, later(31 * 60)],
  RailErrors: [sendInVain],
  CallbacksLate: [
    sql(`insert into callback_deliveries (id, kind, authentic, received_at) values (gen_random_uuid(), 'result', true, $1)`),
    later(100),
  ],
  DatabaseDown: [({ service }) => service.deps.db.close()],
  ServiceDown: [({ service }) => service.operator.close()],
  DatabasePoolFull: [
    async ({ service, person }) => {
      const { pool } = service.deps.db
      const taken = await Promise.all(Array.from({ length: pool.options.max }, () => pool.connect()))
      const written = Promise.all(
        Array.from({ length: 5 }, (_, index) => person.api.patch('/v1/workspaces/current', { name: `W ${index}` })),
      )
      while (pool.waitingCount === 0) await service.api.get('/healthz')
      for (const start = performance.now(); performance.now() - start < 300; ) await service.api.get('/healthz')
      for (const client of taken) client.release()
      await written
    },
  ],
  WorkLate: [payOnce, later(100)],
  ClockDiffers: [({ service }) => service.deps.lossDetection.check()],
  SweepSlow: [({ service }) => slowly(() => service.deps.jobs.sweep())],
  RedisDown: [],
  StandbyBehind: [({ person }) => person.api.get('/v1/payments')],
  StreamsMany: [
    sql(
      `insert into stream_places (id, account_id) select gen_random_uuid(), gen_random_uuid() from generate_series(1, 8001) where $1::timestamptz is not null`,
    ),
  ],
  VersionsDiffer: [],
  EventsLate: [({ service }) => service.deps.feed.stop(), payOnce, later(60)],
  ErrorsOfOurs: [
    sql('alter table beneficiaries rename to elsewhere'),
    async ({ person }) => {
      expect((await person.api.get('/v1/beneficiaries')).status).toBe(500)
    },
  ],
  DecisionsSlow: [(scene) => slowly(() => payOnce(scene))],
  ApprovalsWait: [
    async ({ person }) => {
      await person.api.post('/v1/spending-policies', { name: 'Ask', approval_threshold_minor: '1000' })
      await pay(person, phone)
    },
    later(90_000),
  ],
  RailPausedLong: [({ service }) => inTx(service.deps.db, (tx) => pauseRail(tx, shellOperator('x'), 'MPESA_B2C', 'a drill'))],
  KeyOld: [sql(`insert into installation_keys values ('ENCRYPTION_KEYS', 'old', '', $1)`), later(366 * 86_400)],
}

/** The service options that an alert needs. A standby that is none has replayed nothing. */
const started: Readonly<Record<string, () => Promise<Parameters<typeof startService>[0]>>> = {
  ClockDiffers: async () => ({
    clock: Object.assign(
      createMovableClock(() => Date.now() - 300_000),
      { advance: () => undefined, set: () => undefined },
    ),
  }),
  RedisDown: async () => ({ env: { REDIS_URL: `redis://127.0.0.1:${await freePort()}` } }),
  StandbyBehind: async () => {
    const database = await createTestDatabase()
    return { database, env: { DATABASE_READ_URL: database.url } }
  },
}

test.for([...rules.keys()])('%s is raised by its fault, and not before', async (alert) => {
  const expression = rules.get(alert) ?? ''
  const scene = await open(await started[alert]?.())
  const before = await scrape(scene.service)
  const steps = faults[alert]
  expect(steps).toBeDefined()
  if (!started[alert]) expect(evaluate(expression, before, before)).toEqual([])
  for (const step of steps ?? []) await step(scene)
  const after = await scrape(scene.service)
  // Two processes of two releases.
  const other = after.map((sample) =>
    sample.name === 'build_info' ? { ...sample, labels: { ...sample.labels, version: '0.0.1' } } : sample,
  )
  expect(evaluate(expression, before, alert === 'VersionsDiffer' ? [...after, ...other] : after)).not.toEqual([])
})

test('every alert of the rules has its fault here, and no other', () => {
  expect(Object.keys(faults).sort()).toEqual([...rules.keys()].sort())
})
