import { generateKeyPairSync } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Fault } from '../../src/dev/sandbox/gateway.ts'
import type { PayoutInstruction } from '../../src/rails/rail.ts'
import { kinds, payoutAttempt, startRails, type TestRails } from './harness.ts'

let rails: TestRails
beforeAll(async () => {
  rails = await startRails()
})
afterAll(() => rails.close())

const toAccount = (fields: Partial<PayoutInstruction> = {}) =>
  rails.payout({ rail: 'PESALINK', destination: '0011547896523', bankCode: '0012', amountMinor: 150_075n, ...fields })

const play = async (fields: Partial<PayoutInstruction>) => {
  const rail = rails.pesalink()
  const sent = toAccount(fields)
  const submission = await rail.pay(sent)
  const attempt = payoutAttempt(sent, submission)
  const underWay = await rail.query(attempt)
  await rails.scheduler.runAll()
  const deliveries = rails.deliveriesOf(sent.orderId)
  const evidence = deliveries
    .filter((each) => each.authentic)
    .map((each) => rail.readDelivery(each.kind, each.body, attempt).evidence)
  return {
    rail,
    sent,
    submission,
    attempt,
    underWay,
    evidence,
    moved: rails.sandbox.movements().filter((each) => each.key === sent.reference),
  }
}

test('a transfer with cents reaches an account once, proven by delivery and by query alike', async () => {
  const { rail, submission, attempt, underWay, evidence, moved } = await play({})
  expect(submission).toMatchObject({ kind: 'accepted', provider: { request: attempt.reference } })
  expect(underWay).toEqual({ kind: 'pending' })
  expect(moved).toMatchObject([{ rail: 'PESALINK', amountMinor: 150_075n, party: '0011547896523' }])
  const proof = { kind: 'succeeded', receipt: moved[0]?.receipt, amountMinor: 150_075n }
  expect(evidence).toEqual([proof])
  expect(await rail.query(attempt)).toEqual(proof)
})

test('a transfer without a bank code goes to a phone', async () => {
  const { evidence, moved } = await play({ destination: '254722000003', bankCode: null })
  expect(kinds(evidence)).toEqual(['succeeded'])
  expect(moved).toMatchObject([{ party: '254722000003' }])
})

test('a documented failure code fails the transfer', async () => {
  const { rail, attempt, evidence, moved } = await play({ destination: '99990001' })
  expect(evidence).toMatchObject([{ kind: 'failed', providerCode: '1' }])
  expect(await rail.query(attempt)).toMatchObject({ kind: 'failed', providerCode: '1' })
  expect(moved).toEqual([])
})

test('a failure code that the bank does not document is unknown', async () => {
  const { rail, attempt, evidence } = await play({ destination: '99995555' })
  expect(evidence).toMatchObject([{ kind: 'unknown', code: '5555' }])
  expect(await rail.query(attempt)).toMatchObject({ kind: 'unknown' })
})

test('a submit whose answer is lost is found by its reference, and is in the bank’s ledger once', async () => {
  const { rail, submission, attempt, moved } = await play({ destination: '254711000004', bankCode: null })
  expect(submission).toMatchObject({ kind: 'lost' })
  expect(await rail.query(attempt)).toMatchObject({ kind: 'succeeded' })
  expect(moved).toHaveLength(1)
})

test('our own reference in a success is no receipt', async () => {
  const { rail, attempt } = await play({})
  const answered = (more: object) => {
    const data = { transactionReference: attempt.reference, state: 'SUCCESS', amount: '500.00', ...more }
    rails.sandbox.failNext({ kind: 'answer', takesEffect: false, status: 200, body: { status: true, code: 0, data } })
    return rail.query(attempt)
  }
  expect(await answered({})).toMatchObject({ kind: 'unknown', code: 'no_receipt', moved: true })
  expect(await answered({ transactionId: 'BANK000001' })).toMatchObject({ kind: 'succeeded', receipt: 'BANK000001' })
})

test('a transfer that is sent twice is paid once, and the second request counts as lost', async () => {
  const { rail, sent } = await play({})
  expect(await rail.pay(sent)).toMatchObject({ kind: 'lost' })
  await rails.scheduler.runAll()
  expect(rails.sandbox.movements().filter((movement) => movement.key === sent.reference)).toHaveLength(1)
})

test('a reference that the bank does not know is unknown, never failed', async () => {
  const sent = toAccount()
  expect(await rails.pesalink().query(payoutAttempt(sent, { kind: 'lost', message: '' }))).toMatchObject({
    kind: 'unknown',
    code: '404101',
  })
})

test('a signature by another key is refused', async () => {
  const { privateKey: privateKeyPem } = generateKeyPairSync('rsa', {
    modulusLength: 2048,
    publicKeyEncoding: { type: 'spki', format: 'pem' },
    privateKeyEncoding: { type: 'pkcs8', format: 'pem' },
  })
  expect(await rails.pesalink({ privateKeyPem }).pay(toAccount())).toMatchObject({ kind: 'refused', providerCode: '900101' })
})

