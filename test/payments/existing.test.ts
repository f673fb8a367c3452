import { beforeAll, expect, test } from 'vitest'
import type { Answer, Json } from '../harness/client.ts'
import { fund, newBeneficiary } from '../harness/money.ts'
import { createKey, type Person, signIn } from '../harness/people.ts'
import { openService } from '../harness/service.ts'

const service = await openService()
let person: Person
let beneficiary: string
beforeAll(async () => {
  person = await signIn(service.api)
  await fund(service, person, 10_000_000n)
  beneficiary = await newBeneficiary(person.api)
})

const order = (amountMinor: string) => ({ beneficiary_id: beneficiary, amount_minor: amountMinor })
const phone = { type: 'person', display_name: 'Achieng', payment_rail: 'MPESA_B2C', destination: '0712000111' }

/** Creates a record, and sends the request that conflicts with it. `shown`: the error's record, from its own answer. */
const refused: Record<string, () => Promise<{ answer: Answer; shown: Json }>> = {
  'a payment whose key is used with another amount': async () => {
    const { body } = await person.api.post('/v1/payments', order('10000'), { key: 'payment' })
    await service.settle()
    const { provider_receipt: receipt, amount_minor } = (await person.api.get(`/v1/payments/${body.id}`)).body
    const answer = await person.api.post('/v1/payments', order('20000'), { key: 'payment' })
    return { answer, shown: { payment_id: body.id, status: 'succeeded', receipt, amount_minor } }
  },
  'a payment that is made again under a new key': async () => {
    const { body } = await person.api.post('/v1/payments', order('30000'), { key: 'first' })
    await service.settle()
    const { provider_receipt: receipt } = (await person.api.get(`/v1/payments/${body.id}`)).body
    const answer = await person.api.post('/v1/payments', { ...order('30000'), on_duplicate: 'confirm' }, { key: 'second' })
    return { answer, shown: { payment_id: body.id, status: 'succeeded', receipt } }
  },
  'a list whose key is used with other items': async () => {
    const { body } = await person.api.post('/v1/payment-batches', { items: [order('40000')] }, { key: 'list' })
    await service.settle()
    const answer = await person.api.post('/v1/payment-batches', { items: [order('50000')] }, { key: 'list' })
    return { answer, shown: { payment_batch_id: body.id, status: 'completed', receipt: null, amount_minor: '40000' } }
  },
  'a top-up whose key is used with another amount': async () => {
    const initiate = (amount: string) =>
      person.api.post('/v1/topups/initiate', { amount_minor: amount, phone_number: '0712345678' }, { key: 'top-up' })
    const { body } = await initiate('100000')
    await service.settle()
    const { provider_receipt: receipt, received_minor } = (await person.api.get(`/v1/topups/${body.id}`)).body
    return {
      answer: await initiate('200000'),
      shown: { topup_id: body.id, status: 'succeeded', receipt, amount_minor: received_minor },
    }
  },
  'a beneficiary whose key is used with another name': async () => {
    const { body } = await person.api.post('/v1/beneficiaries', phone, { key: 'payee' })
    await person.api.patch(`/v1/beneficiaries/${body.id}`, { status: 'frozen' })
    const answer = await person.api.post('/v1/beneficiaries', { ...phone, display_name: 'Atieno' }, { key: 'payee' })
    return { answer, shown: { beneficiary_id: body.id, status: 'frozen' } }
  },
}

test.each(Object.entries(refused))('%s: the 409 says what became of the record that it names', async (_what, make) => {
  const { answer, shown } = await make()
  expect([answer.status, answer.body.error]).toEqual([409, 'conflict'])
  expect(answer.body.details.existing).toMatchObject(shown)
  const [[name, id] = []] = Object.entries(shown)
  expect(answer.body.details[`existing_${name}`]).toBe(id)
  if ('receipt' in shown && !('payment_batch_id' in shown)) expect(shown.receipt).toMatch(/^\w{8,}/)
})

test('each item of a list that was paid before has the payment that paid it, with its receipt', async () => {
  const items = [order('60000'), order('70000')]
  const { body } = await person.api.post('/v1/payment-batches', { items })
  await service.settle()
  const paid = (await person.api.get(`/v1/payments?batch_id=${body.id}`)).body.data
  const again = await person.api.post('/v1/payment-batches', { items })
  expect([again.status, again.body.details.reason]).toEqual([409, 'possible_duplicate'])
  for (const item of again.body.details.items) {
    const payment = paid.find(({ id }: Json) => id === item.existing_payment_id)
    expect(item.existing).toMatchObject({ payment_id: payment.id, status: 'succeeded', receipt: payment.provider_receipt })
  }
  expect(again.body.details.items).toHaveLength(2)
})

test('a denial because of an earlier payment says what became of it', async () => {
  await person.api.post('/v1/payments', order('80000'))
  await service.settle()
  await person.api.post('/v1/spending-policies', { name: 'Once', on_duplicate: 'deny', duplicate_window_seconds: 3600 })
  const { status, body } = await person.api.post('/v1/payments', order('80000'))
  expect([status, body.error]).toEqual([403, 'policy_denied'])
  expect(body.details.existing).toMatchObject({ status: 'succeeded', receipt: expect.any(String), amount_minor: '80000' })
})

test('a refusal whose record cannot be read is the same refusal, without the record', async () => {
  const { db } = service.deps
  const { run } = db
  db.run = (async (query, values) => {
    const { statement } = query.variant(values, false)
    if (typeof statement !== 'string' && statement.name.startsWith('existing.')) throw new Error('the connection was lost')
    return run(query, values)
  }) as typeof run
  const answer = await person.api.post('/v1/payments', order('20000'), { key: 'payment' })
  db.run = run
  expect([answer.status, answer.body.error, answer.body.details.reason]).toEqual([409, 'conflict', 'idempotency'])
  expect([answer.body.details.existing_payment_id, answer.body.details.existing]).toEqual([
    expect.stringMatching(/^pay/),
    undefined,
  ])
  expect(service.log.join('')).toContain('the records that a refusal names could not be read')
})

test('a key that may not read payments or top-ups is told nothing about them', async () => {
  const blind = await createKey(person, { permissions: ['payment.create', 'topup.create'] })
  const sent = [
    await blind.api.post('/v1/payments', order('20000'), { key: 'payment' }),
    await blind.api.post('/v1/payment-batches', { items: [order('50000')] }, { key: 'list' }),
    await blind.api.post('/v1/topups/initiate', { amount_minor: '200000', phone_number: '0712345678' }, { key: 'top-up' }),
  ]
  expect(sent.map(({ status, body }) => [status, body.details?.existing])).toEqual(sent.map(() => [409, undefined]))
})
