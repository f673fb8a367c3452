import { afterEach, beforeEach, expect, test } from 'vitest'
import { markWaitingUnknown } from '../../src/modules/exceptions/losses-service.ts'
import { resumeRail } from '../../src/modules/exceptions/pauses-service.ts'
import { newBeneficiary } from '../harness/money.ts'
import { approve, bank, type LossScene, operator, paybill, phone, startLossScene } from './loss-scene.ts'
import { alerts, deliver, movementsTo, ordersTo, pass } from './scene.ts'

let scene: LossScene
beforeEach(async () => {
  scene = await startLossScene()
  const rule = await scene.person.api.post('/v1/spending-policies', { name: 'Ask', approval_threshold_minor: '200000' })
  expect(rule.status).toBe(201)
})
afterEach(async () => {
  expect(await scene.close()).toEqual([])
})

test('an approval that was given, and whose payment was paid, in writes that were lost is given again: the provider has one order, and a person ends the payment', async () => {
  const asked = await scene.ask(paybill('600901'))
  await scene.losing(async () => {
    expect((await approve(scene.person.api, asked)).status).toBe(200)
    await scene.now.settle()
    expect(await scene.statusOf(asked)).toBe('succeeded')
  })
  const [paid] = movementsTo(scene.now, '600901')
  expect(await scene.statusOf(asked)).toBe('pending_approval')
  await scene.endLoss()
  expect((await approve(scene.person.api, asked)).status).toBe(200)
  for (const seconds of [5, 60, 3_600]) await pass(scene.now, seconds)
  expect([await scene.statusOf(asked), ordersTo(scene.now, '600901').length]).toEqual(['unknown', 1])
  expect(alerts(scene.now).filter((alert) => alert === 'payment_unknown')).toHaveLength(1)
  // The money is held until the statement's line ends the payment.
  const admin = await scene.admin()
  const outcome = { outcome: 'succeeded', provider_receipt: paid?.receipt, evidence: 'the statement lists it' }
  const ended = await admin.post(`/v1/admin/payments/${asked.id}/resolve`, outcome)
  expect([ended.status, ended.body.status]).toEqual([200, 'succeeded'])
})

test('after a restore from a backup as well', async () => {
  const asked = await scene.ask(paybill('600902'))
  await scene.losing(async () => {
    await approve(scene.person.api, asked)
    await scene.now.settle()
  })
  await markWaitingUnknown(scene.now.deps.db, operator)
  scene.now.clock.advance(60)
  await scene.now.deps.db.transaction((tx) => resumeRail(tx, operator, 'MPESA_B2B'))
  await approve(scene.person.api, asked)
  await pass(scene.now, 60)
  expect([await scene.statusOf(asked), ordersTo(scene.now, '600902').length]).toEqual(['unknown', 1])
})

test('a payment and a batch that were due in writes that were lost are not sent again; those whose time had not come are sent', async () => {
  const inHours = (hours: number) => new Date(scene.now.clock.now().getTime() + hours * 3_600_000).toISOString()
  const later = { execute_at: inHours(30) }
  const due = { execute_at: inHours(1) }
  const [one, other] = [await scene.ask(paybill('600903'), due), await scene.ask(paybill('600904'), later)]
  const payees = [
    await newBeneficiary(scene.person.api, paybill('600905')),
    await newBeneficiary(scene.person.api, paybill('600906')),
  ]
  const items = payees.map((beneficiary_id) => ({ beneficiary_id, amount_minor: '300000' }))
  const batch = (await scene.person.api.post('/v1/payment-batches', { items, ...due })).body
  const waiting = (await scene.person.api.post('/v1/payment-batches', { items, duplicates_intended: true })).body
  for (const each of [one, other, batch]) expect((await approve(scene.person.api, each)).status).toBe(200)
  await scene.losing(async () => {
    expect((await approve(scene.person.api, waiting)).status).toBe(200)
    await pass(scene.now, 2 * 3_600)
    expect(scene.now.sandbox.movements()).toHaveLength(5)
  })
  await scene.endLoss()
  await approve(scene.person.api, waiting)
  await pass(scene.now, 60)
  expect(scene.now.sandbox.orders()).toHaveLength(5)
  expect(await scene.statusOf(one)).toBe('unknown')
  const rows = await scene.now.deps.db.query<{ status: string; count: number }>(
    'select status, count(*)::int from payments where batch_id is not null group by status',
  )
  expect(rows).toEqual([{ status: 'unknown', count: 4 }])
  await pass(scene.now, 30 * 3_600)
  expect([await scene.statusOf(other), ordersTo(scene.now, '600904').length]).toEqual(['succeeded', 1])
})

