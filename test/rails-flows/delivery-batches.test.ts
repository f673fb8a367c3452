import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import type { Order } from '../../src/dev/sandbox/book.ts'
import { parseId } from '../../src/lib/ids.ts'
import { createDeliveryWorker } from '../../src/modules/sending/workers.ts'
import { holdAccount } from '../harness/account-hold.ts'
import type { Json } from '../harness/client.ts'
import { createMandate } from '../harness/mandates.ts'
import { credit, newBeneficiary, unguarded } from '../harness/money.ts'
import { type Person, signIn } from '../harness/people.ts'
import { startService, type TestService } from '../harness/service.ts'
import { findBreaches } from '../harness/verify.ts'
import {
  alerts,
  b2cResult,
  balanceOf,
  deliver,
  initiate,
  isLedgerSound,
  ordersTo,
  paymentOf,
  stkCallback,
  topupOf,
  verdicts,
} from './scene.ts'

let service: TestService
let serial = 500
beforeAll(async () => {
  service = await startService({ env: { RATE_LIMIT_ENABLED: 'false' } })
  // The test delivers each result.
  for (const rail of ['MPESA_B2C', 'MPESA_STK'] as const)
    service.sandbox.rules.add({ effect: 'lose_callback', rail, times: null, delay_ms: 0 })
})
beforeEach(() => {
  service.log.length = 0
})
afterAll(async () => {
  expect(await isLedgerSound(service)).toBe(true)
  expect(await findBreaches(service)).toEqual([])
  await service.close()
})

const payer = async (): Promise<Person> => {
  const person = await signIn(service.api)
  await credit(service, person.accountId, 1_000_000n)
  return person
}

type Sent = { id: string; of: Person; order: Readonly<Order>; url: string }

/** Payments that the provider accepted but has not reported, each to its own phone. */
const sent = async (payers: readonly Person[], fields: Record<string, unknown> = {}): Promise<Sent[]> => {
  const created: { id: string; of: Person; phone: string }[] = []
  for (const of of payers) {
    serial += 1
    const phone = `254722000${serial}`
    const beneficiary_id = await newBeneficiary(of.api, { payment_rail: 'MPESA_B2C', destination: phone })
    const answer = await of.api.post('/v1/payments', { beneficiary_id, amount_minor: '10000', ...fields })
    expect([answer.status, answer.body.status]).toEqual([201, 'processing'])
    created.push({ id: answer.body.id, of, phone })
  }
  await service.settle()
  return created.map(({ id, of, phone }) => {
    const order = ordersTo(service, phone).at(-1)
    if (!order?.resultUrl) throw new Error('the provider was not asked')
    return { id, of, order, url: order.resultUrl }
  })
}

const refused = { code: 2001 }
const report = ({ order, url }: Sent, outcome: Parameters<typeof b2cResult>[1] = {}) => deliver(url, b2cResult(order, outcome))
const statuses = (payments: readonly Sent[]) => Promise.all(payments.map(async ({ id, of }) => (await paymentOf(of, id)).status))
const published = (type: string) =>
  service.deps.db.query<{ transaction: string; account: string; balance: Json }>(
    `select transaction::text, account_id::text as account, data->'balance' as balance from events where type = $1`,
    [type],
  )

