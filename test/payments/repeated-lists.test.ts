import { expect, test } from 'vitest'
import type { Json } from '../harness/client.ts'
import { credit } from '../harness/money.ts'
import { createKey, type Person, signIn } from '../harness/people.ts'
import { openService } from '../harness/service.ts'

const service = await openService({ env: { RATE_LIMIT_ENABLED: 'false' } })

const path = '/v1/payment-batches'
const payer = async (amount = 10_000_000n): Promise<Person> => {
  const person = await signIn(service.api)
  await credit(service, person.accountId, amount)
  return person
}
const sendCsv = (from: Pick<Person, 'api'>, text: string, query = '', options: Json = {}) =>
  from.api.post(`${path}${query}`, undefined, { raw: text, headers: { 'content-type': 'text/csv' }, ...options })
const salaries = 'name,phone,amount\nAchieng,0722000101,100\nBaraka,0722000102,200\n'
const items = [
  { display_name: 'Achieng', destination: '0722000101', amount_minor: '10000' },
  { display_name: 'Baraka', destination: '0722000102', amount_minor: '20000' },
]
const paymentsOf = async (from: Person): Promise<Json[]> => (await from.api.get('/v1/payments?limit=100')).body.data.reverse()

test('a list that was sent before is refused with its rows and the earlier payments, however it comes: with no key, another key, as JSON, with an API key, in another order, within 72 hours', async () => {
  const someone = await payer()
  const key = await createKey(someone, { permissions: ['payment.create', 'payment.read'] })
  expect((await sendCsv(someone, salaries, '', { key: 'first' })).status).toBe(201)
  const earlier = await paymentsOf(someone)
  await service.settle()
  service.clock.advance(71 * 3600)
  const answers = [
    await sendCsv(someone, salaries),
    await sendCsv(someone, salaries, '', { key: 'second' }),
    await sendCsv(someone, salaries.replaceAll(',', ';'), '?name=Other'),
    await someone.api.post(path, { items }),
    await sendCsv(key, salaries),
    await sendCsv(someone, 'amount,phone,name\n200,+254722000102,Baraka\n100,254722000101,Achieng\n'),
  ]
  for (const { status, body } of answers) {
    expect([status, body.error, body.details.reason]).toEqual([409, 'conflict', 'possible_duplicate'])
    expect(body.details.items.map(({ existing_payment_id: id }: Json) => id).sort()).toEqual(earlier.map(({ id }) => id).sort())
  }
  expect(answers[0]?.body.details.items.map(({ row }: Json) => row)).toEqual([2, 3])
  // Each message names the way of its own form: a CSV body has no such field.
  for (const [index, { body }] of answers.entries())
    for (const { message, fix } of body.details.items)
      for (const text of [message, fix])
        expect(text).toContain(
          `If a second payment is meant, ${index === 3 ? 'send "duplicates_intended": true.' : 'add ?duplicates_intended=true to the address.'}`,
        )
  expect(await paymentsOf(someone)).toHaveLength(2)
  const meant = await sendCsv(someone, salaries, '?duplicates_intended=true')
  expect(meant.status).toBe(201)
  const [again] = (await paymentsOf(someone)).slice(2)
  expect(again?.decision.warnings).toMatchObject([{ code: 'possible_duplicate', payment_id: earlier[0]?.id }])
  await service.settle()
  service.clock.advance(73 * 3600)
  expect((await sendCsv(someone, salaries)).status).toBe(201)
})

test('two rows alike are refused with each other, and a dry run says of both kinds and creates nothing', async () => {
  const someone = await payer()
  const twice = `${salaries}Achieng,0722000101,100\n`
  const refused = await sendCsv(someone, twice)
  expect(refused.status).toBe(409)
  expect(refused.body.details.items).toMatchObject([{ index: 2, row: 4, same_as_index: 0, same_as_row: 2 }])
  expect(refused.body.details.items[0].message).toContain('If both are meant, add ?duplicates_intended=true to the address.')
  const checked = await sendCsv(someone, twice, '?dry_run=true')
  expect(checked.status).toBe(200)
  expect(checked.body.items.map(({ looks_like: earlier }: Json) => earlier && [earlier.payment_id, earlier.row])).toEqual([
    null,
    null,
    [null, 2],
  ])
  expect((await sendCsv(someone, twice, '?duplicates_intended=true')).status).toBe(201)
  const later = await sendCsv(someone, salaries, '?dry_run=true')
  const [first] = await paymentsOf(someone)
  expect(later.body.items[1].looks_like).toMatchObject({ payment_id: (await paymentsOf(someone))[1]?.id, index: null })
  expect(first?.status).toBe('processing')
  expect(await paymentsOf(someone)).toHaveLength(3)
})

test('a stricter rule about duplicates decides instead: approval where a policy asks for it, denial where it denies', async () => {
  const someone = await payer()
  await someone.api.post('/v1/spending-policies', { name: 'Never', on_duplicate: 'deny', duplicate_window_seconds: 604_800 })
  await sendCsv(someone, salaries)
  const denied = await sendCsv(someone, salaries, '?duplicates_intended=true')
  expect([denied.status, denied.body.error]).toEqual([403, 'policy_denied'])
})

