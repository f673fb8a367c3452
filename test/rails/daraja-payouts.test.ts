import { createServer } from 'node:http'
import { text } from 'node:stream/consumers'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { PayoutInstruction } from '../../src/rails/rail.ts'
import { kinds, payoutAttempt, startRails, type TestRails } from './harness.ts'

let rails: TestRails
beforeAll(async () => {
  rails = await startRails()
})
afterAll(() => rails.close())

/** Sends, runs everything, and reads every authentic delivery. */
const play = async (fields: Partial<PayoutInstruction>) => {
  const { payout: rail } = rails.daraja()
  const sent = rails.payout(fields)
  const submission = await rail.pay(sent)
  const attempt = payoutAttempt(sent, submission)
  await rails.scheduler.runAll()
  const deliveries = rails.deliveriesOf(sent.orderId)
  const evidence = deliveries
    .filter((each) => each.authentic)
    .map((each) => rail.readDelivery(each.kind, each.body, attempt).evidence)
  const moved = rails.sandbox.movements().filter((movement) => movement.resultUrl === sent.callbacks.result)
  return { rail, sent, submission, attempt, deliveries, evidence, moved }
}

describe.each([
  { rail: 'MPESA_B2C', destination: '254722000001', code: (digits: string) => `25470000${digits}`, accountReference: null },
  { rail: 'MPESA_B2B', destination: '400200', code: (digits: string) => `999${digits}`, accountReference: 'INV-77' },
  { rail: 'MPESA_B2B', destination: '5123456', code: (digits: string) => `999${digits}`, accountReference: null },
] as const)('$rail to $destination', ({ rail, destination, code, accountReference }) => {
  test('a payout succeeds with the delivery of its receipt and amount, and moves the money once', async () => {
    const { submission, evidence, moved } = await play({ rail, destination, accountReference, amountMinor: 123_400n })
    expect(submission.kind).toBe('accepted')
    expect(moved).toMatchObject([{ rail, amountMinor: 123_400n, party: destination }])
    expect(evidence).toEqual([{ kind: 'succeeded', receipt: moved[0]?.receipt, amountMinor: 123_400n }])
  })

  test.each(['0001', '2001', '2028', '8006'])('result code %s is a failure and moves nothing', async (digits) => {
    const { evidence, moved } = await play({ rail, destination: code(digits), accountReference })
    expect(evidence).toMatchObject([{ kind: 'failed', providerCode: String(Number(digits)) }])
    expect(moved).toEqual([])
  })

  test('a result code that is not listed is unknown, never failed, until the status query proves it', async () => {
    const { rail: adapter, sent, attempt, evidence } = await play({ rail, destination: code('5555'), accountReference })
    expect(evidence).toMatchObject([{ kind: 'unknown', code: '5555' }])
    expect(await adapter.query(attempt)).toEqual({ kind: 'pending' })
    await rails.scheduler.runAll()
    const answer = rails.deliveriesOf(sent.orderId).at(-1)
    expect(adapter.readDelivery('result', answer?.body, attempt).evidence).toMatchObject({
      kind: 'failed',
      providerCode: 'declined',
    })
  })

  test('an order that never ends is reported as pending', async () => {
    const { rail: adapter, sent, attempt, evidence } = await play({ rail, destination: code('4999'), accountReference })
    expect(evidence).toEqual([])
    await adapter.query(attempt)
    await rails.scheduler.runAll()
    const answer = rails.deliveriesOf(sent.orderId).at(-1)
    expect(adapter.readDelivery('result', answer?.body, attempt).evidence).toEqual({ kind: 'pending' })
  })
})

test('the result of a lost callback is found by a query, and its answer names the receipt', async () => {
  const { rail, sent, attempt, deliveries, moved } = await play({ destination: '254711000001' })
  expect(deliveries).toEqual([])
  expect(await rail.query(attempt)).toEqual({ kind: 'pending' })
  await rails.scheduler.runAll()
  const [answer] = rails.deliveriesOf(sent.orderId)
  const read = rail.readDelivery('result', answer?.body, attempt)
  expect(read.evidence).toEqual({ kind: 'succeeded', receipt: moved[0]?.receipt, amountMinor: 50_000n })
  expect(read.provider.conversation).toBe(attempt.provider.conversation)
})

