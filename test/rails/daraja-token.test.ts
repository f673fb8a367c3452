import { afterEach, beforeEach, expect, test } from 'vitest'
import { startRails, type TestRails } from './harness.ts'

let rails: TestRails
beforeEach(async () => {
  rails = await startRails()
})
afterEach(() => rails.close())

test('any number of requests at once fetch one token', async () => {
  const { payout, collection } = rails.daraja()
  const sent = await Promise.all([
    ...Array.from({ length: 10 }, () => payout.pay(rails.payout())),
    ...Array.from({ length: 10 }, () => collection.collect(rails.collection())),
  ])
  expect(sent.every((each) => each.kind === 'accepted')).toBe(true)
  expect(rails.sandbox.tokens.MPESA.issued()).toBe(1)
})

test('a token is renewed before it ends', async () => {
  const { payout } = rails.daraja()
  await payout.pay(rails.payout())
  rails.clock.advanceSeconds(3_500)
  await payout.pay(rails.payout())
  expect(rails.sandbox.tokens.MPESA.issued()).toBe(1)
  rails.clock.advanceSeconds(60)
  await payout.pay(rails.payout())
  expect(rails.sandbox.tokens.MPESA.issued()).toBe(2)
})

test('a token that was revoked is renewed once, and the payment is sent once', async () => {
  const { payout } = rails.daraja()
  await payout.pay(rails.payout())
  rails.sandbox.tokens.MPESA.revokeAll()
  expect(await payout.pay(rails.payout({ destination: '254733000010' }))).toMatchObject({ kind: 'accepted' })
  await rails.scheduler.runAll()
  expect(rails.movementsTo('254733000010')).toHaveLength(1)
  expect(rails.sandbox.tokens.MPESA.issued()).toBe(2)
})

test('with a gateway that refuses every token nothing is sent, and the token is not requested without end', async () => {
  const refusal = {
    kind: 'answer',
    takesEffect: false,
    status: 401,
    body: { errorCode: '401.003.01', errorMessage: 'x' },
  } as const
  rails.sandbox.failNext(refusal)
  rails.sandbox.failNext(refusal)
  expect(await rails.daraja().payout.pay(rails.payout())).toMatchObject({ kind: 'not_sent', code: 'token_refused' })
  expect(rails.sandbox.tokens.MPESA.issued()).toBe(2)
  expect(rails.sandbox.orders()).toEqual([])
})

test('wrong application credentials send nothing', async () => {
  const { payout, collection } = rails.daraja({ consumerSecret: 'wrong' })
  expect(await payout.pay(rails.payout())).toMatchObject({ kind: 'not_sent', code: 'token_unavailable' })
  expect(await collection.collect(rails.collection())).toMatchObject({ kind: 'not_sent', code: 'token_unavailable' })
  expect(rails.sandbox.orders()).toEqual([])
})

test('an invalid certificate is found when the rail is built, not at the first payment', () => {
  expect(() => rails.daraja({ certificatePem: 'nonsense' })).toThrow()
  expect(() => rails.pesalink({ privateKeyPem: 'nonsense' })).toThrow()
})
