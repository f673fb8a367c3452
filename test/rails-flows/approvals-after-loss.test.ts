import { afterEach, beforeEach, expect, test } from 'vitest'
import { subjects } from '../../src/modules/jobs.ts'
import { shellOperator } from '../../src/modules/operators.ts'
import { markWaitingUnknown, resumeAfterLoss, resumeRail } from '../../src/modules/rail-pauses/service.ts'
import { startAdministered } from '../admin/administrators.ts'
import type { Client } from '../harness/client.ts'
import { credit, newBeneficiary } from '../harness/money.ts'
import { type Person, signIn } from '../harness/people.ts'
import { copyDatabase, createTestDatabase, type TestDatabase } from '../harness/postgres.ts'
import { startService, type TestService } from '../harness/service.ts'
import { findBreaches } from '../harness/verify.ts'
import { alerts, deliver, movementsTo, ordersTo, type Payee, pass, paymentOf } from './scene.ts'

// Two databases: one goes on, and the other has stopped before. Then the service works on the second one, with the same provider.
type Scene = Awaited<ReturnType<typeof startAdministered>>

let databases: TestDatabase[]
let scene: Scene
let person: Person
let now: TestService
beforeEach(async () => {
  const original = await createTestDatabase()
  databases = [original]
  scene = await startAdministered({ database: original })
  now = scene.service
  person = await signIn(now.api)
  await credit(now, person.accountId, 100_000_000n)
  const rule = await person.api.post('/v1/spending-policies', { name: 'Ask', approval_threshold_minor: '200000' })
  expect(rule.status).toBe(201)
})
afterEach(async () => {
  expect(await findBreaches(now)).toEqual([])
  await now.stop()
  await scene.service.sandbox.close()
  for (const database of databases) await database.drop()
})

const operator = shellOperator('a person')
const paybill = (destination: string): Payee => ({ payment_rail: 'MPESA_B2B', destination, account_reference: 'A1' })
const phone = (destination: string): Payee => ({ payment_rail: 'MPESA_B2C', destination })
const bank = (destination: string): Payee => ({ payment_rail: 'PESALINK', destination, bank_code: '0012' })

type Asked = { id: string; approval_id: string }
const ask = async (payee: Payee, more: Record<string, unknown> = {}): Promise<Asked> => {
  const beneficiary_id = await newBeneficiary(person.api, payee)
  const { status, body } = await person.api.post('/v1/payments', { beneficiary_id, amount_minor: '300000', ...more })
  expect(status).toBe(201)
  return body
}
const approve = (api: Client, { approval_id }: Pick<Asked, 'approval_id'>) =>
  api.post(`/v1/approvals/${approval_id}/decide`, { decision: 'approve' })

const open = async (database: TestDatabase): Promise<void> => {
  const { service } = scene
  const names = scene.wallets.map(({ address }) => address).join(',')
  now = await startService({ database, clock: service.clock, provider: service, env: { ADMIN_ACCOUNTS: names } })
  person = { ...person, api: now.api.as({ cookie: person.cookie }) }
}

/** What is done in between is lost: the service goes on with a copy from before. */
const losing = async (between: () => Promise<void>): Promise<void> => {
  await now.settle()
  await now.stop()
  const [original] = databases
  if (!original) throw new Error('there is no database')
  const copy = await copyDatabase(original)
  databases.push(copy)
  await open(original)
  await between()
  await now.stop()
  now.clock.advance(5)
  await open(copy)
}

const look = async () => {
  for (let turn = 0; turn < 4; turn += 1) await now.deps.witness.check()
}

/** Noticed by the service, compared by a person, and ended. */
const endLoss = async () => {
  now.deps.witness.reportLoss('a test')
  await look()
  expect(now.deps.witness.state()).toBe('lost')
  now.clock.advance(60)
  expect((await resumeAfterLoss(now.deps, operator)).length).toBeGreaterThan(0)
  await look()
  expect(now.deps.witness.state()).toBe('trusted')
}

const statusOf = async ({ id }: Pick<Asked, 'id'>): Promise<string> => (await paymentOf(person, id)).status

test('an approval that was given, and whose payment was paid, in writes that were lost is given again: the provider has one order, and a person ends the payment', async () => {
  const asked = await ask(paybill('600901'))
  await losing(async () => {
    expect((await approve(person.api, asked)).status).toBe(200)
    await now.settle()
    expect(await statusOf(asked)).toBe('succeeded')
  })
  const [paid] = movementsTo(now, '600901')
  expect(await statusOf(asked)).toBe('pending_approval')
  await endLoss()
  expect((await approve(person.api, asked)).status).toBe(200)
  for (const seconds of [5, 60, 3_600]) await pass(now, seconds)
  expect([await statusOf(asked), ordersTo(now, '600901').length]).toEqual(['unknown', 1])
  expect(alerts(now).filter((alert) => alert === 'payment_unknown')).toHaveLength(1)
  // It is held until the statement's line ends it.
  const admin = (await signIn(now.api, scene.admin.wallet)).api
  const outcome = { outcome: 'succeeded', provider_receipt: paid?.receipt, evidence: 'the statement lists it' }
  const ended = await admin.post(`/v1/admin/payments/${asked.id}/resolve`, outcome)
  expect([ended.status, ended.body.status]).toEqual([200, 'succeeded'])
})

