import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { parseId } from '../../src/lib/ids.ts'
import type { Json } from '../harness/client.ts'
import { credit } from '../harness/money.ts'
import { createKey, type Person, signIn } from '../harness/people.ts'
import type { TestService } from '../harness/service.ts'
import { findBreaches } from '../harness/verify.ts'
import {
  b2cResult,
  balanceOf,
  deliver,
  isLedgerSound,
  lastOrder,
  pass,
  pay,
  paymentOf,
  transferCallback,
} from '../rails-flows/scene.ts'
import { startAdministered } from './administrators.ts'

let service: TestService
let admin: Person
let second: Person
beforeAll(async () => {
  ;({ service, admin, second } = await startAdministered({ env: { ADJUSTMENT_CONFIRM_MINOR: '150000' } }))
})
afterAll(async () => {
  expect(await isLedgerSound(service)).toBe(true)
  await service.close()
})

/** A payment with an unknown outcome: the rail's answer to it was lost. */
const lostPayment = async (destination: string, takesEffect = false): Promise<{ person: Person; id: string }> => {
  const person = await signIn(service.api)
  await credit(service, person.accountId, 1_000_000n)
  const id = await pay(person, { payment_rail: 'MPESA_B2C', destination })
  // A rail that loses several consecutive answers is not called for a while.
  service.clock.advance(120)
  service.sandbox.failNext({ kind: 'reset', takesEffect })
  await service.deps.jobs.drain()
  expect((await paymentOf(person, id)).status).toBe('unknown')
  return { person, id }
}

/** Lets the rail be queried and answer. An administrator's earlier sole decisions no longer count. */
const untilResolvable = async (days = 1): Promise<void> => {
  await pass(service, 60)
  await pass(service, days * 86_400)
}

const resolve = (who: Person, id: string, outcome: string, more: object = {}) =>
  who.api.post(`/v1/admin/payments/${id}/resolve`, { outcome, evidence: 'statement of 4 March, line 17', ...more })

/** The first administrator adjusts a stranger's balance: the day's total leaves no room for one of these payments. */
const adjustAlone = async () => {
  const { accountId } = await signIn(service.api)
  const small = { account_id: accountId, direction: 'credit', amount_minor: '1', reason: 'a wrong booking' }
  expect((await admin.api.post('/v1/admin/adjustments', small)).body.status).toBe('posted')
}

test('administrators see the payments of every tenant whose outcome is unknown', async () => {
  const { person, id } = await lostPayment('254722000101')
  const { status, body } = await admin.api.get('/v1/admin/payments?status=unknown')
  expect(status).toBe(200)
  const own = (await person.api.get(`/v1/payments/${id}`)).body
  const listed = { id, status: 'unknown', account_id: person.accountId, amount_minor: '150000', outcome_check: own.outcome_check }
  expect(body.data).toMatchObject([listed])
  expect(own.outcome_check.next_at).toEqual(expect.any(String))
  expect((await admin.api.get('/v1/admin/payments?status=returned')).body.data).toEqual([])
  await resolve(admin, id, 'succeeded')
})

test('a payment that is resolved as succeeded has its hold posted, with the given receipt', async () => {
  const { person, id } = await lostPayment('254722000102')
  const resolved = await resolve(admin, id, 'succeeded', { provider_receipt: 'QX12345678' })
  expect([resolved.status, resolved.body.status, resolved.body.provider_receipt]).toEqual([200, 'succeeded', 'QX12345678'])
  expect(await balanceOf(person)).toEqual({ available: '850000', held: '0' })
  // Finds payments by receipt, in any case, in every workspace.
  const found = async (receipt: string) => (await admin.api.get(`/v1/admin/payments?provider_receipt=${receipt}`)).body.data
  expect((await found('qx12345678')).map((payment: Json) => payment.id)).toEqual([id])
  expect(await found('QX1234567')).toEqual([])
  expect((await resolve(second, id, 'succeeded')).body).toEqual(resolved.body)
  const otherwise = await resolve(second, id, 'failed')
  expect([otherwise.status, otherwise.body.error]).toEqual([409, 'conflict'])
})

