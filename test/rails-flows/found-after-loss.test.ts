import { afterEach, beforeEach, expect, test } from 'vitest'
import { inTx } from '../../src/db/client.ts'
import { statementCsv } from '../../src/dev/sandbox/control.ts'
import { audit } from '../../src/events/audit.ts'
import { newId } from '../../src/lib/ids.ts'
import { sendingRails } from '../../src/lib/rail-names.ts'
import { listPauses, pauseRail, resumeRail } from '../../src/modules/exceptions/pauses-service.ts'
import { reconcileStatement } from '../../src/modules/exceptions/reconciliation/service.ts'
import { newBeneficiary } from '../harness/money.ts'
import { findBreaches } from '../harness/verify.ts'
import { approve, bank, type LossScene, operator, paybill, phone, startLossScene } from './loss-scene.ts'
import { movementsTo, ordersTo, type Payee, pass, paymentOf } from './scene.ts'

let scene: LossScene
beforeEach(async () => {
  scene = await startLossScene()
})
afterEach(async () => {
  expect(await scene.close()).toEqual([])
})

/** A person's export hours later, with a payment in at its end. A real portal prints no reference of ours for a paybill. */
const compareAll = async () => {
  scene.now.clock.advance(4 * 3_600)
  for (const [provider, serial, account] of [
    ['MPESA', '1', '600998'],
    ['MPESA', '3', '600997'],
    ['PESALINK', '2', '1450160649886'],
  ] as const) {
    const movements = scene.now.sandbox.movements()
    const printed = movements.map((each) => (each.rail === 'MPESA_B2B' ? { ...each, reference: '' } : each))
    const text = statementCsv(printed, provider, account)
    const last = new Date(scene.now.clock.now().getTime() + 3 * 3_600_000).toISOString().slice(0, 19).replace('T', ' ')
    const header = text.split('\n').find((line) => /receipt|transaction id/i.test(line)) ?? ''
    const names = header.split(',')
    const at = (name: RegExp) => names.findIndex((each) => name.test(each))
    const row = names.map(() => '')
    row[at(/receipt|^transaction id/i)] = `LATER${serial}`
    row[at(/time|date/i)] = last
    row[at(/status/i)] = 'Completed'
    row[at(/paid in|credit/i)] = '1.00'
    await reconcileStatement(scene.now.deps, operator, {
      source: provider,
      text: `${text.trimEnd()}\n${row.join(',')}\n`,
    })
  }
}

const items = async (path: string): Promise<{ id: string; payment_id: string | null; amount_minor: string | null }[]> =>
  (await (await scene.admin()).get(`/v1/admin/${path}?status=open`)).body.data

