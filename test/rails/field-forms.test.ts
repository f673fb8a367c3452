import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { readPayoutDelivery } from '../../src/rails/daraja/payout.ts'
import { providerInstant, readSignedShillings, textField } from '../../src/rails/fields.ts'
import { startRails, type TestRails } from './harness.ts'

// Undocumented answers of providers, after public reports of other integrations.

type Answer = { status: number; body: unknown }

/** A provider that gives a token and answers everything else with the test's answers in turn. The last one repeats. */
let answers: Answer[] = []
const asked: { path: string; body: Record<string, string> }[] = []
const provider = createServer((request, response) => {
  const chunks: Buffer[] = []
  request.on('data', (chunk: Buffer) => chunks.push(chunk))
  request.on('end', () => {
    const isToken = request.url?.startsWith('/oauth') ?? false
    const text = Buffer.concat(chunks).toString()
    if (!isToken) asked.push({ path: request.url ?? '', body: JSON.parse(text || '{}') })
    const answer = isToken ? { status: 200, body: { access_token: 'good', expires_in: '3599' } } : answers[0]
    if (!isToken && answers.length > 1) answers.shift()
    response.writeHead(answer?.status ?? 500, { 'content-type': 'application/json' }).end(JSON.stringify(answer?.body))
  })
})
let rails: TestRails
beforeAll(async () => {
  rails = await startRails()
  await new Promise<void>((resolve) => provider.listen(0, '127.0.0.1', resolve))
})
afterAll(async () => {
  provider.close()
  await rails.close()
})
const daraja = (options = {}) =>
  rails.daraja({ baseUrl: `http://127.0.0.1:${(provider.address() as AddressInfo).port}`, ...options })

describe('an account', () => {
  test.each([
    ['-26.00', -2_600n],
    ['- 26', -2_600n],
    [-26, -2_600n],
    ['0.00', 0n],
    ['51200.00', 5_120_000n],
    ['--1', undefined],
    ['', undefined],
  ])('that holds %s', (text, amount) => {
    expect(readSignedShillings(text)).toBe(amount)
  })
  test('below zero is one of the balances', () => {
    const Value =
      'Working Account|KES|51200.00|51200.00|0.00|0.00&Utility Account|KES|830.50|830.50|0.00|0.00&Charges Paid Account|KES|-26.00|-26.00|0.00|0.00&Organization Settlement Account|KES|0.00|0.00|0.00|0.00'
    const body = { Result: { ResultCode: 0, ResultParameters: { ResultParameter: [{ Key: 'AccountBalance', Value }] } } }
    const read = daraja().account.readBalances(body)
    const balances = read && !('refused' in read) ? read : []
    expect(balances.reduce((sum, { availableMinor }) => sum + availableMinor, 0n)).toBe(5_200_450n)
    expect(balances).toHaveLength(4)
  })
})

