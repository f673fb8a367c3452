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

const balances = (body: unknown) => {
  const read = rails.daraja().account.readBalances(body)
  return read && !('refused' in read) ? read : []
}

test('the queried balance is the money that came in less the money that went out', async () => {
  const { account, payout } = rails.daraja()
  expect(account.numbers).toEqual(['174379', payingOut, '600997'])
  const before = rails.payout()
  expect(await account.requestBalances(payingOut, before.callbacks)).toMatchObject({ kind: 'accepted' })
  const [held] = balances(await answerTo(before.orderId))
  expect(held).toMatchObject({ account: 'Working Account', currency: 'KES' })
  const paid = rails.payout({ amountMinor: 70_000n })
  await payout.pay(paid)
  await rails.scheduler.runAll()
  const after = rails.payout()
  await account.requestBalances(payingOut, after.callbacks)
  const [left] = balances(await answerTo(after.orderId))
  expect((held?.availableMinor ?? 0n) - (left?.availableMinor ?? 0n)).toBe(70_000n)
})

test('the balance of a paybill that only receives deposits is queried too', () => {
  const deposits = { shortcode: '600777', version: '2', pullNumber: null } as const
  expect(rails.daraja({ deposits }).account.numbers).toEqual(['174379', payingOut, '600997', '600777'])
})

test.each([
  ['nothing', undefined],
  [
    'an account without an amount',
    { Result: { ResultCode: 0, ResultParameters: { ResultParameter: { Key: 'AccountBalance', Value: 'Working Account|KES' } } } },
  ],
])('a balance is not read from %s', (_, body) => {
  expect(rails.daraja().account.readBalances(body)).toBeUndefined()
})

test("a query with an expired initiator password is refused with the provider's code", async () => {
  const { account } = rails.daraja({ initiatorPassword: 'an old one' })
  const { orderId, callbacks } = rails.payout()
  await account.requestBalances(payingOut, callbacks)
  expect(account.readBalances(await answerTo(orderId))).toEqual({ refused: '2001' })
})