test('a receipt that comes after the end has its event and its audit row', async () => {
  const { person, id } = await lostPayment('254700004999', true)
  await resolve(admin, id, 'succeeded')
  expect((await paymentOf(person, id)).provider_receipt).toBeNull()
  const order = lastOrder(service)
  await deliver(order.resultUrl, b2cResult(order))
  await service.settle()
  const completed = { status: 'succeeded', provider_receipt: order.receipt }
  expect(await paymentOf(person, id)).toMatchObject(completed)
  const [event] = (await person.api.get('/v1/notifications?type=payment.*')).body.data
  expect(event).toMatchObject({ type: 'payment.succeeded', data: { id, ...completed } })
  const { body } = await admin.api.get(`/v1/admin/audit-log?subject_id=${id}`)
  expect(body.data[0]).toMatchObject({ action: 'payment.receipt', after: completed })
  await service.deps.jobs.sweep()
  expect(await findBreaches(service)).toEqual([])
})

test('a payment that is resolved as failed has its hold released, and the rail is no longer queried', async () => {
  const { person, id } = await lostPayment('254722000103')
  await untilResolvable()
  const resolved = await resolve(admin, id, 'failed')
  expect([resolved.status, resolved.body.status, resolved.body.failure_code]).toEqual([200, 'failed', 'resolved_by_operator'])
  expect(await balanceOf(person)).toEqual({ available: '1000000', held: '0' })
  const open = await service.deps.db.query(`select from rail_attempts where state not in ('resolved', 'not_sent')`)
  expect(open).toEqual([])
})

test('when two administrators resolve a payment differently at the same moment, one of them decides', async () => {
  const { person, id } = await lostPayment('254722000104')
  await untilResolvable()
  const answers = await Promise.all([resolve(admin, id, 'succeeded'), resolve(second, id, 'failed')])
  expect(answers.map(({ status }) => status).sort()).toEqual([200, 409])
  const succeeded = (await paymentOf(person, id)).status === 'succeeded'
  expect(await balanceOf(person)).toEqual({ available: succeeded ? '850000' : '1000000', held: '0' })
})

test('a payment is resolved as failed only after the rail was asked and had its time to answer', async () => {
  const { person, id } = await lostPayment('254722000120')
  const unasked = await resolve(admin, id, 'failed')
  expect([unasked.status, unasked.body.details]).toMatchObject([409, { reason: 'rail_may_answer', from: null }])
  await pass(service, 60)
  const early = await resolve(admin, id, 'failed')
  expect([early.status, early.body.details.reason]).toEqual([409, 'rail_may_answer'])
  service.clock.set(new Date(Date.parse(early.body.details.from) - 1))
  expect((await resolve(admin, id, 'failed')).status).toBe(409)
  service.clock.advance(1)
  expect((await resolve(admin, id, 'failed')).status).toBe(200)
  expect((await paymentOf(person, id)).status).toBe('failed')
})

test('a payment of which the rail reported another amount is resolved as failed only after its time to correct itself', async () => {
  const person = await signIn(service.api)
  await credit(service, person.accountId, 1_000_000n)
  const id = await pay(person, { payment_rail: 'MPESA_B2C', destination: '254711000005' })
  await service.settle()
  expect((await paymentOf(person, id)).status).toBe('unknown')
  const from = service.clock.now().getTime() + 15 * 60_000
  const early = await resolve(admin, id, 'failed')
  expect([early.status, early.body.details]).toMatchObject([
    409,
    { reason: 'rail_may_answer', from: new Date(from).toISOString() },
  ])
  service.clock.set(new Date(from))
  const resolved = await resolve(admin, id, 'failed')
  expect([resolved.status, resolved.body.status]).toEqual([202, 'unknown'])
})

