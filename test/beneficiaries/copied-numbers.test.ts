import { afterAll, expect, test } from 'vitest'
import { credit } from '../harness/money.ts'
import { signIn } from '../harness/people.ts'
import { openService } from '../harness/service.ts'
import { findBreaches } from '../harness/verify.ts'

const service = await openService({ env: { RATE_LIMIT_ENABLED: 'false' } })
afterAll(async () => {
  expect(await findBreaches(service)).toEqual([])
})

/** 0712 000 078 as contacts apps, web pages, spreadsheets and word processors copy it. */
const copies = [
  ['between marks of direction', '\u202A+254712000078\u202C'],
  ['with a soft hyphen', '0712\u00AD000078'],
  ['with hyphens that do not break', '+254\u2011712\u2011000\u2011078'],
  ['with dots', '0712.000.078'],
  ['as a link', 'tel:+254712000078'],
  ['with the international prefix', '00254712000078'],
  ['with both prefixes', '+254 0712 000 078'],
  ['with spaces that are no spaces', '0712\u00A0000\u202F078'],
  ['behind a byte order mark', '\uFEFF0712000078'],
  ['with a zero width space', '0712\u200B000\u200B078'],
  ['with brackets and a dash', '+254 (712) 000\u2013078'],
] as const

test.each(copies)('a number %s is one number for beneficiaries, payments, lists and top-ups', async (_name, copy) => {
  const person = await signIn(service.api)
  await credit(service, person.accountId, 1_000_000n)
  const payee = (destination: string) =>
    person.api.post('/v1/beneficiaries', { type: 'individual', display_name: 'Achieng', payment_rail: 'MPESA_B2C', destination })
  const [plain, copied] = [await payee('0712000078'), await payee(copy)]
  expect([copied.status, copied.body.destination_mask]).toEqual([201, plain.body.destination_mask])
  const pay = (beneficiary_id: string) => person.api.post('/v1/payments', { beneficiary_id, amount_minor: '10000' })
  const first = await pay(plain.body.id)
  expect((await pay(copied.body.id)).body.decision.warnings).toContainEqual(
    expect.objectContaining({ code: 'possible_duplicate', payment_id: first.body.id }),
  )
  const item = { display_name: 'Achieng', destination: copy, amount_minor: '20000' }
  const list = await person.api.post('/v1/payment-batches?dry_run=true', { items: [item] })
  expect(list.body.items).toMatchObject([{ payee: 'known' }])
  const topup = await person.api.post('/v1/topups/initiate', { amount_minor: '10000', phone_number: copy })
  expect([topup.status, topup.body.phone_number_mask]).toEqual([201, '********0078'])
})

test.each([
  ['712000078', 'has no country'],
  ['+255712000078', 'is not of Kenya'],
  ['0712 000 07', 'with all its digits'],
  ['0712000078 Achieng', 'must be a Kenyan mobile number'],
])('%s is refused with what is wrong with it', async (destination, says) => {
  const person = await signIn(service.api)
  const fields = { type: 'individual', display_name: 'Achieng', payment_rail: 'MPESA_B2C', destination }
  const { status, text } = await person.api.post('/v1/beneficiaries', fields)
  expect([status, text]).toEqual([400, expect.stringContaining(says)])
})
