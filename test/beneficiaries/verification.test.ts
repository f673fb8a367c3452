import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import type { Json } from '../harness/client.ts'
import { credit, newBeneficiary } from '../harness/money.ts'
import { type Person, signIn } from '../harness/people.ts'
import { startService, type TestService } from '../harness/service.ts'

let service: TestService
let person: Person
beforeAll(async () => {
  service = await startService({ env: { RATE_LIMIT_ENABLED: 'false' } })
})
afterAll(() => service.close())
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
      'OTIENO HARDWARE LTD',
    ],
    ['Mama Ngina', { payment_rail: 'MPESA_B2B', destination: '5300100' }, 'close_match', 'MAMA NGINA GROCERS'],
    ['W. Kamau', { payment_rail: 'PESALINK', destination: '1300100100', bank_code: '01' }, 'match', 'WANJIRU NJERI KAMAU'],
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
    // Another name than was reported before is another holder.
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