test('a callback that comes three times reports the same three times', async () => {
  const { evidence, moved } = await play({ destination: '254711000002' })
  expect(evidence).toHaveLength(3)
  expect(new Set(evidence.map((each) => (each.kind === 'succeeded' ? each.receipt : each.kind)))).toEqual(
    new Set([moved[0]?.receipt]),
  )
  expect(moved).toHaveLength(1)
})

test('a queue time-out before a late success is unknown, never failed', async () => {
  const { deliveries, evidence, moved } = await play({ destination: '254711000003' })
  expect(deliveries.map((each) => each.kind)).toEqual(['timeout', 'result'])
  expect(kinds(evidence)).toEqual(['unknown', 'succeeded'])
  expect(moved).toHaveLength(1)
})

test('a submit whose answer is lost is lost, not failed, and the callback still proves the payment', async () => {
  const { submission, evidence, moved } = await play({ destination: '254711000004' })
  expect(submission.kind).toBe('lost')
  expect(kinds(evidence)).toEqual(['succeeded'])
  expect(moved).toHaveLength(1)
})

test('a lost payout to a phone can be queried by the id of the request', async () => {
  const { rail, sent, attempt } = await play({ destination: '254711000004' })
  expect(attempt.provider).toEqual({ request: null, conversation: null })
  expect(await rail.query(attempt)).toEqual({ kind: 'pending' })
  await rails.scheduler.runAll()
  const answer = rails.deliveriesOf(sent.orderId).at(-1)
  expect(rail.readDelivery('result', answer?.body, attempt).evidence.kind).toBe('succeeded')
})

test('a payout that is sent twice is paid once, and the second request counts as lost', async () => {
  const { rail, sent } = await play({ destination: '254722000077' })
  expect(await rail.pay(sent)).toMatchObject({ kind: 'lost' })
  await rails.scheduler.runAll()
  expect(rails.movementsTo('254722000077')).toHaveLength(1)
})

test('a different amount in the callback is reported as it is', async () => {
  const { evidence, moved } = await play({ destination: '254711000005' })
  expect(evidence).toMatchObject([{ kind: 'succeeded', amountMinor: 50_100n }])
  expect(moved).toMatchObject([{ amountMinor: 50_000n }])
})

test('a forged callback that comes first uses a URL without the secret', async () => {
  const { deliveries, evidence } = await play({ destination: '254711000006' })
  expect(deliveries.map((each) => each.authentic)).toEqual([false, true])
  expect(kinds(evidence)).toEqual(['succeeded'])
})

test('a provider that does not know a payment proves nothing', async () => {
  const { payout: rail } = rails.daraja()
  const sent = rails.payout()
  const attempt = payoutAttempt(sent, { kind: 'lost', message: '' })
  await rail.query(attempt)
  await rails.scheduler.runAll()
  const [answer] = rails.deliveriesOf(sent.orderId)
  expect(rail.readDelivery('result', answer?.body, attempt).evidence).toMatchObject({ kind: 'unknown' })
})

test('a status query that is refused because of the credential does not fail its payment', async () => {
  const { sent, attempt } = await play({ destination: '254711000001' })
  const expired = rails.daraja({ initiatorPassword: 'expired' }).payout
  await expired.query(attempt)
  await rails.scheduler.runAll()
  const [answer] = rails.deliveriesOf(sent.orderId)
  expect(answer?.body).toMatchObject({ Result: { ResultCode: 2001 } })
  expect(expired.readDelivery('result', answer?.body, attempt).evidence).toMatchObject({ kind: 'unknown', code: 'other_request' })
})

test('a payout with an expired initiator password fails by its result', async () => {
  const { payout: rail } = rails.daraja({ initiatorPassword: 'expired' })
  const sent = rails.payout()
  const attempt = payoutAttempt(sent, await rail.pay(sent))
  await rails.scheduler.runAll()
  const [answer] = rails.deliveriesOf(sent.orderId)
  expect(rail.readDelivery('result', answer?.body, attempt).evidence).toMatchObject({ kind: 'failed', providerCode: '2001' })
})

