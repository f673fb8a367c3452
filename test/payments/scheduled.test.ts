import { afterAll, describe, expect, test } from 'vitest'
import { parseId } from '../../src/lib/ids.ts'
import type { Json } from '../harness/client.ts'
import { credit, newBeneficiary } from '../harness/money.ts'
import { createKey, type Person, signIn } from '../harness/people.ts'
import { openService, startService } from '../harness/service.ts'
import { findBreaches } from '../harness/verify.ts'

const service = await openService({ env: { RATE_LIMIT_ENABLED: 'false' } })
afterAll(async () => {
  expect(await findBreaches(service)).toEqual([])
})

let serial = 0
type Payer = Person & { payees: [string, string, string] }
const payer = async (amount = 1_000_000n): Promise<Payer> => {
  const person = await signIn(service.api)
  await credit(service, person.accountId, amount)
  const payee = () => {
    serial += 1
    return newBeneficiary(person.api, { destination: `2547340${String(serial).padStart(5, '0')}` })
  }
  return { ...person, payees: [await payee(), await payee(), await payee()] }
}
const hour = 3600
const inHours = (hours: number) => new Date(service.clock.now().getTime() + hours * hour * 1000).toISOString()
const schedule = (from: Pick<Person, 'api'>, beneficiary: string, amount: string, at: string, fields: Json = {}) =>
  from.api.post('/v1/payments', { beneficiary_id: beneficiary, amount_minor: amount, execute_at: at, ...fields })
const scheduleAll = (from: Payer, amounts: string[], at: string) =>
  from.api.post('/v1/payment-batches', {
    items: amounts.map((amount_minor, index) => ({ beneficiary_id: from.payees[index], amount_minor })),
    execute_at: at,
  })
const paymentOf = async (from: Person, id: string): Promise<Json> => (await from.api.get(`/v1/payments/${id}`)).body
const batchOf = async (from: Person, id: string): Promise<Json> => (await from.api.get(`/v1/payment-batches/${id}`)).body
const balance = async (from: Person) => (await from.api.get('/v1/accounts/me')).body.balance
const limit = (from: Person, fields: Json) => from.api.post('/v1/spending-policies', { name: 'Limit', ...fields })
const eventsOf = async (from: Person, id: string): Promise<string[]> =>
  (
    await service.deps.db.query<{ type: string }>(
      `select type from events where account_id = $1 and (payment_id = $2 or data->>'id' = $3) order by id`,
      [parseId('account', from.accountId), parseId('payment', id) ?? null, id],
    )
  ).map(({ type }) => type)
const pass = async (hours: number) => {
  service.clock.advance(hours * hour)
  await service.deps.jobs.sweep()
  await service.settle()
}

