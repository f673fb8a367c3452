import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { inTx } from '../../src/db/client.ts'
import { parseId, type Uuid } from '../../src/lib/ids.ts'
import { assignSuspense } from '../../src/modules/exceptions/assign.ts'
import { shellOperator } from '../../src/modules/operators.ts'
import { listSuspense } from '../../src/modules/suspense/service.ts'
import { type Person, signIn } from '../harness/people.ts'
import { startService, type TestService } from '../harness/service.ts'
import { findBreaches } from '../harness/verify.ts'
import {
  alerts,
  badRequest,
  balanceOf,
  initiate,
  isLedgerSound,
  lastOrder,
  movementsTo,
  ordersTo,
  pass,
  spikeArrest,
  topupOf,
  verdicts,
} from './scene.ts'

let service: TestService
let person: Person
beforeAll(async () => {
  service = await startService()
})
beforeEach(async () => {
  person = await signIn(service.api)
  service.log.length = 0
})
afterAll(async () => {
  expect(await isLedgerSound(service)).toBe(true)
  await service.close()
})

const uuidOf = (id: string): Uuid => {
  const uuid = parseId('topup', id)
  if (!uuid) throw new Error('no id of a top-up')
  return uuid
}

const credited = { available: '150000', held: '0' }
const nothing = { available: '0', held: '0' }

test('a paid top-up is credited, with its receipt, an entry in the history and its events', async () => {
  const id = await initiate(person, '254700000000')
  expect(await balanceOf(person)).toEqual(nothing)
  await service.settle()
  const topup = await topupOf(person, id)
  expect(topup).toMatchObject({
    status: 'succeeded',
    provider_receipt: movementsTo(service, '254700000000')[0]?.receipt,
    failure_code: null,
  })
  expect(topup.completed_at).toBe(service.clock.now().toISOString())
  expect(await balanceOf(person)).toEqual(credited)
  const history = (await person.api.get('/v1/accounts/me/history')).body.data
  expect(history).toMatchObject([
    { type: 'topup', amount_minor: '150000', available_after_minor: '150000', reference: { type: 'topup', id } },
  ])
  const events = await service.deps.db.query<{ type: string; data: unknown }>(
    `select type, data from events where type in ('topup.succeeded', 'balance.updated') and account_id = (select account_id from events where data->>'id' = $1 limit 1) order by id`,
    [id],
  )
  expect(events).toMatchObject([
    { type: 'topup.succeeded', data: topup },
    { type: 'balance.updated', data: { id: person.accountId, balance: { available_minor: '150000' } } },
  ])
})

describe('a code that proves that nothing was paid ends the top-up as failed, with that code and its sentence', () => {
  const codes = ['1', '2', '3', '4', '8', '17', '26', '1001', '1019', '1025', '1032', '1037', '2001', '2028', '8006', '9999']
  test.each(codes)('%s', async (code) => {
    const id = await initiate(person, `25470000${code.padStart(4, '0')}`)
    await service.settle()
    const topup = await topupOf(person, id)
    expect(topup).toMatchObject({ status: 'failed', provider_code: code, provider_receipt: null })
    expect(topup.failure_message).toMatch(/^[A-Z].*\.$/)
    expect(await balanceOf(person)).toEqual(nothing)
  })
})

test('an unknown code proves nothing: the top-up stays pending and then expires, without being failed', async () => {
  const id = await initiate(person, '254700000099')
  await service.settle()
  expect((await topupOf(person, id)).status).toBe('pending')
  await pass(service, service.deps.config.TOPUP_TTL_SECONDS)
  expect(await topupOf(person, id)).toMatchObject({ status: 'expired', failure_code: null })
})

test('a prompt that is never answered expires at its time and not a second before', async () => {
  const id = await initiate(person, '254700004999')
  await service.settle()
  await pass(service, service.deps.config.TOPUP_TTL_SECONDS - 1)
  expect((await topupOf(person, id)).status).toBe('pending')
  await pass(service, 1)
  expect(await topupOf(person, id)).toMatchObject({ status: 'expired', completed_at: service.clock.now().toISOString() })
  expect(await balanceOf(person)).toEqual(nothing)
})

test('the result of a lost callback is found by a query, and credited once', async () => {
  const id = await initiate(person, '254711000001')
  await service.settle()
  expect((await topupOf(person, id)).status).toBe('pending')
  await pass(service, 31)
  expect(await topupOf(person, id)).toMatchObject({ status: 'succeeded', provider_receipt: null })
  await pass(service, 3_600)
  expect(await balanceOf(person)).toEqual(credited)
})

test('a callback that comes three times credits once', async () => {
  const id = await initiate(person, '254711000002')
  await service.settle()
  expect((await topupOf(person, id)).status).toBe('succeeded')
  expect((await verdicts(service, lastOrder(service).resultUrl)).sort()).toEqual(['applied', 'repeated', 'repeated'])
  expect(await balanceOf(person)).toEqual(credited)
})

test('a success that is proven after the top-up has expired is still credited', async () => {
  const id = await initiate(person, '254711000003')
  await service.deps.jobs.drain()
  await service.scheduler.runDue()
  // Earlier tests' top-ups are queried at the same time, in any order.
  const asked = await service.deps.db.query<object>('select id from rail_attempts where next_check_at is not null')
  for (const _ of asked) service.sandbox.failNext({ kind: 'reset', takesEffect: false })
  service.clock.advance(service.deps.config.TOPUP_TTL_SECONDS)
  await service.deps.jobs.sweep()
  expect((await topupOf(person, id)).status).toBe('expired')
  await service.settle()
  expect((await topupOf(person, id)).status).toBe('succeeded')
  expect(await balanceOf(person)).toEqual(credited)
})