test('what waited when writes were lost, and was paid in them, is found by the names that follow from it; a paybill’s payment is offered', async () => {
  const paid: { rail: string; id: string; destination: string }[] = []
  const ask = async (payee: Payee, more: Record<string, unknown>) => {
    const { id } = await scene.ask(payee, more)
    paid.push({ rail: payee.payment_rail, id, destination: payee.destination })
  }
  // Payments before and after them show that a statement is of their account.
  const neighbour = (shortcode: string) => scene.ask(paybill(shortcode), { amount_minor: '90000' })
  await neighbour('600923')
  await scene.now.settle()
  // Approvals keep them from being sent before the loss.
  await scene.person.api.post('/v1/spending-policies', { name: 'Ask', approval_threshold_minor: '1' })
  await ask(phone('254722000921'), { amount_minor: '100000' })
  await ask(bank('0123456921'), { amount_minor: '110000' })
  await ask(paybill('600921'), { amount_minor: '120000' })
  const unpaid = await scene.ask(paybill('600922'), { amount_minor: '130000' })
  const approvalOf = async (id: string) => ({ approval_id: (await paymentOf(scene.person, id)).approval_id as string })
  await scene.losing(async () => {
    for (const { id } of paid) await approve(scene.person.api, await approvalOf(id))
    await scene.now.settle()
    expect(scene.now.sandbox.movements()).toHaveLength(4)
  })
  await scene.endLoss()
  scene.now.clock.advance(3_601)
  for (const { id } of [...paid, unpaid]) await approve(scene.person.api, await approvalOf(id))
  await pass(scene.now, 60)
  for (const each of [...paid, unpaid]) expect(await scene.statusOf(each)).toBe('unknown')
  const after = await neighbour('600924')
  await approve(scene.person.api, await approvalOf(after.id))
  await pass(scene.now, 60)
  expect(await scene.statusOf(after)).toBe('succeeded')

  await compareAll()
  for (const { rail, id, destination } of paid) {
    const [movement] = movementsTo(scene.now, destination)
    const found = { status: 'succeeded', provider_receipt: movement?.receipt }
    expect(await paymentOf(scene.person, id)).toMatchObject(rail === 'MPESA_B2B' ? { status: 'unknown' } : found)
  }
  const offers = await items('reconciliation-differences')
  const offered = Object.fromEntries(offers.map((each) => [each.payment_id, each])) as Record<string, Record<string, string>>
  const [, , toPaybill] = paid
  expect(offered[toPaybill?.id ?? '']).toMatchObject({
    kind: 'outcome_unknown',
    offered_outcome: 'succeeded',
    provider_receipt: movementsTo(scene.now, '600921')[0]?.receipt,
  })
  expect(offered[unpaid.id]).toMatchObject({ kind: 'outcome_unknown', offered_outcome: 'failed' })
  for (const id of [toPaybill?.id ?? '', unpaid.id]) {
    const path = `/v1/admin/reconciliation-differences/${offered[id]?.id}/resolve`
    expect((await (await scene.admin()).post(path, { note: 'the statement', accept: true })).status).toBe(200)
  }
  expect([await scene.statusOf({ id: toPaybill?.id ?? '' }), await scene.statusOf(unpaid)]).toEqual(['succeeded', 'failed'])
  expect(scene.now.sandbox.orders()).toHaveLength(5)
})

test('an item of a batch with a key, which release 0.4.0 sent in lost writes under another name, is not sent again, and is found by that name', async () => {
  const { api } = scene.person
  await api.post('/v1/spending-policies', { name: 'Ask', approval_threshold_minor: '1' })
  const items = [{ beneficiary_id: await newBeneficiary(api, phone('254722000951')), amount_minor: '140000' }]
  const batch = (await api.post('/v1/payment-batches', { items }, { key: 'salaries' })).body
  await scene.losing(async () => {
    // Release 0.4.0 named an item by its id.
    await inTx(scene.now.deps.db, async (tx) => {
      await tx.query('set local session_replication_role = replica')
      await tx.query('update payment_batches set idempotency_key = null, request_hash = null')
    })
    await approve(scene.person.api, batch)
    await scene.now.settle()
  })
  const [movement] = movementsTo(scene.now, '254722000951')
  await scene.endLoss()
  const context = (await scene.person.api.get(`/v1/approvals/${batch.approval_id}`)).body.context
  expect(context.warnings).toContainEqual({ code: 'may_have_been_sent', payments_count: 1 })
  await approve(scene.person.api, batch)
  for (const seconds of [5, 60, 120]) await pass(scene.now, seconds)
  const [item] = (await scene.person.api.get(`/v1/payments?batch_id=${batch.id}`)).body.data
  expect([item.status, ordersTo(scene.now, '254722000951').length]).toEqual(['unknown', 1])
  await compareAll()
  const found = { status: 'succeeded', provider_receipt: movement?.receipt }
  expect(await paymentOf(scene.person, item.id)).toMatchObject(found)
})