describe('a scheduled payment', () => {
  test('holds nothing until its time, then is decided, counted in the day that it is then, and sent', async () => {
    // 22:30 in Nairobi on the last day of a month: two hours later the next month has begun.
    service.clock.set(new Date('2027-02-28T19:30:00Z'))
    const [one, next] = ['2027-02-28T20:30:00Z', '2027-03-01T00:30:00+03:00']
    const someone = await payer()
    await limit(someone, { monthly_limit_minor: '50000' })
    const last = (await schedule(someone, someone.payees[0], '50000', one)).body
    const first = (await schedule(someone, someone.payees[1], '50000', next)).body
    expect([last.status, last.execute_at, last.completed_at]).toEqual(['scheduled', new Date(one).toISOString(), null])
    expect(await balance(someone)).toMatchObject({ available_minor: '1000000', held_minor: '0' })
    expect((await someone.api.get('/v1/payments?status=scheduled')).body.data).toHaveLength(2)
    await pass(0.5)
    expect((await paymentOf(someone, last.id)).status).toBe('scheduled')
    await pass(0.5)
    expect((await paymentOf(someone, last.id)).status).toBe('succeeded')
    await pass(1)
    expect((await paymentOf(someone, first.id)).status).toBe('succeeded')
    expect(await eventsOf(someone, last.id)).toEqual(['payment.created', 'payment.processing', 'payment.succeeded'])
  })

  test('is at an instant: a local time that daylight saving repeats or skips is what its offset says', async () => {
    service.clock.set(new Date('2027-10-30T22:00:00Z'))
    const someone = await payer()
    await someone.api.patch('/v1/workspaces/current', { time_zone: 'Europe/Berlin' })
    const before = (await schedule(someone, someone.payees[0], '10000', '2027-10-31T02:30:00+02:00')).body
    const after = (await schedule(someone, someone.payees[1], '10000', '2027-10-31T02:30:00+01:00')).body
    await pass(2.5)
    expect([(await paymentOf(someone, before.id)).status, (await paymentOf(someone, after.id)).status]).toEqual([
      'succeeded',
      'scheduled',
    ])
    await pass(1)
    expect((await paymentOf(someone, after.id)).status).toBe('succeeded')
  })

  test('fails with its reason and one event when the money, a limit or its standing does not allow it at its time', async () => {
    const someone = await payer(60_000n)
    const [poor, denied, frozen] = [
      (await schedule(someone, someone.payees[0], '70000', inHours(1))).body,
      (await schedule(someone, someone.payees[1], '50000', inHours(2))).body,
      (await schedule(someone, someone.payees[2], '10000', inHours(3))).body,
    ]
    await limit(someone, { per_payment_limit_minor: '40000', beneficiary_ids: [someone.payees[1]] })
    await someone.api.patch(`/v1/beneficiaries/${someone.payees[2]}`, { status: 'frozen' })
    for (let n = 0; n < 3; n += 1) await pass(1)
    const ended = [await paymentOf(someone, poor.id), await paymentOf(someone, denied.id), await paymentOf(someone, frozen.id)]
    expect(ended.map(({ status, failure_code }) => [status, failure_code])).toEqual([
      ['failed', 'insufficient_funds'],
      ['failed', 'policy_denied'],
      ['failed', 'policy_changed'],
    ])
    for (const { id } of ended) expect(await eventsOf(someone, id)).toEqual(['payment.created', 'payment.failed'])
    expect(await balance(someone)).toMatchObject({ available_minor: '60000', held_minor: '0' })
  })

  test('is refused at once for what no time changes, and for a time that is past or too far', async () => {
    const someone = await payer()
    await limit(someone, { per_payment_limit_minor: '40000', daily_limit_minor: '60000' })
    expect((await schedule(someone, someone.payees[0], '50000', inHours(1))).status).toBe(403)
    for (const at of [inHours(-1), inHours(24 * 91)]) {
      const answer = await schedule(someone, someone.payees[0], '10000', at)
      expect([answer.status, answer.body.details.param]).toEqual([400, 'execute_at'])
      // A batch has one time, so no item is wrong.
      const batch = await scheduleAll(someone, ['10000', '10000'], at)
      expect([batch.status, batch.body.details.fields]).toEqual([400, answer.body.details.fields])
    }
    // The rest of a limit is decided at the payment's time.
    await someone.api.post('/v1/payments', { beneficiary_id: someone.payees[1], amount_minor: '40000' })
    const later = (await schedule(someone, someone.payees[0], '40000', inHours(24))).body
    expect(later.status).toBe('scheduled')
    await pass(24)
    expect((await paymentOf(someone, later.id)).status).toBe('succeeded')
  })

  test('asks for its approval when it is scheduled, until it is due, and is sent at its time', async () => {
    const someone = await payer()
    await limit(someone, { approval_threshold_minor: '50000' })
    const ids = [someone.payees[0], someone.payees[1], someone.payees[2]].map((id) =>
      schedule(someone, id, '50000', inHours(100)),
    )
    const [approved, rejected, ignored] = (await Promise.all(ids)).map(({ body }) => body)
    const approval = (await someone.api.get(`/v1/approvals/${approved.approval_id}`)).body
    expect([approval.expires_at, approval.signing.approve]).toEqual([
      approved.execute_at,
      expect.stringContaining('Scheduled for: '),
    ])
    const decide = (payment: Json, decision: string) =>
      someone.api.post(`/v1/approvals/${payment.approval_id}/decide`, { decision })
    expect((await decide(approved, 'approve')).body).toMatchObject({ status: 'approved', payment: { status: 'scheduled' } })
    expect((await decide(rejected, 'reject')).body).toMatchObject({ status: 'rejected', payment: { status: 'cancelled' } })
    await pass(99)
    expect((await paymentOf(someone, ignored.id)).status).toBe('scheduled')
    await pass(1)
    const ended = await Promise.all([approved, rejected, ignored].map(({ id }) => paymentOf(someone, id)))
    expect(ended.map(({ status, failure_code }) => [status, failure_code])).toEqual([
      ['succeeded', null],
      ['cancelled', null],
      ['failed', 'approval_expired'],
    ])
    expect((await someone.api.get(`/v1/approvals/${ignored.approval_id}`)).body.status).toBe('expired')
  })

  test('shows its approvers when it is sent, alone and as a list, and what it would leave of a balance that holds nothing for it', async () => {
    const someone = await payer(100_000n)
    await limit(someone, { approval_threshold_minor: '50000' })
    const at = new Date(inHours(2)).toISOString()
    const alone = (await schedule(someone, someone.payees[0], '70000', at)).body
    const list = (await scheduleAll(someone, ['80000', '50000'], at)).body
    const now = (await someone.api.post('/v1/payments', { beneficiary_id: someone.payees[2], amount_minor: '50000' })).body
    const approvalOf = async ({ approval_id }: Json) => (await someone.api.get(`/v1/approvals/${approval_id}`)).body
    const [one, whole, atOnce] = [await approvalOf(alone), await approvalOf(list), await approvalOf(now)]
    expect([one.payment.execute_at, whole.batch.execute_at, atOnce.payment.execute_at]).toEqual([at, at, null])
    // 100,000 less the 50,000 held for the immediate payment.
    expect([one, whole, atOnce].map(({ context }) => context.available_after_minor)).toEqual(['-20000', '-80000', '50000'])
    const listed = (await someone.api.get('/v1/approvals?status=pending')).body.data
    expect(listed.map(({ context }: Json) => context.available_after_minor)).toEqual(['50000', '-80000', '-20000'])
  })

  test('uses up no limit before its time: its approval shows what other payments have used', async () => {
    const someone = await payer()
    await limit(someone, { daily_limit_minor: '100000', approval_threshold_minor: '50000' })
    expect((await someone.api.post('/v1/payments', { beneficiary_id: someone.payees[0], amount_minor: '40000' })).status).toBe(
      201,
    )
    const payment = (await schedule(someone, someone.payees[1], '70000', inHours(0.5))).body
    const { decision_now: decision } = (await someone.api.get(`/v1/approvals/${payment.approval_id}`)).body
    const day = decision.trace.find(({ rule }: Json) => rule === 'daily_limit')
    expect([decision.outcome, day.used_minor, day.requested_minor]).toEqual(['deny', '40000', '70000'])
  })

  test('asks at its time for an approval that nobody could foresee, with its money held', async () => {
    const someone = await payer()
    const body = { beneficiary_id: someone.payees[0], amount_minor: '50000', execute_at: inHours(1) }
    const send = () => someone.api.post('/v1/payments', body, { headers: { 'idempotency-key': 'asks later' } })
    const first = await send()
    const payment = first.body
    await limit(someone, { approval_threshold_minor: '50000' })
    await pass(1)
    const asked = await paymentOf(someone, payment.id)
    expect([asked.status, (await balance(someone)).held_minor]).toEqual(['pending_approval', '50000'])
    // The decision that asked, wherever the payment is shown; the answer to its creation stays.
    const asking = { outcome: 'require_approval', required_approvals: 1, policy_versions: [{}] }
    expect(asked.decision).toMatchObject({ ...asking, trace: expect.any(Array) })
    const approval = (await someone.api.get(`/v1/approvals/${asked.approval_id}`)).body
    expect(approval.payment.decision).toEqual(asked.decision)
    expect((await send()).text).toBe(first.text)
    const told = (await someone.api.get('/v1/notifications?type=payment.created')).body.data
    expect(told[0].data).toEqual({ ...payment, decision: expect.objectContaining({ outcome: 'allow' }) })
    expect((await someone.api.post(`/v1/approvals/${asked.approval_id}/decide`, { decision: 'approve' })).status).toBe(200)
    await service.settle()
    expect((await paymentOf(someone, payment.id)).status).toBe('succeeded')
  })

  test('is cancelled by its requester, and when the key that asked for it is revoked', async () => {
    const someone = await payer()
    const key = await createKey(someone, {})
    const own = (await schedule(someone, someone.payees[0], '10000', inHours(1))).body
    const ofKey = (await schedule(key, someone.payees[1], '10000', inHours(1))).body
    expect((await someone.api.post(`/v1/payments/${own.id}/cancel`)).body.status).toBe('cancelled')
    expect((await someone.api.delete(`/v1/accounts/me/api-keys/${key.id}`)).status).toBe(200)
    await pass(1)
    expect((await paymentOf(someone, ofKey.id)).status).toBe('cancelled')
    expect((await someone.api.post(`/v1/payments/${ofKey.id}/cancel`)).body.status).toBe('cancelled')
    expect(await balance(someone)).toMatchObject({ available_minor: '1000000', held_minor: '0' })
  })

  test('is sent once by two processes, and not early when the clock goes back', async () => {
    const someone = await payer()
    const other = await startService({ database: service.database, clock: service.clock })
    const payment = (await schedule(someone, someone.payees[0], '10000', inHours(1))).body
    service.clock.advance(hour)
    service.clock.advance(-60)
    await Promise.all([service.deps.jobs.sweep(), other.deps.jobs.sweep()])
    expect((await paymentOf(someone, payment.id)).status).toBe('scheduled')
    service.clock.advance(60)
    await Promise.all([service.deps.jobs.sweep(), other.deps.jobs.sweep()])
    await service.settle()
    expect(await eventsOf(someone, payment.id)).toEqual(['payment.created', 'payment.processing', 'payment.succeeded'])
    expect(await balance(someone)).toMatchObject({ available_minor: '990000', held_minor: '0' })
    await other.close()
  })
})

