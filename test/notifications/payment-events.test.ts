import { expect, test } from 'vitest'
import { changesOf, withChanges } from '../../src/events/stored-data.ts'
import { credit, newBeneficiary } from '../harness/money.ts'
import { signIn } from '../harness/people.ts'
import { openService } from '../harness/service.ts'

const service = await openService()

type Listed = { type: string; data: { decision: { trace?: unknown } } }

/** A payment as text, because the order of fields counts too. Events have no trace. */
const textOf = (payment: Listed['data']) => {
  const { trace: _, ...decision } = payment.decision
  return JSON.stringify({ ...payment, decision })
}

test('an event of a payment stays what was published, whatever happens to the payment later', async () => {
  const person = await signIn(service.api)
  await credit(service, person.accountId, 1_000_000n)
  const asked = { beneficiary_id: await newBeneficiary(person.api), amount_minor: '150000', narrative: 'Rent “March” \\ 3' }
  // Not in the database's own order.
  const metadata = { invoice_number: '7', a: '1', 'É "': '\u{1f469}' }
  const created = await person.api.post('/v1/payments', { ...asked, metadata }, { key: 'once' })
  expect(created.status).toBe(201)
  const path = `/v1/payments/${created.body.id}`
  const published = async () => {
    const listed: Listed[] = (await person.api.get('/v1/notifications')).body.data
    return listed.filter(({ type }) => type.startsWith('payment.')).map(({ type, data }) => [type, textOf(data)])
  }
  const before = await published()
  expect(before).toEqual([
    ['payment.processing', textOf(created.body)],
    ['payment.created', textOf(created.body)],
  ])
  await service.settle()
  const ended = await person.api.get(path)
  expect(ended.body.status).toBe('succeeded')
  expect(await published()).toEqual([['payment.succeeded', textOf(ended.body)], ...before])
  expect((await person.api.post('/v1/payments', { ...asked, metadata }, { key: 'once' })).text).toBe(created.text)
})

test.each([
  [
    'a changed field',
    { id: 'pay_1', status: 'processing', at: '1' },
    { id: 'pay_1', status: 'succeeded', at: '2' },
    ['status', 'at'],
  ],
  ['no change', { id: 'pay_1', status: 'failed' }, { id: 'pay_1', status: 'failed' }, ['status']],
  ['a new field', { id: 'pay_1', status: 'failed' }, { id: 'pay_1', fee: '0', status: 'failed' }, ['id', 'fee', 'status']],
  ['a field less', { id: 'pay_1', fee: '0', status: 'failed' }, { id: 'pay_1', status: 'failed' }, ['id', 'status']],
  [
    'another order inside',
    { id: 'pay_1', status: 'a', of: { a: 1, b: 2 } },
    { id: 'pay_1', status: 'a', of: { b: 2, a: 1 } },
    ['status', 'of'],
  ],
])('what is stored of %s gives the same text again', (_, snapshot, payment, stored) => {
  const changes = changesOf(snapshot, payment)
  expect(Object.keys(changes)).toEqual(stored)
  expect(JSON.stringify(withChanges(snapshot, changes))).toBe(JSON.stringify(payment))
})
