import { afterAll, expect, test } from 'vitest'
import { inSpan, installTracing } from '../../src/lib/tracing.ts'
import { startTracing } from '../../src/process/tracing.ts'
import { credit, newBeneficiary } from '../harness/money.ts'
import { createKey, signIn } from '../harness/people.ts'
import { openService } from '../harness/service.ts'
import { connectAgent } from '../mcp/connect.ts'
import { startCollector } from './collector.ts'

const collector = await startCollector()
const warnings: unknown[] = []
const logger = { warn: (...line: unknown[]) => void warnings.push(line) }
const running = startTracing({ endpoint: collector.endpoint, serviceName: 'under test', logger })
const service = await openService()
afterAll(async () => {
  await running.stop()
  await collector.close()
})

const traceId = '4bf92f3577b34da6a3ce929d0e0e4736'
const caller = '00f067aa0ba902b7'

test("one payment is one trace, from the caller's request over its statements, the job and the rail to what the provider says", async () => {
  const person = await signIn(service.api)
  await credit(service, person.accountId, 1_000_000n)
  const key = await createKey(person)
  const beneficiary = await newBeneficiary(person.api, { destination: '254798765432' })
  const payment = { beneficiary_id: beneficiary, amount_minor: '10000', narrative: 'a private matter' }
  const paid = await key.api.post('/v1/payments', payment, { headers: { traceparent: `00-${traceId}-${caller}-01` } })
  expect(paid.status).toBe(201)
  await service.settle()
  expect((await key.api.get(`/v1/payments/${paid.body.id}`)).body.status).toBe('succeeded')
  for (const path of [
    'payments?q=private-query',
    'oauth/device/BCDF-GHJK',
    'oauth/authorize?state=private-state',
    'private-path',
  ])
    await person.api.get(`/v1/${path}`)
  await running.flush()

  const trace = collector.spans.filter((span) => span.traceId === traceId)
  const named = (name: string | RegExp) =>
    trace.find((span) => (typeof name === 'string' ? span.name === name : name.test(span.name)))
  const request = named('payments.create')
  expect(request?.parentSpanId).toBe(caller)
  const above = (span: { parentSpanId: string } | undefined): string[] => {
    const parent = trace.find(({ spanId }) => spanId === span?.parentSpanId)
    return parent ? [parent.name, ...above(parent)] : []
  }
  expect(above(named('payments.insert'))).toContain('payments.create')
  const job = named('job payments.MPESA_B2C')
  expect(above(job)).toContain('payments.create')
  expect(above(named('rail POST'))).toContain('job payments.MPESA_B2C')
  expect(job?.attributes).toMatchObject({ subject: paid.body.id })
  const delivered = named('job deliveries')
  expect(above(delivered)).toContain('payments.create')
  expect(delivered?.attributes).toMatchObject({ subject: paid.body.id })
  expect(trace.some((span) => above(span).includes('job deliveries'))).toBe(true)

  const sent = collector.sent()
  expect(sent).toContain('under test')
  for (const secret of [key.key, person.cookie, '254798765432', '798765432', 'a private matter', 'private-', 'BCDF-GHJK'])
    expect([secret, sent.includes(secret)]).toEqual([secret, false])
  expect(sent).not.toMatch(/\/callbacks\/[0-9a-f-]{36}\/\w{20,}/)

  const line = service.log.map((text) => JSON.parse(text)).find(({ operation }) => operation === 'payments.create')
  expect(line).toMatchObject({ trace_id: traceId })
  const called = service.log
    .map((text) => JSON.parse(text))
    .find(({ msg, subject }) => msg === 'rail called' && subject === 'payment')
  expect(called).toMatchObject({ trace_id: traceId, span_id: job?.spanId })
})

test('a payment by an agent is one trace from its call of a tool to the provider', async () => {
  const person = await signIn(service.api)
  await credit(service, person.accountId, 1_000_000n)
  const key = await createKey(person)
  const agentTrace = 'a3ce929d0e0e47364bf92f3577b34da6'
  const traceparent = `00-${agentTrace}-${caller}-01`
  const agent = await connectAgent(service.api.url, { bearer: key.key, headers: { traceparent } })
  const paid = await agent.call('create_payment', {
    beneficiary_id: await newBeneficiary(person.api),
    amount_minor: '10000',
    idempotency_key: 'a traced payment',
  })
  await agent.close()
  expect(paid.status).toBe('processing')
  await service.settle()
  await running.flush()
  const trace = collector.spans.filter((span) => span.traceId === agentTrace)
  const above = (span: { parentSpanId: string } | undefined): string[] => {
    const parent = trace.find(({ spanId }) => spanId === span?.parentSpanId)
    return parent ? [parent.name, ...above(parent)] : [span?.parentSpanId ?? '']
  }
  const created = trace.find(({ name }) => name === 'payments.create')
  // Fastify's own handler span is in between.
  const ours = above(created).filter((name) => name !== 'request' && !name.startsWith('handler'))
  expect(ours).toEqual(['tools/call create_payment', 'mcp.call', caller])
  expect(above(trace.find(({ name }) => name === 'rail POST'))).toContain('tools/call create_payment')
})

test('a query outside of all requests and jobs, such as a poll for due work, is no trace of its own', async () => {
  await running.flush()
  const before = collector.spans.length
  await service.deps.db.query('select 1')
  await running.flush()
  expect(collector.spans).toHaveLength(before)
})

test('a failed statement is marked as failed, without its bound values', async () => {
  const failing = () => service.deps.db.query('select $1::int', ['not-a-number-but-a-secret'])
  await expect(inSpan('a failing job', {}, failing)).rejects.toThrow()
  await running.flush()
  expect(collector.spans.map(({ name }) => name)).toContain('a failing job')
  expect(collector.sent()).not.toContain('not-a-number-but-a-secret')
})

test('a collector that takes nothing is reported once, and nothing else fails', async () => {
  expect(warnings).toEqual([])
  await collector.close()
  // The library sends 512 spans at once, without a wait for its timer: two such groups.
  for (const _ of Array.from({ length: 2 * 512 })) await inSpan('a job', {}, async () => undefined)
  await expect.poll(() => warnings.length).toBeGreaterThan(0)
  await running.flush().catch(() => undefined)
  expect(warnings).toEqual([[{ endpoint: collector.endpoint }, expect.stringContaining('takes no traces')]])
})

test('without a collector no span is kept and no row names a trace', async () => {
  installTracing(undefined)
  const person = await signIn(service.api)
  await credit(service, person.accountId, 1_000_000n)
  const paid = await person.api.post('/v1/payments', { beneficiary_id: await newBeneficiary(person.api), amount_minor: '10000' })
  const line = service.log.map((text) => JSON.parse(text)).findLast(({ operation }) => operation === 'payments.create')
  expect([paid.status, line.trace_id]).toEqual([201, undefined])
  const rows = await service.deps.db.query<{ traceparent: string | null }>(
    'select traceparent from payments order by id desc limit 1',
  )
  expect(rows).toEqual([{ traceparent: null }])
})
