import { createServer } from 'node:net'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import type { Fault } from '../../src/dev/sandbox/gateway.ts'
import { createLookup, exchange } from '../../src/rails/exchange.ts'
import { startRails, type TestRails } from './harness.ts'

let rails: TestRails
beforeAll(async () => {
  rails = await startRails()
})
afterAll(() => rails.close())
beforeEach(() => rails.scheduler.runAll())

const gateway = (status: number, errorCode: string): Fault => ({
  kind: 'answer',
  takesEffect: false,
  status,
  body: { requestId: '1', errorCode, errorMessage: 'Bad Request - Invalid PhoneNumber 254722000001' },
})
const page = (status: number, body = '<html>Bad Gateway</html>'): Fault => ({
  kind: 'answer',
  takesEffect: false,
  status,
  body,
  contentType: 'text/html',
})

/** Apigee's own rejection, without an error code of the provider. */
const spikeArrest: Fault = {
  kind: 'answer',
  takesEffect: false,
  status: 429,
  body: {
    fault: {
      faultstring: 'Spike arrest violation. Allowed rate : MessageRate{messagesPerPeriod=5, periodInMicroseconds=1000000}',
      detail: { errorcode: 'policies.ratelimit.SpikeArrestViolation' },
    },
  },
}

type Sender = { name: string; send: (timeoutMs?: number) => Promise<{ kind: string }> }
const senders: Sender[] = [
  { name: 'B2C', send: (timeoutMs = 5_000) => rails.daraja({ timeoutMs }).payout.pay(rails.payout()) },
  {
    name: 'B2B',
    send: (timeoutMs = 5_000) =>
      rails.daraja({ timeoutMs }).payout.pay(rails.payout({ rail: 'MPESA_B2B', destination: '400200', accountReference: 'A' })),
  },
  { name: 'STK', send: (timeoutMs = 5_000) => rails.daraja({ timeoutMs }).collection.collect(rails.collection()) },
]

test('nothing is sent without the permission that is asked for once the connection is established', async () => {
  const late = { permission: { withinMs: 5_000, take: async () => false } }
  const { payout, collection } = rails.daraja({ timeoutMs: 5_000 })
  const before = rails.sandbox.orders().length
  const submissions = [
    await payout.pay(rails.payout(late)),
    await collection.collect({ ...rails.collection(), ...late }),
    await rails
      .pesalink({ timeoutMs: 5_000 })
      .pay(rails.payout({ ...late, rail: 'PESALINK', destination: '0123456789', bankCode: '01' })),
  ]
  expect(submissions.map((each) => [each.kind, 'code' in each && each.code])).toEqual(
    submissions.map(() => ['not_sent', 'not_permitted']),
  )
  expect(rails.sandbox.orders()).toHaveLength(before)
})

describe('the deadline covers everything from the name lookup to the last byte, and a failure before the connection means not sent', () => {
  const input = { method: 'POST', headers: {}, body: { amount: '1' }, timeoutMs: 50 } as const
  const neverSent = { kind: 'not_sent', code: 'not_connected_in_time' }

  test('with name servers that do not answer, thirty calls end in time and need one lookup', async () => {
    let lookups = 0
    const lookup = createLookup(() => {
      lookups += 1
      return new Promise(() => undefined)
    })
    const calls = Array.from({ length: 30 }, () => exchange({ ...input, url: 'http://provider.test/' }, lookup))
    expect(await Promise.all(calls)).toEqual(calls.map(() => expect.objectContaining(neverSent)))
    expect(lookups).toBe(1)
  })

  test('a host that accepts the connection and never completes TLS', async () => {
    const silent = createServer(() => undefined)
    await new Promise<void>((ready) => silent.listen(0, '127.0.0.1', ready))
    const address = silent.address()
    const port = typeof address === 'object' && address ? address.port : 0
    expect(await exchange({ ...input, url: `https://127.0.0.1:${port}/` })).toMatchObject(neverSent)
    // The same silence after plain HTTP was sent proves nothing.
    expect(await exchange({ ...input, timeoutMs: 1_500, url: `http://127.0.0.1:${port}/` })).toMatchObject({ kind: 'lost' })
    silent.close()
  })
})

