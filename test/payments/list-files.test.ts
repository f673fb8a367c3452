import { afterAll, expect, test } from 'vitest'
import type { Json } from '../harness/client.ts'
import { credit } from '../harness/money.ts'
import { signIn } from '../harness/people.ts'
import { openService } from '../harness/service.ts'
import { findBreaches } from '../harness/verify.ts'
import { listFiles } from './list-files.ts'

const service = await openService({ env: { RATE_LIMIT_ENABLED: 'false' } })
afterAll(async () => {
  expect(await findBreaches(service)).toEqual([])
})

test.each(listFiles)('as people send it: $name', async (file) => {
  const person = await signIn(service.api)
  await credit(service, person.accountId, 10_000_000n)
  const answer = await person.api.post('/v1/payment-batches', undefined, {
    raw: file.bytes,
    headers: { 'content-type': file.contentType },
  })
  const paid = (await person.api.get('/v1/payments')).body.data.reverse()
  if ('pays' in file) {
    expect([answer.status, answer.body.message]).toEqual([201, undefined])
    expect(
      paid.map(({ beneficiary, amount_minor }: Json) => [
        beneficiary.display_name,
        beneficiary.destination_mask.slice(-4),
        amount_minor,
      ]),
    ).toEqual(file.pays)
    return
  }
  expect(paid).toEqual([])
  if ('says' in file) {
    expect([answer.status, answer.body.message]).toEqual([file.status, expect.stringContaining(file.says)])
    return
  }
  expect(answer.status).toBe(400)
  expect(answer.body.details.items.map(({ row, param, message }: Json) => [row, param, message])).toEqual(
    file.rows.map(([row, param, says]) => [row, param, expect.stringContaining(says)]),
  )
})
