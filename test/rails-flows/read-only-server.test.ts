import { expect, test } from 'vitest'
import { credit } from '../harness/money.ts'
import { signIn } from '../harness/people.ts'
import { refuseWrites } from '../harness/read-only.ts'
import { openService } from '../harness/service.ts'
import { b2cResult, deliver, lastOrder, pay, paymentOf } from './scene.ts'

const service = await openService()
const person = await signIn(service.api)
await credit(service, person.accountId, 1_000_000n)

/** Simulates a demotion: the server answers, and takes no writes (25006). Every earlier connection is given up. */
let again: () => void = () => undefined
const takeWrites = async (yes: boolean) => {
  again()
  const { pool } = service.deps.db
  if (!yes) again = refuseWrites(pool)
  const all = await Promise.all(Array.from({ length: pool.options.max }, () => pool.connect()))
  for (const client of all) client.release(true)
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
