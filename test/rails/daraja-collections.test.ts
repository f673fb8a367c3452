import { afterAll, beforeAll, expect, test } from 'vitest'
import type { DarajaOptions } from '../../src/rails/daraja/gateway.ts'
import type { CollectionInstruction } from '../../src/rails/rail.ts'
import { attemptOf, kinds, startRails, type TestRails } from './harness.ts'

let rails: TestRails
beforeAll(async () => {
  rails = await startRails()
})
afterAll(() => rails.close())

type Changed = Partial<CollectionInstruction> & { options?: Partial<DarajaOptions> }

const play = async (phoneNumber: string, { options, ...fields }: Changed = {}) => {
  const { collection: rail } = rails.daraja(options)
  const sent = rails.collection({ phoneNumber, ...fields })
  const submission = await rail.collect(sent)
  const attempt = attemptOf(sent, submission)
  const underWay = [await rail.query(attempt), await rail.query(attempt)]
  await rails.scheduler.runAll()
  const deliveries = rails.deliveriesOf(sent.orderId)
  const evidence = deliveries.filter((each) => each.authentic).map((each) => rail.readDelivery(each.kind, each.body).evidence)
  const moved = rails.sandbox.movements().filter((movement) => movement.resultUrl === sent.callbacks.result)
  return { rail, submission, attempt, underWay, deliveries, evidence, moved }
}

test('a paid prompt succeeds with its receipt and amount', async () => {
  const { submission, evidence, moved } = await play('254700000000', { amountMinor: 25_000_000n })
  expect(submission).toMatchObject({ kind: 'accepted', provider: { request: expect.stringMatching(/^ws_CO_/) } })
  expect(evidence).toEqual([{ kind: 'succeeded', receipt: moved[0]?.receipt, amountMinor: 25_000_000n }])
})

test("a prompt under way is pending, in both of the provider's forms", async () => {
  const { underWay } = await play('254722000002')
  expect(underWay).toEqual([{ kind: 'pending' }, { kind: 'pending' }])
})

test.each([
  ['1', '254700000001'],
  ['17', '254700000017'],
  ['26', '254700000026'],
  ['1001', '254700001001'],
  ['1019', '254700001019'],
  ['1025', '254700001025'],
  ['1032', '254700001032'],
  ['1037', '254700001037'],
  ['2001', '254700002001'],
  ['8006', '254700008006'],
  ['9999', '254700009999'],
])('result code %s fails the top-up, by callback and by query', async (code, phone) => {
  const { rail, attempt, evidence, moved } = await play(phone)
  expect(evidence).toMatchObject([{ kind: 'failed', providerCode: code }])
  expect(await rail.query(attempt)).toMatchObject({ kind: 'failed', providerCode: code })
  expect(moved).toEqual([])
})

test('a result code that is not listed is unknown, by callback and by query', async () => {
  const { rail, attempt, evidence } = await play('254700007777')
  expect(evidence).toMatchObject([{ kind: 'unknown', code: '7777' }])
  expect(await rail.query(attempt)).toMatchObject({ kind: 'unknown', code: '7777' })
})

test('a prompt that never ends stays pending', async () => {
  const { rail, attempt, evidence } = await play('254700004999')
  expect(evidence).toEqual([])
  expect(await rail.query(attempt)).toEqual({ kind: 'pending' })
})

test('a success whose callback is lost is proven by the query, which names no receipt', async () => {
  const { rail, attempt, deliveries, moved } = await play('254711000001')
  expect(deliveries).toEqual([])
  expect(moved).toHaveLength(1)
  expect(await rail.query(attempt)).toEqual({ kind: 'succeeded', receipt: null, amountMinor: null })
})

test('three callbacks report one payment', async () => {
  const { evidence, moved } = await play('254711000002')
  expect(kinds(evidence)).toEqual(['succeeded', 'succeeded', 'succeeded'])
  expect(moved).toHaveLength(1)
})

test('a late callback comes half a minute after the money has moved', async () => {
  const { collection: rail } = rails.daraja()
  const sent = rails.collection({ phoneNumber: '254711000003' })
  await rail.collect(sent)
  await rails.scheduler.runDue(1_000)
  expect(rails.deliveriesOf(sent.orderId)).toEqual([])
  await rails.scheduler.runDue(29_999)
  expect(rails.deliveriesOf(sent.orderId)).toEqual([])
  await rails.scheduler.runDue(1)
  expect(rails.deliveriesOf(sent.orderId)).toHaveLength(1)
})

