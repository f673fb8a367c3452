import { parse } from 'csv-parse/sync'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { BatchItem } from '../../src/modules/payments/batch/schema.ts'
import { CreatePayment } from '../../src/modules/payments/schema.ts'
import type { Json } from '../harness/client.ts'
import { createMandate } from '../harness/mandates.ts'
import { credit, newBeneficiary } from '../harness/money.ts'
import { type Person, signIn } from '../harness/people.ts'
import { startService, type TestService } from '../harness/service.ts'

let service: TestService
let person: Person
let payee: string
beforeAll(async () => {
  service = await startService()
  person = await signIn(service.api)
  await credit(service, person.accountId, 10_000_000n)
  payee = await newBeneficiary(person.api, { display_name: 'Acme Supplies' })
})
afterAll(() => service.close())

/** Fields that no answer of a payment has: they decide whether it is created. */
const answersNothing = ['duplicate_of', 'on_duplicate']
/** Of an item: they describe the payee. */
const ofPayee = ['display_name', 'payment_rail', 'destination', 'bank_code', 'legal_name', 'type']

const values = (): Json => ({
  beneficiary_id: payee,
  amount_minor: '12300',
  payment_type: 'salary',
  purpose_code: 'SALA',
  account_reference: 'INV-2041',
  narrative: 'March',
  metadata: { invoice: '2041' },
})
const pick = (from: Json, names: readonly string[]): Json => Object.fromEntries(names.map((name) => [name, from[name]]))

test('every field of a payment is in the answers of its creation, of a read, of the list and of a filter', async () => {
  const mandate = await createMandate(service, person.wallet)
  const sent: Json = {
    ...values(),
    mandate_id: mandate.id,
    execute_at: new Date(service.clock.now().getTime() + 86_400_000).toISOString(),
  }
  const names = Object.keys(CreatePayment.shape).filter((name) => !answersNothing.includes(name))
  expect(Object.keys(sent).sort()).toEqual(names.sort())
  const created = await person.api.post('/v1/payments', sent)
  expect([created.status, pick(created.body, names)]).toEqual([201, sent])
  const read = await person.api.get(`/v1/payments/${created.body.id}`)
  expect(pick(read.body, names)).toEqual(sent)
  const { body } = await person.api.get('/v1/payments?purpose_code=SALA')
  expect(body.data.map((one: Json) => pick(one, names))).toEqual([sent])
  expect((await person.api.get('/v1/payments?purpose_code=SUPP')).body.data).toEqual([])
})

test('every field of an item of a list is in its payment, sent as JSON and as CSV', async () => {
  const names = Object.keys(BatchItem.shape).filter((name) => !ofPayee.includes(name))
  const item: Json = { ...values(), amount_minor: '45600', purpose_code: 'SUPP' }
  expect(Object.keys(item).sort()).toEqual(names.sort())
  const { metadata, ...cells } = item
  const text = `${[...Object.keys(cells), 'metadata.invoice'].join(',')}\n${[...Object.values(cells), metadata.invoice].join(',')}\n`
  const byJson = await person.api.post('/v1/payment-batches', { items: [item] })
  const headers = { 'content-type': 'text/csv; charset=utf-8' }
  const byCsv = await person.api.post('/v1/payment-batches?duplicates_intended=true', undefined, { raw: text, headers })
  for (const { status, body } of [byJson, byCsv]) {
    expect([status, body]).toEqual([201, expect.anything()])
    const listed = (await person.api.get(`/v1/payments?batch_id=${body.id}`)).body.data
    expect(listed.map((one: Json) => pick(one, names))).toEqual([item])
  }
  const exported = await person.api.get('/v1/payments?purpose_code=SUPP', { headers: { accept: 'text/csv' } })
  expect(parse(exported.text, { columns: true, bom: true }).map((row: Json) => row.purpose_code)).toEqual(['SUPP', 'SUPP'])
})

test('a purpose code in lower case is refused with the one to send', async () => {
  const answer = await person.api.post('/v1/payments', { ...values(), purpose_code: 'sala' })
  expect(answer.status).toBe(400)
  expect(JSON.stringify(answer.body)).toContain('send \\"SALA\\"')
})
