import { afterAll, beforeAll, expect, test } from 'vitest'
import { catchUpTransactionIds } from '../../src/db/start.ts'
import { credit, newBeneficiary, unguarded } from '../harness/money.ts'
import { type Person, signIn } from '../harness/people.ts'
import { copyDatabase, createTestDatabase, type TestDatabase } from '../harness/postgres.ts'
import { startService, type TestService } from '../harness/service.ts'
import { findBreaches } from '../harness/verify.ts'
import { alerts, deliver, movementsTo, ordersTo, pass, paymentOf } from './scene.ts'

/** The database before the service's last writes: a lagging standby. */
let before: TestService
let after: TestService
let databases: TestDatabase[]
let person: Person
let waiting: { phone: string; rail: string; id: string }[]

const bank = { payment_rail: 'PESALINK', destination: '0123456789', bank_code: '0012' }
const keyed = { phone: '254722000901', key: 'invoice 4711' }
let payee: { mobile: string; other: string; bank: string; employees: string[] }

const employee = { destination: '254722000905' }
const employeeAtBank = { ...bank, destination: '0123456780' }
const requestBatch = (api: Person['api']) =>
  api.post(
    '/v1/payment-batches',
    { items: payee.employees.map((beneficiary_id) => ({ beneficiary_id, amount_minor: '180000' })) },
    { key: 'salaries of March' },
  )

const request = (api: Person['api'], beneficiary_id: string, key: string, amount_minor = '150000') =>
  api.post('/v1/payments', { beneficiary_id, amount_minor }, { key })

beforeAll(async () => {
  const original = await createTestDatabase()
  before = await startService({ database: original })
  person = await signIn(before.api)
  await credit(before, person.accountId, 10_000_000n)
  payee = {
    mobile: await newBeneficiary(person.api, { destination: keyed.phone }),
    other: await newBeneficiary(person.api, { destination: '254722000904' }),
    bank: await newBeneficiary(person.api, bank),
    employees: [await newBeneficiary(person.api, employee), await newBeneficiary(person.api, employeeAtBank)],
  }
  waiting = []
  for (const phone of ['254722000902', '254722000903']) {
    const beneficiary = await newBeneficiary(person.api, { destination: phone })
    const { body } = await person.api.post('/v1/payments', { beneficiary_id: beneficiary, amount_minor: '150000' })
    waiting.push({ phone, rail: 'MPESA_B2C', id: body.id })
  }
  await before.stop()
  const copy = await copyDatabase(original)
  databases = [original, copy]
  const sender = await startService({ database: original, clock: before.clock, provider: before })
  const api = sender.api.as({ cookie: person.cookie })
  await request(api, payee.mobile, keyed.key)
  await request(api, payee.bank, keyed.key.replace('4711', '4712'))
  for (const key of ['to another', 'of another amount']) await request(api, payee.mobile, key, '20000')
  await requestBatch(api)
  await sender.settle()
  expect(sender.sandbox.movements()).toHaveLength(8)
  await sender.stop()
  await catchUpTransactionIds(copy.url)
  after = await startService({ database: copy, clock: before.clock, provider: before })
})
afterAll(async () => {
  await after.stop()
  await before.sandbox.close()
  for (const database of databases) await database.drop()
})

test('payments that waited when the last writes were lost are sent again under the same names, which the provider refuses: nothing is paid twice', async () => {
  const api = after.api.as({ cookie: person.cookie })
  await after.settle()
  await pass(after, 60)
  for (const { phone, id } of waiting) {
    expect(ordersTo(after, phone)).toHaveLength(1)
    expect(await paymentOf({ api }, id)).toMatchObject({
      status: 'succeeded',
      provider_receipt: movementsTo(after, phone)[0]?.receipt,
    })
  }
})

test('a payment that was lost and is requested again with the same key is the same order: it ends with the receipt of the first', async () => {
  const api = after.api.as({ cookie: person.cookie })
  const mobile = await request(api, payee.mobile, keyed.key)
  const toBank = await request(api, payee.bank, keyed.key.replace('4711', '4712'))
  expect([mobile.status, toBank.status]).toEqual([201, 201])
  await after.settle()
  await pass(after, 60)
  expect(after.sandbox.movements()).toHaveLength(8)
  expect(await paymentOf({ api }, mobile.body.id)).toMatchObject({
    status: 'succeeded',
    provider_receipt: movementsTo(after, keyed.phone)[0]?.receipt,
  })
  expect(await paymentOf({ api }, toBank.body.id)).toMatchObject({
    status: 'succeeded',
    provider_receipt: movementsTo(after, bank.destination)[0]?.receipt,
  })
  expect(await findBreaches(after)).toEqual([])
})

test('a batch that was lost and is requested again with the same key is not paid twice: each item is the same order', async () => {
  const api = after.api.as({ cookie: person.cookie })
  const { body: batch } = await requestBatch(api)
  await after.settle()
  await pass(after, 60)
  expect(after.sandbox.movements()).toHaveLength(8)
  const items = (await api.get(`/v1/payments?batch_id=${batch.id}`)).body.data.reverse()
  for (const [index, { destination }] of [employee, employeeAtBank].entries())
    expect(items[index]).toMatchObject({
      status: 'succeeded',
      provider_receipt: movementsTo(after, destination)[0]?.receipt,
    })
  expect(await findBreaches(after)).toEqual([])
})

test('a lost key that is used for another payee, or another amount, is refused as a duplicate: that is no proof that this payment arrived', async () => {
  const api = after.api.as({ cookie: person.cookie })
  const answers = [await request(api, payee.other, 'to another', '20000'), await request(api, payee.mobile, 'of another amount')]
  expect(answers.map(({ status }) => status)).toEqual([201, 201])
  await after.settle()
  // The provider names its ids before the receiver.
  const [earlier] = ordersTo(after, keyed.phone).filter(({ amountMinor }) => amountMinor === 20_000n)
  await deliver(after.operatorUrl + new URL(earlier?.timeoutUrl ?? '').pathname, {
    Result: { ResultType: 1, ResultCode: 1, OriginatorConversationID: earlier?.key, ConversationID: earlier?.conversation },
  })
  await after.settle()
  for (const seconds of [31, 31, 61, 121]) await pass(after, seconds)
  for (const { body } of answers) expect((await paymentOf({ api }, body.id)).status).toBe('unknown')
  expect(alerts(after).filter((alert) => alert === 'evidence_mismatch').length).toBeGreaterThanOrEqual(2)
  expect(after.sandbox.movements()).toHaveLength(8)
  expect(movementsTo(after, '254722000904')).toEqual([])
  expect(await findBreaches(after)).toEqual([])
})

test('a key that belongs to another payment already gives the later one names of its own: both are paid', async () => {
  const api = after.api.as({ cookie: person.cookie })
  const first = await request(api, payee.mobile, 'the same key')
  await after.settle()
  // Two payments never have the same key, but their names could be equal by chance.
  await unguarded(after, `update payments set idempotency_key = 'another key' where idempotency_key = 'the same key'`, [])
  after.deps.db.recoveryPoint.forget()
  const second = await request(api, payee.mobile, 'the same key')
  await after.settle()
  expect(second.body.id).not.toBe(first.body.id)
  for (const { body } of [first, second]) expect((await paymentOf({ api }, body.id)).status).toBe('succeeded')
  const names = await after.deps.db.query<{ generation: number }>(
    `select a.generation from rail_attempts a join payments p on p.id = a.subject_id where p.idempotency_key in ('the same key', 'another key') order by generation`,
  )
  expect(names.map(({ generation }) => generation)).toEqual([0, 1])
})
