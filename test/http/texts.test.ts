import { expect, test } from 'vitest'
import { fund, newBeneficiary } from '../harness/money.ts'
import { createKey, signIn } from '../harness/people.ts'
import { openService } from '../harness/service.ts'

const service = await openService()
const person = await signIn(service.api)
const payee = await newBeneficiary(person.api)

const reversed = 'KES 00.001\u202e'
const policy = { approval_threshold_minor: '1' }
const pay = () => ({ beneficiary_id: payee, amount_minor: '1000' })

test.each<[string, string, string, (text: string) => object]>([
  [
    'a payee',
    '/v1/beneficiaries',
    'display_name',
    (text) => ({ type: 'person', display_name: text, payment_rail: 'MPESA_B2C', destination: '254722000101' }),
  ],
  [
    "a payee's type",
    '/v1/beneficiaries',
    'type',
    (text) => ({ type: text, display_name: 'A', payment_rail: 'MPESA_B2C', destination: '254722000101' }),
  ],
  [
    'a legal name',
    '/v1/beneficiaries',
    'legal_name',
    (text) => ({ type: 'person', display_name: 'A', legal_name: text, payment_rail: 'MPESA_B2C', destination: '254722000101' }),
  ],
  ['a policy', '/v1/spending-policies', 'name', (text) => ({ ...policy, name: text })],
  ['a key', '/v1/accounts/me/api-keys', 'name', (text) => ({ name: text })],
  ['a workspace', '/v1/workspaces', 'name', (text) => ({ name: text })],
  ['a batch', '/v1/payment-batches', 'name', (text) => ({ name: text, items: [pay()] })],
  ['a narrative', '/v1/payments', 'narrative', (text) => ({ ...pay(), narrative: text })],
  ['a reference', '/v1/payments', 'account_reference', (text) => ({ ...pay(), account_reference: text })],
  ['a value of metadata', '/v1/payments', 'metadata', (text) => ({ ...pay(), metadata: { note: text } })],
  ['a name of metadata', '/v1/payments', 'metadata', (text) => ({ ...pay(), metadata: { [text]: 'note' } })],
  ['the reason of a freeze', '/v1/workspaces/current/freeze', 'reason', (text) => ({ reason: text })],
])('%s with text that is not what it shows is refused and named', async (_what, path, field, body) => {
  for (const text of [reversed, 'two\nlines', 'in\u200bvisible', 'begin\u2028end']) {
    const answer = await person.api.post(path, body(text))
    expect([text, answer.status, answer.body.error]).toEqual([text, 400, 'invalid_request'])
    expect(answer.body.details.fields[0].path).toMatch(new RegExp(`^${field}`))
  }
})

test('a person’s own name, and the names of keys and payees when they are changed, follow the same rules', async () => {
  const owner = await signIn(service.api)
  const key = await createKey(owner)
  const own = await newBeneficiary(owner.api)
  for (const [path, name] of [
    ['/v1/accounts/me', 'display_name'],
    [`/v1/accounts/me/api-keys/${key.id}`, 'name'],
    [`/v1/beneficiaries/${own}`, 'display_name'],
  ] as const) {
    expect((await owner.api.patch(path, { [name]: reversed })).status).toBe(400)
    expect((await owner.api.patch(path, { [name]: '\u2800' })).status).toBe(400)
    expect((await owner.api.patch(path, { [name]: 'Zoe\u0308 👩‍⚕️' })).body[name]).toBe('Zo\u00eb 👩‍⚕️')
  }
})

test('the text to sign keeps names that are written from the right apart from the amount, and others as they are', async () => {
  const owner = await signIn(service.api)
  await owner.api.post('/v1/spending-policies', { ...policy, name: 'Ask' })
  const messageFor = async (fields: Record<string, unknown>, narrative: string) => {
    const beneficiary = await newBeneficiary(owner.api, fields)
    const payment = await owner.api.post('/v1/payments', { beneficiary_id: beneficiary, amount_minor: '1000', narrative })
    expect(payment.status).toBe(201)
    return (await service.api.get(`/v1/approvals/${payment.body.approval_id}/message`)).body.message
  }
  await fund(service, owner, 100_000n)
  const arabic = await messageFor({ display_name: 'محمد علي' }, 'إيجار')
  expect(arabic).toContain('Beneficiary: \u2068محمد علي\u2069\n')
  expect(arabic).toContain('For: \u2068إيجار\u2069\n')
  const latin = await messageFor({ display_name: 'Kenya Power' }, 'Rent')
  expect(latin).toContain('Beneficiary: Kenya Power\n')
  expect(latin).not.toMatch(/[\u2066-\u2069]/)
})
