import { afterAll, expect, test } from 'vitest'
import type { Json } from '../harness/client.ts'
import { credit, newBeneficiary } from '../harness/money.ts'
import { createKey, type Person, signIn } from '../harness/people.ts'
import { openService } from '../harness/service.ts'
import { findBreaches } from '../harness/verify.ts'

const service = await openService({ env: { RATE_LIMIT_ENABLED: 'false' } })
afterAll(async () => {
  expect(await findBreaches(service)).toEqual([])
})

const path = '/v1/payment-batches'
const payer = async (amount = 10_000_000n): Promise<Person> => {
  const person = await signIn(service.api)
  await credit(service, person.accountId, amount)
  return person
}
const sendCsv = (from: Pick<Person, 'api'>, text: string, query = '', options: Json = {}) =>
  from.api.post(`${path}${query}`, undefined, { raw: text, headers: { 'content-type': 'text/csv; charset=utf-8' }, ...options })
const payeesOf = async (from: Person): Promise<Json[]> => (await from.api.get('/v1/beneficiaries?limit=100')).body.data.reverse()
const itemsOf = async (from: Person, id: string): Promise<Json[]> =>
  (await from.api.get(`/v1/payments?batch_id=${id}&limit=100`)).body.data.reverse()
const faultsOf = ({ body }: { body: Json }) =>
  body.details.items.map(({ index, row, error, param }: Json) => [index, row, error, param])

const salaries = `\uFEFFName;Phone;Amount;Narrative;metadata.employee
Achieng;0722000101;"12,500.50";March salary;E-1

Baraka;+254 722 000 102;9000;March salary;E-2
Baraka;254722000102;1000;Bonus;
`

test('a list of names and phones, as a spreadsheet saves it, is paid: payees are created once and known by their destinations later', async () => {
  const someone = await payer()
  const key = { key: 'march' }
  const whole = salaries.replace('12,500.50', '12,500.00')
  const answer = await sendCsv(someone, whole, '?name=March', key)
  expect([answer.status, answer.body.name, answer.body.total_minor]).toEqual([201, 'March', '2250000'])
  const payees = await payeesOf(someone)
  expect(payees.map(({ display_name, type, confirmation }) => [display_name, type, confirmation])).toEqual([
    ['Achieng', 'individual', 'confirmed'],
    ['Baraka', 'individual', 'confirmed'],
  ])
  const items = await itemsOf(someone, answer.body.id)
  expect(items.map(({ beneficiary_id, amount_minor, metadata }) => [beneficiary_id, amount_minor, metadata])).toEqual([
    [payees[0]?.id, '1250000', { employee: 'E-1' }],
    [payees[1]?.id, '900000', { employee: 'E-2' }],
    [payees[1]?.id, '100000', {}],
  ])
  const again = await sendCsv(someone, whole, '?name=March', key)
  expect([again.text, again.headers.get('idempotency-replayed')]).toEqual([answer.text, 'true'])
  const next = await someone.api.post(path, {
    items: [{ display_name: 'Another name', destination: '0722000101', amount_minor: '10000' }],
  })
  expect([next.status, (await payeesOf(someone)).length]).toEqual([201, 2])
  await service.settle()
  expect((await someone.api.get(`${path}/${answer.body.id}`)).body.counts).toEqual({ succeeded: 3 })
})

test('a row that names a rail is paid over that rail alone, one that names none over whatever rail its payee has', async () => {
  const someone = await payer()
  const achieng = { display_name: 'Achieng', destination: '0722000101' }
  const known = await newBeneficiary(someone.api, { ...achieng, payment_rail: 'PESALINK' })
  const baraka = { display_name: 'Baraka', destination: '0722000102' }
  const items = [
    { ...achieng, payment_rail: 'MPESA_B2C', amount_minor: '10000' },
    { ...achieng, amount_minor: '20000' },
    { ...baraka, payment_rail: 'PESALINK', amount_minor: '30000' },
    { ...baraka, payment_rail: 'MPESA_B2C', amount_minor: '40000' },
    { ...baraka, amount_minor: '50000' },
  ]
  const preview = await someone.api.post(`${path}?dry_run=true`, { items })
  expect(preview.body.items.map(({ payee }: Json) => payee)).toEqual(['new', 'known', 'new', 'new', 'new'])
  const batch = await someone.api.post(path, { items })
  expect(batch.status).toBe(201)
  const paid = await itemsOf(someone, batch.body.id)
  const [first, second] = ['MPESA_B2C', 'PESALINK']
  expect(paid.map(({ payment_rail }) => payment_rail)).toEqual([first, second, second, first, second])
  expect(paid[1]?.beneficiary_id).toBe(known)
  expect(paid[4]?.beneficiary_id).toBe(paid[2]?.beneficiary_id)
  expect(await payeesOf(someone)).toHaveLength(4)
})