test('a payment that was lost whole with its key, and that its client repeats, is not sent while the statement’s line has no explanation', async () => {
  const beneficiary_id = await newBeneficiary(scene.person.api, paybill('600931'))
  const request = (key: string, amount_minor = '300000') =>
    scene.person.api.post('/v1/payments', { beneficiary_id, amount_minor }, { key })
  await scene.losing(async () => {
    expect((await request('invoice 1')).status).toBe(201)
    await scene.now.settle()
    expect(movementsTo(scene.now, '600931')).toHaveLength(1)
  })
  await scene.noticeLoss()
  await compareAll()
  // Each number that pays out, by the settings, has its own statement.
  const { MPESA } = scene.now.sandbox.options(scene.now.sandboxUrl)
  const settings = (DARAJA_B2B_SHORTCODE: string) => ({
    ...{ RAILS: ['daraja' as const], DARAJA_SHORTCODE: MPESA.shortcode, DARAJA_CERTIFICATE: MPESA.certificatePem },
    ...{ DARAJA_INITIATOR_PASSWORD: MPESA.initiatorPassword, DARAJA_B2C_SHORTCODE: '600998', DARAJA_B2B_SHORTCODE },
  })
  await expect(scene.resume(undefined, settings('600111'))).rejects.toThrow(
    'No statement of MPESA 600111 was compared since the loss',
  )
  expect(await scene.resume(undefined, settings('600997'))).toMatchObject({
    resumed: expect.arrayContaining(['MPESA_B2B']),
    statements_not_compared: [],
  })

  const [repeated, other] = [(await request('invoice 1')).body, (await request('invoice 2', '290000')).body]
  await pass(scene.now, 60)
  expect([await scene.statusOf(repeated), await scene.statusOf(other)]).toEqual(['unknown', 'succeeded'])
  expect(ordersTo(scene.now, '600931')).toHaveLength(2)

  // A person ends that payment with the line's receipt, which explains the line.
  const admin = await scene.admin()
  const line = (await items('suspense')).find((each) => each.amount_minor === '300000')
  const outcome = { outcome: 'succeeded', provider_receipt: movementsTo(scene.now, '600931')[0]?.receipt, evidence: 'its line' }
  expect((await admin.post(`/v1/admin/payments/${repeated.id}/resolve`, outcome)).body.status).toBe('succeeded')
  expect((await items('suspense')).map(({ id }) => id)).not.toContain(line?.id)
  const later = (await request('invoice 3')).body
  await pass(scene.now, 60)
  expect([await scene.statusOf(later), ordersTo(scene.now, '600931').length]).toEqual(['succeeded', 3])
})

test('a loss is not ended while no statement was compared since, but for a reason, which the audit log keeps', async () => {
  await compareAll()
  await scene.losing(async () => undefined)
  await scene.noticeLoss()
  await expect(scene.resume()).rejects.toThrow(/No statement of .*MPESA.* was compared since the loss/)
  const { resumed, statements_not_compared } = await scene.resume('nothing was sent that day')
  expect(resumed).not.toEqual([])
  expect(statements_not_compared.sort()).toEqual(['MPESA', 'PESALINK'])
  const { body } = await (await scene.admin()).get('/v1/admin/audit-log?action=admin.resume_rail')
  expect(body.data[0].after).toMatchObject({ reason: 'nothing was sent that day', not_compared: ['MPESA', 'PESALINK'] })
  // The answer of the command may be lost: its repetition is not taken for a restore.
  await expect(scene.resume('nothing was sent that day')).rejects.toThrow('there is nothing to do')
  expect(await listPauses(scene.now.deps.db)).toEqual([])
})

test('the pauses of a rail are compared with the log by their causes: the operator’s stays after a loss, and the loss’s is not lifted unseen', async () => {
  const broken = async () => (await findBreaches(scene.now)).filter((breach) => breach.startsWith('paused rails'))
  await inTx(scene.now.deps.db, (tx) => pauseRail(tx, operator, 'MPESA_B2C', 'a drill'))
  await scene.losing(async () => undefined)
  await scene.noticeLoss()
  const { db } = scene.now.deps
  expect(await broken()).toEqual([])
  await db.query(`create table lifted as select * from rail_pauses where cause = 'lost_writes' and rail = 'MPESA_B2C'`)
  await db.query(`delete from rail_pauses where cause = 'lost_writes' and rail = 'MPESA_B2C'`)
  expect((await broken()).join()).toContain('MPESA_B2C lost_writes')
  await db.query('insert into rail_pauses select * from lifted')
  await db.query('drop table lifted')
  await scene.resume('nothing was sent that day')
  expect((await listPauses(db)).map(({ rail, cause }) => [rail, cause])).toEqual([['MPESA_B2C', 'operator']])
  expect(await broken()).toEqual([])
  await inTx(db, (tx) => resumeRail(tx, operator, 'MPESA_B2C'))
  expect(await broken()).toEqual([])
})