test('a B2B payout whose answer was lost cannot be queried, and says so', async () => {
  const { payout: rail } = rails.daraja()
  const sent = rails.payout({ rail: 'MPESA_B2B', destination: '400200', accountReference: 'A1' })
  expect(await rail.query(payoutAttempt(sent, { kind: 'lost', message: '' }))).toMatchObject({
    kind: 'unknown',
    code: 'no_reference',
  })
})

describe('nothing is sent for an instruction that the rail cannot carry out exactly', () => {
  test.each<[string, Partial<PayoutInstruction>, string]>([
    ['cents on M-PESA', { amountMinor: 50_050n }, 'invalid_amount'],
    ['nothing', { amountMinor: 0n }, 'invalid_amount'],
    ['a malformed phone', { destination: '0722000001' }, 'invalid_destination'],
    ['a malformed paybill', { rail: 'MPESA_B2B', destination: '12', accountReference: 'A1' }, 'invalid_destination'],
    [
      'a paybill account that would have to be cut',
      { rail: 'MPESA_B2B', destination: '400200', accountReference: '12345678901234' },
      'invalid_account_reference',
    ],
    [
      'a paybill account that would have to be altered',
      { rail: 'MPESA_B2B', destination: '400200', accountReference: 'A#1' },
      'invalid_account_reference',
    ],
    ['another rail', { rail: 'PESALINK' }, 'wrong_rail'],
  ])('%s', async (_name, fields, code) => {
    const before = rails.sandbox.orders().length
    expect(await rails.daraja().payout.pay(rails.payout(fields))).toMatchObject({ kind: 'refused', code, providerCode: null })
    expect(rails.sandbox.orders()).toHaveLength(before)
  })
})

test('a narrative that the provider would refuse is cleaned and cut, and the payment is sent', async () => {
  for (const narrative of ['é'.repeat(200), '<script>&', '', 'x', 'Kodi ya nyumba – Machi 🎉']) {
    expect(await rails.daraja().payout.pay(rails.payout({ narrative }))).toMatchObject({ kind: 'accepted' })
  }
  await rails.scheduler.runAll()
})

test('an order that comes again is the same to the byte, but for the credential, which is encrypted anew', async () => {
  const seen: { path: string; body: string }[] = []
  const provider = createServer((request, response) => {
    text(request).then((body) => {
      if (request.method === 'POST') seen.push({ path: request.url ?? '', body })
      const answer = request.method === 'POST' ? { errorCode: '500.002.1001' } : { access_token: 'token', expires_in: '3599' }
      response
        .writeHead(request.method === 'POST' ? 500 : 200, { 'content-type': 'application/json' })
        .end(JSON.stringify(answer))
    })
  })
  await new Promise<void>((ready) => provider.listen(0, '127.0.0.1', ready))
  const address = provider.address()
  const baseUrl = `http://127.0.0.1:${typeof address === 'object' && address ? address.port : 0}`
  const fingerprints: string[] = []
  const permission = {
    withinMs: 5_000,
    take: async (fingerprint: Buffer) => {
      fingerprints.push(fingerprint.toString('hex'))
      return true
    },
  }
  const sent = rails.payout({ narrative: 'Rent of March', permission })
  // Another process, a day later.
  for (const { payout } of [rails.daraja({ baseUrl }), rails.daraja({ baseUrl })]) {
    expect(await payout.pay(sent)).toMatchObject({ kind: 'lost', duplicate: true })
    rails.clock.advanceSeconds(86_400)
  }
  provider.close()
  const orders = seen.map(({ path, body }) => [path, body.replace(/"SecurityCredential":"[^"]+"/, '')])
  expect(orders).toHaveLength(2)
  expect(orders[1]).toEqual(orders[0])
  expect(JSON.parse(seen[0]?.body ?? '')).toMatchObject({ OriginatorConversationID: sent.orderId, Occassion: sent.reference })
  // A statement's text leads to the order, and to the paying account.
  expect(JSON.parse(seen[0]?.body ?? '').Remarks).toContain(`${sent.reference} ${sent.payer}`)
  expect(new Set(fingerprints).size).toBe(1)
})