describe('a scheduled batch', () => {
  test('is sent at its time as far as the money goes: what does not fit fails alone', async () => {
    const someone = await payer(50_000n)
    const batch = (await scheduleAll(someone, ['30000', '30000', '20000'], inHours(2))).body
    expect([batch.status, batch.counts, (await balance(someone)).held_minor]).toEqual(['scheduled', { scheduled: 3 }, '0'])
    await pass(2)
    expect(await batchOf(someone, batch.id)).toMatchObject({ status: 'completed', counts: { succeeded: 2, failed: 1 } })
    expect(await eventsOf(someone, batch.id)).toEqual([
      'payment_batch.created',
      'payment_batch.processing',
      'payment_batch.completed',
    ])
    expect(await balance(someone)).toMatchObject({ available_minor: '0', held_minor: '0' })
  })

  test('does not count an item that fails for want of approvals, neither against the limits nor the balance of the others', async () => {
    const someone = await payer(60_000n)
    const batch = (await scheduleAll(someone, ['30000', '40000', '20000'], inHours(2))).body
    // Both came later: an approval rule for the first payee, and a daily limit that the other two fill.
    await limit(someone, { beneficiary_ids: [someone.payees[0]], approval_threshold_minor: '1' })
    await limit(someone, { daily_limit_minor: '60000' })
    await pass(2)
    expect(await batchOf(someone, batch.id)).toMatchObject({ status: 'completed', counts: { succeeded: 2, failed: 1 } })
    const [item] = (await someone.api.get(`/v1/payments?batch_id=${batch.id}&status=failed`)).body.data
    expect([item.beneficiary_id, item.failure_code]).toEqual([someone.payees[0], 'policy_denied'])
    expect(item.failure_message).toMatch(/^The approvals given when it was scheduled do not cover it: .*requires 1 approval/)
    const [processing] = await service.deps.db.query<{ data: Json }>(
      `select data from events where type = 'payment_batch.processing' and account_id = $1`,
      [parseId('account', someone.accountId)],
    )
    expect(processing?.data).toMatchObject({ status: 'processing', counts: { processing: 2, scheduled: 1 } })
    const { data } = (await someone.api.get('/v1/accounts/me/history')).body
    expect(data.map((entry: Json) => entry.available_after_minor)).toEqual(['0', '0', '0', '20000', '60000'])
  })

  test('is compared by its total at its time: a threshold that came later lets no part of it leave unapproved', async () => {
    const someone = await payer()
    const unseen = (await scheduleAll(someone, ['20000', '20000', '20000'], inHours(2))).body
    await limit(someone, { approval_threshold_minor: '50000' })
    const approved = (await scheduleAll(someone, ['30000', '30000', '30000'], inHours(2))).body
    await someone.api.post(`/v1/approvals/${approved.approval_id}/decide`, { decision: 'approve' })
    await pass(2)
    expect(await batchOf(someone, unseen.id)).toMatchObject({ status: 'failed', counts: { failed: 3 } })
    expect(await batchOf(someone, approved.id)).toMatchObject({ status: 'completed', counts: { succeeded: 3 } })
  })

  test('fails when nothing of it can be sent, and is cancelled whole before its time', async () => {
    const someone = await payer(10_000n)
    const poor = (await scheduleAll(someone, ['30000', '30000'], inHours(2))).body
    const unwanted = (await scheduleAll(someone, ['5000'], inHours(2))).body
    const answer = await someone.api.post(`/v1/payment-batches/${unwanted.id}/cancel`)
    expect([answer.body.status, answer.body.counts]).toEqual(['cancelled', { cancelled: 1 }])
    await pass(2)
    expect(await batchOf(someone, poor.id)).toMatchObject({ status: 'failed', counts: { failed: 2 } })
    expect(await eventsOf(someone, poor.id)).toEqual(['payment_batch.created', 'payment_batch.failed'])
  })

  test('is approved by one decision before its time, and fails when nobody approved it', async () => {
    const someone = await payer()
    await limit(someone, { approval_threshold_minor: '50000' })
    const [one, other] = [
      (await scheduleAll(someone, ['50000', '10000'], inHours(2))).body,
      (await scheduleAll(someone, ['60000', '20000'], inHours(2))).body,
    ]
    expect((await someone.api.post(`/v1/approvals/${one.approval_id}/decide`, { decision: 'approve' })).body.status).toBe(
      'approved',
    )
    expect((await batchOf(someone, one.id)).status).toBe('scheduled')
    await pass(2)
    expect(await batchOf(someone, one.id)).toMatchObject({ status: 'completed', counts: { succeeded: 2 } })
    expect(await batchOf(someone, other.id)).toMatchObject({ status: 'failed', counts: { failed: 2 } })
  })
})