describe.each(senders)('$name', ({ send }) => {
  test.each<[string, Fault]>([
    ['a reset after the provider acted', { kind: 'reset', takesEffect: true }],
    ['a reset before the provider acted', { kind: 'reset', takesEffect: false }],
    ['a duplicate', gateway(500, '500.002.1001')],
    ['the catch-all error', gateway(500, '500.001.1001')],
    ['an unknown 5xx code', gateway(503, '503.001')],
    ['a 5xx page', page(502)],
    ['a 4xx page without a code', page(403)],
    ['a redirect', page(307)],
    ['a 200 that is no JSON', page(200)],
    ['a 200 without ids', { kind: 'answer', takesEffect: true, status: 200, body: { hello: 'world' } }],
    [
      'a 200 that is not "0"',
      { kind: 'answer', takesEffect: false, status: 200, body: { ResponseCode: '1', ConversationID: 'AG_1' } },
    ],
    ['a 200 that is null', { kind: 'answer', takesEffect: false, status: 200, body: 'null' }],
  ])('%s is lost, never failed and never safe to send again', async (_name, fault) => {
    rails.sandbox.failNext(fault)
    expect(await send()).toMatchObject({ kind: 'lost' })
  })

  test('an answer that does not come in time is lost', async () => {
    rails.sandbox.failNext({ kind: 'hang', takesEffect: true })
    expect(await send(1_500)).toMatchObject({ kind: 'lost' })
  })

  test.each<[string, Fault]>([
    ['500.003.02', gateway(429, '500.003.02')],
    ['500.003.03', gateway(500, '500.003.03')],
    ['429 with another code', gateway(429, '429.001.01')],
    ['429 of the gateway itself', spikeArrest],
    ['429 with a page', page(429)],
  ])('%s refuses the request before it has an effect', async (_name, fault) => {
    rails.sandbox.failNext(fault)
    expect(await send()).toMatchObject({ kind: 'not_sent', code: 'throttled' })
  })

  test.each([
    [400, '400.002.02'],
    [400, '400.002.05'],
    [405, '405.001'],
    [404, '404.001.01'],
  ])('%s %s is a clear refusal, reported without numbers of people', async (status, code) => {
    rails.sandbox.failNext(gateway(status, code))
    const submission = await send()
    expect(submission).toMatchObject({ kind: 'refused', providerCode: code })
    expect(JSON.stringify(submission)).not.toContain('254722000001')
  })
})

test('a bank’s rate limit refuses a transfer before it has an effect', async () => {
  for (const fault of [spikeArrest, page(429)]) {
    const rail = rails.pesalink()
    await rail.ready()
    rails.sandbox.failNext(fault)
    const sent = rails.payout({ rail: 'PESALINK', destination: '0011547896523', bankCode: '0012' })
    expect(await rail.pay(sent)).toMatchObject({ kind: 'not_sent', code: 'throttled' })
  }
})

test('a provider that cannot be reached was sent nothing', async () => {
  const closed = createServer()
  await new Promise<void>((resolve) => closed.listen(0, '127.0.0.1', resolve))
  const address = closed.address()
  const port = typeof address === 'object' && address ? address.port : 0
  await new Promise((resolve) => closed.close(resolve))
  const baseUrl = `http://127.0.0.1:${port}`
  expect(await rails.daraja({ baseUrl }).payout.pay(rails.payout())).toMatchObject({ kind: 'not_sent' })
  expect(await rails.daraja({ baseUrl }).collection.collect(rails.collection())).toMatchObject({ kind: 'not_sent' })
})

test('a name that is not found was sent nothing', async () => {
  const { payout } = rails.daraja({ baseUrl: 'http://provider.invalid' })
  expect(await payout.pay(rails.payout())).toMatchObject({ kind: 'not_sent' })
})

test('a provider that disappears between token and payment was sent nothing', async () => {
  const other = await startRails()
  const { payout } = other.daraja()
  await payout.pay(other.payout())
  await other.close()
  expect(await payout.pay(other.payout())).toMatchObject({ kind: 'not_sent', code: 'ECONNREFUSED' })
})

test('a payment whose answer is lost is in the provider’s ledger exactly once', async () => {
  rails.sandbox.failNext({ kind: 'reset', takesEffect: true })
  await rails.daraja().payout.pay(rails.payout({ destination: '254733000009' }))
  await rails.scheduler.runAll()
  expect(rails.movementsTo('254733000009')).toHaveLength(1)
})

test('a redirect is not followed, because it would send the payment a second time', async () => {
  const location = '/mpesa/b2c/v3/paymentrequest'
  rails.sandbox.failNext({ kind: 'answer', takesEffect: false, status: 307, body: {}, location })
  expect(await rails.daraja().payout.pay(rails.payout({ destination: '254733000012' }))).toMatchObject({ kind: 'lost' })
  await rails.scheduler.runAll()
  expect(rails.movementsTo('254733000012')).toEqual([])
})

describe('a query that fails is unknown', () => {
  test.each<[string, Fault]>([
    ['a reset', { kind: 'reset', takesEffect: false }],
    ['a page', page(500)],
    ['a clear refusal', gateway(400, '400.002.02')],
    ['spike arrest', gateway(429, '500.003.02')],
  ])('%s', async (_name, fault) => {
    const sent = rails.collection()
    const attempt = { ...sent, rail: 'MPESA_STK' as const, provider: { request: 'ws_CO_1', conversation: null } }
    rails.sandbox.failNext(fault)
    expect(await rails.daraja().collection.query(attempt)).toMatchObject({ kind: 'unknown' })
    rails.sandbox.failNext(fault)
    expect(await rails.daraja().payout.query({ ...attempt, rail: 'MPESA_B2C' })).toMatchObject({ kind: 'unknown' })
  })
})