describe('what costs the organisation', () => {
  const adjustmentsOf = async (id: string) =>
    (await admin.api.get('/v1/admin/adjustments')).body.data.filter((each: { payment_id: string }) => each.payment_id === id)

  test('adds up over a day for each administrator, and beyond waits until a second one decides the same', async () => {
    const [one, two] = [await lostPayment('254722000121'), await lostPayment('254722000122')]
    await untilResolvable()
    expect((await resolve(admin, one.id, 'failed')).status).toBe(200)
    const [counted] = await adjustmentsOf(one.id)
    expect(counted).toMatchObject({
      kind: 'payment_failed',
      status: 'posted',
      amount_minor: '150000',
      decided_by: admin.accountId,
    })
    const waits = await resolve(admin, two.id, 'failed')
    expect([waits.status, waits.body.status]).toEqual([202, 'unknown'])
    expect(waits.body.waiting_adjustment_id).toMatch(/^led_/)
    expect((await resolve(admin, two.id, 'failed')).body).toEqual(waits.body)
    expect(await balanceOf(two.person)).toEqual({ available: '850000', held: '150000' })
    const [listed] = (await second.api.get('/v1/admin/payments?status=unknown')).body.data
    expect([listed.id, listed.waiting_adjustment_id]).toEqual([two.id, waits.body.waiting_adjustment_id])
    const confirm = await second.api.post(`/v1/admin/adjustments/${waits.body.waiting_adjustment_id}/confirm`)
    expect([confirm.status, confirm.body.details]).toMatchObject([409, { reason: 'payment', payment_id: two.id }])
    const decided = await resolve(second, two.id, 'failed')
    expect([decided.status, decided.body.status, decided.body.waiting_adjustment_id]).toEqual([200, 'failed', null])
    expect(await adjustmentsOf(two.id)).toMatchObject([
      { status: 'posted', requested_by: admin.accountId, decided_by: second.accountId },
    ])
    expect(await balanceOf(two.person)).toEqual({ available: '1000000', held: '0' })
  })

  test('is decided alone at most up to the sum, however many requests come at once', async () => {
    const lost = [await lostPayment('254722000123'), await lostPayment('254722000124'), await lostPayment('254722000125')]
    await untilResolvable()
    const answers = await Promise.all(lost.map(({ id }) => resolve(admin, id, 'failed')))
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 202, 202])
  })

  test('counts with the adjustments of balances, and can be rejected by a second administrator', async () => {
    const { person, id } = await lostPayment('254722000126')
    await untilResolvable()
    await adjustAlone()
    const { waiting_adjustment_id } = (await resolve(admin, id, 'failed')).body
    const path = `/v1/admin/adjustments/${waiting_adjustment_id}/reject`
    expect((await second.api.post(path, { reason: 'the statement shows it' })).body.status).toBe('rejected')
    expect((await paymentOf(person, id)).status).toBe('unknown')
    const [listed] = (await admin.api.get('/v1/admin/payments?status=unknown')).body.data
    expect([listed.id, listed.waiting_adjustment_id]).toEqual([id, null])
  })

  test('ends with its payment while it waits for a second administrator, and says so', async () => {
    const { person, id } = await lostPayment('254700004999', true)
    const order = lastOrder(service)
    await untilResolvable()
    await adjustAlone()
    const { waiting_adjustment_id: waiting } = (await resolve(admin, id, 'failed')).body
    await deliver(order.resultUrl, b2cResult(order))
    await service.settle()
    expect((await paymentOf(person, id)).status).toBe('succeeded')
    expect(await adjustmentsOf(id)).toMatchObject([
      { id: waiting, status: 'cancelled', decided_by: null, decided_at: expect.any(String) },
    ])
    const { data } = (await admin.api.get('/v1/admin/adjustments?status=pending')).body
    expect(data.map((each: { id: string }) => each.id)).not.toContain(waiting)
    const confirm = await second.api.post(`/v1/admin/adjustments/${waiting}/confirm`)
    expect([confirm.status, confirm.body.details.status]).toEqual([409, 'cancelled'])
    const log = (await admin.api.get('/v1/admin/audit-log?action=admin.adjustment_cancel')).body.data
    expect(log.find(({ subject }: { subject: { id: string } }) => subject.id === waiting)).toMatchObject({
      after: { status: 'cancelled', payment_id: id },
    })
  })
})

