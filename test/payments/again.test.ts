import { expect, test } from 'vitest'
import { formatId, newId } from '../../src/lib/ids.ts'
import type { Json } from '../harness/client.ts'
import { credit, newBeneficiary } from '../harness/money.ts'
import { createKey, signIn } from '../harness/people.ts'
import { openService } from '../harness/service.ts'
import { answered } from './authority-scene.ts'

const service = await openService()
const path = '/v1/payment-batches'

const scene = async () => {
  const owner = await signIn(service.api)
  await credit(service, owner.accountId, 10_000_000n)
  const payees = [await newBeneficiary(owner.api), await newBeneficiary(owner.api), await newBeneficiary(owner.api)]
  const items = payees.map((beneficiary_id, index) => ({
    ...{
      beneficiary_id,
      amount_minor: `${(index + 1) * 10_000}`,
      narrative: `Wages ${index}`,
      purpose_code: 'SALA',
      payment_type: 'salary',
    },
    metadata: { employee: `E${index}` },
  }))
  const batch = answered(await owner.api.post(path, { name: 'November', items }), 201)
  const itemsOf = async (id: string): Promise<Json[]> =>
    answered(await owner.api.get(`/v1/payments?batch_id=${id}&limit=100`)).data.toSorted((a: Json, b: Json) =>
      a.created_at === b.created_at ? (a.narrative < b.narrative ? -1 : 1) : 0,
    )
  service.clock.advance(73 * 3600)
  const later = await signIn(service.api, owner.wallet)
  return {
    ...later,
    payees,
    batch,
    itemsOf,
    again: (body: object, query = '') => later.api.post(path + query, { again: batch.id, ...body }),
  }
}
const paid = (items: readonly Json[]) =>
  items.map(({ beneficiary_id, amount_minor, narrative, purpose_code, payment_type, metadata }) => ({
    ...{ beneficiary_id, amount_minor, narrative, purpose_code, payment_type, metadata },
  }))

test('a batch is paid again with the same rows, another amount and without what is left out, first as a dry run', async () => {
  const { again, api, itemsOf, batch, payees } = await scene()
  const changes = {
    items: [
      { batch_index: 1, amount_minor: '55500' },
      { batch_index: 0, omit: true },
    ],
    name: 'December',
  }
  const preview = answered(await again(changes, '?dry_run=true'))
  expect([preview.items_count, preview.total_minor]).toEqual([2, '85500'])
  const copy = answered(await again(changes), 201)
  expect([copy.items_count, copy.total_minor, copy.name]).toEqual([2, '85500', 'December'])
  const [, second, third] = paid(await itemsOf(batch.id))
  expect(paid(await itemsOf(copy.id))).toEqual([{ ...second, amount_minor: '55500' }, third])
  expect(second?.beneficiary_id).toBe(payees[1])
  expect([copy.again_of, batch.again_of]).toEqual([batch.id, null])
  expect(answered(await api.get(`${path}/${copy.id}`)).again_of).toBe(batch.id)
})

test('everything but the payee of an item changes; what is left out stays, and null clears it', async () => {
  const { again, itemsOf, batch } = await scene()
  const changes = {
    items: [
      { batch_index: 0, narrative: 'Wages December', metadata: { employee: 'E0', month: '12' } },
      { batch_index: 1, narrative: null, purpose_code: null, account_reference: 'DEC 1', payment_type: 'bonus' },
    ],
  }
  const copy = answered(await again(changes), 201)
  const [first, second, third] = paid(await itemsOf(batch.id))
  const repeated = await itemsOf(copy.id)
  expect(paid(repeated).toSorted((one, other) => Number(one.amount_minor) - Number(other.amount_minor))).toEqual([
    { ...first, narrative: 'Wages December', metadata: { employee: 'E0', month: '12' } },
    { ...second, narrative: null, purpose_code: null, payment_type: 'bonus' },
    third,
  ])
  expect(repeated.map(({ account_reference: reference }) => reference).filter(Boolean)).toEqual(['DEC 1'])
})

test('the same key answers the same batch again, and what looks like a duplicate of this week is asked about', async () => {
  const { again, api, batch } = await scene()
  const once = { key: 'december' }
  const first = await api.post(path, { again: batch.id }, once)
  expect(first.status).toBe(201)
  expect((await api.post(path, { again: batch.id }, once)).text).toBe(first.text)
  expect((await again({})).body.details.reason).toBe('possible_duplicate')
  expect((await again({ duplicates_intended: true })).status).toBe(201)
})

