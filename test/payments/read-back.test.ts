import { parse } from 'csv-parse/sync'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { CreateBeneficiary, UpdateBeneficiary } from '../../src/modules/beneficiaries/schema.ts'
import { CreateApiKey, SpendingControlsIn, UpdateApiKey } from '../../src/modules/delegation/schema.ts'
import { CreateMandate, MandateTerms } from '../../src/modules/mandates/schema.ts'
import { BatchItem, CreatePaymentBatch } from '../../src/modules/payments/batch/schema.ts'
import { CreatePayment } from '../../src/modules/payments/schema.ts'
import { CreatePolicy, UpdatePolicy } from '../../src/modules/policies/schema.ts'
import { InitiateTopup } from '../../src/modules/topups/schema.ts'
import { UpdateWorkspace } from '../../src/modules/workspaces/schema.ts'
import type { Answer, Json } from '../harness/client.ts'
import { createMandate, sendMandate, signedMandate } from '../harness/mandates.ts'
import { credit, newBeneficiary } from '../harness/money.ts'
import { createKey, type Person, signIn } from '../harness/people.ts'
import { startService, type TestService } from '../harness/service.ts'

let service: TestService
let person: Person
let payee: string
let grant: string
let workspace: string
beforeAll(async () => {
  service = await startService()
  person = await signIn(service.api)
  await credit(service, person.accountId, 10_000_000n)
  payee = await newBeneficiary(person.api, { display_name: 'Acme Supplies' })
  grant = (await createKey(person)).grantId
  workspace = (await person.api.get('/v1/workspaces/current')).body.workspace.id
})
afterAll(() => service.close())

const later = (seconds: number) => new Date(service.clock.now().getTime() + seconds * 1000).toISOString()
const pick = (from: Json, names: readonly string[]): Json => Object.fromEntries(names.map((name) => [name, from[name]]))

/** An item's fields that describe the payee. */
const ofPayee = ['display_name', 'payment_rail', 'destination', 'bank_code', 'legal_name', 'type']
const paid = (): Json => ({
  beneficiary_id: payee,
  amount_minor: '12300',
  payment_type: 'salary',
  purpose_code: 'SALA',
  account_reference: 'INV-2041',
  narrative: 'March',
  metadata: { invoice: '2041' },
})

type Creation = {
  fields: readonly string[]
  /** Fields that no answer has: they decide the creation, or prove the requester's identity. */
  unanswered?: readonly string[]
  /** Requests that together have every field. */
  sent: () => Promise<Json[]>
  create: (sent: Json) => Promise<Answer>
  /** The answer's form of the sent fields. */
  shown?: (sent: Json) => Json
  of?: (answer: Json) => Json
  list: string | null
  event: string
}

const post = (path: string) => (sent: Json) => person.api.post(path, sent)
const payment = {
  create: post('/v1/payments'),
  unanswered: ['duplicate_of', 'on_duplicate'],
  fields: Object.keys(CreatePayment.shape),
  event: 'payment.created',
}
const phone = { type: 'person', display_name: 'Wanjiru Kamau', legal_name: 'Wanjiru M. Kamau', metadata: { staff: '7' } }
const controls = () => ({
  per_payment_limit_minor: '20000',
  daily_limit_minor: '50000',
  monthly_limit_minor: '900000',
  total_limit_minor: '950000',
  approval_threshold_minor: '15000',
  payment_types: ['salary'],
  beneficiary_ids: [payee],
  new_payees: 'deny',
  on_duplicate: 'confirm',
})

