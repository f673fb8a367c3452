import pg from 'pg'
import { afterAll, expect, test } from 'vitest'
import { credit } from '../harness/money.ts'
import { signIn } from '../harness/people.ts'
import { refuseWrites } from '../harness/read-only.ts'
import { openService } from '../harness/service.ts'
import { b2cResult, deliver, lastOrder, pay, paymentOf } from './scene.ts'

const service = await openService()
const person = await signIn(service.api)
await credit(service, person.accountId, 1_000_000n)
const server = new pg.Client({ connectionString: service.database.url })
await server.connect()
afterAll(() => server.end())

/** Each connection of the service that it knows to be lost, once. */
const losses = (): number =>
  service.log.filter((line) => /a database connection was lost|the connection for \w+ was lost/.test(line)).length

/** As after a demotion: the server answers, and takes no writes (25006). The service knows that connections that were open before are ended. */
let again: () => void = () => undefined
const takeWrites = async (yes: boolean) => {
  again()
  if (!yes) again = refuseWrites(service.deps.db.pool)
  const known = losses()
  const { rowCount } = await server.query(
    `select pg_terminate_backend(pid) from pg_stat_activity where datname = current_database() and application_name = 'payments-service'`,
  )
  await expect.poll(() => losses() - known).toBe(rowCount)
}

test('a callback that finds a server without writes gets 503, so the provider repeats it; the repeat is kept and booked', async () => {
  service.sandbox.rules.add({ effect: 'lose_callback', party: '254722000950', times: 1, delay_ms: 0 })
  const id = await pay(person, { payment_rail: 'MPESA_B2C', destination: '254722000950' })
  await service.settle()
  const order = lastOrder(service)
  const report = () => deliver(order.resultUrl, b2cResult(order))
  await takeWrites(false)
  expect((await report()).status).toBe(503)
  expect((await paymentOf(person, id)).status).toBe('processing')
  await takeWrites(true)
  expect((await report()).status).toBe(200)
  await service.settle()
  expect(await paymentOf(person, id)).toMatchObject({ status: 'succeeded', provider_receipt: order.receipt })
})