test('only an unknown payment can be resolved, and a receipt belongs to one payment', async () => {
  const [one, two] = [await lostPayment('254722000105'), await lostPayment('254722000106')]
  expect((await resolve(admin, one.id, 'succeeded', { provider_receipt: 'QX1' })).status).toBe(200)
  const taken = await resolve(admin, two.id, 'succeeded', { provider_receipt: 'QX1' })
  expect([taken.status, taken.body.details.reason]).toEqual([409, 'provider_receipt'])
  expect((await paymentOf(two.person, two.id)).status).toBe('unknown')
  const beginning = await pay(one.person, { payment_rail: 'MPESA_B2C', destination: '254722000107' })
  const early = await resolve(admin, beginning, 'failed')
  expect([early.status, early.body.details.status]).toEqual([409, 'processing'])
  await service.settle()
})

test('the audit log keeps the evidence and the administrator who gave it', async () => {
  const { id } = await lostPayment('254722000108')
  await untilResolvable()
  await resolve(admin, id, 'failed')
  const { body } = await admin.api.get(`/v1/admin/audit-log?subject_id=${id}`)
  expect(body.data.slice(0, 2)).toMatchObject([
    {
      action: 'admin.payment_resolve',
      account_id: admin.accountId,
      before: { status: 'unknown' },
      after: { status: 'failed', evidence: 'statement of 4 March, line 17' },
    },
    { action: 'payment.failed', account_id: admin.accountId },
  ])
})

test('a resolution without an outcome or evidence is refused', async () => {
  const { id } = await lostPayment('254722000109')
  const path = `/v1/admin/payments/${id}/resolve`
  const evidence = 'seen'
  for (const body of [
    {},
    { outcome: 'failed' },
    { outcome: 'returned', evidence },
    { outcome: 'failed', evidence: ' ' },
    { outcome: 'failed', evidence: 'line\u202e 17' },
    { outcome: 'failed', evidence, provider_receipt: 'QX2' },
  ]) {
    expect((await admin.api.post(path, body)).status).toBe(400)
  }
  for (const missing of ['pay_01h455vb4pex5vsknk084sn02q', 'nonsense'])
    expect((await resolve(admin, missing, 'failed')).status).toBe(404)
})

