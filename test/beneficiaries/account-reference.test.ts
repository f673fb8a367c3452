import { afterAll, beforeEach, describe, expect, test } from 'vitest'
import type { Client, Json } from '../harness/client.ts'
import { createMandate } from '../harness/mandates.ts'
import { credit, newBeneficiary } from '../harness/money.ts'
import { createKey, type Person, signIn } from '../harness/people.ts'
import { openService } from '../harness/service.ts'
import { findBreaches } from '../harness/verify.ts'

let person: Person
const service = await openService({ env: { RATE_LIMIT_ENABLED: 'false' } })
afterAll(async () => {
  await service.settle()
  expect(await findBreaches(service)).toEqual([])
})
beforeEach(async () => {
  person = await signIn(service.api)
  await credit(service, person.accountId, 10_000_000n)
})

const paybill = { payment_rail: 'MPESA_B2B', destination: '247247' }
const landlord = { ...paybill, display_name: 'Landlord', account_reference: '0712 99-7' }
const anyBill = { ...paybill, display_name: 'Any account', account_reference_required: true }

const create = (fields: Record<string, unknown>, api: Client = person.api) =>
  api.post('/v1/beneficiaries', { type: 'rent', display_name: 'Payee', ...fields })
const pay = (beneficiary: string, fields: Record<string, unknown> = {}, api: Client = person.api) =>
  api.post('/v1/payments', { beneficiary_id: beneficiary, amount_minor: '10000', ...fields })
const policy = (fields: Record<string, unknown>) => person.api.post('/v1/spending-policies', { name: 'Rule', ...fields })
const refusal = (answer: { status: number; body: Json }) => [
  answer.status,
  answer.body.error,
  answer.body.details?.fields?.[0]?.path,
]
const paid = async (answer: Promise<{ status: number; body: Json; text: string }>): Promise<Json> => {
  const made = await answer
  if (made.status !== 201) throw new Error(made.text)
  await service.settle()
  return (await person.api.get(`/v1/payments/${made.body.id}`)).body
}

describe('a beneficiary with a fixed account at a paybill', () => {
  test('shows the account, also behind the mask, and every payment uses it', async () => {
    const made = await create(landlord)
    expect(made.body).toMatchObject({
      account_reference: '0712 99-7',
      account_reference_required: false,
      destination_mask: '****47/0712 99-7',
    })
    expect(await paid(pay(made.body.id))).toMatchObject({ status: 'succeeded', account_reference: '0712 99-7' })
    expect(await paid(pay(made.body.id, { account_reference: '071299-7', amount_minor: '20000' }))).toMatchObject({
      account_reference: '0712 99-7',
    })
  })

  test.each([
    ['MPESA_B2C', { destination: '0712345678' }],
    ['PESALINK', { destination: '1234567890', bank_code: '0012' }],
  ])('is not for %s', async (rail, fields) => {
    expect(refusal(await create({ payment_rail: rail, account_reference: 'A1', ...fields }))).toEqual([
      400,
      'invalid_request',
      'account_reference',
    ])
  })

  test.each(['x'.repeat(14), 'A#1', 'ü'])('does not take the account %j', async (reference) => {
    expect(refusal(await create({ ...paybill, account_reference: reference }))).toEqual([
      400,
      'invalid_request',
      'account_reference',
    ])
  })

  test('the account cannot be changed, nor whether one is named with each payment', async () => {
    const id = await newBeneficiary(person.api, landlord)
    const other = await person.api.patch(`/v1/beneficiaries/${id}`, { account_reference: 'OTHER' })
    expect(refusal(other)).toEqual([400, 'invalid_request', 'account_reference'])
    const open = await person.api.patch(`/v1/beneficiaries/${id}`, { account_reference_required: true })
    expect(refusal(open)).toEqual([400, 'invalid_request', 'account_reference_required'])
  })
})