test('entries of an earlier release, which name no cause, break no promise while their pauses end one after the other', async () => {
  const { db } = scene.now.deps
  const broken = async () => (await findBreaches(scene.now)).filter((breach) => breach.startsWith('paused rails'))
  const rail = 'MPESA_B2C'
  const write = (action: 'admin.pause_rail' | 'admin.resume_rail') =>
    inTx(db, async (tx) => {
      audit(tx, operator, action, { subject: newId(), after: { rail, reason: 'an earlier release' } })
      return tx.at
    })
  const pausedAs = async (cause: string) =>
    db.query('insert into rail_pauses (rail, cause, reason, paused_by, paused_at) values ($1, $2, $3, $3, $4)', [
      ...[rail, cause, 'an earlier release'],
      await write('admin.pause_rail'),
    ])
  await pausedAs('lost_writes')
  expect(await broken()).toEqual([])
  await pausedAs('operator')
  await db.query(`delete from rail_pauses where cause = 'operator'`)
  await write('admin.resume_rail')
  expect(await broken()).toEqual([])
  // The service pauses the other rails at its next look, which must not come after the resuming.
  await scene.look()
  await scene.resume('a test')
  expect([await listPauses(db), await broken()]).toEqual([[], []])
  // Such a process still runs beside this one: each ends a pause of the other.
  await inTx(db, (tx) => pauseRail(tx, operator, rail, 'a drill'))
  await db.query('delete from rail_pauses')
  await write('admin.resume_rail')
  expect(await broken()).toEqual([])
  await pausedAs('operator')
  expect(await broken()).toEqual([])
  await db.query('create table lifted as select * from rail_pauses')
  await db.query('delete from rail_pauses')
  expect((await broken()).join()).toContain(rail)
  await db.query('insert into rail_pauses select * from lifted')
  await db.query('drop table lifted')
  await inTx(db, (tx) => resumeRail(tx, operator, rail))
  expect(await broken()).toEqual([])
})

test('the loss of a restore ends with the last pause: it neither vouches for a later loss nor stops later payments', async () => {
  const beneficiary_id = await newBeneficiary(scene.person.api, paybill('600951'))
  const request = async () => (await scene.person.api.post('/v1/payments', { beneficiary_id, amount_minor: '300000' })).body
  const restore = async () => {
    expect(await scene.resume()).toMatchObject({ rails: 'paused' })
    await compareAll()
    for (const rail of sendingRails) await inTx(scene.now.deps.db, (tx) => resumeRail(tx, operator, rail))
  }
  await restore()
  // The restore lost no payment of a line that was compared long after it.
  scene.now.clock.advance(86_400)
  const time = scene.now.clock.now().toISOString().slice(0, 19).replace('T', ' ')
  await reconcileStatement(scene.now.deps, operator, {
    source: 'MPESA',
    text: `Receipt No.,Completion Time,Transaction Status,Paid In,Withdrawn\nSTRANGER1,${time},Completed,,-3000.00\n`,
  })
  const payment = await request()
  await pass(scene.now, 60)
  expect(await scene.statusOf(payment)).toBe('succeeded')

  await scene.losing(async () => undefined)
  await scene.noticeLoss()
  await expect(scene.resume()).rejects.toThrow(/No statement of .*MPESA.* was compared since the loss/)
  await scene.resume('a test')
})