describe('a list of what was paid in', () => {
  const nothing = { status: 200, body: { ResponseRefID: '6f0e', ResponseCode: '1001', ResponseMessage: 'No records found' } }
  const page = (...payments: object[]) => ({ status: 200, body: { ResponseCode: '1000', Response: [payments] } })
  const payment = (transactionId: string, trxDate: string) => ({ transactionId, trxDate, amount: '10.00', billreference: 'A' })
  const day = { start: new Date('2026-03-03T21:00:00Z'), end: new Date('2026-03-04T21:00:00Z') }
  const list = async (...given: Answer[]) => {
    answers = given
    return (await daraja().collection.listPaidIn(day))?.map(({ receipt, at }) => [receipt, at.toISOString()])
  }

  test('that has nothing is empty', async () => {
    expect(await list(nothing)).toEqual([])
  })
  test.each([
    ['2026-03-04T14:00:00+03:00', '2026-03-04T11:00:00.000Z'],
    ['2026-03-04T11:00:00Z', '2026-03-04T11:00:00.000Z'],
    ['2026-03-04 14:00:00', '2026-03-04T11:00:00.000Z'],
    ['2026-03-04T14:00:00', '2026-03-04T11:00:00.000Z'],
    ['20260304140000', '2026-03-04T11:00:00.000Z'],
  ])('at %s', async (text, at) => {
    expect(await list(page(payment('UKA0000001', text)), nothing)).toEqual([['UKA0000001', at]])
  })
  test('in pages of any length is read to its end, also when the last page comes again', async () => {
    const [one, two, three] = ['1', '2', '3'].map((n) => payment(`UKA000000${n}`, '2026-03-04 14:00:00'))
    asked.length = 0
    expect(await list(page(one ?? {}, two ?? {}), page(three ?? {}), nothing)).toHaveLength(3)
    expect(asked.map(({ body }) => body.OffSetValue)).toEqual(['0', '2', '3'])
    expect(await list(page(one ?? {}), page(one ?? {}))).toHaveLength(1)
  })
  test('with a reversal has its negative amount, which a prompt does not take for its payment', async () => {
    const back = { ...payment('UKA0000001', '2026-03-04 14:00:00'), amount: '-10.00' }
    answers = [page(back), nothing]
    expect(await daraja().collection.listPaidIn(day)).toMatchObject([{ receipt: 'UKA0000001', amountMinor: -1_000n }])
    answers = [page(back), nothing]
    const prompt = { ...rails.collection(), at: new Date('2026-03-04T11:00:00Z'), reference: 'A' }
    const attempt = { ...prompt, rail: 'MPESA_STK', provider: { request: null, conversation: null } } as const
    expect(await daraja().collection.query(attempt)).toMatchObject({ kind: 'unknown', code: 'unreadable' })
  })
  test('with an entry that cannot be read has the others, for a reader that skips it', async () => {
    const [good, bad] = [payment('UKA0000001', '2026-03-04 14:00:00'), payment('UKA0000002', '2026-02-31 14:00:00')]
    answers = [page(good, bad), nothing]
    expect(await daraja().collection.listPaidIn({ ...day, skipsUnreadable: true })).toMatchObject([{ receipt: 'UKA0000001' }])
    answers = [{ status: 500, body: {} }]
    expect(await daraja().collection.listPaidIn({ ...day, skipsUnreadable: true })).toBeUndefined()
  })
  test.each([
    ['an error', { status: 500, body: { errorCode: '500.003.02', errorMessage: 'System is busy' } }],
    ['a code that is not known', { status: 200, body: { ResponseCode: '1002' } }],
    ['a time that does not exist', page(payment('UKA0000001', '2026-02-31 14:00:00'))],
  ])('with %s is no list', async (_name, answer) => {
    expect(await list(answer, nothing)).toBeUndefined()
  })
})

test('a time without a zone is Nairobi’s, and a day that does not exist is none', () => {
  expect(providerInstant('2026-03-04T14:00:00')?.toISOString()).toBe('2026-03-04T11:00:00.000Z')
  expect(providerInstant('2026-03-04 14:00:00.5')?.toISOString()).toBe('2026-03-04T11:00:00.000Z')
  for (const unreadable of ['20260231140000', '2026-03-04 02:00:00 PM']) expect(providerInstant(unreadable)).toBeUndefined()
})

test('an id that JSON has rounded is none, because it would be the id of something else', () => {
  const read = (text: string) => textField(JSON.parse(text), 'id')
  expect([read('{"id":9007199254740991}'), read('{"id":12345678901234567890}')]).toEqual(['9007199254740991', undefined])
})

describe('the registration of our addresses', () => {
  const urls = { confirmation: 'https://pay.example.com/c', validation: 'https://pay.example.com/v' }
  const deposits = { shortcode: '174379', version: '2', pullNumber: null } as const
  const register = async (given: Answer[], more = {}) => {
    answers = given
    asked.length = 0
    const answer = await daraja({ deposits: { ...deposits, ...more } }).deposits?.register?.(urls)
    return answer?.problem ?? answer?.said ?? answer?.urls
  }
  const success = { status: 200, body: { ConversationID: '', OriginatorCoversationID: '', ResponseDescription: 'success' } }

  test.each<[string, Answer, string | RegExp]>([
    ['a sentence alone', success, 'registered'],
    ['a code of zeros', { status: 200, body: { ResponseCode: '00000000', ResponseDescription: 'success' } }, 'registered'],
    [
      'registered already',
      { status: 200, body: { ResponseDescription: 'URLs are already registered' } },
      'URLs are already registered',
    ],
    [
      'registered already, as an error',
      { status: 500, body: { errorCode: '500.003.1001', errorMessage: 'Urls are already registered' } },
      'Urls are already registered',
    ],
    [
      'another product',
      { status: 401, body: { errorCode: '401.003.01', errorMessage: 'Invalid API call as no apiproduct match found' } },
      /no apiproduct match found .*MPESA_C2B_VERSION/,
    ],
    ['nothing', { status: 502, body: {} }, 'The answer could not be understood.'],
  ])('answered by %s', async (_name, answer, said) => {
    const result = await register([answer])
    if (typeof said === 'string') expect(result).toBe(said)
    else expect(result).toMatch(said)
    expect(asked.map(({ path }) => path)).toEqual(['/mpesa/c2b/v2/registerurl'])
  })
  test('registers the list of payments although the addresses are registered already', async () => {
    const before = { status: 500, body: { errorCode: '500.003.1001', errorMessage: 'Urls are already registered' } }
    const listed = { status: 200, body: { ResponseStatus: '1000', ResponseDescription: 'Success' } }
    expect(await register([before, listed], { pullNumber: '254722000000' })).toBe('Urls are already registered')
    expect(asked.map(({ path }) => path)).toEqual(['/mpesa/c2b/v2/registerurl', '/pulltransactions/v1/register'])
  })
  test('goes to the version that a setting names, and registers the list of payments for a phone', async () => {
    const listed = { status: 200, body: { ResponseStatus: '1001', ResponseDescription: 'ShortCode already Registered' } }
    expect(await register([success, listed], { version: '1', pullNumber: '254722000000' })).toBe('registered')
    expect(asked).toMatchObject([
      { path: '/mpesa/c2b/v1/registerurl' },
      { path: '/pulltransactions/v1/register', body: { RequestType: 'Pull', NominatedNumber: '254722000000' } },
    ])
    const no = { status: 400, body: { errorCode: '400.002.02', errorMessage: 'Bad Request - Invalid NominatedNumber' } }
    const problem = 'M-PESA did not register the list of payments: Bad Request - Invalid NominatedNumber'
    expect(await register([success, no], { pullNumber: '254722000000' })).toBe(problem)
  })
})