describe('a late success', () => {
  const latePayment = async (destination: string, creditMinor = 1_000_000n) => {
    const person = await signIn(service.api)
    await credit(service, person.accountId, creditMinor)
    const id = await pay(person, { payment_rail: 'PESALINK', destination, bank_code: '01' })
    await service.settle()
    const order = lastOrder(service)
    await deliver(order.resultUrl, transferCallback(order))
    await service.settle()
    expect(await paymentOf(person, id)).toMatchObject({ status: 'failed', late_success: { amount_minor: '150000' } })
    return { person, id }
  }
  const waiting = async (): Promise<string[]> =>
    (await admin.api.get('/v1/admin/payments?attention=late_success')).body.data.map(({ id }: { id: string }) => id)

  test('is charged to the account by an administrator', async () => {
    const { person, id } = await latePayment('99990001')
    expect(await waiting()).toContain(id)
    const resolved = await resolve(admin, id, 'charged')
    expect([resolved.status, resolved.body.status, resolved.body.late_success_resolution]).toEqual([200, 'failed', 'charged'])
    expect(await balanceOf(person)).toEqual({ available: '850000', held: '0' })
    expect((await resolve(second, id, 'charged')).body).toEqual(resolved.body)
    expect((await resolve(second, id, 'written_off')).body.error).toBe('conflict')
    expect(await balanceOf(person)).toEqual({ available: '850000', held: '0' })
    expect(await waiting()).not.toContain(id)
    const [entry] = (await person.api.get('/v1/accounts/me/history')).body.data
    expect([entry.type, entry.amount_minor, entry.reference.id]).toEqual(['payment', '-150000', id])
    const idsOf = async (type: string) =>
      (await person.api.get(`/v1/accounts/me/history?type=${type}`)).body.data.map((each: Json) => each.id)
    expect(await idsOf('payment')).toEqual([entry.id])
    expect(await idsOf('payment_release')).not.toContain(entry.id)
    await service.deps.jobs.sweep()
    expect(await findBreaches(service)).toEqual([])
  })

  test('is written off by an administrator, which does not change the account', async () => {
    const { person, id } = await latePayment('99990001')
    service.clock.advance(86_400)
    expect((await resolve(admin, id, 'written_off')).body.late_success_resolution).toBe('written_off')
    const next = await latePayment('99990001')
    const waits = await resolve(admin, next.id, 'written_off')
    expect([waits.status, waits.body.late_success_resolution]).toEqual([202, null])
    expect((await resolve(second, next.id, 'written_off')).body.late_success_resolution).toBe('written_off')
    expect(await balanceOf(person)).toEqual({ available: '1000000', held: '0' })
    await service.deps.jobs.sweep()
    expect(await findBreaches(service)).toEqual([])
  })

  test('cannot be charged if the balance is too low, and stays open', async () => {
    const { person, id } = await latePayment('99990001', 150_000n)
    await pay(person, { payment_rail: 'PESALINK', destination: '0123456789', bank_code: '01' }, '100000')
    expect((await resolve(admin, id, 'charged')).body.error).toBe('insufficient_funds')
    expect(await waiting()).toContain(id)
    await service.settle()
  })

  test('cannot be booked for a payment that has none', async () => {
    const { id } = await lostPayment('254722000111')
    const { status, body } = await resolve(admin, id, 'charged')
    expect([status, body.details.reason]).toEqual([409, 'late_success'])
    expect(await waiting()).not.toContain(id)
  })

  test('is charged while its write-off waits for a second administrator, and the write-off ends', async () => {
    const { id } = await latePayment('99990001')
    service.clock.advance(86_400)
    await adjustAlone()
    const { waiting_adjustment_id: waiting } = (await resolve(admin, id, 'written_off')).body
    expect((await resolve(second, id, 'charged')).body.late_success_resolution).toBe('charged')
    expect((await admin.api.get(`/v1/admin/adjustments/${waiting}`)).body).toMatchObject({
      status: 'cancelled',
      decided_by: null,
    })
    await service.deps.jobs.sweep()
    expect(await findBreaches(service)).toEqual([])
  })

  test('is booked once when two administrators book it at the same moment', async () => {
    const { person, id } = await latePayment('99990001')
    service.clock.advance(86_400)
    const answers = await Promise.all([resolve(admin, id, 'charged'), resolve(second, id, 'written_off')])
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 409])
    const charged = answers[0]?.status === 200
    expect((await balanceOf(person)).available).toBe(charged ? '850000' : '1000000')
    await service.deps.jobs.sweep()
    expect(await findBreaches(service)).toEqual([])
  })
})

test('only an administrator in person can list and resolve payments', async () => {
  const { person, id } = await lostPayment('254722000110')
  const key = await createKey(admin)
  for (const who of [person, key]) {
    expect((await who.api.get('/v1/admin/payments')).body.error).toBe('admin_required')
    expect((await who.api.post(`/v1/admin/payments/${id}/resolve`, { outcome: 'failed', evidence: 'mine' })).status).toBe(403)
  }
  expect((await service.api.get('/v1/admin/payments')).status).toBe(401)
  expect((await service.api.post(`/v1/admin/payments/${id}/resolve`, {})).status).toBe(401)
})

test('no administrator decides what costs the organisation for themselves, or for a workspace that they belong to', async () => {
  const { person, id } = await lostPayment('254722000188')
  const own = async (accountId: string) =>
    service.deps.db.query(
      `insert into members (id, workspace_id, account_id, role, status, created_at, updated_at)
       select gen_random_uuid(), p.workspace_id, $2, 'viewer', 'active', now(), now() from payments p where p.id = $1`,
      [parseId('payment', id), parseId('account', accountId)],
    )
  await own(admin.accountId)
  await untilResolvable()
  const refused = await resolve(admin, id, 'failed')
  expect([refused.status, refused.body.error]).toEqual([403, 'separation_of_duties'])
  expect((await paymentOf(person, id)).status).toBe('unknown')
  expect((await resolve(second, id, 'failed')).status).toBe(200)
})