test('every field of every row that is wrong is named in one answer, by its row in the spreadsheet, and nothing is created', async () => {
  const someone = await payer(2_000_000n)
  const [one] = [await newBeneficiary(someone.api, { destination: '254722000111' })]
  const text = `display_name,destination,amount,beneficiary_id,payment_rail,narrative
New,0722000103,100,,,
,0722000104,"ten, or so",,,
Nobody,72200010,1e3,,,

Bank,1234567890,100,,PESALINK,
Both,,100,${one},,
,,100.5,${one},,
,,90000,${one},,
`
  const answer = await sendCsv(someone, text)
  expect([answer.status, answer.body.error]).toEqual([400, 'invalid_request'])
  expect(faultsOf(answer)).toEqual([
    [1, 3, 'invalid_request', 'amount'],
    [1, 3, 'invalid_request', 'display_name'],
    [2, 4, 'invalid_request', 'amount'],
    [2, 4, 'invalid_request', 'destination'],
    [3, 6, 'invalid_request', 'bank_code'],
    [4, 7, 'invalid_request', 'display_name'],
    [5, 8, 'invalid_request', 'amount_minor'],
  ])
  expect(answer.body.details).toMatchObject({ total_minor: '9020000', available_minor: '2000000' })
  for (const { message, fix } of answer.body.details.items)
    expect([message, fix]).toEqual([expect.any(String), expect.any(String)])
  expect((await payeesOf(someone)).length).toBe(1)
  expect((await someone.api.get('/v1/payments')).body.data).toEqual([])
})

test.each([
  ['without rows', 'display_name,destination,amount\n', 'body'],
  ['with an unknown column', 'display_name,destination,amount,salary\nA,0722000101,1,2\n', 'salary'],
  ['with two amounts', 'display_name,destination,amount,amount_minor\nA,0722000101,1,2\n', 'amount'],
  ['with a column named twice', 'name,display_name,destination,amount\nA,B,0722000101,1\n', 'display_name'],
  ['with an open quote', 'display_name,destination,amount\n"A,0722000101,1\n', 'body'],
])('a list %s is refused whole, with the column that is wrong', async (_name, text, param) => {
  const someone = await payer()
  const answer = await sendCsv(someone, text)
  expect([answer.status, answer.body.details.fields[0].path]).toEqual([400, param])
})

test('a row with several faults has them all in the first answer, its destination among them', async () => {
  const someone = await payer()
  const answer = await sendCsv(someone, 'name,phone,amount\n,12,abc\nAchieng,0722000101,10.00\n')
  expect(answer.status).toBe(400)
  expect(faultsOf(answer)).toEqual([
    [0, 2, 'invalid_request', 'amount'],
    [0, 2, 'invalid_request', 'display_name'],
    [0, 2, 'invalid_request', 'destination'],
  ])
  expect(answer.body.message).toContain('1 of 2 items')
  const inJson = await someone.api.post(path, { items: [{ display_name: 'Baraka', destination: '12', amount_minor: 'many' }] })
  expect(inJson.body.details.items.map(({ param }: Json) => param)).toEqual(['amount_minor', 'destination'])
})

test('a dry run answers with what would be created, and creates nothing', async () => {
  const someone = await payer()
  await someone.api.post('/v1/spending-policies', { name: 'Ask', approval_threshold_minor: '1000000' })
  const text = 'display_name,destination,amount\nAchieng,0722000201,12000\nBaraka,0722000202,500\n'
  const answer = await sendCsv(someone, text, '?dry_run=true', { key: 'again' })
  expect(answer.status).toBe(200)
  expect(answer.body).toMatchObject({ status: 'pending_approval', items_count: 2, total_minor: '1250000', new_payees_count: 2 })
  expect(answer.body.items.map(({ payee, beneficiary_id, outcome }: Json) => [payee, beneficiary_id, outcome])).toEqual([
    ['new', null, 'require_approval'],
    ['new', null, 'require_approval'],
  ])
  expect(await payeesOf(someone)).toEqual([])
  const tooMuch = await sendCsv(someone, text.replace('500', '150000'), '?dry_run=true')
  expect([tooMuch.status, tooMuch.body.details]).toMatchObject([
    402,
    { total_minor: '16200000', available_minor: '10000000', items: [] },
  ])
  const created = await sendCsv(someone, text, '', { key: 'again' })
  expect([created.status, created.body.status]).toEqual([201, 'pending_approval'])
})

