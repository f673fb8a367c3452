import { afterEach, expect, test } from 'vitest'
import type { Statement } from '../../src/db/client.ts'
import { createMovableClock } from '../../src/lib/clock.ts'
import { credit } from '../harness/money.ts'
import { signIn } from '../harness/people.ts'
import { startService, type TestService } from '../harness/service.ts'
import { movementsTo, ordersTo, pay, paymentOf } from './scene.ts'

/** A machine whose clock a person or a program sets. */
const machine = (behindMs = 0) => {
  const set = { behindMs }
  return {
    set,
    clock: Object.assign(
      createMovableClock(() => Date.now() - set.behindMs),
      { advance: () => undefined, set: () => undefined },
    ),
  }
}
const fiveMinutesMs = 300_000

const services: TestService[] = []
afterEach(async () => {
  for (const service of services.splice(0).reverse()) await service.close()
})
const start = async (options: Parameters<typeof startService>[0]): Promise<TestService> => {
  const service = await startService(options)
  services.push(service)
  return service
}
const payer = async (service: TestService) => {
  const person = await signIn(service.api)
  await credit(service, person.accountId, 1_000_000n)
  return person
}
const to = (destination: string) => ({ payment_rail: 'MPESA_B2C', destination })

test('a clock that is set back five minutes keeps no accepted payment waiting', async () => {
  const { set, clock } = machine()
  const service = await start({ clock })
  await service.deps.lossDetection.check()
  const person = await payer(service)
  const accepted = await pay(person, to('254722000951'))
  set.behindMs = fiveMinutesMs
  await service.settle()
  expect((await paymentOf(person, accepted)).status).toBe('succeeded')
  const later = await pay(person, to('254722000952'))
  await service.settle()
  expect((await paymentOf(person, later)).status).toBe('succeeded')
})

test('a process that starts with its clock five minutes behind uses the time of the database: it sends what another one has accepted', async () => {
  const first = await start({ clock: machine().clock })
  const person = await payer(first)
  const { clock } = machine(fiveMinutesMs)
  const second = await start({ clock, database: first.database, provider: first })
  const id = await pay(person, to('254722000953'))
  await second.deps.lossDetection.check()
  expect(Math.abs(clock.now().getTime() - Date.now())).toBeLessThan(5_000)
  await second.deps.jobs.drain()
  await second.settle()
  expect(movementsTo(second, '254722000953')).toHaveLength(1)
  expect((await paymentOf(person, id)).status).toBe('succeeded')
  expect(Math.abs(second.deps.lossDetection.clockDiffersByMs())).toBeGreaterThan(fiveMinutesMs - 5_000)
})

test("a process that slept between the database's time and its arrival sends nothing on a right from before", async () => {
  const { set, clock } = machine()
  const service = await start({ clock })
  const { db, jobs, lossDetection } = service.deps
  await lossDetection.check()
  const person = await payer(service)
  const id = await pay(person, to('254722000954'))
  const { query } = db
  const [answered, awake] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
  db.query = (async (statement: Statement, values?: readonly unknown[]) => {
    if (statement.name === 'attempts.claim') {
      const look = lossDetection.check()
      await answered.promise
      const claimed = await query(statement, values)
      set.behindMs = -120_000
      awake.resolve()
      await look
      return claimed
    }
    const rows = await query(statement, values)
    if (statement.name === 'loss_detection.look') {
      answered.resolve()
      await awake.promise
    }
    return rows
  }) as typeof query
  await jobs.drain()
  db.query = query
  expect([ordersTo(service, '254722000954'), clock.now().getTime() > Date.now() + 100_000]).toEqual([[], true])
  expect(lossDetection.clockDiffersByMs()).toBe(0)
  expect((await paymentOf(person, id)).status).toBe('processing')
})

test('a machine that was asleep sees the time that has passed', () => {
  const { set, clock } = machine()
  const before = clock.now().getTime()
  set.behindMs = -120_000
  expect(clock.now().getTime() - before).toBeGreaterThanOrEqual(120_000)
  clock.moveTo(1_000)
  expect(clock.offsetMs()).toBe(1_000)
})