test("if the answer to the prompt's request is lost, no second prompt is sent, and the callback settles it", async () => {
  const id = await initiate(person, '254711000004')
  await service.deps.jobs.drain()
  expect((await topupOf(person, id)).status).toBe('pending')
  await pass(service, 60)
  expect((await topupOf(person, id)).status).toBe('succeeded')
  expect(ordersTo(service, '254711000004')).toHaveLength(1)
  expect(await balanceOf(person)).toEqual(credited)
})

test('a report of another amount is in suspense, with an alert: the top-up waits until a person assigns what arrived', async () => {
  const id = await initiate(person, '254711000005')
  await service.settle()
  expect((await topupOf(person, id)).status).toBe('pending')
  expect(await verdicts(service, lastOrder(service).resultUrl)).toEqual(['mismatch'])
  expect(alerts(service)).toEqual(['evidence_mismatch'])
  await pass(service, 200)
  await pass(service, 200)
  expect(await topupOf(person, id)).toMatchObject({
    status: 'pending',
    failure_code: 'other_amount',
    failure_message: 'KES 1,501.00 came, and KES 1,500.00 was asked for. A person looks at it.',
  })
  expect(await balanceOf(person)).toEqual(nothing)
  const [item] = await listSuspense(service.deps.db, 'open', { before: null, take: 10 })
  if (!item) throw new Error('nothing is in suspense')
  const input = { topup_id: uuidOf(id), note: 'paid with another amount' }
  await inTx(service.deps.db, (tx) => assignSuspense(tx, service.deps.config, shellOperator('jane'), item.id, input))
  expect(await topupOf(person, id)).toMatchObject({
    status: 'succeeded',
    amount_minor: '150000',
    received_minor: '150100',
    failure_code: null,
  })
  expect((await balanceOf(person)).available).toBe('150100')
  expect(await findBreaches(service)).toEqual([])
})

test('a forged callback is stored and refused; the real one is credited', async () => {
  const id = await initiate(person, '254711000006')
  await service.settle()
  expect(await topupOf(person, id)).toMatchObject({ status: 'succeeded', provider_receipt: lastOrder(service).receipt })
  expect(await verdicts(service, lastOrder(service).resultUrl)).toEqual(['forged', 'applied'])
  expect(await balanceOf(person)).toEqual(credited)
})

test('a provider that temporarily refuses requests is tried again, and one prompt is sent', async () => {
  service.sandbox.failNext(spikeArrest)
  const id = await initiate(person, '254722000011')
  await service.settle()
  expect((await topupOf(person, id)).status).toBe('pending')
  expect(ordersTo(service, '254722000011')).toHaveLength(0)
  await pass(service, 5)
  expect((await topupOf(person, id)).status).toBe('succeeded')
  expect(ordersTo(service, '254722000011')).toHaveLength(1)
})

test("the provider's plain refusal fails the top-up with its code", async () => {
  service.sandbox.failNext(badRequest('Bad Request - Invalid PhoneNumber'))
  const id = await initiate(person, '254722000012')
  await service.settle()
  expect(await topupOf(person, id)).toMatchObject({
    status: 'failed',
    failure_code: 'provider_refused',
    provider_code: '400.002.02',
    failure_message: 'Bad Request - Invalid PhoneNumber',
  })
})

test('an answer that cannot be parsed counts as lost: the prompt is never sent again', async () => {
  service.sandbox.failNext({
    kind: 'answer',
    takesEffect: true,
    status: 502,
    body: '<html>Bad Gateway</html>',
    contentType: 'text/html',
  })
  const id = await initiate(person, '254722000013')
  await service.settle()
  await pass(service, 120)
  expect((await topupOf(person, id)).status).toBe('succeeded')
  expect(ordersTo(service, '254722000013')).toHaveLength(1)
})

test('a top-up whose process died before it was sent is sent by another', async () => {
  const id = await initiate(person, '254722000014')
  const other = await startService({ database: service.database, clock: service.clock, provider: service })
  await other.settle()
  expect((await topupOf(person, id)).status).toBe('succeeded')
  await other.close()
})

test('a top-up that expires before it could be sent sends no prompt', async () => {
  const id = await initiate(person, '254722000016')
  service.clock.advance(service.deps.config.TOPUP_TTL_SECONDS)
  await service.settle()
  expect(ordersTo(service, '254722000016')).toHaveLength(0)
  await pass(service, 0)
  expect((await topupOf(person, id)).status).toBe('expired')
})

test('twenty concurrent dispatches of one top-up, over two processes, send one prompt', async () => {
  const second = await startService({ database: service.database, clock: service.clock, provider: service })
  const id = await initiate(person, '254722000015')
  await Promise.all(Array.from({ length: 20 }, (_, index) => (index % 2 ? service : second).deps.jobs.drain()))
  await service.settle()
  expect((await topupOf(person, id)).status).toBe('succeeded')
  expect(ordersTo(service, '254722000015')).toHaveLength(1)
  await second.close()
})