const creations: Record<string, Creation> = {
  'a payment': {
    ...payment,
    sent: async () => {
      const { id } = await createMandate(service, person.wallet)
      return [
        { ...paid(), mandate_id: id },
        { ...paid(), amount_minor: '12400', execute_at: later(86_400) },
      ]
    },
    list: '/v1/payments?purpose_code=SALA',
  },
  'a list of payments': {
    fields: Object.keys(CreatePaymentBatch.shape),
    unanswered: ['items', 'duplicates_intended', 'again'],
    sent: async () => [
      { items: [{ ...paid(), amount_minor: '12500' }], name: 'March', execute_at: later(86_400), metadata: { month: '3' } },
    ],
    create: post('/v1/payment-batches'),
    list: '/v1/payment-batches',
    event: 'payment_batch.created',
  },
  'a beneficiary': {
    fields: Object.keys(CreateBeneficiary.shape),
    sent: async () => [
      { ...phone, payment_rail: 'MPESA_B2C', destination: '254722000811' },
      { ...phone, payment_rail: 'PESALINK', destination: '0110123456789', bank_code: '01' },
      { ...phone, payment_rail: 'MPESA_B2B', destination: '888880', account_reference_required: true },
      { ...phone, payment_rail: 'MPESA_B2B', destination: '888881', account_reference: '14253687' },
    ],
    create: post('/v1/beneficiaries'),
    shown: ({ destination, ...sent }) => ({
      ...sent,
      destination_mask: expect.stringMatching(new RegExp(`^\\*+\\d*${destination.slice(-2)}\\b`)),
    }),
    list: '/v1/beneficiaries',
    event: 'beneficiary.created',
  },
  'an API key': {
    fields: Object.keys(CreateApiKey.shape),
    sent: async () => {
      expect(Object.keys(controls()).sort()).toEqual(Object.keys(SpendingControlsIn.in.shape).sort())
      return [{ name: 'Payroll', permissions: ['payment.create'], spending_controls: controls(), expires_at: later(30 * 86_400) }]
    },
    create: post('/v1/accounts/me/api-keys'),
    of: ({ name, grant: own }) => ({ name, ...own }),
    list: '/v1/accounts/me/api-keys',
    event: 'api_key.created',
  },
  'a mandate': {
    fields: [...Object.keys(MandateTerms.in.shape), ...Object.keys(CreateMandate.shape)],
    unanswered: ['address', 'nonce', 'terms', 'signature'],
    sent: async () => [
      {
        workspace_id: workspace,
        grant_id: grant,
        description: 'Groceries',
        max_total_minor: '90000',
        max_per_payment_minor: '30000',
        max_payments: 9,
        beneficiary_ids: [payee],
        payment_types: ['groceries'],
        valid_from: later(60),
        expires_at: later(86_400),
      },
    ],
    create: async (sent) => sendMandate(service.api, await signedMandate(service.api, person.wallet, sent)),
    list: '/v1/intent-mandates',
    event: 'mandate.created',
  },
  'a top-up': {
    fields: Object.keys(InitiateTopup.shape),
    sent: async () => [{ amount_minor: '50000', phone_number: '254722000001', method: 'MPESA_STK', metadata: { for: 'March' } }],
    create: post('/v1/topups/initiate'),
    shown: ({ phone_number: phone, ...sent }) => ({ ...sent, phone_number_mask: `********${phone.slice(-4)}` }),
    list: null,
    event: 'topup.succeeded',
  },
  // Last, because it denies the others' payments.
  'a policy': {
    fields: Object.keys(CreatePolicy.shape),
    sent: async () => [
      {
        ...controls(),
        name: 'Salaries',
        required_approval_count: 2,
        separation_of_duties: true,
        approval_proof: 'signature',
        approver_ids: [person.accountId],
        duplicate_window_seconds: 3_600,
        payee_verification: 'deny',
      },
    ],
    create: post('/v1/spending-policies'),
    list: '/v1/spending-policies',
    event: 'policy.created',
  },
}

const paths: Record<string, string> = {
  'a payment': '/v1/payments',
  'a list of payments': '/v1/payment-batches',
  'a beneficiary': '/v1/beneficiaries',
  'a policy': '/v1/spending-policies',
  'an API key': '/v1/accounts/me/api-keys',
  'a mandate': '/v1/intent-mandates',
  'a top-up': '/v1/topups',
}

test('every field of a payment that is decided later is in it when it was sent', async () => {
  const sent: Json = { ...paid(), amount_minor: '12600', execute_at: later(3_600) }
  const { body } = await person.api.post('/v1/payments', sent)
  expect(body.status).toBe('scheduled')
  service.clock.advance(3_601)
  await service.deps.jobs.sweep()
  await service.settle()
  const read = await person.api.get(`/v1/payments/${body.id}`)
  expect(read.body).toMatchObject({ ...sent, status: 'succeeded' })
  const events: Json[] = (await person.api.get('/v1/notifications?limit=100&type=payment.succeeded')).body.data
  expect(events.find(({ data }) => data.id === body.id)?.data).toMatchObject(sent)
})