test('after a restore from a backup as well', async () => {
  const asked = await ask(paybill('600902'))
  await losing(async () => {
    await approve(person.api, asked)
    await now.settle()
  })
  await markWaitingUnknown(now.deps, subjects, operator)
  now.clock.advance(60)
  await now.deps.db.transaction((tx) => resumeRail(tx, operator, 'MPESA_B2B'))
  await approve(person.api, asked)
  await pass(now, 60)
  expect([await statusOf(asked), ordersTo(now, '600902').length]).toEqual(['unknown', 1])
})

test('a payment and a batch that were due in writes that were lost are not sent again; those whose time had not come are sent', async () => {
  const inHours = (hours: number) => new Date(now.clock.now().getTime() + hours * 3_600_000).toISOString()
  const later = { execute_at: inHours(30) }
  const due = { execute_at: inHours(1) }
  const [one, other] = [await ask(paybill('600903'), due), await ask(paybill('600904'), later)]
  const payees = [await newBeneficiary(person.api, paybill('600905')), await newBeneficiary(person.api, paybill('600906'))]
  const items = payees.map((beneficiary_id) => ({ beneficiary_id, amount_minor: '300000' }))
  const batch = (await person.api.post('/v1/payment-batches', { items, ...due })).body
  const waiting = (await person.api.post('/v1/payment-batches', { items, duplicates_intended: true })).body
  for (const each of [one, other, batch]) expect((await approve(person.api, each)).status).toBe(200)
  await losing(async () => {
    expect((await approve(person.api, waiting)).status).toBe(200)
    await pass(now, 2 * 3_600)
    expect(now.sandbox.movements()).toHaveLength(5)
  })
  await endLoss()
  await approve(person.api, waiting)
  await pass(now, 60)
  expect(now.sandbox.orders()).toHaveLength(5)
  expect(await statusOf(one)).toBe('unknown')
  const rows = await now.deps.db.query<{ status: string; count: number }>(
    'select status, count(*)::int from payments where batch_id is not null group by status',
  )
  expect(rows).toEqual([{ status: 'unknown', count: 4 }])
  await pass(now, 30 * 3_600)
  expect([await statusOf(other), ordersTo(now, '600904').length]).toEqual(['succeeded', 1])
})

test('where the provider refuses the same order, and has not had the time to forget it, the approval finds that it was paid', async () => {
  const [toPhone, toBank, old] = [
    await ask(phone('254722000911')),
    await ask(bank('0123456911')),
    await ask(phone('254722000912')),
  ]
  await losing(async () => {
    for (const each of [toPhone, toBank, old]) await approve(person.api, each)
    await now.settle()
  })
  await endLoss()
  for (const each of [toPhone, toBank]) await approve(person.api, each)
  for (const seconds of [5, 60, 120, 600]) await pass(now, seconds)
  expect([await statusOf(toPhone), await statusOf(toBank)]).toEqual(['succeeded', 'succeeded'])
  await pass(now, 3_600)
  await approve(person.api, old)
  await pass(now, 60)
  expect(await statusOf(old)).toBe('unknown')
  expect(now.sandbox.movements()).toHaveLength(3)
})

test('with a real provider that no test has shown to refuse the same order, the approval finds nothing out, and nothing is sent', async () => {
  const asked = await ask(phone('254722000913'))
  await losing(async () => {
    await approve(person.api, asked)
    await now.settle()
  })
  const rail = now.deps.rails.payout.MPESA_B2C
  if (!rail) throw new Error('there is no B2C')
  Object.assign(rail, { repeats: { provenFor: 'https://provider.test 600000' } })
  await endLoss()
  await approve(person.api, asked)
  for (const seconds of [5, 60]) await pass(now, seconds)
  expect([await statusOf(asked), now.sandbox.orders().length]).toEqual(['unknown', 1])
})

test('what is asked for after the loss was noticed is approved and sent', async () => {
  await losing(async () => undefined)
  await endLoss()
  const asked = await ask(paybill('600907'))
  await approve(person.api, asked)
  await pass(now, 60)
  expect([await statusOf(asked), ordersTo(now, '600907').length]).toEqual(['succeeded', 1])
})

test('a provider that reports again about an attempt of a loss that a person has ended declares no new one; one of which it tells for the first time does', async () => {
  const asked = await ask(paybill('600908'))
  const unheard = await ask(paybill('600909'))
  await losing(async () => {
    for (const each of [asked, unheard]) await approve(person.api, each)
    await now.settle()
  })
  const report = async (party: string) => {
    const { pathname } = new URL(ordersTo(now, party)[0]?.resultUrl ?? '')
    expect((await deliver(`${now.operatorUrl}${pathname}`, { Result: {} })).status).toBe(200)
    await look()
    return now.deps.witness.state()
  }
  expect(await report('600908')).toBe('lost')
  now.clock.advance(60)
  await resumeAfterLoss(now.deps, operator)
  await look()
  expect([await report('600908'), await report('600908')]).toEqual(['trusted', 'trusted'])
  expect(alerts(now).filter((alert) => alert === 'database_lost_writes')).toHaveLength(1)
  expect(await report('600909')).toBe('lost')
})
