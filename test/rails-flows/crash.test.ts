import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { credit } from '../harness/money.ts'
import { type Person, signIn } from '../harness/people.ts'
import { startService, type TestService } from '../harness/service.ts'
import { alerts, balanceOf, initiate, isLedgerSound, movementsTo, ordersTo, pass, pay, paymentOf, topupOf } from './scene.ts'

let first: TestService
let second: TestService | undefined
let person: Person
beforeEach(async () => {
  first = await startService()
  person = await signIn(first.api)
})
afterEach(async () => {
  if (second) expect(await isLedgerSound(second)).toBe(true)
  await second?.close()
  second = undefined
  await first.sandbox.close()
  await first.database.drop()
})

/**
 * The process dies while the provider delays its answer: the intent is committed, the result never is. Its successor has the same database,
 * clock, provider and address.
 */
const dieWhileSending = async (party: string, takesEffect: boolean): Promise<TestService> => {
  first.sandbox.failNext({ kind: 'hang', takesEffect })
  first.deps.jobs.drain().catch(() => undefined)
  await vi.waitFor(async () => {
    const rows = await first.deps.db.query(`select from rail_attempts where state = 'sending'`)
    expect([rows.length, ordersTo(first, party).length]).toEqual([1, takesEffect ? 1 : 0])
  })
  await first.stop()
  second = await startService({
    database: first.database,
    clock: first.clock,
    provider: first,
    env: { OPERATOR_PORT: new URL(first.operatorUrl).port },
  })
  person = { ...person, api: second.api.as({ cookie: person.cookie }) }
  return second
}

test("a top-up whose process was killed between intent and answer has one prompt, and is credited on the provider's evidence", async () => {
  const id = await initiate(person, '254722000021')
  const successor = await dieWhileSending('254722000021', true)
  await successor.deps.jobs.sweep()
  await successor.deps.jobs.drain()
  expect((await topupOf(person, id)).status).toBe('pending')
  await pass(successor, 121)
  expect((await topupOf(person, id)).status).toBe('succeeded')
  expect(ordersTo(successor, '254722000021')).toHaveLength(1)
  expect(await balanceOf(person)).toEqual({ available: '150000', held: '0' })
})

test('a payment whose process was killed after it was sent is never sent again: it is unknown, queried and settled', async () => {
  await credit(first, person.accountId, 1_000_000n)
  const id = await pay(person, { payment_rail: 'MPESA_B2C', destination: '254711000001' })
  const successor = await dieWhileSending('254711000001', true)
  await successor.deps.jobs.sweep()
  await successor.deps.jobs.drain()
  expect((await paymentOf(person, id)).status).toBe('processing')
  successor.clock.advance(121)
  await successor.deps.jobs.sweep()
  expect((await paymentOf(person, id)).status).toBe('unknown')
  expect(alerts(successor)).toEqual(['payment_unknown'])
  expect((await balanceOf(person)).held).toBe('150000')
  await successor.settle()
  expect((await paymentOf(person, id)).status).toBe('succeeded')
  expect(ordersTo(successor, '254711000001')).toHaveLength(1)
  expect(movementsTo(successor, '254711000001')).toHaveLength(1)
})

test('a payment whose process was killed before it was sent is not sent by its successor: the outcome is unknown, so a person decides', async () => {
  await credit(first, person.accountId, 1_000_000n)
  const id = await pay(person, { payment_rail: 'MPESA_B2C', destination: '254722000022' })
  const successor = await dieWhileSending('254722000022', false)
  await pass(successor, 121)
  for (let hour = 0; hour < 48; hour += 6) await pass(successor, 21_600)
  expect((await paymentOf(person, id)).status).toBe('unknown')
  expect(ordersTo(successor, '254722000022')).toHaveLength(0)
  expect(await balanceOf(person)).toEqual({ available: '850000', held: '150000' })
})