test('a lost answer is never read as failed: the prompt was shown and the callback reports its result', async () => {
  const { submission, evidence, rail, attempt } = await play('254711000004')
  expect(submission).toMatchObject({ kind: 'lost' })
  expect(kinds(evidence)).toEqual(['succeeded'])
  // Without an id for a query: the provider's list of incoming payments names it by our reference.
  const receipt = rails.sandbox.movements().at(-1)?.receipt
  expect(await rail.query(attempt)).toEqual({ kind: 'succeeded', receipt, amountMinor: 50_000n })
  expect(await rail.query({ ...attempt, reference: '999999999999' })).toMatchObject({ kind: 'unknown', code: 'not_listed' })
})

test('a prompt whose answer and callback were both lost is found in the list of incoming payments', async () => {
  const { evidence, rail, attempt } = await play('254711000008')
  expect(evidence).toEqual([])
  expect(await rail.query(attempt)).toMatchObject({ kind: 'succeeded', amountMinor: 50_000n })
})

test('the list is read for the hour after the prompt, however late the query is', async () => {
  const { rail, attempt } = await play('254711000008')
  const hoursBefore = { ...attempt, at: new Date(attempt.at.getTime() - 7_200_000) }
  expect(await rail.query(hoursBefore)).toMatchObject({ kind: 'unknown', code: 'not_listed' })
})

test('a callback with another amount reports that amount', async () => {
  const { evidence } = await play('254711000005')
  expect(evidence).toMatchObject([{ kind: 'succeeded', amountMinor: 50_100n }])
})

test('a forged callback uses a URL without the secret', async () => {
  const { deliveries } = await play('254711000006')
  expect(deliveries.map((each) => each.authentic)).toEqual([false, true])
})

test('a prompt that the provider does not know is pending, never failed', async () => {
  const { collection: rail } = rails.daraja()
  const forgotten = attemptOf(rails.collection(), { kind: 'accepted', provider: { request: 'ws_CO_1', conversation: null } })
  expect(await rail.query(forgotten)).toEqual({ kind: 'pending' })
})

test('amounts with cents and malformed phones are refused before anything is sent', async () => {
  const { collection: rail } = rails.daraja()
  const before = rails.sandbox.orders().length
  expect(await rail.collect(rails.collection({ amountMinor: 150n }))).toMatchObject({ kind: 'refused', code: 'invalid_amount' })
  expect(await rail.collect(rails.collection({ phoneNumber: '+254722000001' }))).toMatchObject({ kind: 'refused' })
  expect(rails.sandbox.orders()).toHaveLength(before)
})

test('a wrong passkey is not read as a refusal, because its code is also returned for existing payments', async () => {
  const { collection: rail } = rails.daraja({ passkey: 'wrong' })
  expect(await rail.collect(rails.collection())).toMatchObject({ kind: 'lost' })
})

const till = { tillNumber: '5174379' }

test.each([
  ['a till', till],
  ['a till with the number of its store', { tillNumber: '174379' }],
])('a prompt that pays %s succeeds', async (_, options) => {
  const { evidence, moved } = await play('254722000001', { options })
  expect(evidence).toEqual([{ kind: 'succeeded', receipt: moved[0]?.receipt, amountMinor: 50_000n }])
})

test('a prompt to a till of another organisation is taken and then fails: nobody has this number', async () => {
  const { submission, evidence, moved } = await play('254722000001', { options: { tillNumber: '5174380' } })
  expect(submission.kind).toBe('accepted')
  expect(evidence).toMatchObject([{ kind: 'failed', code: 'unknown_operator', providerCode: 'SFC_IC0003' }])
  expect(moved).toEqual([])
})

test('a prompt to a till whose answer was lost is ended by its callback: the list of payments names no reference', async () => {
  const { submission, evidence, rail, attempt } = await play('254711000004', { options: till })
  expect(submission.kind).toBe('lost')
  expect(kinds(evidence)).toEqual(['succeeded'])
  expect(await rail.query(attempt)).toMatchObject({ kind: 'unknown', code: 'not_listed' })
})