test('bank codes are translated to the bank’s own, and one that is not in the table is refused', async () => {
  const rail = rails.pesalink({ bankCodes: { '0012': '12' } })
  expect(await rail.pay(toAccount({ bankCode: '0012' }))).toMatchObject({ kind: 'accepted' })
  expect(await rail.pay(toAccount({ bankCode: '0099' }))).toMatchObject({ kind: 'refused', code: 'invalid_destination' })
  expect(await rail.pay(toAccount({ bankCode: 'constructor' }))).toMatchObject({ kind: 'refused', code: 'invalid_destination' })
})

test('if the bank has no delivery URL, a query finds the outcome', async () => {
  const rail = rails.pesalink({ callbackField: null })
  const sent = toAccount()
  const attempt = payoutAttempt(sent, await rail.pay(sent))
  await rails.scheduler.runAll()
  expect(rails.deliveriesOf(sent.orderId)).toEqual([])
  expect(await rail.query(attempt)).toMatchObject({ kind: 'succeeded' })
})

test('a token that was revoked is renewed once, and the transfer is sent once', async () => {
  const rail = rails.pesalink()
  await rail.pay(toAccount())
  rails.sandbox.tokens.PESALINK.revokeAll()
  const sent = toAccount()
  expect(await rail.pay(sent)).toMatchObject({ kind: 'accepted' })
  expect(rails.sandbox.orders().filter((order) => order.key === sent.reference)).toHaveLength(1)
})

const refusal = (status: number, code: number, message: string): Fault => ({
  kind: 'answer',
  takesEffect: false,
  status,
  body: { status: false, code, message },
})
const answeredWith = async (fault: Fault) => {
  const rail = rails.pesalink({ failureCodes: ['400104'] })
  await rail.query(payoutAttempt(toAccount(), { kind: 'lost', message: '' }))
  rails.sandbox.failNext(fault)
  return rail.pay(toAccount())
}

test.each([
  [400, 400_101, 'Duplicate Transaction/ Payment Reference'],
  [400, 400_109, 'Failed, destination bank error. Duplicate transmission'],
  [409, 409, 'x'],
])('%s with the code %s says that the bank has the order: it is lost, and a duplicate', async (status, code, message) => {
  expect(await answeredWith(refusal(status, code, message))).toMatchObject({ kind: 'lost', duplicate: true })
})

test.each([
  [403, 900_101, 'Invalid signature'],
  [400, 400_400, 'Request contains errors, could not be parsed'],
  [403, 401_202, 'Merchant account used cannot be found/is inactive'],
  [400, 400_104, 'Failed, insufficient funds'],
])('%s with the code %s, of the gateway or documented as a failure, is a refusal', async (status, code, message) => {
  expect(await answeredWith(refusal(status, code, message))).toMatchObject({
    kind: 'refused',
    providerCode: String(code),
    message,
  })
})

describe('an answer that is not clear counts as lost', () => {
  test.each<[string, Fault]>([
    ['a reset', { kind: 'reset', takesEffect: true }],
    [
      'an answer of more than 8 MiB',
      {
        ...{ kind: 'answer', takesEffect: false, status: 200 },
        body: { status: true, code: 0, data: { transactionId: 'BANK000002', status: 'SUCCESS', padding: ' '.repeat(8 << 20) } },
      },
    ],
    ['a page', { kind: 'answer', takesEffect: false, status: 502, body: '<html>', contentType: 'text/html' }],
    ['a page with 400', { kind: 'answer', takesEffect: false, status: 400, body: '<html>', contentType: 'text/html' }],
    [
      'status false with 200',
      { kind: 'answer', takesEffect: false, status: 200, body: { status: false, code: 1, message: 'x' } },
    ],
    ['a 500', { kind: 'answer', takesEffect: false, status: 500, body: { status: false, code: 500, message: 'x' } }],
    ['a timeout behind the bank', refusal(400, 100_210, 'Failed, transaction timed out')],
    ['a general error', refusal(400, 400_105, 'Failed, general error')],
    ['an error of another system', refusal(400, 500_200, 'Downstream system processing error')],
    ['a code that nobody documents', refusal(422, 12_345, 'x')],
    ['a rejection with 200', refusal(200, 900_101, 'Invalid signature')],
    ['a hang', { kind: 'hang', takesEffect: true }],
  ])('%s', async (_name, fault) => {
    rails.sandbox.failNext({ kind: 'answer', takesEffect: false, status: 200, body: {} })
    const rail = rails.pesalink({ timeoutMs: 1_500 })
    await rail.query(payoutAttempt(toAccount(), { kind: 'lost', message: '' }))
    rails.sandbox.failNext(fault)
    expect(await rail.pay(toAccount())).toMatchObject({ kind: 'lost' })
  })
})

describe('nothing is sent for an instruction that the rail cannot carry out exactly', () => {
  test.each<[string, Partial<PayoutInstruction>]>([
    ['nothing', { amountMinor: 0n }],
    ['a short reference', { reference: '123' }],
    ['a malformed account', { destination: '12-34' }],
    ['a malformed phone', { destination: '0722000003', bankCode: null }],
    ['another rail', { rail: 'MPESA_B2C' }],
  ])('%s', async (_name, fields) => {
    const before = rails.sandbox.orders().length
    expect(await rails.pesalink().pay(toAccount(fields))).toMatchObject({ kind: 'refused' })
    expect(rails.sandbox.orders()).toHaveLength(before)
  })
})
