import { afterAll, afterEach, beforeAll, expect, test } from 'vitest'
import type { NameQuery } from '../../src/rails/rail.ts'
import { startRails, type TestRails } from './harness.ts'

let rails: TestRails
beforeAll(async () => {
  rails = await startRails()
})
afterAll(() => rails.close())
afterEach(() => rails.sandbox.rules.clear())

const phone = '254722100001'
const account = { rail: 'PESALINK', destination: '1300100100', bankCode: '57', isPaybill: false } as const
const mobile = { rail: 'MPESA_B2C', destination: phone, bankCode: null, isPaybill: false } as const
const paybill = { rail: 'MPESA_B2B', destination: '300100', bankCode: null, isPaybill: true } as const
const till = { rail: 'MPESA_B2B', destination: '5300100', bankCode: null, isPaybill: false } as const

const lookUp = (query: NameQuery, options: { timeoutMs?: number } = {}) => {
  const adapter = query.rail === 'PESALINK' ? rails.pesalink(options) : rails.daraja(options).payout
  if (!adapter.lookUp) throw new Error(`${query.rail} is not asked for names`)
  return adapter.lookUp(query)
}

test.each([
  [mobile, 'WANJIRU N**** K****'],
  [paybill, 'OTIENO HARDWARE LTD'],
  [till, 'MAMA NGINA GROCERS'],
  [account, 'WANJIRU NJERI KAMAU'],
  [{ ...account, destination: '254722100002', bankCode: null }, 'OTIENO OKOTH ODHIAMBO'],
] as const)('the name behind %o is %s, and no money moves', async (query, name) => {
  rails.sandbox.names.set({ party: '254722100002', name: 'OTIENO OKOTH ODHIAMBO' })
  expect(await lookUp(query)).toEqual({ kind: 'named', name })
  expect(rails.sandbox.orders()).toEqual([])
})

test.each([mobile, paybill, account])('a number that nobody has, %o, has no name', async (query) => {
  const free = { ...query, destination: query.rail === 'MPESA_B2C' ? '254722199999' : '999998' }
  expect(await lookUp(free)).toEqual({ kind: 'nameless' })
})

test.each([
  [mobile, 'name_masked', 'W****** N**** K****'],
  [mobile, 'name_swapped', 'KAMAU N**** W******'],
  [mobile, 'name_other', 'JANE D**'],
  [paybill, 'name_ok', 'OK'],
  [account, 'name_swapped', 'KAMAU NJERI WANJIRU'],
] as const)('%o under %s gives %s', async (query, effect, name) => {
  rails.sandbox.rules.add({ effect, times: 1, delay_ms: 0 })
  expect(await lookUp(query)).toEqual({ kind: 'named', name })
})

test.each([mobile, paybill, account])('an outage, a late answer and a refused token of %o are no answer', async (query) => {
  rails.sandbox.rules.add({ effect: 'name_outage', times: 1, delay_ms: 0 })
  expect(await lookUp(query)).toEqual({ kind: 'unreachable' })
  rails.sandbox.rules.add({ effect: 'name_late', times: 1, delay_ms: 400 })
  expect(await lookUp(query, { timeoutMs: 150 })).toEqual({ kind: 'unreachable' })
})

test('a fault that is meant for a payment is not spent on a query for a name', async () => {
  rails.sandbox.failNext({ kind: 'reset', takesEffect: false })
  rails.sandbox.rules.add({ effect: 'error_500', times: 1, delay_ms: 0 })
  expect(await lookUp(mobile)).toMatchObject({ kind: 'named' })
  const sent = rails.payout({ destination: phone })
  expect((await rails.daraja().payout.pay(sent)).kind).toBe('lost')
})

test('a bank whose path for names is not known is not asked', () => {
  expect(rails.pesalink({ lookUpPath: null }).lookUp).toBeNull()
})