test('what a key creates with a list is only proposed, and a key that may not create payees pays known ones alone', async () => {
  const someone = await payer()
  const key = await createKey(someone, { permissions: ['payment.create', 'payment.read', 'beneficiary.manage'] })
  const row = (destination: string, amount_minor = '10000') => ({ display_name: 'Achieng', destination, amount_minor })
  const asked = await key.api.post(path, { items: [row('0722000301')] })
  expect([asked.status, asked.body.status]).toEqual([201, 'pending_approval'])
  expect((await payeesOf(someone)).map(({ confirmation }) => confirmation)).toEqual(['proposed'])
  await someone.api.post(`/v1/approvals/${asked.body.approval_id}/decide`, { decision: 'approve' })
  expect((await payeesOf(someone)).map(({ confirmation }) => confirmation)).toEqual(['confirmed'])
  const narrow = await createKey(someone, { permissions: ['payment.create', 'payment.read'] })
  const refused = await narrow.api.post(path, { items: [row('0722000301', '20000'), row('0722000302')] })
  expect([refused.status, faultsOf(refused)]).toEqual([403, [[1, undefined, 'forbidden', 'destination']]])
  expect((await narrow.api.post(path, { items: [row('0722000301', '20000')] })).status).toBe(201)
  expect(await payeesOf(someone)).toHaveLength(1)
})

test('a row whose amount cannot be read is named even above a total, which is compared once every amount can', async () => {
  const someone = await payer()
  const list = (amount: string, total: string) =>
    `name,phone,amount\nAchieng,0722000501,${amount}\nBaraka,0722000502,100\nTotal,,${total}\n`
  for (const amount of ['"12,50"', '', '1E+3'])
    expect(faultsOf(await sendCsv(someone, list(amount, '112')))).toEqual([
      [0, 2, 'invalid_request', expect.stringMatching(/^amount/)],
    ])
  const differs = await sendCsv(someone, list('12', '113'))
  expect([differs.status, differs.body.message]).toEqual([400, expect.stringContaining('rows are missing, or are too many')])
  expect((await sendCsv(someone, list('12', '112'))).body).toMatchObject({ items_count: 2, total_minor: '11200' })
})

test('items that look like earlier payments have to be confirmed where a policy says so, whole list by one field', async () => {
  const someone = await payer()
  await someone.api.post('/v1/spending-policies', { name: 'Confirm', on_duplicate: 'confirm' })
  const text = 'name,phone,amount\nAchieng,0722000401,100\nBaraka,0722000402,200\n'
  expect((await sendCsv(someone, text)).status).toBe(201)
  const again = await sendCsv(someone, `${text}Chebet,0722000403,300\n`)
  expect([again.status, again.body.error, again.body.details.reason]).toEqual([409, 'conflict', 'possible_duplicate'])
  expect(faultsOf(again).map(([index]: Json) => index)).toEqual([0, 1])
  expect((await sendCsv(someone, text, '?duplicates_intended=true')).status).toBe(201)
})

test('a thousand rows with new payees are one request, and one more is refused', async () => {
  const someone = await payer(1_000_000_000n)
  const row = (n: number) => `Employee ${n},07${String(30_000_000 + n)},1000,March\n`
  const list = (count: number) => `name,phone,amount,narrative\n${Array.from({ length: count }, (_, n) => row(n)).join('')}`
  const tooLong = await sendCsv(someone, list(1_001))
  expect([tooLong.status, tooLong.body.message]).toEqual([
    400,
    expect.stringContaining('has 1001 payments: a batch has at most 1000'),
  ])
  const answer = await sendCsv(someone, list(1_000))
  expect([answer.status, answer.body.items_count, answer.body.total_minor]).toEqual([201, 1_000, '100000000'])
})

test('CSV is read for batches alone', async () => {
  const someone = await payer()
  const answer = await someone.api.post('/v1/payments', undefined, { raw: 'a,b\n1,2\n', headers: { 'content-type': 'text/csv' } })
  expect(answer.status).toBe(415)
})
