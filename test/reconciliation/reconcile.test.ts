import { afterAll, beforeAll, expect, test } from 'vitest'
import { subjects } from '../../src/modules/jobs.ts'
import { shellOperator } from '../../src/modules/operators.ts'
import { reconcileStatement } from '../../src/modules/reconciliation/service.ts'
import { statementCsv } from '../../src/sandbox/statement.ts'
import { type Administered, startAdministered } from '../admin/administrators.ts'
import { credit, newBeneficiary } from '../harness/money.ts'
import { type Person, signIn } from '../harness/people.ts'
import type { TestService } from '../harness/service.ts'
import { findBreaches } from '../harness/verify.ts'
import { alerts, balanceOf, initiate, pass, pay, paymentOf } from '../rails-flows/scene.ts'

let administered: Administered
let service: TestService
let person: Person
beforeAll(async () => {
  administered = await startAdministered()
  service = administered.service
  person = await signIn(service.api)
  await credit(service, person.accountId, 100_000_000n)
})
afterAll(async () => {
  expect(await findBreaches(service)).toEqual([])
  await service.close()
})

const reconcile = (text = statementCsv(service.sandbox.movements(), 'MPESA')) =>
  reconcileStatement(service.deps, subjects, shellOperator('a test'), { source: 'statement.csv', text })
const open = async (path: string) => (await administered.admin.api.get(`${path}?status=open`)).body.data

test('a statement that agrees with the books has no difference, and the same file counts once', async () => {
  await pay(person, { payment_rail: 'MPESA_B2C', destination: '254722000001' })
  await initiate(person, '254722000002')
  await service.settle()
  service.clock.advance(60)
  const text = statementCsv(service.sandbox.movements(), 'MPESA')
  expect(await reconcile(text)).toMatchObject({ matched: 2, differences: 0, lines: 2 })
  await expect(reconcile(text)).rejects.toMatchObject({ code: 'conflict' })
})

test('a B2B payment whose answer and callback were both lost is found in the statement, and ends', async () => {
  const beneficiary_id = await newBeneficiary(person.api, { payment_rail: 'MPESA_B2B', destination: '400200' })
  service.sandbox.rules.add({ effect: 'lose_callback', times: 1, delay_ms: 0 })
  service.sandbox.failNext({ kind: 'reset', takesEffect: true })
  const { id } = (await person.api.post('/v1/payments', { beneficiary_id, amount_minor: '150000' })).body
  await service.settle()
  await pass(service, 3_600)
  expect((await paymentOf(person, id)).status).toBe('unknown')
  await reconcile()
  expect(await paymentOf(person, id)).toMatchObject({
    status: 'succeeded',
    provider_receipt: service.sandbox.movements().at(-1)?.receipt,
  })
})

test('money without a payment of ours is on the suspense account until an administrator decides, and raises an alert', async () => {
  service.log.length = 0
  const before = await balanceOf(person)
  const stranger =
    'Receipt No.,Completion Time,Transaction Status,Paid In,Withdrawn\nSTRANGER1,2026-03-04 20:00:00,Completed,70.00,\n'
  await reconcile(stranger)
  expect(alerts(service)).toEqual(['reconciliation_difference'])
  const [difference] = await open('/v1/admin/reconciliation-differences')
  expect(difference).toMatchObject({
    kind: 'not_in_our_books',
    provider_receipt: 'STRANGER1',
    stated_minor: '7000',
    booked_minor: null,
  })
  const [item] = await open('/v1/admin/suspense')
  expect(item).toMatchObject({ direction: 'in', provider_receipt: 'STRANGER1', amount_minor: '7000', booked: true })
  expect(await findBreaches(service)).toEqual([])

  const { api } = administered.admin
  const resolved = await api.post(`/v1/admin/suspense/${item.id}/resolve`, { outcome: 'reversed', note: 'the bank took it back' })
  expect([resolved.status, resolved.body.outcome]).toEqual([200, 'reversed'])
  expect((await api.post(`/v1/admin/suspense/${item.id}/resolve`, { outcome: 'reversed', note: 'again' })).status).toBe(409)
  const noted = await api.post(`/v1/admin/reconciliation-differences/${difference.id}/resolve`, { note: 'a transfer by mistake' })
  expect([noted.status, noted.body.note]).toEqual([200, 'a transfer by mistake'])
  expect([await open('/v1/admin/reconciliation-differences'), await open('/v1/admin/suspense')]).toEqual([[], []])
  expect(await balanceOf(person)).toEqual(before)
})

test('what the books have and the statement lacks is a difference with what to do about it', async () => {
  await pay(person, { payment_rail: 'PESALINK', destination: '0123456789', bank_code: '57' })
  await pay(person, { payment_rail: 'PESALINK', destination: '0123456788', bank_code: '57' })
  await pay(person, { payment_rail: 'PESALINK', destination: '0123456787', bank_code: '57' })
  await service.settle()
  const lines = statementCsv(service.sandbox.movements(), 'PESALINK').split('\n')
  const run = await reconcile(lines.filter((_, index) => index !== 2).join('\n'))
  expect(run).toMatchObject({ provider: 'PESALINK', lines: 2, matched: 2, differences: 1 })
  expect(await open('/v1/admin/reconciliation-differences')).toMatchObject([
    { kind: 'not_in_statement', booked_minor: '-150000', stated_minor: null, action: expect.stringMatching(/Ask the provider/) },
  ])
  const { data } = (await administered.admin.api.get('/v1/admin/reconciliations')).body
  expect(data[0]).toMatchObject({ booked_minor: '-450000', stated_minor: '-300000' })
})
