import { beforeEach, describe, expect, test } from 'vitest'
import { parseId } from '../../src/lib/ids.ts'
import { holdAccount } from '../harness/account-hold.ts'
import type { Json } from '../harness/client.ts'
import { credit, newBeneficiary } from '../harness/money.ts'
import { type Person, signIn } from '../harness/people.ts'
import { openService, startService } from '../harness/service.ts'

let person: Person
const service = await openService({ env: { RATE_LIMIT_ENABLED: 'false' } })
beforeEach(async () => {
  person = await signIn(service.api)
  await credit(service, person.accountId, 100_000_000n)
  service.sandbox.rules.clear()
})

const wanjiru = '254722100001'
const read = async (id: string): Promise<Json> => (await person.api.get(`/v1/beneficiaries/${id}`)).body
const known = async (fields: Record<string, unknown>): Promise<Json> => {
  const id = await newBeneficiary(person.api, { destination: wanjiru, ...fields })
  await service.settle()
  return read(id)
}
const pay = (id: string, amount = '150000') =>
  person.api.post('/v1/payments', { beneficiary_id: id, amount_minor: amount, account_reference: null })

describe('the name that the rail reports for a new payee', () => {
  test.each([
    ['Wanjiru Kamau', {}, 'match', 'WANJIRU N**** K****'],
    ['Mama Ben', { legal_name: 'Kamau, Wanjiru' }, 'match', 'WANJIRU N**** K****'],
    ['Landlord', {}, 'no_match', 'WANJIRU N**** K****'],
    [
      'Otieno Hardware',
      { payment_rail: 'MPESA_B2B', destination: '300100', account_reference: 'A1' },
      'match',
      'OTIENO H**** L****',
    ],
    ['Mama Ngina', { payment_rail: 'MPESA_B2B', destination: '5300100' }, 'close_match', 'MAMA N**** G****'],
    ['W. Kamau', { payment_rail: 'PESALINK', destination: '1300100100', bank_code: '01' }, 'match', 'WANJIRU N**** K****'],
    ['Wanjiru Kamau', { destination: '254722100013' }, 'unavailable', null],
    ['Wanjiru Kamau', { destination: '254722100014' }, 'no_match', 'JANE D**'],
    ['Wanjiru Kamau', { destination: '254722155555' }, 'unavailable', null],
  ] as const)('%s, %o: %s, %s', async (display_name, fields, status, name) => {
    const payee = await known({ display_name, ...fields })
    expect(payee.verification).toEqual({
      status,
      name,
      source: name === null ? null : 'lookup',
      checked_at: expect.any(String),
    })
    const { data } = (await person.api.get('/v1/notifications?type=beneficiary.updated')).body
    expect(data.map((event: Json) => event.data.verification.status)).toEqual([status])
    // A reader by `updated_at` gets what the event reports, and nothing from a later check that finds the same.
    expect([payee.updated_at, data[0].data.updated_at]).toEqual([payee.verification.checked_at, payee.verification.checked_at])
    service.clock.advance(61)
    await person.api.post(`/v1/beneficiaries/${payee.id}/verify`)
    await service.settle()
    const again = await read(payee.id)
    expect([again.updated_at, again.verification.checked_at > payee.verification.checked_at]).toEqual([payee.updated_at, true])
  })

  test('is asked for after the creation has been answered, and again after an outage', async () => {
    service.sandbox.rules.add({ effect: 'name_outage', times: 1, delay_ms: 0 })
    const created = await person.api.post('/v1/beneficiaries', {
      type: 'person',
      display_name: 'Wanjiru Kamau',
      payment_rail: 'MPESA_B2C',
      destination: wanjiru,
    })
    expect(created.body.verification).toEqual({ status: 'unverified', name: null, source: null, checked_at: null })
    await service.settle()
    expect((await read(created.body.id)).verification.status).toBe('unavailable')
    service.clock.advance(60)
    await service.settle()
    expect((await read(created.body.id)).verification.status).toBe('match')
  })

  test('is asked for again on request, and at most once a minute', async () => {
    const payee = await known({ display_name: 'Landlord' })
    service.sandbox.names.set({ party: wanjiru, name: 'LANDLORD' })
    const again = async () => {
      const answer = await person.api.post(`/v1/beneficiaries/${payee.id}/verify`)
      await service.settle()
      return [answer.status, (await read(payee.id)).verification.name]
    }
    expect(await again()).toEqual([202, 'WANJIRU N**** K****'])
    service.clock.advance(60)
    expect(await again()).toEqual([202, 'LANDLORD'])
    // A name that differs from the earlier report means another holder.
    expect((await read(payee.id)).verification.status).toBe('no_match')
    service.sandbox.names.set({ party: wanjiru, name: 'WANJIRU NJERI KAMAU' })
  })

  test('is compared with the new name after a renaming', async () => {
    const payee = await known({ display_name: 'Landlord' })
    const renamed = await person.api.patch(`/v1/beneficiaries/${payee.id}`, { display_name: 'Wanjiru Kamau' })
    expect(renamed.body.verification).toMatchObject({ status: 'match', name: 'WANJIRU N**** K****' })
  })
})