describe('another account at the same paybill', () => {
  test('a key that may pay the landlord alone cannot pay it', async () => {
    const id = await newBeneficiary(person.api, landlord)
    const agent = await createKey(person, { spending_controls: { beneficiary_ids: [id] } })
    expect(refusal(await pay(id, { account_reference: 'ATTACKER99' }, agent.api))).toEqual([
      400,
      'invalid_request',
      'account_reference',
    ])
    for (const fields of [{ ...paybill, account_reference: 'ATTACKER99' }, anyBill, paybill]) {
      const own = (await create(fields, agent.api)).body.id
      const reference = 'account_reference_required' in fields ? { account_reference: 'ATTACKER99' } : {}
      expect(refusal(await pay(own, reference, agent.api))).toEqual([403, 'policy_denied', undefined])
    }
    // The landlord's own account is not the paybill's open account, either.
    const open = await newBeneficiary(person.api, anyBill)
    expect((await pay(open, { account_reference: landlord.account_reference }, agent.api)).body.error).toBe('policy_denied')
    expect((await pay(id, {}, agent.api)).status).toBe(201)
  })

  test('a till that a key may pay does not stand for the accounts behind the same number', async () => {
    const till = await newBeneficiary(person.api, paybill)
    const agent = await createKey(person, { spending_controls: { beneficiary_ids: [till] } })
    const open = (await create(anyBill, agent.api)).body.id
    const fixed = (await create({ ...paybill, account_reference: 'ATTACKER99' }, agent.api)).body.id
    expect((await pay(open, { account_reference: 'ATTACKER99' }, agent.api)).body.error).toBe('policy_denied')
    expect((await pay(fixed, {}, agent.api)).body.error).toBe('policy_denied')
    expect(refusal(await pay(till, { account_reference: 'ATTACKER99' }, agent.api))).toEqual([
      400,
      'invalid_request',
      'account_reference',
    ])
    expect((await pay(till, {}, agent.api)).status).toBe(201)
  })

  test('a mandate that the owner signed for the landlord does not approve it', async () => {
    await policy({ approval_threshold_minor: '1000' })
    const id = await newBeneficiary(person.api, landlord)
    const mandate = await createMandate(service, person.wallet, { beneficiary_ids: [id] })
    const attack = await pay(id, { mandate_id: mandate.id, account_reference: 'ATTACKER97' })
    expect(refusal(attack)).toEqual([400, 'invalid_request', 'account_reference'])
    const open = await newBeneficiary(person.api, anyBill)
    const again = await pay(open, { mandate_id: mandate.id, account_reference: 'ATTACKER97' })
    expect([again.status, again.body.error]).toEqual([403, 'policy_denied'])
    expect((await pay(id, { mandate_id: mandate.id })).body.status).toBe('processing')
  })

  test('its approver reads that it is a first payment, however often other accounts there were paid', async () => {
    const open = await newBeneficiary(person.api, anyBill)
    await paid(pay(open, { account_reference: 'METER 1' }))
    await paid(pay(open, { account_reference: 'meter1', amount_minor: '20000' }))
    await policy({ approval_threshold_minor: '1000' })
    const approvalOf = async (beneficiary: string, fields: Record<string, unknown>) => {
      const { approval_id } = (await pay(beneficiary, { amount_minor: '30000', ...fields })).body
      const { context, payment } = (await person.api.get(`/v1/approvals/${approval_id}`)).body
      return [payment.beneficiary.first_payment, context.payee.payments_count]
    }
    expect(await approvalOf(open, { account_reference: 'ATTACKER98' })).toEqual([true, 0])
    expect(await approvalOf(open, { account_reference: 'METER1' })).toEqual([false, 2])
    const fixed = await newBeneficiary(person.api, { ...paybill, account_reference: 'METER1' })
    expect(await approvalOf(fixed, {})).toEqual([false, 2])
  })

  test('a batch tells its approver the same of each account: its first payment, and how far from its own last one', async () => {
    const open = await newBeneficiary(person.api, anyBill)
    await paid(pay(open, { account_reference: 'METER 1' }))
    await policy({ approval_threshold_minor: '1000' })
    const fixed = await newBeneficiary(person.api, { ...paybill, account_reference: 'METER1' })
    const item = (beneficiary_id: string, amount_minor: string, account_reference?: string) => ({
      ...{ beneficiary_id, amount_minor, account_reference },
    })
    const batch = async (...items: Json[]): Promise<{ first: string | undefined; facts: Json; lines: Json[] }> => {
      const made = (await person.api.post('/v1/payment-batches', { items })).body
      const { facts, signing } = (await person.api.get(`/v1/approvals/${made.approval_id}`)).body
      const { lines } = (await person.api.get(`/v1/payment-batches/${made.id}/lines`)).body
      const counts = Object.fromEntries(facts.map(({ type, count }: Json) => [type, count]))
      return { first: /^Payees never paid before: .*$/m.exec(signing.approve)?.[0], facts: counts, lines }
    }
    const strangers = await batch(item(open, '10000', 'ATTACKER97'), item(open, '90000', 'ATTACKER98'))
    expect(strangers).toMatchObject({ first: 'Payees never paid before: 1', facts: { first_payment: 2 } })
    expect(strangers.facts).not.toHaveProperty('far_from_last')
    expect(strangers.lines.map(({ last_amount_minor }) => last_amount_minor)).toEqual([null, null])
    const known = await batch(item(open, '20000', 'meter1'), item(fixed, '90000'))
    expect(known).toMatchObject({ first: 'Payees never paid before: 0', facts: { far_from_last: 1 } })
    expect(known.facts).not.toHaveProperty('first_payment')
    expect(known.lines.map(({ last_amount_minor }) => last_amount_minor)).toEqual(['10000', '10000'])
  })

  test('the text to sign names the account, and its digest covers it', async () => {
    await policy({ approval_threshold_minor: '1000' })
    const { approval_id } = (await pay(await newBeneficiary(person.api, landlord))).body
    const { approve } = (await person.api.get(`/v1/approvals/${approval_id}`)).body.signing
    expect(approve).toContain('Destination: MPESA_B2B ****47/0712 99-7')
    expect(approve).toContain('Account reference: 0712 99-7')
  })
})