describe('results that arrive together', () => {
  test('are booked in one transaction, with an event for each payment and one balance for each account', async () => {
    const [one, other] = [await payer(), await payer()]
    const payments = await sent([one, other, one, other, one])
    const before = await published('balance.updated')
    for (const payment of payments) await report(payment)
    await service.settle()
    expect(await statuses(payments)).toEqual(Array(5).fill('succeeded'))
    const succeeded = await published('payment.succeeded')
    expect(succeeded).toHaveLength(5)
    expect(new Set(succeeded.map(({ transaction }) => transaction)).size).toBe(1)
    const balances = (await published('balance.updated')).slice(before.length)
    expect(balances.map(({ balance }) => [balance.available_minor, balance.held_minor]).sort()).toEqual([
      ['970000', '0'],
      ['980000', '0'],
    ])
    expect(await balanceOf(one)).toEqual({ available: '970000', held: '0' })
  })

  test('may differ: what fails is released, what succeeds is paid out, and the history adds up entry by entry', async () => {
    const person = await payer()
    const payments = await sent(Array(6).fill(person))
    for (const [index, payment] of payments.entries()) await report(payment, index % 2 === 0 ? refused : {})
    await service.settle()
    expect(await statuses(payments)).toEqual(['failed', 'succeeded', 'failed', 'succeeded', 'failed', 'succeeded'])
    expect(await balanceOf(person)).toEqual({ available: '970000', held: '0' })
    const entries: Json[] = (await person.api.get('/v1/accounts/me/history?limit=50')).body.data
    expect(entries.filter(({ type }) => type === 'payment_release')).toHaveLength(3)
    entries.forEach((entry, index) => {
      const earlier = BigInt(entries[index + 1]?.available_after_minor ?? 0)
      expect(BigInt(entry.available_after_minor)).toBe(earlier + BigInt(entry.amount_minor))
    })
  })

  test('release all limits of what failed: the same payments fit again, and not one more', async () => {
    const person = await payer()
    const policy = { name: 'A day', daily_limit_minor: '30000' }
    expect((await person.api.post('/v1/spending-policies', policy)).status).toBe(201)
    const payments = await sent([person, person, person])
    for (const payment of payments) await report(payment, refused)
    await service.settle()
    expect(await statuses(payments)).toEqual(['failed', 'failed', 'failed'])
    await sent([person, person, person])
    const beneficiary_id = await newBeneficiary(person.api)
    const fourth = await person.api.post('/v1/payments', { beneficiary_id, amount_minor: '10000' })
    expect([fourth.status, fourth.body.error]).toEqual([403, 'policy_denied'])
  })

  test('exhaust their mandate once', async () => {
    const person = await payer()
    const mandate = await createMandate(service, person.wallet, { max_payments: 3 })
    const payments = await sent([person, person, person], { mandate_id: mandate.id })
    for (const payment of payments) await report(payment)
    await service.settle()
    expect(await statuses(payments)).toEqual(['succeeded', 'succeeded', 'succeeded'])
    const ends = await service.deps.db.query(`select from events where type = 'mandate.exhausted' and data->>'id' = $1`, [
      mandate.id,
    ])
    expect(ends).toHaveLength(1)
  })

  test('three times for each payment end each payment once', async () => {
    const payments = await sent([await payer(), await payer()])
    for (let count = 0; count < 3; count += 1) for (const payment of payments) await report(payment)
    await service.settle()
    expect(await statuses(payments)).toEqual(['succeeded', 'succeeded'])
    for (const { of, url } of payments) {
      expect(await verdicts(service, url)).toEqual(['applied', 'repeated', 'repeated'])
      expect(await balanceOf(of)).toEqual({ available: '990000', held: '0' })
    }
  })

  test('cannot use one receipt for two payments: one is paid, the other is unknown, and an operator is alerted', async () => {
    const [first, second] = await sent([await payer(), await payer()])
    if (!first || !second) throw new Error('nothing was sent')
    await report(first)
    await report(second, { receipt: first.order.receipt })
    await service.settle()
    expect(await statuses([first, second])).toEqual(['succeeded', 'unknown'])
    expect(alerts(service)).toContain('evidence_mismatch')
    expect(await balanceOf(second.of)).toEqual({ available: '990000', held: '10000' })
  })

  test('for another amount, with another id, unreadable: each is judged alone, and the others are booked', async () => {
    const payments = await sent([await payer(), await payer(), await payer(), await payer()])
    const [amount, request, unreadable, fine] = payments
    if (!amount || !request || !unreadable || !fine) throw new Error('nothing was sent')
    await report(amount, { amountMinor: 9_900n })
    await deliver(request.url, b2cResult({ ...request.order, key: 'another' }))
    await deliver(unreadable.url, '<html>busy</html>')
    await report(fine)
    await service.settle()
    expect(await statuses([amount, fine])).toEqual(['unknown', 'succeeded'])
    expect(await statuses([request, unreadable])).toEqual(['succeeded', 'unknown'])
    expect(await verdicts(service, fine.url)).toEqual(['applied'])
  })
})

