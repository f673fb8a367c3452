import { afterEach, beforeEach, expect, test } from 'vitest'
import { inTx } from '../../src/db/client.ts'
import { pauseRail, resumeRail } from '../../src/modules/exceptions/pauses-service.ts'
import { shellOperator } from '../../src/modules/operators.ts'
import { reconcileSweeps } from '../../src/modules/sending/reconcile.ts'
import type { Evidence } from '../../src/rails/rail.ts'
import { credit } from '../harness/money.ts'
import { type Person, signIn } from '../harness/people.ts'
import { startService, type TestService } from '../harness/service.ts'
import { alerts, ordersTo, pass, pay, paymentOf } from './scene.ts'

let service: TestService
let person: Person
const start = async (env: Record<string, string> = {}) => {
  service = await startService({ env })
  person = await signIn(service.api)
  await credit(service, person.accountId, 1_000_000n)
}
beforeEach(() => start())
afterEach(() => service.close())

const phone = '254722000961'
const ask = () => pay(person, { payment_rail: 'MPESA_B2C', destination: phone }, '10000')
const statusOf = async (id: string): Promise<string> => (await paymentOf(person, id)).status
const minutes = async (count: number) => {
  for (let minute = 0; minute < count; minute += 5) await pass(service, 300)
}
const railFails = () => service.sandbox.rules.add({ effect: 'spike_arrest', rail: 'MPESA_B2C', times: null, delay_ms: 0 })
const waitAlerts = () => alerts(service).filter((alert) => alert === 'payments_waiting')
const share = async (): Promise<number> => {
  const text = await (await fetch(`${service.operatorUrl}/metrics`)).text()
  return Number(/payment_wait_share\{rail="MPESA_B2C"\} (\S+)/.exec(text)?.[1])
}

test('payments that wait for a rail that is down raise one alert at two thirds of their time, and fail after it', async () => {
  railFails()
  const waiting = await ask()
  await service.settle()
  await minutes(25)
  expect([waitAlerts().length, await statusOf(waiting)]).toEqual([0, 'processing'])
  expect(await share()).toBeLessThan(2 / 3)
  await minutes(10)
  expect([waitAlerts().length, await statusOf(waiting)]).toEqual([1, 'processing'])
  expect(await share()).toBeGreaterThan(2 / 3)
  await minutes(15)
  expect([waitAlerts().length, await statusOf(waiting)]).toEqual([1, 'failed'])
  expect(ordersTo(service, phone)).toHaveLength(0)
})

test('an operator who lets payments wait through an outage of hours pauses the rail: the clock stops, and begins anew when the pause ends', async () => {
  const operator = shellOperator('a person')
  railFails()
  const waiting = await ask()
  await service.settle()
  await minutes(35)
  await inTx(service.deps.db, (tx) => pauseRail(tx, operator, 'MPESA_B2C', 'an outage'))
  await minutes(180)
  expect(await statusOf(waiting)).toBe('processing')
  expect(await share()).toBeNaN()
  await inTx(service.deps.db, (tx) => resumeRail(tx, operator, 'MPESA_B2C'))
  expect(await share()).toBe(0)
  await minutes(35)
  expect(await statusOf(waiting)).toBe('processing')
  expect(await share()).toBeCloseTo(35 / 45)
  service.sandbox.rules.clear()
  // A pause is reread within a second.
  await expect.poll(() => pass(service, 10).then(() => statusOf(waiting))).toBe('succeeded')
  expect(ordersTo(service, phone)).toHaveLength(1)
})

test('payments that waited for another reason do not fail when the rail goes down for a moment: they have the full time', async () => {
  await service.close()
  await start({ JOBS: 'off' })
  const waiting = await ask()
  const { database, clock } = service
  clock.advance(46 * 60)
  const working = await startService({ database, clock, provider: service })
  working.sandbox.rules.add({ effect: 'spike_arrest', rail: 'MPESA_B2C', times: 1, delay_ms: 0 })
  await working.settle()
  await working.deps.jobs.sweep()
  expect(await statusOf(waiting)).toBe('processing')
  await pass(working, 60)
  expect(await statusOf(waiting)).toBe('succeeded')
  expect(ordersTo(service, phone)).toHaveLength(1)
  await working.stop()
})

test('how long they wait is a setting', async () => {
  await service.close()
  await start({ PAYMENT_WAIT_MINUTES: '240' })
  railFails()
  const waiting = await ask()
  await service.settle()
  await minutes(155)
  expect([waitAlerts().length, await statusOf(waiting)]).toEqual([0, 'processing'])
  await minutes(100)
  expect([waitAlerts().length, await statusOf(waiting)]).toEqual([1, 'failed'])
})

test('a rail whose status queries are not answered delays no query of another rail', async () => {
  for (const rail of ['MPESA_B2C', 'PESALINK'] as const)
    service.sandbox.rules.add({ effect: 'lose_callback', rail, times: 1, delay_ms: 0 })
  const [slow, other] = [await ask(), await pay(person, { payment_rail: 'PESALINK', destination: '0123456789', bank_code: '57' })]
  await service.settle()
  service.clock.advance(60)
  const { MPESA_B2C } = service.deps.rails.payout
  if (!MPESA_B2C) throw new Error('the rail is not configured')
  const answer = Promise.withResolvers<Evidence>()
  MPESA_B2C.query = () => answer.promise
  const sweeps = new Map(reconcileSweeps(service.deps).map(({ name, run }) => [name, run]))
  const waiting = sweeps.get('attempts.reconcile.MPESA_B2C')?.()
  await sweeps.get('attempts.reconcile.PESALINK')?.()
  expect([await statusOf(slow), await statusOf(other)]).toEqual(['processing', 'succeeded'])
  answer.resolve({ kind: 'pending' })
  await waiting
})