describe('a refusal at once', () => {
  test.each<[string, Answer, object]>([
    [
      'a subscriber who is locked',
      {
        status: 500,
        body: {
          errorCode: '500.001.1001',
          errorMessage: 'Unable to lock subscriber, a transaction is already in process for the current subscriber',
        },
      },
      { code: 'payer_busy', message: expect.stringMatching(/^Unable to lock subscriber/) },
    ],
    [
      'a code of a failure',
      { status: 200, body: { ResponseCode: '1025', ResponseDescription: 'An error occurred while sending a push request' } },
      { code: 'prompt_not_delivered' },
    ],
    [
      'a product that the app has not',
      { status: 401, body: { errorCode: '401.003.01', errorMessage: 'Invalid API call as no apiproduct match found' } },
      { code: 'provider_refused', message: 'Invalid API call as no apiproduct match found' },
    ],
  ])('of a prompt, for %s, ends it with the sentence of the provider', async (_name, answer, refusal) => {
    answers = [answer]
    expect(await daraja().collection.collect(rails.collection())).toMatchObject({ kind: 'refused', ...refusal })
  })
  test('that may have reached the phone is none', async () => {
    answers = [{ status: 500, body: { errorCode: '500.001.1001', errorMessage: 'Server Error' } }]
    expect(await daraja().collection.collect(rails.collection())).toMatchObject({ kind: 'lost' })
  })
})

describe('a result at the secret address of a payout', () => {
  const order = '0192f0c4-5b1e-8cc3-9a53-000000000001'
  const attempt = (request: string | null) =>
    ({ orderId: order, rail: 'MPESA_B2C', reference: '500000000001', provider: { request, conversation: 'AG_1' } }) as const
  const result = (request: string, conversation: string, more = {}) => ({
    Result: {
      ResultType: 0,
      ResultCode: 0,
      OriginatorConversationID: request,
      ConversationID: conversation,
      TransactionID: 'UKP7QW2ZX1',
      ResultParameters: {
        ResultParameter: [
          { Key: 'TransactionReceipt', Value: 'UKP7QW2ZX1' },
          { Key: 'TransactionAmount', Value: 90 },
        ],
      },
      ...more,
    },
  })
  const evidence = (request: string | null, body: unknown) => readPayoutDelivery('result', body, attempt(request)).evidence
  const paid = { kind: 'succeeded', receipt: 'UKP7QW2ZX1', amountMinor: 9_000n }
  test.each<[string, string | null, unknown, object]>([
    ["the gateway's id and the conversation", order, result('0c1d-4e2f', 'AG_1'), paid],
    ['our id, where the gateway had answered with its own', '0c1d-4e2f', result(order, 'AG_2'), paid],
    ['no id that is known', order, result('x', 'y'), paid],
    [
      'no id that is known, and a failure',
      order,
      result('x', 'y', { ResultCode: 1 }),
      { kind: 'unknown', code: 'other_request' },
    ],
    ['the conversation alone, and a failure', order, result('x', 'AG_1', { ResultCode: 1 }), { kind: 'failed' }],
    ['no receipt', order, result(order, 'AG_1', { TransactionID: '', ResultParameters: {} }), { kind: 'unknown', moved: true }],
    ['no amount', order, result(order, 'AG_1', { ResultParameters: {} }), { kind: 'unknown', moved: true }],
  ])('that names %s', (_name, request, body, expected) => {
    expect(evidence(request, body)).toMatchObject(expected)
  })
})