test('a row with another name than the payee has is paid with a warning that names both, in the dry run, the decision and the text that is signed', async () => {
  const someone = await payer()
  await someone.api.post('/v1/spending-policies', { name: 'Ask', approval_threshold_minor: '1' })
  await someone.api.post('/v1/beneficiaries', {
    type: 'individual',
    display_name: 'Achieng Otieno',
    legal_name: 'Achieng A. Otieno',
    payment_rail: 'MPESA_B2C',
    destination: '0722000101',
  })
  const text =
    'name,phone,amount\nWrong Name,0722000101,100\nACHIENG  otieno,0722000101,200\nAchieng A. Otieno,0722000101,300\nChebet,0722000103,400\nChepkoech,0722000103,500\n'
  const checked = await sendCsv(someone, text, '?dry_run=true')
  expect(checked.body.items.map(({ given_name, display_name }: Json) => [given_name, display_name])).toEqual([
    ['Wrong Name', 'Achieng Otieno'],
    [null, 'Achieng Otieno'],
    [null, 'Achieng Otieno'],
    [null, 'Chebet'],
    ['Chepkoech', 'Chebet'],
  ])
  const { body } = await sendCsv(someone, text)
  const { message } = (await someone.api.get(`/v1/approvals/${body.approval_id}/message`)).body
  expect(message).toContain('- "Achieng Otieno": "Wrong Name" in the batch')
  expect(message).toContain('- "Chebet": "Chepkoech" in the batch')
  const [first] = await paymentsOf(someone)
  expect(first?.decision.warnings).toContainEqual({ code: 'name_differs', name: 'Achieng Otieno', given_name: 'Wrong Name' })
})

test('an approval threshold sees the total of a list under each rule, and not that of other lists or of payees the rule does not name', async () => {
  const someone = await payer()
  await someone.api.post('/v1/spending-policies', { name: 'Ask', approval_threshold_minor: '100000' })
  const list = (from: number, count: number, amount: number) =>
    `name,phone,amount\n${Array.from({ length: count }, (_, n) => `P${from + n},07${22_000_000 + from + n},${amount}\n`).join('')}`
  const asked = await sendCsv(someone, list(1000, 100, 900))
  expect([asked.status, asked.body.status]).toEqual([201, 'pending_approval'])
  const below = await sendCsv(someone, list(2000, 2, 450))
  expect(below.body.status).toBe('processing')
  expect((await sendCsv(someone, list(3000, 2, 450))).body.status).toBe('processing')
  expect((await sendCsv(someone, list(4000, 2, 500))).body.status).toBe('pending_approval')

  const other = await payer()
  const key = await createKey(other, {
    permissions: ['payment.create', 'beneficiary.manage'],
    spending_controls: { approval_threshold_minor: '100000', new_payees: 'allow' },
  })
  expect((await sendCsv(key, list(5000, 100, 900))).body.status).toBe('pending_approval')
  expect((await sendCsv(key, list(6000, 1, 900))).body.status).toBe('processing')
  const named = await payer()
  const { body: one } = await named.api.post('/v1/beneficiaries', {
    type: 'individual',
    display_name: 'One',
    payment_rail: 'MPESA_B2C',
    destination: '0722007000',
  })
  await named.api.post('/v1/spending-policies', { name: 'One', beneficiary_ids: [one.id], approval_threshold_minor: '100000' })
  expect((await sendCsv(named, list(7000, 100, 900))).body.status).toBe('processing')
})

test('a balance that does not suffice is said once with both sums, also beside other faults', async () => {
  const someone = await payer(50_000n)
  const short = await sendCsv(someone, `${salaries}Chebet,0722000103,300\n`)
  expect([short.status, short.body.error]).toEqual([402, 'insufficient_funds'])
  expect(short.body.details).toMatchObject({ total_minor: '60000', available_minor: '50000', items: [] })
  expect(short.body.message).toContain('the batch needs KES 600.00, and KES 500.00 is available')
  const wrong = await sendCsv(someone, `${salaries}Chebet,07220001,300\nDaudi,0722000104,900\n`)
  expect(wrong.status).toBe(400)
  expect(wrong.body.details).toMatchObject({ total_minor: '150000', available_minor: '50000' })
  expect(wrong.body.details.items.map(({ row, error }: Json) => [row, error])).toEqual([[4, 'invalid_request']])
})

test('an amount that is refused itself says nothing about the balance, and one of a row with another fault counts', async () => {
  const someone = await payer(5_000_000n)
  const typed = await sendCsv(someone, `${salaries}Chebet,0722000103,300000\nDaudi,07220001,400\nEsther,0722000105,9000000\n`)
  expect([typed.status, typed.body.message, typed.body.details.total_minor]).toEqual([
    400,
    '3 of 5 items cannot be paid. details.items names each. Nothing was created.',
    undefined,
  ])
  await someone.api.post('/v1/spending-policies', { name: 'Most', per_payment_limit_minor: '4500000' })
  const denied = await sendCsv(someone, `${salaries}Chebet,0722000103,49900\n`)
  expect([denied.status, denied.body.message]).toEqual([403, expect.not.stringContaining('Insufficient')])
  const both = await sendCsv(someone, `${salaries}Chebet,0722000103,49900\nDaudi,07220001,40000\nEsther,0722000105,20000\n`)
  expect([both.status, both.body.details.total_minor]).toEqual([400, '6030000'])
  expect(both.body.message).toContain('the batch needs KES 60,300.00 without the refused amounts, and KES 50,000.00 is available')
})

test('of a list without one usable payee the balance is the one that there is', async () => {
  const someone = await payer(50_000n)
  const { status, body } = await sendCsv(someone, 'name,phone,amount\nChebet,12,300\n')
  expect([status, body.message, body.details.available_minor]).toEqual([
    400,
    '1 of 1 items cannot be paid. details.items names each. Nothing was created.',
    undefined,
  ])
  const short = await sendCsv(someone, 'name,phone,amount\nChebet,12,600\n')
  expect(short.body.details).toMatchObject({ total_minor: '60000', available_minor: '50000' })
})
