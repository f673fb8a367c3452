import { spawnSync } from 'node:child_process'
import { readdirSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { fund, newBeneficiary } from '../harness/money.ts'
import { createKey, type Person, signIn } from '../harness/people.ts'
import { startService, type TestService } from '../harness/service.ts'

const deploy = (path: string) => fileURLToPath(new URL(`../../deploy/${path}`, import.meta.url))
const runbooks = fileURLToPath(new URL('../../docs/runbooks', import.meta.url))
const rules = readFileSync(deploy('rules.yml'), 'utf8')
type Dashboard = { uid: string; panels: { title: string; targets: { expr: string }[] }[] }
const dashboards: Dashboard[] = readdirSync(deploy('grafana/dashboards')).map((name) =>
  JSON.parse(readFileSync(deploy(`grafana/dashboards/${name}`), 'utf8')),
)

let service: TestService
let person: Person
let text: string
const scrape = async () => (await fetch(`${service.operatorUrl}/metrics`)).text()
beforeAll(async () => {
  service = await startService()
  person = await signIn(service.api)
  await fund(service, person, 1_000_000n)
  const key = await createKey(person)
  const beneficiary = await newBeneficiary(person.api)
  await person.api.post('/v1/spending-policies', {
    name: 'Ask',
    approval_threshold_minor: '50000',
    per_payment_limit_minor: '90000',
  })
  const pay = (amount: string, more: object = {}) =>
    key.api.post('/v1/payments', { beneficiary_id: beneficiary, amount_minor: amount, ...more })
  await pay('10000', { metadata: { status: 'pending_approval' } })
  await pay('100000')
  const held = await pay('60000')
  await service.settle()
  service.clock.advance(120)
  // A process notes this at its start.
  await service.deps.db.query(`insert into installation_keys values ('ENCRYPTION_KEYS', 'first', '', $1)`, [service.clock.now()])
  text = await scrape()
  await person.api.post(`/v1/approvals/${held.body.approval_id}/decide`, { decision: 'approve' })
  await service.settle()
  await service.deps.jobs.sweep()
  text = `${text}\n${await scrape()}`
})
afterAll(() => service.close())

/** The values of series with these labels, from both scrapes. */
const values = (name: string, ...labels: string[]): number[] =>
  text
    .split('\n')
    .filter((line) => line.startsWith(`${name}{`) || line.startsWith(`${name} `))
    .filter((line) => labels.every((label) => line.includes(label)))
    .map((line) => Number(line.split(' ').at(-1)))
const last = (name: string, ...labels: string[]) => values(name, ...labels).at(-1)

describe('the metrics show', () => {
  test('decisions by outcome, and how long they took', () => {
    expect(last('payment_decision_seconds_count', 'outcome="processing"')).toBe(1)
    expect(last('payment_decision_seconds_count', 'outcome="pending_approval"')).toBe(1)
    expect(last('payment_decision_seconds_count', 'outcome="policy_denied"')).toBe(1)
  })

  test('how long approvals and payments took, by how they ended', () => {
    expect(values('approvals_open')).toEqual([1, 0])
    expect(values('approvals_open_oldest_seconds')).toEqual([120, 0])
    expect(last('approval_seconds_sum', 'outcome="approved"')).toBe(120)
    expect(last('payment_completion_seconds_count', 'rail="MPESA_B2C"', 'outcome="succeeded"')).toBe(2)
    expect(last('topup_completion_seconds_count', 'outcome="succeeded"')).toBeGreaterThan(0)
  })

  test('calls to each rail by result, and the number of waiting payments', () => {
    expect(last('rail_call_seconds_count', 'rail="MPESA_B2C"', 'call="pay"', 'result="accepted"')).toBe(2)
    expect(last('rail_call_seconds_count', 'rail="MPESA_STK"', 'call="collect"')).toBeGreaterThan(0)
    expect(last('jobs_lag_seconds', 'queue="deliveries"')).toBe(0)
    expect(last('events_total', 'type="payment.succeeded"')).toBe(2)
    expect(last('operator_alerts', 'alert="promise_broken"')).toBe(0)
  })
})

test('only events of creations that were committed', async () => {
  const payee = { display_name: 'Only tried', destination: '0722000999', amount_minor: '10000' }
  const preview = await person.api.post('/v1/payment-batches?dry_run=true', { items: [payee] })
  expect(preview.body.items).toMatchObject([{ payee: 'new' }])
  expect(await scrape()).toContain('events_total{type="beneficiary.created"} 1\n')
})

test('how long requests waited for a database connection', async () => {
  const { pool } = service.deps.db
  const long = async () => {
    const scraped = await scrape()
    const count = (series: string) =>
      Number(
        scraped
          .split('\n')
          .find((line) => line.startsWith(series))
          ?.split(' ')[1],
      )
    return count('database_connection_wait_seconds_count') - count('database_connection_wait_seconds_bucket{le="0.025"}')
  }
  const before = await long()
  const taken = await Promise.all(Array.from({ length: pool.options.max }, () => pool.connect()))
  const written = person.api.patch('/v1/workspaces/current', { name: 'Waited' })
  while (pool.waitingCount === 0) await service.api.get('/healthz')
  for (const start = performance.now(); performance.now() - start < 100; ) await service.api.get('/healthz')
  for (const client of taken) client.release()
  expect((await written).status).toBe(200)
  expect(await long()).toBeGreaterThan(before)
})

/** The names of series in an expression: words before a selector, a range or a comparison, except functions. */
const functions = new Set([
  'rate',
  'increase',
  'sum',
  'by',
  'histogram_quantile',
  'topk',
  'and',
  'or',
  'le',
  'abs',
  'count',
  'max',
  'sweep',
  'from',
  'version',
  'state',
  'rail',
  'call',
  'outcome',
  'status',
  'operation',
  'result',
  'type',
])
const seriesIn = (expression: string): string[] =>
  [...expression.replace(/"[^"]*"|\{[^}]*\}|\[[^\]]*\]/g, ' ').matchAll(/[a-z_][a-z0-9_]*/g)]
    .map(([name]) => name)
    .filter((name) => !functions.has(name) && !/^\d/.test(name))

const known = () => new Set([...text.matchAll(/^([a-z_][a-z0-9_]*)[{ ]/gm)].map((match) => match[1]))

test('every panel and every rule uses series that /metrics has', () => {
  const expressions = [
    ...dashboards.flatMap(({ panels }) => panels.flatMap(({ targets }) => targets.map(({ expr }) => expr))),
    ...[...rules.matchAll(/^ +expr: (.+)$/gm)].map((match) => match[1] ?? ''),
  ]
  expect(expressions.length).toBeGreaterThan(35)
  // Prometheus makes `up` itself.
  const unknown = expressions.flatMap(seriesIn).filter((name) => name !== 'up' && !known().has(name))
  expect([...new Set(unknown)]).toEqual([])
  expect(seriesIn('rate(no_such_series_total[5m])')).toEqual(['no_such_series_total'])
})

test('every alert names a runbook, and every runbook is there', () => {
  const alerts = [...rules.matchAll(/^ +- alert: (.+)$/gm)].length
  const named = [...rules.matchAll(/^ +runbook: (.+)$/gm)].map((match) => match[1] ?? '')
  expect(named).toHaveLength(alerts)
  const there = readdirSync(runbooks)
  expect(named.filter((name) => !there.includes(name))).toEqual([])
})

test('what waits for a person is told from the tables, also by a process that saw none of it', async () => {
  const other = await startService({ database: service.database, clock: service.clock, provider: service })
  const told = async (kind: string) =>
    Number(
      new RegExp(`attention_open\\{kind="${kind}"\\} (\\d+)`).exec(
        await (await fetch(`${other.operatorUrl}/metrics`)).text(),
      )?.[1],
    )
  try {
    expect(await told('suspense')).toBe(0)
    await service.deps.db.query(
      `insert into suspense_items (id, rail, direction, amount_minor, reason, fingerprint, created_at) values (gen_random_uuid(), 'MPESA_B2C', 'in', 100, 'not_in_our_books', 'x', $1)`,
      [service.clock.now()],
    )
    expect(await told('suspense')).toBe(1)
  } finally {
    await other.close()
  }
})

const promtool = spawnSync('promtool', ['--version']).error === undefined
if (!promtool) process.stderr.write('promtool is not installed here: the rules of deploy/ are not checked by Prometheus itself\n')

test.skipIf(!promtool)('promtool accepts the rules and the served metrics', async () => {
  const checked = spawnSync('promtool', ['check', 'rules', deploy('rules.yml')], { encoding: 'utf8' })
  expect([checked.status, checked.stderr]).toEqual([0, ''])
  const served = spawnSync('promtool', ['check', 'metrics'], { input: await scrape(), encoding: 'utf8' })
  // promtool's advice on names is about others' defaults (nodejs_*, process_*). Parse errors have the status 1.
  expect(served.status).not.toBe(1)
})