describe('a list of allowed payees', () => {
  test('of a key or a mandate does not take a paybill with any reference, and says what to create instead', async () => {
    const open = await newBeneficiary(person.api, anyBill)
    const key = await person.api.post('/v1/accounts/me/api-keys', {
      name: 'Agent',
      spending_controls: { beneficiary_ids: [open] },
    })
    expect(refusal(key)).toEqual([400, 'invalid_request', 'spending_controls.beneficiary_ids'])
    expect(key.body.details.fields[0].message).toContain('fixed account_reference')
    const agent = await createKey(person)
    const changed = await person.api.patch(`/v1/accounts/me/grants/${agent.grantId}`, {
      spending_controls: { beneficiary_ids: [open] },
    })
    expect(refusal(changed)).toEqual([400, 'invalid_request', 'spending_controls.beneficiary_ids'])
    await expect(createMandate(service, person.wallet, { beneficiary_ids: [open] })).rejects.toThrow('fixed account_reference')
  })

  test('of a policy takes it, and then counts each account behind it', async () => {
    const open = await newBeneficiary(person.api, anyBill)
    expect((await policy({ beneficiary_ids: [open], daily_limit_minor: '25000' })).status).toBe(201)
    expect((await pay(open, { account_reference: 'METER 1' })).status).toBe(201)
    const fixed = await newBeneficiary(person.api, { ...paybill, account_reference: 'METER 2' })
    expect((await pay(fixed)).status).toBe(201)
    expect((await pay(fixed, { account_reference: 'METER 2' })).body.error).toBe('policy_denied')
    expect((await pay(open, { account_reference: 'METER 3' })).body.error).toBe('policy_denied')
  })
})