test('a batch that does not exist, or is another tenant’s, is 404 and names the field', async () => {
  const { api } = await scene()
  const { batch: foreign } = await scene()
  for (const id of [foreign.id, formatId('payment_batch', newId())]) {
    const refused = await api.post(path, { again: id })
    expect([refused.status, refused.body.details.field]).toEqual([404, 'again'])
  }
})

test('an archived or frozen payee is named, and the list goes without it', async () => {
  const { again, api, payees } = await scene()
  const { display_name: name } = answered(await api.delete(`/v1/beneficiaries/${payees[0]}`))
  answered(await api.patch(`/v1/beneficiaries/${payees[2]}`, { status: 'frozen' }))
  const refused = await again({})
  expect([refused.status, refused.body.details.items.map(({ index }: Json) => index)]).toEqual([400, [0, 2]])
  expect(refused.body.details.items[0].message).toContain(`"${name}" is archived`)
  const rest = {
    items: [
      { batch_index: 0, omit: true },
      { batch_index: 2, omit: true },
    ],
  }
  expect((await again(rest)).body).toMatchObject({ items_count: 1, total_minor: '20000' })
})

test('an account whose paybill is frozen, and a frozen account that an open paybill names, are named in the same way', async () => {
  const owner = await signIn(service.api)
  await credit(service, owner.accountId, 10_000_000n)
  const create = (fields: object) => newBeneficiary(owner.api, { payment_rail: 'MPESA_B2B', ...fields })
  const freeze = async (id: string) => answered(await owner.api.patch(`/v1/beneficiaries/${id}`, { status: 'frozen' }))
  const till = await create({ destination: '247247', account_reference: 'SHOP1' })
  const open = await create({ destination: '888880', account_reference_required: true })
  const items = [
    { beneficiary_id: till, amount_minor: '10000' },
    ...['METER1', 'METER2'].map((account_reference) => ({ beneficiary_id: open, amount_minor: '20000', account_reference })),
  ]
  const { id: again } = answered(await owner.api.post(path, { items }), 201)
  await freeze(await create({ destination: '247247' }))
  await freeze(await create({ destination: '888880', account_reference: 'METER1' }))
  const repeat = (changes: object = {}) =>
    owner.api.post(`${path}?dry_run=true`, { again, duplicates_intended: true, ...changes })
  const { status, body } = await repeat()
  expect([status, body.details.items.map(({ index, error, param }: Json) => [index, error, param])]).toEqual([
    400,
    [0, 1].map((index) => [index, 'invalid_request', 'beneficiary_id']),
  ])
  expect(body.details.items[0].message).toMatch(/" is frozen: leave the item out/)
  const moved = {
    items: [
      { batch_index: 0, omit: true },
      { batch_index: 1, account_reference: 'METER3' },
    ],
  }
  expect((await repeat(moved)).body).toMatchObject({ items_count: 2 })
})

test('what cannot be a change of that batch is refused by its place, and another workspace has no such batch', async () => {
  const { again, api, batch, payees } = await scene()
  const paths = async (items: object[]) => (await again({ items })).body.details.fields.map((field: Json) => field.path)
  expect(await paths([{ batch_index: 3 }])).toEqual(['items.0.batch_index'])
  expect(await paths([{ batch_index: 1 }, { batch_index: 1 }])).toEqual(['items.1.batch_index'])
  expect(await paths([{ batch_index: 1, amount_minor: 5 }])).toEqual(['items.0.amount_minor'])
  expect(await paths([{ batch_index: 1 }, { batch_index: 0, narrative: 'n'.repeat(141) }])).toEqual(['items.1.narrative'])
  expect(
    await paths([
      { batch_index: 0, omit: true },
      { batch_index: 1, omit: true },
      { batch_index: 2, omit: true },
    ]),
  ).toEqual(['items'])
  // Only the missing index is wrong, not the amount beside it.
  const payee = { beneficiary_id: payees[0], amount_minor: '100' }
  expect(await paths([payee])).toEqual(['items.0.batch_index', 'items.0.beneficiary_id'])
  expect(await paths([{ amount_minor: '5000' }])).toEqual(['items.0.batch_index'])
  expect((await api.post(path, { items: [{ batch_index: 0 }] })).status).toBe(400)
  expect((await api.post(path, {})).body.details.fields).toEqual([{ path: 'items', message: 'is required' }])
  const stranger = await signIn(service.api)
  expect((await stranger.api.post(path, { again: batch.id })).status).toBe(404)
  const key = await createKey({ api }, { permissions: ['payment.create'] })
  expect((await key.api.post(path, { again: batch.id })).body.details.required_permission).toBe('payment.read')
})
