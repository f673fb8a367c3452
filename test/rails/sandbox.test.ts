import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { forgedUrl } from '../../src/dev/sandbox/deliver.ts'
import { createTimerScheduler } from '../../src/dev/sandbox/scheduler.ts'
import { createManualScheduler } from '../harness/manual-scheduler.ts'
import { startRails, type TestRails } from './harness.ts'

let rails: TestRails
beforeAll(async () => {
  rails = await startRails()
})
afterAll(() => rails.close())

const token = async (): Promise<string> => {
  const { consumerKey, consumerSecret } = rails.sandbox.options('').MPESA
  const authorization = `Basic ${Buffer.from(`${consumerKey}:${consumerSecret}`).toString('base64')}`
  const response = await rails.sandbox.app.inject({
    url: '/oauth/v1/generate?grant_type=client_credentials',
    headers: { authorization },
  })
  return response.json().access_token
}

const post = async (path: string, payload: object | string, headers?: Record<string, string>) => {
  const authorization = headers ?? { authorization: `Bearer ${await token()}` }
  return rails.sandbox.app.inject({
    method: 'POST',
    url: path,
    headers: { 'content-type': 'application/json', ...authorization },
    payload,
  })
}

const b2c = {
  OriginatorConversationID: 'one',
  InitiatorName: 'sandboxapi',
  SecurityCredential: 'AAAA',
  CommandID: 'BusinessPayment',
  Amount: '10',
  PartyA: '600998',
  PartyB: '254722000001',
  Remarks: 'ok',
  QueueTimeOutURL: 'http://127.0.0.1/t',
  ResultURL: 'http://127.0.0.1/r',
}

describe('the sandbox refuses what the provider would refuse', () => {
  test('a request without or with a wrong token', async () => {
    expect((await post('/mpesa/b2c/v3/paymentrequest', b2c, {})).json()).toMatchObject({ errorCode: '404.001.04' })
    expect((await post('/mpesa/b2c/v3/paymentrequest', b2c, { authorization: 'Bearer x' })).json()).toMatchObject({
      errorCode: '404.001.03',
    })
  })

  test('a body that is not JSON', async () => {
    expect((await post('/mpesa/b2c/v3/paymentrequest', '{')).json()).toMatchObject({ errorCode: '400.002.05' })
  })

  test.each(Object.keys(b2c))('a payout without %s', async (name) => {
    const answer = await post('/mpesa/b2c/v3/paymentrequest', { ...b2c, [name]: undefined })
    expect(answer.json()).toMatchObject({ errorCode: '400.002.02', errorMessage: expect.stringContaining(name) })
  })

  test.each([
    { Amount: '9' },
    { Amount: '250001' },
    { Amount: '10.5' },
    { PartyB: '254122' },
    { Remarks: 'x' },
    { Remarks: 'x'.repeat(101) },
    { ResultURL: 'ftp://x' },
    { CommandID: 'Gift' },
    { ResultURL: 'https://pay.example/callbacks/SQL/result' },
    { QueueTimeOutURL: 'https://pay.example/callbacks/exe/timeout' },
  ])('a payout with %o', async (field) => {
    expect((await post('/mpesa/b2c/v3/paymentrequest', { ...b2c, ...field })).statusCode).toBe(400)
  })

  test('a prompt whose reference or description is too long', async () => {
    const { shortcode } = rails.sandbox.options('').MPESA
    const push = {
      BusinessShortCode: shortcode,
      Password: 'x',
      Timestamp: '20260401003005',
      TransactionType: 'CustomerPayBillOnline',
      Amount: 1,
      PartyA: '254722000001',
      PartyB: shortcode,
      PhoneNumber: '254722000001',
      CallBackURL: 'http://127.0.0.1/r',
      AccountReference: 'x'.repeat(12),
      TransactionDesc: 'x'.repeat(13),
    }
    const path = '/mpesa/stkpush/v1/processrequest'
    expect((await post(path, push)).json()).toMatchObject({ errorMessage: 'Wrong credentials' })
    expect((await post(path, { ...push, AccountReference: 'x'.repeat(13) })).statusCode).toBe(400)
    expect((await post(path, { ...push, TransactionDesc: 'x'.repeat(14) })).statusCode).toBe(400)
  })
})

test('a forged URL differs from the real one only in its secret, and keeps its length', () => {
  const real = 'http://127.0.0.1:3001/callbacks/0192f0c4-5b1e-7cc3-9a53-3f0f6a9d1b11/5f3c9a1b7d27e0f4a8c6b2/result'
  const forged = forgedUrl(real)
  expect(forged).toMatch(/^http:\/\/127\.0\.0\.1:3001\/callbacks\/0192f0c4-5b1e-7cc3-9a53-3f0f6a9d1b11\/[ab]{22}\/result$/)
  expect(forged).toHaveLength(real.length)
})

test('a delivery without a receiver is lost without harm', async () => {
  const { payout } = rails.daraja()
  const nowhere = { result: 'http://127.0.0.1:9/r', timeout: 'http://127.0.0.1:9/t' }
  expect(await payout.pay(rails.payout({ callbacks: nowhere, destination: '254733000011' }))).toMatchObject({ kind: 'accepted' })
  await rails.scheduler.runAll()
  expect(rails.movementsTo('254733000011')).toHaveLength(1)
})

test('manual time runs tasks in the order in which they fall due, and what they schedule too', async () => {
  const scheduler = createManualScheduler()
  const ran: string[] = []
  const note = (name: string) => async () => {
    ran.push(name)
  }
  scheduler.after(20, note('second'))
  scheduler.after(10, async () => {
    ran.push('first')
    scheduler.after(5, note('between'))
  })
  await scheduler.runDue(10)
  expect(ran).toEqual(['first'])
  await scheduler.runDue(10)
  expect(ran).toEqual(['first', 'between', 'second'])
  scheduler.after(1, note('never'))
  scheduler.close()
  await scheduler.runAll()
  expect(ran).toHaveLength(3)
})

test('real time runs a task once and forgets everything when it is closed', () => {
  vi.useFakeTimers()
  try {
    const scheduler = createTimerScheduler()
    const task = vi.fn(async () => {})
    scheduler.after(1_000, task)
    vi.advanceTimersByTime(1_000)
    scheduler.after(1_000, task)
    scheduler.close()
    vi.advanceTimersByTime(5_000)
    expect(task).toHaveBeenCalledTimes(1)
  } finally {
    vi.useRealTimers()
  }
})
