import { afterAll, beforeAll, expect, test } from 'vitest'
import { startRails, type TestRails } from './harness.ts'

let rails: TestRails
beforeAll(async () => {
  rails = await startRails()
})
afterAll(() => rails.close())

const payingOut = '600998'
const answerTo = async (orderId: string): Promise<unknown> => {
  await rails.scheduler.runAll()
  return rails.deliveriesOf(orderId).at(-1)?.body
}

test('the queried balance is the money that came in less the money that went out', async () => {
  const { account, payout } = rails.daraja()
  expect(account.numbers).toEqual(['174379', payingOut, '600997'])
  const before = rails.payout()
  expect(await account.requestBalances(payingOut, before.callbacks)).toMatchObject({ kind: 'accepted' })
  const [held] = account.readBalances(await answerTo(before.orderId)) ?? []
  expect(held).toMatchObject({ account: 'Working Account', currency: 'KES' })
  const paid = rails.payout({ amountMinor: 70_000n })
  await payout.pay(paid)
  await rails.scheduler.runAll()
  const after = rails.payout()
  await account.requestBalances(payingOut, after.callbacks)
  const [left] = account.readBalances(await answerTo(after.orderId)) ?? []
  expect((held?.availableMinor ?? 0n) - (left?.availableMinor ?? 0n)).toBe(70_000n)
})

test.each([
  ['a failure', { Result: { ResultCode: 2001, ResultDesc: 'no' } }],
  ['nothing', undefined],
  [
    'an account without an amount',
    { Result: { ResultCode: 0, ResultParameters: { ResultParameter: { Key: 'AccountBalance', Value: 'Working Account|KES' } } } },
  ],
])('a balance is not read from %s', (_, body) => {
  expect(rails.daraja().account.readBalances(body)).toBeUndefined()
})

test('an incoming payment is reversed whole and once, and another amount or receipt proves nothing', async () => {
  const { account, collection } = rails.daraja()
  const instruction = rails.collection({ amountMinor: 50_000n })
  await collection.collect(instruction)
  await rails.scheduler.runAll()
  const receipt = rails.sandbox.movements().at(-1)?.receipt ?? ''
  const reversed = async (fields: object) => {
    const { orderId, callbacks } = rails.payout()
    const sent = await account.reverse({ receipt, amountMinor: 50_000n, callbacks, ...fields })
    expect(sent).toMatchObject({ kind: 'accepted' })
    return account.readReversal(await answerTo(orderId))
  }
  const balance = async () => {
    const { orderId, callbacks } = rails.payout()
    await account.requestBalances('174379', callbacks)
    return account.readBalances(await answerTo(orderId))?.[0]?.availableMinor
  }
  const before = (await balance()) ?? 0n
  expect(await reversed({})).toMatchObject({ kind: 'returned', receipt })
  expect(await balance()).toBe(before - 50_000n)
  expect(await reversed({})).toMatchObject({ kind: 'unknown', code: 'R000001' })
  expect(await balance()).toBe(before - 50_000n)
  await collection.collect(rails.collection({ amountMinor: 50_000n }))
  await rails.scheduler.runAll()
  const other = rails.sandbox.movements().at(-1)?.receipt
  expect(await reversed({ receipt: other, amountMinor: 40_000n })).toMatchObject({ kind: 'unknown', code: '2032' })
  expect(await reversed({ receipt: 'NOSUCHONE1' })).toMatchObject({ kind: 'unknown', code: '2032' })
  await expect(reversed({ amountMinor: 50n })).rejects.toThrow('whole shillings')
})

test('a query with an expired initiator password has no result', async () => {
  const { account } = rails.daraja({ initiatorPassword: 'an old one' })
  const { orderId, callbacks } = rails.payout()
  await account.requestBalances(payingOut, callbacks)
  expect(account.readBalances(await answerTo(orderId))).toBeUndefined()
})