describe('a batch of results', () => {
  test('of a payment and a top-up of one account ends both, and its events are in the order of their effects', async () => {
    const person = await payer()
    const topup = await initiate(person, '254700000000')
    const [payment] = await sent([person])
    const prompt = ordersTo(service, '254700000000').at(-1)
    if (!payment || !prompt?.resultUrl) throw new Error('nothing was sent')
    await report(payment)
    await deliver(prompt.resultUrl, stkCallback(prompt))
    await service.settle()
    expect([await statuses([payment]), (await topupOf(person, topup)).status]).toEqual([['succeeded'], 'succeeded'])
    expect(await balanceOf(person)).toEqual({ available: '1140000', held: '0' })
    const events = await service.deps.db.query<{ type: string; balance: Json }>(
      `select type, data->'balance' as balance from events
       where account_id = $1 and transaction = (select transaction from events where type = 'topup.succeeded' and data->>'id' = $2)
       order by id`,
      [parseId('account', person.accountId), topup],
    )
    expect(events).toMatchObject([
      { type: 'topup.succeeded' },
      { type: 'balance.updated', balance: { available_minor: '1140000', held_minor: '10000' } },
      { type: 'payment.succeeded' },
      { type: 'balance.updated', balance: { available_minor: '1140000', held_minor: '0' } },
    ])
  })

  test('is not delayed by an account that another transaction locks', async () => {
    const [busy, free] = [await payer(), await payer()]
    const [waits, goes] = await sent([busy, free])
    if (!waits || !goes) throw new Error('nothing was sent')
    for (const payment of [waits, goes]) await report(payment)
    const hold = await holdAccount(service, busy.accountId)
    const settling = service.settle()
    await hold.waiting(1)
    expect(await statuses([waits, goes])).toEqual(['processing', 'succeeded'])
    await hold.release()
    await settling
    expect(await statuses([waits, goes])).toEqual(['succeeded', 'succeeded'])
  })

  test('with one that fails is processed in halves: the others are booked, and that one when its cause is removed', async () => {
    const [later, ...payments] = await sent([await payer(), await payer(), await payer(), await payer()])
    const bad = payments[0]
    if (!bad || !later) throw new Error('nothing was sent')
    const row = parseId('payment', bad.id)
    await service.deps.db.query(
      `create function refuse_change_of_one() returns trigger language plpgsql as $$ begin raise exception 'refused' using errcode = 'data_corrupted'; end $$`,
    )
    await service.deps.db.query(
      `create trigger poisoned before update on payments for each row when (old.id = '${row}') execute function refuse_change_of_one()`,
    )
    for (const payment of payments) await report(payment)
    await expect(service.settle()).rejects.toThrow()
    expect(await statuses(payments)).toEqual(['processing', 'succeeded', 'succeeded'])
    const split = () => service.log.filter((line) => line.includes('is retried in halves')).length
    expect(split()).toBe(1)
    // The failed delivery is in no later batch.
    await report(later)
    await expect(service.settle()).rejects.toThrow()
    expect([await statuses([later]), split()]).toEqual([['succeeded'], 1])
    await service.deps.db.query('drop trigger poisoned on payments')
    await service.settle()
    expect(await statuses(payments)).toEqual(['succeeded', 'succeeded', 'succeeded'])
    expect(await verdicts(service, bad.url)).toEqual(['applied'])
  })

  test('that loses its connection has booked nothing, and is booked at the next try', async () => {
    const payments = await sent([await payer(), await payer()])
    for (const payment of payments) await report(payment)
    const hold = await holdAccount(service, payments[0]?.of.accountId ?? '')
    const settling = service.settle()
    await hold.waiting(1)
    await service.deps.db.query(
      `select pg_terminate_backend(pid) from pg_locks where locktype = 'advisory' and not granted
         and database = (select oid from pg_database where datname = current_database())`,
    )
    await expect(settling).rejects.toThrow()
    await hold.release()
    await service.settle()
    expect(await statuses(payments)).toEqual(['succeeded', 'succeeded'])
    for (const { of } of payments) expect(await balanceOf(of)).toEqual({ available: '990000', held: '0' })
  })
})

test('more reports of one account than are read at once do not keep those of others unread, while that account can take no more', async () => {
  const [busy, other] = [await payer(), await payer()]
  const [many, later] = await sent([busy, other])
  if (!many || !later) throw new Error('nothing was sent')
  const attempt = new URL(many.url).pathname.split('/')[2]
  await service.deps.db.query(
    `insert into callback_deliveries (id, attempt_id, account_id, received_at, kind, authentic)
     select gen_random_uuid(), a.id, a.account_id, $2, 'result', true from rail_attempts a cross join generate_series(1, 300) where a.id = $1`,
    [attempt, service.clock.now()],
  )
  service.clock.advance(1)
  await report(later)
  const full = [parseId('account', busy.accountId) ?? '']
  const { tasks } = await createDeliveryWorker(service.deps).claim({ free: 10, ofTenant: () => 10, except: [], full })
  expect(tasks.map(({ tenant }) => tenant)).toEqual([parseId('account', other.accountId)])
  await unguarded(service, 'delete from callback_deliveries where attempt_id = $1', [attempt])
  await report(many)
  await service.settle()
  expect(await statuses([many, later])).toEqual(['succeeded', 'succeeded'])
})
