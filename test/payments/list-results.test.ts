import { parse } from 'csv-parse/sync'
import { afterAll, expect, test } from 'vitest'
import type { Json } from '../harness/client.ts'
import { credit } from '../harness/money.ts'
import { createKey, signIn } from '../harness/people.ts'
import { openService } from '../harness/service.ts'
import { findBreaches } from '../harness/verify.ts'

const service = await openService({ env: { RATE_LIMIT_ENABLED: 'false' } })
afterAll(async () => {
  expect(await findBreaches(service)).toEqual([])
})

// Payments to 254700000001 fail.
const march = `sep=;
Employee Name;Phone Number;Net Pay;metadata.employee
Achieng Otieno;0722000101;4500;E-1

Baraka Mwangi;0700000001;380;=1+1
"Chébet; Kosgei";0722000103;500;E-3
`

const payer = async () => {
  const person = await signIn(service.api)
  await credit(service, person.accountId, 10_000_000n)
  await person.api.patch('/v1/accounts/me', { display_name: 'Nía Kimani' })
  return { ...person, key: await createKey(person, { name: 'Payroll', spending_controls: { new_payees: 'allow' } }) }
}
const send = async (by: Awaited<ReturnType<typeof payer>>, text: string, query: string): Promise<Json> => {
  const answer = await by.key.api.post(`/v1/payment-batches${query}`, undefined, {
    raw: text,
    headers: { 'content-type': 'text/csv; charset=utf-8' },
  })
  expect([answer.status, answer.body]).toEqual([201, expect.anything()])
  return answer.body
}

test('what became of each row is one file, in the order and with the row numbers of the list, that opens in a spreadsheet', async () => {
  const person = await payer()
  const { id } = await send(person, march, '?name=March')
  await service.settle()
  const answer = await person.api.get(`/v1/payment-batches/${id}/lines`, { headers: { accept: 'text/csv' } })
  expect([answer.status, answer.headers.get('content-disposition'), answer.text.startsWith('\uFEFF')]).toEqual([
    200,
    `attachment; filename="results-${id}.csv"`,
    true,
  ])
  const rows: Json[] = parse(answer.text, { columns: true, bom: true })
  expect(
    rows.map(({ batch_row, beneficiary_name, amount, status, metadata }) => [
      batch_row,
      beneficiary_name,
      amount,
      status,
      metadata,
    ]),
  ).toEqual([
    ['2', 'Achieng Otieno', '4500.00', 'succeeded', '{"employee":"E-1"}'],
    ['4', 'Baraka Mwangi', '380.00', 'failed', '{"employee":"=1+1"}'],
    ['5', 'Chébet; Kosgei', '500.00', 'succeeded', '{"employee":"E-3"}'],
  ])
  expect(rows[1]).toMatchObject({ failure_message: expect.stringMatching(/\w/), provider_receipt: '' })
  expect(rows[2]).toMatchObject({
    list: 'March',
    requested_by_name: 'Nía Kimani',
    requested_through: 'Payroll',
    approved_by_names: '',
  })
  const lines = (await person.api.get(`/v1/payment-batches/${id}/lines`)).body.lines
  expect(lines.map(({ row }: Json) => row)).toEqual([2, 4, 5])
  const payments = (await person.api.get(`/v1/payments?batch_id=${id}`)).body.data
  expect(payments.map(({ batch_row }: Json) => batch_row)).toEqual([5, 4, 2])
})

test('what we export is read again as a list: its byte order mark, and the apostrophe before what a spreadsheet would compute', async () => {
  const person = await payer()
  const { id } = await send(person, 'name,phone,amount\n=Achieng,0722000101,4500\n', '')
  await service.settle()
  const answer = await person.api.get(`/v1/payments?batch_id=${id}`, { headers: { accept: 'text/csv' } })
  const [row]: Json[] = parse(answer.text, { columns: true, bom: true })
  expect(row.beneficiary_name).toBe("'=Achieng")
  const again = `\uFEFFbeneficiary_name,destination,amount\r\n${row.beneficiary_name},+254722000101,${row.amount}\r\n`
  const checked = await person.api.post('/v1/payment-batches?dry_run=true', undefined, {
    raw: again,
    headers: { 'content-type': 'text/csv' },
  })
  expect([checked.status, checked.body.items[0]]).toMatchObject([
    200,
    { display_name: '=Achieng', given_name: null, payee: 'known' },
  ])
})

test('lists are found by a part of their name', async () => {
  const person = await payer()
  const one = await send(person, 'name,phone,amount\nAchieng,0722000101,10\n', '?name=Salaries%20March')
  await send(person, 'name,phone,amount\nAchieng,0722000101,20\n', '?name=Rents')
  const found = await person.api.get('/v1/payment-batches?q=salaries')
  expect(found.body.data.map(({ id }: Json) => id)).toEqual([one.id])
  expect((await person.api.get('/v1/payment-batches?q=%25')).body.data).toEqual([])
})

test('each line says the name that the list gave a payee that is called otherwise', async () => {
  const person = await payer()
  const text = 'name,phone,amount\nAchieng,0722000101,10\nChepkoech,0722000101,20\nBaraka,0722000102,30\n'
  const { id } = await send(person, text, '')
  const { lines } = (await person.api.get(`/v1/payment-batches/${id}/lines`)).body
  expect(lines.map(({ row, given_name }: Json) => [row, given_name])).toEqual([
    [2, null],
    [3, 'Chepkoech'],
    [4, null],
  ])
})