test('the name in a payment’s result is compared as well: the fuller one is kept, and a new one is no match', async () => {
  const payee = await known({ display_name: 'Wanjiru Kamau' })
  await pay(payee.id)
  await service.settle()
  const full = { status: 'match', name: 'WANJIRU NJERI KAMAU', source: 'payment' }
  expect((await read(payee.id)).verification).toMatchObject(full)
  service.sandbox.names.set({ party: wanjiru, name: 'JANE WANGARI DOE' })
  await pay(payee.id, '160000')
  await service.settle()
  expect((await read(payee.id)).verification).toMatchObject({ status: 'no_match', name: 'JANE WANGARI DOE', source: 'payment' })
  service.sandbox.names.set({ party: wanjiru, name: 'WANJIRU NJERI KAMAU' })
})

const codesOf = ({ body }: { body: Json }) => body.decision.warnings.map(({ code }: Json) => code)
const withPolicy = async (fields: Record<string, unknown>) =>
  expect((await person.api.post('/v1/spending-policies', { name: 'Names', ...fields })).status).toBe(201)
const textOf = async ({ body }: { body: Json }) =>
  (await person.api.get(`/v1/approvals/${body.approval_id}/message`)).body.message

describe('a payment', () => {
  test('to a number with another name warns, and the text to sign and the approval name it', async () => {
    const payee = await known({ display_name: 'Landlord' })
    const paid = await pay(payee.id)
    expect([paid.body.status, paid.body.decision.warnings]).toEqual([
      'processing',
      [{ code: 'name_mismatch', verification: 'no_match', name: 'WANJIRU N**** K****' }],
    ])
    await withPolicy({ payee_verification: 'require_approval' })
    const held = await pay(payee.id, '160000')
    expect([held.body.status, held.body.decision.trace.at(-2).rule]).toEqual(['pending_approval', 'payee_verification'])
    expect(await textOf(held)).toContain('Registered name: WANJIRU N**** K**** (DOES NOT MATCH)')
    expect(await textOf(held)).toContain('Warning: The rail reports another name for this number: WANJIRU N**** K****.')
    const approval = (await person.api.get(`/v1/approvals/${held.body.approval_id}`)).body
    expect(approval.context.payee.verification).toMatchObject({ status: 'no_match', name: 'WANJIRU N**** K****' })
    const right = await known({ display_name: 'Wanjiru Kamau' })
    expect((await pay(right.id, '170000')).body).toMatchObject({ status: 'processing', decision: { warnings: [] } })
  })

  test('to a payee without a name is refused where a policy denies it, and warned about where it warns', async () => {
    const nameless = await known({ display_name: 'Wanjiru Kamau', destination: '254722155556' })
    expect(codesOf(await pay(nameless.id))).toEqual([])
    await withPolicy({ payee_verification: 'warn' })
    expect(codesOf(await pay(nameless.id, '160000'))).toEqual(['name_mismatch'])
    await withPolicy({ payee_verification: 'deny' })
    const refused = await pay(nameless.id, '170000')
    expect([refused.status, refused.body.error]).toEqual([403, 'policy_denied'])
    expect(refused.body.details.decision.remedy.changes).toMatchObject([{ rule: 'payee_verification' }])
  })

  test('that was approved for one name is not sent to another', async () => {
    await withPolicy({ payee_verification: 'deny', required_approval_count: 1 })
    const payee = await known({ display_name: 'Wanjiru Kamau' })
    const held = await pay(payee.id)
    service.sandbox.names.set({ party: wanjiru, name: 'JANE WANGARI DOE' })
    service.clock.advance(60)
    await person.api.post(`/v1/beneficiaries/${payee.id}/verify`)
    await service.settle()
    await person.api.post(`/v1/approvals/${held.body.approval_id}/decide`, { decision: 'approve' })
    expect((await person.api.get(`/v1/payments/${held.body.id}`)).body).toMatchObject({
      status: 'failed',
      failure_code: 'policy_changed',
    })
    service.sandbox.names.set({ party: wanjiru, name: 'WANJIRU NJERI KAMAU' })
  })

  test('to a payee that was never paid, with the name of one that was, warns; it does not once it was paid itself', async () => {
    const real = await known({ display_name: 'Kenya Power', destination: '254722155557' })
    await known({ display_name: 'Kenya Powder Mills', destination: '254722155558' })
    const early = await known({ display_name: 'Kenya Povver', destination: '254722155559' })
    expect(codesOf(await pay(early.id))).toEqual([])
    await pay(real.id)
    await service.settle()
    const late = await known({ display_name: 'Power Kenya Ltd', destination: '254722155560' })
    const paid = await pay(late.id)
    expect(paid.body.decision.warnings).toEqual([{ code: 'similar_name', beneficiary_id: real.id, name: 'Kenya Power' }])
    await service.settle()
    expect(codesOf(await pay(late.id, '160000'))).toEqual([])
  })

  test('to a payee that was renamed while its name was compared warns by its new name', async () => {
    const real = await known({ display_name: 'Kisumu Water', destination: '254722155571' })
    await pay(real.id)
    await service.settle()
    const late = await newBeneficiary(person.api, { display_name: 'Somebody Else', destination: '254722155572' })
    const hold = await holdAccount(service, person.accountId)
    const checked = service.settle()
    await hold.waiting(1)
    await service.deps.db.query('update beneficiaries set display_name = $2 where id = $1', [
      parseId('beneficiary', late),
      'Water Kisumu',
    ])
    await hold.release()
    await checked
    const paid = await pay(late)
    expect(paid.body.decision.warnings).toEqual([{ code: 'similar_name', beneficiary_id: real.id, name: 'Kisumu Water' }])
  })

  test('of more than five times the usual amount warns', async () => {
    const payee = await known({ display_name: 'Mama Mboga', destination: '254722155561' })
    for (const amount of ['10000', '12000', '11000']) {
      expect(codesOf(await pay(payee.id, amount))).toEqual([])
      await service.settle()
    }
    // The same payee under another name.
    const again = await known({ display_name: 'Grace Grocer', destination: '254722155561' })
    expect(codesOf(await pay(payee.id, '55000'))).toEqual([])
    const unusual = { code: 'unusual_amount', typical_amount_minor: '11000' }
    expect((await pay(payee.id, '55100')).body.decision.warnings).toEqual([unusual])
    expect((await pay(again.id, '55200')).body.decision.warnings).toContainEqual(unusual)
    expect(
      (await person.api.post('/v1/spending-policies/simulate', { beneficiary_id: payee.id, amount_minor: '55300' })).body
        .warnings,
    ).toEqual([unusual])
  })

  test('at a paybill, what is usual is told for each account, and the approver reads the same number', async () => {
    const power = { payment_rail: 'MPESA_B2B', destination: '888880', display_name: 'Kenya Power' }
    const any = await known({ ...power, account_reference_required: true })
    const payBill = async (account_reference: string, amount_minor: string) => {
      const paid = await person.api.post('/v1/payments', { beneficiary_id: any.id, amount_minor, account_reference })
      await service.settle()
      return paid
    }
    for (const amount of ['10000', '12000', '11000']) await payBill('SHOP 1', amount)
    for (const amount of ['900000', '910000', '920000']) await payBill('MILL 2', amount)
    const unusual = { code: 'unusual_amount', typical_amount_minor: '11000' }
    expect((await payBill('shop1', '60000')).body.decision.warnings).toEqual([unusual])
    expect((await payBill('MILL 2', '930000')).body.decision.warnings).toEqual([])
    expect((await payBill('HOME 3', '930000')).body.decision.warnings).toEqual([])
    const fixed = await known({ ...power, display_name: 'The shop’s power', account_reference: 'SHOP 1' })
    await withPolicy({ approval_threshold_minor: '61000' })
    const held = await pay(fixed.id, '61000')
    expect(held.body.decision.warnings).toContainEqual({ ...unusual, typical_amount_minor: '11000' })
    const { context } = (await person.api.get(`/v1/approvals/${held.body.approval_id}`)).body
    expect(context.payee).toMatchObject({ payments_count: 4, typical_amount_minor: '11000' })
    expect(context.warnings.filter(({ code }: Json) => code === 'unusual_amount')).toEqual([unusual])
  })
})

test('without lookups a payee is unverified, and to ask is refused with what to set', async () => {
  const silent = await startService({ env: { NAME_LOOKUPS: 'PESALINK' } })
  const someone = await signIn(silent.api)
  const id = await newBeneficiary(someone.api, { destination: wanjiru, display_name: 'Wanjiru Kamau' })
  await silent.settle()
  expect((await someone.api.get(`/v1/beneficiaries/${id}`)).body.verification.status).toBe('unverified')
  const asked = await someone.api.post(`/v1/beneficiaries/${id}/verify`)
  expect([asked.status, asked.body.error]).toEqual([503, 'provider_not_configured'])
  expect(asked.body.message).toContain('NAME_LOOKUPS')
  await silent.close()
})