test('where the provider refuses the same order, and has not had the time to forget it, the approval finds that it was paid', async () => {
  const [toPhone, toBank, old] = [
    await scene.ask(phone('254722000911')),
    await scene.ask(bank('0123456911')),
    await scene.ask(phone('254722000912')),
  ]
  await scene.losing(async () => {
    for (const each of [toPhone, toBank, old]) await approve(scene.person.api, each)
    await scene.now.settle()
  })
  await scene.endLoss()
  for (const each of [toPhone, toBank]) await approve(scene.person.api, each)
  for (const seconds of [5, 60, 120, 600]) await pass(scene.now, seconds)
  expect([await scene.statusOf(toPhone), await scene.statusOf(toBank)]).toEqual(['succeeded', 'succeeded'])
  await pass(scene.now, 3_600)
  await approve(scene.person.api, old)
  await pass(scene.now, 60)
  for (const seconds of [60, 120, 600]) await pass(scene.now, seconds)
  expect(await scene.statusOf(old)).toBe('unknown')
  expect(scene.now.sandbox.movements()).toHaveLength(3)
})

test('with a real provider that no test has shown to refuse the same order, the approval finds nothing out, and nothing is sent', async () => {
  const asked = await scene.ask(phone('254722000913'))
  await scene.losing(async () => {
    await approve(scene.person.api, asked)
    await scene.now.settle()
  })
  const rail = scene.now.deps.rails.payout.MPESA_B2C
  if (!rail) throw new Error('there is no B2C')
  Object.assign(rail, { repeats: { provenFor: 'https://provider.test 600000' } })
  await scene.endLoss()
  await approve(scene.person.api, asked)
  for (const seconds of [5, 60]) await pass(scene.now, seconds)
  expect([await scene.statusOf(asked), scene.now.sandbox.orders().length]).toEqual(['unknown', 1])
})

test('what is asked for after the loss was noticed is approved and sent', async () => {
  await scene.losing(async () => undefined)
  await scene.endLoss()
  const asked = await scene.ask(paybill('600907'))
  await approve(scene.person.api, asked)
  await pass(scene.now, 60)
  expect([await scene.statusOf(asked), ordersTo(scene.now, '600907').length]).toEqual(['succeeded', 1])
})

test('a provider that reports again about an attempt of a loss that a person has ended declares no new one; one of which it tells for the first time does', async () => {
  const asked = await scene.ask(paybill('600908'))
  const unheard = await scene.ask(paybill('600909'))
  await scene.losing(async () => {
    for (const each of [asked, unheard]) await approve(scene.person.api, each)
    await scene.now.settle()
  })
  const report = async (party: string) => {
    const { pathname } = new URL(ordersTo(scene.now, party)[0]?.resultUrl ?? '')
    expect((await deliver(`${scene.now.operatorUrl}${pathname}`, { Result: {} })).status).toBe(200)
    await scene.look()
    return scene.now.deps.lossDetection.state()
  }
  expect(await report('600908')).toBe('lost')
  await scene.resume('a test')
  expect([await report('600908'), await report('600908')]).toEqual(['trusted', 'trusted'])
  expect(alerts(scene.now).filter((alert) => alert === 'database_lost_writes')).toHaveLength(1)
  expect(await report('600909')).toBe('lost')
})