describe('the account that a payment names at an open paybill', () => {
  test('must be named, and one in a form that M-PESA takes', async () => {
    const open = await newBeneficiary(person.api, anyBill)
    for (const fields of [{}, { account_reference: 'x'.repeat(14) }, { account_reference: 'A#1' }])
      expect(refusal(await pay(open, fields))).toEqual([400, 'invalid_request', 'account_reference'])
    expect((await pay(open, { account_reference: 'METER 1' })).status).toBe(201)
  })

  test('stands under the limits, the freeze and the duplicate check of the beneficiary that fixes it', async () => {
    const fixed = await newBeneficiary(person.api, landlord)
    const open = await newBeneficiary(person.api, anyBill)
    const same = { account_reference: '071299-7' }
    expect((await policy({ beneficiary_ids: [fixed], daily_limit_minor: '15000' })).status).toBe(201)
    const first = await pay(open, same)
    expect(first.status).toBe(201)
    expect((await pay(open, { ...same, amount_minor: '6000' })).body.error).toBe('policy_denied')
    expect((await pay(fixed, { amount_minor: '6000' })).body.error).toBe('policy_denied')
    expect((await pay(open, { account_reference: 'OTHER' })).body.decision.warnings).toEqual([])
    await person.api.patch(`/v1/beneficiaries/${fixed}`, { status: 'frozen' })
    expect((await pay(open, same)).body.error).toBe('beneficiary_frozen')
    expect((await pay(open, { account_reference: 'OTHER' })).status).toBe(201)
  })

  test('counts under the limits of a beneficiary that fixed it meanwhile, from its time or its approval on, and is given back', async () => {
    const open = await newBeneficiary(person.api, anyBill)
    const execute_at = new Date(service.clock.now().getTime() + 3_600_000).toISOString()
    const due = (await pay(open, { account_reference: 'SHOP-7', execute_at })).body
    const first = await policy({ approval_threshold_minor: '30000' })
    const waiting = async (amount_minor: string): Promise<Json> =>
      (await pay(open, { account_reference: 'SHOP-7', amount_minor })).body
    const [tooMuch, fits] = [await waiting('30100'), await waiting('30200')]
    await person.api.delete(`/v1/spending-policies/${first.body.id}`)
    const fixed = await newBeneficiary(person.api, { ...landlord, account_reference: 'SHOP-7' })
    const { id } = (await policy({ beneficiary_ids: [fixed], daily_limit_minor: '50000' })).body
    const used = async () => (await person.api.get(`/v1/spending-policies/${id}`)).body.usage.today_minor
    const approve = ({ approval_id }: Json) => person.api.post(`/v1/approvals/${approval_id}/decide`, { decision: 'approve' })
    const statusOf = async (payment: Json) => (await person.api.get(`/v1/payments/${payment.id}`)).body.status
    await approve(fits)
    expect([await statusOf(fits), await used()]).toEqual(['processing', '30200'])
    await approve(tooMuch)
    expect([await statusOf(tooMuch), await used()]).toEqual(['failed', '30200'])
    service.clock.advance(3600)
    await service.deps.jobs.sweep()
    expect([await statusOf(due), await used()]).toEqual(['processing', '40200'])
    expect(await findBreaches(service)).toEqual([])
    await person.api.patch(`/v1/beneficiaries/${fixed}`, { status: 'frozen' })
    await service.settle()
    expect([await statusOf(due), await statusOf(fits), await used()]).toEqual(['failed', 'failed', '0'])
  })

  test('a second payment to it looks like the first, by whichever beneficiary', async () => {
    const fixed = await newBeneficiary(person.api, landlord)
    const open = await newBeneficiary(person.api, anyBill)
    const first = await pay(open, { account_reference: '0712 99-7' })
    for (const again of [await pay(fixed), await pay(open, { account_reference: '071299-7' })])
      expect(again.body.decision.warnings).toMatchObject([{ code: 'possible_duplicate' }])
    expect((await pay(open, { account_reference: '071299-8' })).body.decision.warnings).toEqual([])
    expect(first.body.decision.warnings).toEqual([])
  })

  test('has a history of its own: the list, the totals and the beneficiary’s payments are read by it, in any spelling', async () => {
    const open = await newBeneficiary(person.api, anyBill)
    const [first, , third] = [
      await pay(open, { account_reference: 'METER 1' }),
      await pay(open, { account_reference: 'METER 12' }),
      await pay(open, { account_reference: 'meter1', amount_minor: '20000' }),
    ]
    const read = async (path: string) => (await person.api.get(path)).body
    const ids = [third?.body.id, first?.body.id]
    for (const path of [`/v1/payments?beneficiary_id=${open}&`, `/v1/beneficiaries/${open}/payments?`])
      expect((await read(`${path}account_reference=METER%201`)).data.map(({ id }: Json) => id)).toEqual(ids)
    const totals = await read(`/v1/payments/summary?beneficiary_id=${open}&account_reference=METER1`)
    expect([totals.count, totals.amount_minor]).toEqual([2, '30000'])
    expect((await read(`/v1/beneficiaries/${open}/payments?account_reference=`)).error).toBe('invalid_request')
  })
})

describe('a frozen paybill', () => {
  test('is frozen for each account, which only the paybill itself can restart', async () => {
    const fixed = await newBeneficiary(person.api, landlord)
    const open = await newBeneficiary(person.api, anyBill)
    await person.api.patch(`/v1/beneficiaries/${open}`, { status: 'frozen' })
    expect((await person.api.get(`/v1/beneficiaries/${fixed}`)).body.status).toBe('frozen')
    const later = await newBeneficiary(person.api, { ...paybill, account_reference: 'NEW' })
    for (const id of [fixed, later]) expect((await pay(id)).body.error).toBe('beneficiary_frozen')
    const restart = await person.api.patch(`/v1/beneficiaries/${fixed}`, { status: 'active' })
    expect([restart.status, restart.body.details.reason]).toEqual([409, 'paybill_frozen'])
    await person.api.patch(`/v1/beneficiaries/${fixed}`, { status: 'frozen' })
    await person.api.patch(`/v1/beneficiaries/${open}`, { status: 'active' })
    expect((await pay(fixed)).body.error).toBe('beneficiary_frozen')
    await person.api.patch(`/v1/beneficiaries/${fixed}`, { status: 'active' })
    for (const id of [fixed, later]) expect((await pay(id)).status).toBe(201)
  })
})