test('the loss of a restore lasts while a rail that was paused before is not compared: its lost payment is not paid twice', async () => {
  const beneficiary_id = await newBeneficiary(scene.person.api, paybill('600961'))
  const request = () => scene.person.api.post('/v1/payments', { beneficiary_id, amount_minor: '310000' }, { key: 'invoice 9' })
  const resumed = async (rails: readonly (typeof sendingRails)[number][]) => {
    for (const rail of rails) await inTx(scene.now.deps.db, (tx) => resumeRail(tx, operator, rail))
  }
  await inTx(scene.now.deps.db, (tx) => pauseRail(tx, operator, 'MPESA_B2B', 'an outage'))
  await scene.losing(async () => {
    await resumed(['MPESA_B2B'])
    await request()
    await pass(scene.now, 60)
    expect(ordersTo(scene.now, '600961')).toHaveLength(1)
  })
  expect(await scene.resume()).toMatchObject({ rails: 'paused' })
  await resumed(sendingRails.filter((rail) => rail !== 'MPESA_B2B'))
  await compareAll()
  await resumed(['MPESA_B2B'])
  const repeated = (await request()).body
  await pass(scene.now, 60)
  expect([await scene.statusOf(repeated), ordersTo(scene.now, '600961').length]).toEqual(['unknown', 1])
})

test('a restored copy with the pauses of an earlier loss stays paused, and its loss lasts until the last pause ends', async () => {
  const openLosses = async () => {
    const [row] = await scene.now.deps.db.query('select count(*)::int as count from write_losses where ended_at is null')
    return (row as { count: number }).count
  }
  await scene.losing(async () => undefined)
  await scene.noticeLoss()
  await compareAll()
  expect(await scene.resume(undefined, {}, 'yes')).toMatchObject({ rails: 'paused' })
  const causes = (await listPauses(scene.now.deps.db)).map(({ cause }) => cause)
  expect([causes.includes('lost_writes'), causes.includes('operator')]).toEqual([true, true])
  await compareAll()
  expect(await scene.resume()).toMatchObject({ rails: 'resumed' })
  expect(await openLosses()).toBeGreaterThan(0)
  for (const rail of sendingRails) await inTx(scene.now.deps.db, (tx) => resumeRail(tx, operator, rail))
  expect(await openLosses()).toBe(0)
})

test('who approves is told before that a payment may have been paid, and how many of a batch', async () => {
  await scene.person.api.post('/v1/spending-policies', { name: 'Ask', approval_threshold_minor: '1' })
  const [one, mobile] = [await scene.ask(paybill('600941')), await scene.ask(phone('254722000941'))]
  const beneficiaries: string[] = []
  for (const payee of [paybill('600942'), phone('254722000942'), paybill('600943')])
    beneficiaries.push(await newBeneficiary(scene.person.api, payee))
  const batch = (
    await scene.person.api.post('/v1/payment-batches', {
      items: beneficiaries.map((beneficiary_id) => ({ beneficiary_id, amount_minor: '10000' })),
    })
  ).body
  const warnings = async () => {
    const listed = (await scene.person.api.get('/v1/approvals?status=pending')).body.data
    const own = async ({ approval_id }: { approval_id: string }) => {
      const { context } = (await scene.person.api.get(`/v1/approvals/${approval_id}`)).body
      expect(listed.find(({ id }: { id: string }) => id === approval_id).context.warnings).toEqual(context.warnings)
      return context.warnings.filter(({ code }: { code: string }) => code === 'may_have_been_sent')
    }
    return Promise.all([one, mobile, batch].map(own))
  }
  expect(await warnings()).toEqual([[], [], []])
  await scene.losing(async () => undefined)
  await scene.endLoss()
  const warned = (payments_count: number) => [{ code: 'may_have_been_sent', payments_count }]
  expect(await warnings()).toEqual([warned(1), [], warned(2)])
  scene.now.clock.advance(3_601)
  expect(await warnings()).toEqual([warned(1), warned(1), warned(3)])
})