test('every field of an item of a list is in its payment, sent as JSON and as CSV', async () => {
  const names = Object.keys(BatchItem.shape).filter((name) => !ofPayee.includes(name))
  const item: Json = { ...paid(), amount_minor: '45600', purpose_code: 'SUPP' }
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

test('every field of an item that names its payee by a destination is in its payment or in its beneficiary', async () => {
  const { beneficiary_id: _, ...terms } = { ...paid(), amount_minor: '45700' }
  const named: Json = { display_name: 'Njeri Otieno', legal_name: 'Njeri A. Otieno', type: 'person' }
  const to: Json = { payment_rail: 'PESALINK', destination: '0110987654321', bank_code: '01' }
  expect([...Object.keys(named), ...Object.keys(to)].sort()).toEqual(ofPayee.toSorted())
  const { body } = await person.api.post('/v1/payment-batches', { items: [{ ...terms, ...named, ...to }] })
  const [item] = (await person.api.get(`/v1/payments?batch_id=${body.id}`)).body.data
  expect(item).toMatchObject(terms)
  const { destination, ...rest } = to
  const beneficiary = (await person.api.get(`/v1/beneficiaries/${item.beneficiary_id}`)).body
  expect(beneficiary).toMatchObject({ ...named, ...rest, destination_mask: expect.stringContaining(destination.slice(-2)) })
})

test('a purpose code in lower case is refused with the one to send', async () => {
  const answer = await person.api.post('/v1/payments', { ...paid(), purpose_code: 'sala' })
  expect(answer.status).toBe(400)
  expect(JSON.stringify(answer.body)).toContain('send \\"SALA\\"')
})

describe.each(Object.entries(creations))('%s', (name, creation) => {
  const { fields, unanswered = [], shown = (sent) => sent, of = (answer) => answer, list, event } = creation

  test('every field of its creation is in the answer, in a read, in the list and in the event', async () => {
    const requests = await creation.sent()
    // A field that is new in the schema fails here until it is sent.
    const sentFields = new Set([...requests.flatMap((sent) => Object.keys(sent)), ...unanswered])
    expect([...sentFields].sort()).toEqual([...new Set(fields)].sort())
    for (const sent of requests) {
      const expected = shown(Object.fromEntries(Object.entries(sent).filter(([field]) => !unanswered.includes(field))))
      const created = await creation.create(sent)
      expect([created.status, of(created.body)]).toEqual([201, expect.objectContaining(expected)])
      const { id } = created.body
      expect(of((await person.api.get(`${paths[name]}/${id}`)).body)).toMatchObject(expected)
      if (list) {
        const listed: Json[] = (await person.api.get(list)).body.data
        expect(listed.filter((one) => one.id === id).map(of)).toEqual([expect.objectContaining(expected)])
      }
      await service.settle()
      const events: Json[] = (await person.api.get(`/v1/notifications?limit=100&type=${event}`)).body.data
      expect(events.filter(({ data }) => data.id === id).map(({ data }) => of(data))).toEqual([expect.objectContaining(expected)])
    }
  })
})

type Change = {
  fields: readonly string[]
  /** The path to read and change it; created without the sent fields. */
  path: () => Promise<string>
  sent: () => Json
  of?: (answer: Json) => Json
}

const changes: Record<string, Change> = {
  'a beneficiary': {
    fields: Object.keys(UpdateBeneficiary.shape),
    path: async () => `/v1/beneficiaries/${await newBeneficiary(person.api)}`,
    sent: () => ({ ...phone, account_reference_required: true, status: 'frozen' }),
  },
  'an API key': {
    fields: Object.keys(UpdateApiKey.shape),
    path: async () => `/v1/accounts/me/api-keys/${(await createKey(person)).id}`,
    sent: () => ({ name: 'Renamed', spending_controls: controls() }),
    of: ({ name, grant: { spending_controls } }) => ({ name, spending_controls }),
  },
  'a policy': {
    fields: Object.keys(UpdatePolicy.shape).filter((name) => name !== 'version'),
    path: async () =>
      `/v1/spending-policies/${(await person.api.post('/v1/spending-policies', { name: 'Empty', payment_types: ['unused'] })).body.id}`,
    sent: () => ({
      ...controls(),
      name: 'Renamed',
      required_approval_count: 3,
      separation_of_duties: true,
      approval_proof: 'signature',
      approver_ids: [person.accountId],
      duplicate_window_seconds: 60,
      payee_verification: 'warn',
    }),
  },
  // Another time zone takes effect with the next month.
  'a workspace': {
    fields: Object.keys(UpdateWorkspace.shape),
    path: async () => '/v1/workspaces/current',
    sent: () => ({ name: 'Renamed', time_zone: 'Africa/Lagos' }),
    of: ({ workspace: own }) => ({ name: own.name, time_zone: own.next_time_zone ?? own.time_zone }),
  },
}

test.each(Object.entries(changes))('%s: every field of its change is in the answer and in a read', async (name, change) => {
  const { of = (answer: Json) => answer } = change
  const sent = change.sent()
  // A field that is new in the schema fails here until it is sent.
  expect(Object.keys(sent).sort()).toEqual([...change.fields].sort())
  const path = await change.path()
  const changed = await person.api.patch(path, { ...sent, ...(name === 'a policy' && { version: 1 }) })
  expect([changed.status, changed.status === 200 ? of(changed.body) : changed.body]).toEqual([200, expect.objectContaining(sent)])
  expect(of((await person.api.get(path)).body)).toMatchObject(sent)
})
