import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { inTx, type Statement } from '../../src/db/client.ts'
import { Refusal } from '../../src/lib/errors.ts'
import { parseId } from '../../src/lib/ids.ts'
import { markWaitingUnknown } from '../../src/modules/exceptions/losses-service.ts'
import { resolvePayment } from '../../src/modules/exceptions/resolve-payment.ts'
import { shellOperator } from '../../src/modules/operators.ts'
import { retryDeliveries } from '../../src/modules/sending/quarantine.ts'
import { createSendingWorkers } from '../../src/modules/sending/workers.ts'
import { credit } from '../harness/money.ts'
import { type Person, signIn } from '../harness/people.ts'
import { startService, type TestService } from '../harness/service.ts'
import { findBreaches } from '../harness/verify.ts'
import {
  alerts,
  b2cResult,
  badRequest,
  balanceOf,
  deliver,
  happensBefore,
  initiate,
  isLedgerSound,
  lastOrder,
  movementsTo,
  ordersTo,
  type Payee,
  pass,
  pay,
  paymentOf,
  spikeArrest,
  topupOf,
  verdicts,
} from './scene.ts'

/** Two processes: one with the failure, and one that continues. */
let service: TestService
let other: TestService
let person: Person
let serial = 200
let phone: string
beforeAll(async () => {
  service = await startService()
  other = await startService({ database: service.database, clock: service.clock, provider: service })
})
beforeEach(async () => {
  person = await signIn(service.api)
  await credit(service, person.accountId, 1_000_000n)
  serial += 1
  phone = `254722000${serial}`
  service.log.length = 0
  other.log.length = 0
})
afterAll(async () => {
  await pass(service, 700)
  expect(await isLedgerSound(service)).toBe(true)
  expect(await findBreaches(service)).toEqual([])
  await other.close()
  await service.close()
})

const toPhone = () => ({ payment_rail: 'MPESA_B2C', destination: phone })
const untouched = { available: '1000000', held: '0' }
const held = { available: '850000', held: '150000' }
const paid = { available: '850000', held: '0' }

const attemptsOf = (id: string) =>
  service.deps.db.query<{ id: string; state: string; order_id: string; reference: string }>(
    'select id, state, order_id, reference from rail_attempts where subject_id = $1 order by send',
    [parseId('payment', id)],
  )

/** The provider's delivery address for an attempt that was never sent. */
const urlOf = (attemptId: string): string =>
  `${service.operatorUrl}/callbacks/${attemptId}/${service.deps.orderNames.secretOf(attemptId)}/result`

/** Runs work in this process right after one of its statements took effect. */
const happensAfter = (name: string, happens: () => Promise<void>) => {
  const { db } = service.deps
  const { query } = db
  db.query = (async (statement: Statement | string, values?: readonly unknown[]) => {
    const rows = await query(statement as Statement, values)
    if (typeof statement === 'string' || statement.name !== name) return rows
    db.query = query
    await happens()
    return rows
  }) as typeof query
}
describe('only the live attempt settles its payment', () => {
  /** An unsent attempt, and the later one, which gets no answer. */
  const superseded = async (payee: Payee) => {
    const count = ordersTo(service, payee.destination).length
    service.sandbox.failNext(spikeArrest)
    const id = await pay(person, payee)
    await service.settle()
    await pass(service, 5)
    const [first, second] = await attemptsOf(id)
    expect([first?.state, second?.state]).toEqual(['not_sent', 'submitted'])
    expect(ordersTo(service, payee.destination)).toHaveLength(count + 1)
    return { id, order: lastOrder(service), url: urlOf(first?.id ?? ''), first, second }
  }
  const silentTill = { payment_rail: 'MPESA_B2B', destination: '9994999' }
  const ownResult = (key: string, order: ReturnType<typeof lastOrder>, code: number, receipt: string) =>
    b2cResult({ ...order, key, conversation: `AG_${key}` }, { code, receipt })

  test('a failure of a superseded attempt is recorded and settles nothing; its successor succeeds', async () => {
    const { id, order, url } = await superseded(silentTill)
    await deliver(url, ownResult('first', order, 2001, 'NONE'))
    await service.settle()
    expect(await verdicts(service, url)).toEqual(['superseded'])
    expect((await paymentOf(person, id)).status).toBe('processing')
    expect(await balanceOf(person)).toEqual(held)
    await deliver(order.resultUrl, b2cResult(order))
    await service.settle()
    expect((await paymentOf(person, id)).status).toBe('succeeded')
    expect(await balanceOf(person)).toEqual(paid)
  })

  test('money that a superseded attempt moved goes to suspense, once, with an alert, and not out of the hold of its successor', async () => {
    const { id, order, url } = await superseded(silentTill)
    for (let time = 0; time < 3; time += 1) await deliver(url, ownResult('first', order, 0, 'SUPERSEDED1'))
    await service.settle()
    expect(new Set(await verdicts(service, url))).toEqual(new Set(['suspense']))
    expect(alerts(service)).toContain('superseded_attempt_moved_money')
    expect((await paymentOf(person, id)).status).toBe('processing')
    expect(await balanceOf(person)).toEqual(held)
    const items = await service.deps.db.query<{ reason: string; amount_minor: bigint; booked: boolean }>(
      `select reason, amount_minor, transfer_id is not null as booked from suspense_items where provider_receipt = 'SUPERSEDED1'`,
    )
    expect(items).toEqual([{ reason: 'superseded_attempt', amount_minor: 150_000n, booked: true }])
    await deliver(order.resultUrl, b2cResult(order))
    await service.settle()
    expect(await balanceOf(person)).toEqual(paid)
  })

  test('a B2B payment whose answer was lost ends by a report that names its payee, not by one that names another', async () => {
    const payee = { payment_rail: 'MPESA_B2B', destination: '400298' }
    service.sandbox.rules.add({ effect: 'lose_callback', party: '400298', times: 1, delay_ms: 0 })
    service.sandbox.failNext({ kind: 'reset', takesEffect: true })
    const id = await pay(person, payee)
    await service.settle()
    const order = lastOrder(service)
    await deliver(order.resultUrl, b2cResult(order, { receiver: '400299', receipt: 'OTHERS0001' }))
    await service.settle()
    expect(await verdicts(service, order.resultUrl)).toEqual(['mismatch'])
    expect((await paymentOf(person, id)).status).toBe('unknown')
    await deliver(order.resultUrl, b2cResult(order))
    await service.settle()
    expect(await paymentOf(person, id)).toMatchObject({ status: 'succeeded', provider_receipt: order.receipt })
  })

  test('an attempt that counted as not sent, but was sent, settles the payment if no other followed: it is not sent again', async () => {
    service.sandbox.failNext(spikeArrest)
    const id = await pay(person, toPhone())
    await service.settle()
    const [first] = await attemptsOf(id)
    expect(first?.state).toBe('not_sent')
    const url = urlOf(first?.id ?? '')
    const order = { ...lastOrder(service), rail: 'MPESA_B2C', party: phone, amountMinor: 150_000n } as const
    await deliver(url, ownResult(first?.order_id ?? '', order, 0, `LEFT${serial}`))
    await service.settle()
    expect(await paymentOf(person, id)).toMatchObject({ status: 'succeeded', provider_receipt: `LEFT${serial}` })
    await pass(service, 600)
    expect(ordersTo(service, phone)).toHaveLength(0)
    expect(await balanceOf(person)).toEqual(paid)
  })

  test('the provider gets a payment under the same names each time that it is sent, and what it moved for any of them settles the payment', async () => {
    const { id, order, url, first, second } = await superseded({ payment_rail: 'MPESA_B2C', destination: '254700004999' })
    expect([first?.order_id, first?.reference]).toEqual([second?.order_id, second?.reference])
    expect(order).toMatchObject({ key: first?.order_id, reference: first?.reference })
    await deliver(url, b2cResult(order))
    await service.settle()
    expect(await paymentOf(person, id)).toMatchObject({ status: 'succeeded', provider_receipt: order.receipt })
    expect(await balanceOf(person)).toEqual(paid)
  })

  test('a COMMIT whose answer is lost while an attempt is recorded as not sent fails nothing; another process pays once', async () => {
    service.sandbox.failNext(spikeArrest)
    const id = await pay(person, toPhone())
    const { db } = service.deps
    const { transaction } = db
    let lost = 0
    db.transaction = async (work) => {
      const result = await transaction(work)
      const [attempt] = await attemptsOf(id)
      if (attempt?.state !== 'not_sent' || lost > 0) return result
      lost += 1
      // Before this process asks again, the other one sends the next attempt, and the provider accepts it.
      service.clock.advance(5)
      await other.deps.jobs.drain()
      throw new Refusal('unavailable')
    }
    await service.deps.jobs.drain()
    db.transaction = transaction
    expect(lost).toBe(1)
    expect((await attemptsOf(id)).map(({ state }) => state)).toEqual(['not_sent', 'submitted'])
    expect(await balanceOf(person)).toEqual(held)
    await service.settle()
    expect((await paymentOf(person, id)).status).toBe('succeeded')
    expect(movementsTo(service, phone)).toHaveLength(1)
    expect(await balanceOf(person)).toEqual(paid)
  })
})

const resolve = async (where: TestService, id: string, outcome: 'succeeded' | 'failed') => {
  const uuid = parseId('payment', id)
  if (!uuid) throw new Error('not a payment id')
  const input = { outcome, evidence: 'seen at the provider' }
  await inTx(where.deps.db, (tx) => resolvePayment(tx, where.deps.config, shellOperator('tester'), uuid, input))
}

describe('the right to send', () => {
  test('a process that pauses between recording an attempt and sending it sends nothing if another process has sent', async () => {
    const id = await pay(person, toPhone())
    happensBefore(service, 'attempts.claim', async () => {
      service.clock.advance(120)
      await other.deps.jobs.sweep()
      await other.settle()
      expect((await paymentOf(person, id)).status).toBe('succeeded')
    })
    await service.settle()
    expect(ordersTo(service, phone)).toHaveLength(1)
    expect((await attemptsOf(id)).map(({ state }) => state)).toEqual(['not_sent', 'resolved'])
    expect(await balanceOf(person)).toEqual(paid)
  })

  test('a process that pauses after it got the right to send does not send: the payment is sent later, once', async () => {
    const id = await pay(person, toPhone())
    happensAfter('attempts.claim', async () => void service.clock.advance(11))
    await service.settle()
    expect(ordersTo(service, phone)).toHaveLength(0)
    expect((await paymentOf(person, id)).status).toBe('processing')
    await pass(service, 6)
    expect((await paymentOf(person, id)).status).toBe('succeeded')
    expect(ordersTo(service, phone)).toHaveLength(1)
  })

  test('a process that pauses until an operator has decided sends nothing', async () => {
    const id = await pay(person, toPhone())
    happensAfter('attempts.claim', async () => {
      service.clock.advance(300)
      await other.deps.jobs.sweep()
      expect((await paymentOf(person, id)).status).toBe('unknown')
      service.clock.advance(901)
      await resolve(other, id, 'failed')
    })
    await service.settle()
    expect(ordersTo(service, phone)).toHaveLength(0)
    expect((await paymentOf(person, id)).status).toBe('failed')
    expect(await balanceOf(person)).toEqual(untouched)
  })

  describe('a process that pauses until another one has sent the order again', () => {
    /** A process behind the same address, because a repeated order must name the same one. */
    let successor: TestService
    beforeAll(async () => {
      const env = { OPERATOR_URL: service.operatorUrl }
      successor = await startService({ database: service.database, clock: service.clock, provider: service, env })
    })
    afterAll(() => successor.close())
    const sendAgain = async () => {
      for (const seconds of [46, 31]) {
        expect(ordersTo(service, phone)).toHaveLength(0)
        service.clock.advance(seconds)
        await successor.deps.jobs.sweep()
      }
      expect(ordersTo(service, phone)).toHaveLength(1)
    }

    test.each([
      ['accepts it', undefined, 'submitted'],
      ['does not answer', 'lose_answer', 'lost'],
    ] as const)('fails nothing, if the rail then %s', async (_, effect, state) => {
      const id = await pay(person, toPhone())
      if (effect) service.sandbox.rules.add({ effect, rail: 'MPESA_B2C', party: phone, times: 1, delay_ms: 0 })
      happensAfter('attempts.claim', sendAgain)
      await service.deps.jobs.drain()
      expect((await attemptsOf(id)).map((attempt) => attempt.state)).toEqual([state])
      expect((await paymentOf(person, id)).status).toBe('unknown')
      expect(await balanceOf(person)).toEqual(held)
      await service.settle()
      expect((await paymentOf(person, id)).status).toBe('succeeded')
      expect(ordersTo(service, phone)).toHaveLength(1)
      expect(await balanceOf(person)).toEqual(paid)
    })

    test('fails nothing, if the rail refused its own send and then accepts the other one', async () => {
      const id = await pay(person, toPhone())
      service.sandbox.failNext(badRequest('Bad Request - Invalid PartyB'))
      const { db } = service.deps
      const { transaction } = db
      db.transaction = async (work) => {
        if ((await attemptsOf(id))[0]?.state === 'sending') {
          db.transaction = transaction
          await sendAgain()
        }
        return transaction(work)
      }
      await service.deps.jobs.drain()
      expect((await attemptsOf(id)).map((attempt) => attempt.state)).toEqual(['submitted'])
      expect((await paymentOf(person, id)).status).toBe('unknown')
      expect(await balanceOf(person)).toEqual(held)
      await service.settle()
      expect((await paymentOf(person, id)).status).toBe('succeeded')
      expect(ordersTo(service, phone)).toHaveLength(1)
      expect(await balanceOf(person)).toEqual(paid)
    })

    test('raises no alert, if the payment has succeeded by then', async () => {
      const id = await pay(person, toPhone())
      happensAfter('attempts.claim', async () => {
        await sendAgain()
        await successor.settle()
        await pass(successor, 10)
        expect((await paymentOf(person, id)).status).toBe('succeeded')
      })
      await service.settle()
      expect(alerts(service)).toEqual([])
      expect(ordersTo(service, phone)).toHaveLength(1)
      expect(await balanceOf(person)).toEqual(paid)
    })
  })

  test('a payment that is declared unknown after a restore, between recording its attempt and taking the right, is not sent', async () => {
    const restored = await startService()
    const payer = await signIn(restored.api)
    await credit(restored, payer.accountId, 1_000_000n)
    const id = await pay(payer, toPhone())
    const declare = async () => void (await markWaitingUnknown(restored.deps.db, shellOperator('tester')))
    happensBefore(restored, 'attempts.claim', declare)
    await restored.settle()
    expect((await paymentOf(payer, id)).status).toBe('unknown')
    expect(ordersTo(restored, phone)).toHaveLength(0)
    await restored.close()
  })

  test('a top-up that expires between recording its attempt and taking the right sends no prompt', async () => {
    const id = await initiate(person, phone)
    service.clock.advance(295)
    happensBefore(service, 'attempts.claim', async () => {
      service.clock.advance(6)
      await other.deps.jobs.sweep()
      expect((await topupOf(person, id)).status).toBe('expired')
    })
    await service.settle()
    expect(ordersTo(service, phone)).toHaveLength(0)
  })

  test('a right asked of one server is not given by another: after a failover nothing is sent before the new server was looked at', async () => {
    const { lossDetection } = service.deps
    const { trusted } = lossDetection
    const id = await pay(person, toPhone())
    lossDetection.trusted = () => '00000001/1'
    const { db } = service.deps
    const { query } = db
    db.query = (async (statement: Statement | string, values?: readonly unknown[]) => {
      if (typeof statement !== 'string' && statement.name === 'loss_detection.look') throw new Refusal('unavailable')
      return query(statement as Statement, values)
    }) as typeof query
    await service.settle()
    expect(ordersTo(service, phone)).toHaveLength(0)
    // A missing permission may mean that another server answers.
    expect(lossDetection.state()).toBe('looking')
    db.query = query
    lossDetection.trusted = trusted
    await lossDetection.check()
    for (const seconds of [16, 6]) await pass(service, seconds)
    expect((await paymentOf(person, id)).status).toBe('succeeded')
    expect(ordersTo(service, phone)).toHaveLength(1)
  })

  test('a process that dies before it had the right sent nothing: the payment is sent by another', async () => {
    const id = await pay(person, toPhone())
    happensBefore(service, 'attempts.claim', async () => {
      throw new Refusal('unavailable')
    })
    await expect(service.deps.jobs.drain()).rejects.toThrow(Refusal)
    expect((await attemptsOf(id)).map(({ state }) => state)).toEqual(['recorded'])
    await pass(other, 16)
    expect((await paymentOf(person, id)).status).toBe('succeeded')
    expect(alerts(other)).toEqual([])
    expect(ordersTo(service, phone)).toHaveLength(1)
  })

  test('a process that dies while it waits for its access token has recorded nothing as sent: another one sends the payment', async () => {
    const id = await pay(person, toPhone())
    const rail = service.deps.rails.payout.MPESA_B2C
    if (!rail) throw new Error('the rail is not configured')
    const { ready } = rail
    const [waits, token] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
    rail.ready = () => {
      waits.resolve()
      return token.promise
    }
    const dying = service.deps.jobs.drain()
    await waits.promise
    expect(await attemptsOf(id)).toEqual([])
    await other.settle()
    expect((await paymentOf(person, id)).status).toBe('succeeded')
    rail.ready = ready
    token.resolve()
    await dying
    expect(ordersTo(service, phone)).toHaveLength(1)
    expect(alerts(other)).toEqual([])
  })

  test('after workers that die one after the other, at any step, the work continues within a minute of the last', async () => {
    const dies = async () => {
      throw new Refusal('unavailable')
    }
    const within = async (seconds: number, id: string, status: string) => {
      for (let passed = 0; passed < seconds && (await paymentOf(person, id)).status !== status; passed += 5) await pass(other, 5)
      expect((await paymentOf(person, id)).status).toBe(status)
    }
    const unsent = await pay(person, toPhone())
    for (let kills = 0; kills < 6; kills += 1) {
      happensBefore(service, 'attempts.claim', dies)
      await expect(service.deps.jobs.drain()).rejects.toThrow(Refusal)
      service.clock.advance(20)
      await service.deps.jobs.sweep()
    }
    await within(60, unsent, 'succeeded')
    expect(ordersTo(service, phone)).toHaveLength(1)
    expect((await attemptsOf(unsent)).map(({ state }) => state)).toEqual([...Array(6).fill('not_sent'), 'resolved'])

    // With the right to send, it may have been sent: it is unknown within a minute, and the rail is queried.
    const inDoubt = await pay(person, toPhone())
    happensAfter('attempts.claim', dies)
    await expect(service.deps.jobs.drain()).rejects.toThrow(Refusal)
    await within(60, inDoubt, 'unknown')
    expect(ordersTo(service, phone)).toHaveLength(1)
  })

  test('fifty dispatchers over two processes send forty payments once each', async () => {
    const phones: string[] = []
    for (let index = 0; index < 40; index += 1) {
      phone = `2547330${String(serial).padStart(3, '0')}${String(index).padStart(2, '0')}`
      phones.push(phone)
      await pay(person, toPhone(), '10000')
    }
    await Promise.all(Array.from({ length: 50 }, (_, index) => (index % 2 ? service : other).deps.jobs.drain()))
    await service.settle()
    expect(phones.map((each) => ordersTo(service, each).length)).toEqual(phones.map(() => 1))
    expect(await balanceOf(person)).toEqual({ available: '600000', held: '0' })
  })
})

test('a lane serves tenant after tenant, also those behind more tenants than it has room for', async () => {
  const people = [person, await signIn(service.api), await signIn(service.api)]
  const ids: string[] = []
  for (const [index, each] of people.entries()) {
    if (index > 0) await credit(service, each.accountId, 1_000_000n)
    for (let count = 0; count < 3; count += 1) ids.push(await pay(each, toPhone(), '10000'))
  }
  const lane = createSendingWorkers(service.deps).payments.find(({ name }) => name === 'payments.MPESA_B2C')
  const roomForOne = { free: 1, ofTenant: () => 1, except: [], full: [] }
  const served: string[] = []
  for (let turn = 0; turn < ids.length; turn += 1) {
    const { tasks } = (await lane?.claim(roomForOne)) ?? { tasks: [] }
    for (const { tenant, run } of tasks) {
      served.push(tenant)
      await run()
    }
  }
  const tenants = people.map(({ accountId }) => parseId('account', accountId) ?? '').sort()
  expect(served).toEqual([...tenants, ...tenants, ...tenants])
  await service.settle()
})

test('a payment that waits for a rail that is down uses no attempts, is sent when the rail is back, or fails in the end with nothing sent', async () => {
  const { id: outage } = service.sandbox.rules.add({ effect: 'spike_arrest', rail: 'MPESA_B2C', times: null, delay_ms: 0 })
  const first = await pay(person, toPhone(), '10000')
  await service.settle()
  const waiting = await pay(person, toPhone(), '10000')
  await service.settle()
  expect(await attemptsOf(waiting)).toHaveLength(0)
  service.sandbox.rules.remove(outage)
  await pass(service, 60)
  expect([(await paymentOf(person, first)).status, (await paymentOf(person, waiting)).status]).toEqual(['succeeded', 'succeeded'])
  service.sandbox.rules.add({ effect: 'spike_arrest', rail: 'MPESA_B2C', times: null, delay_ms: 0 })
  phone = `${phone.slice(0, -1)}9`
  const never = [await pay(person, toPhone(), '10000'), await pay(person, toPhone(), '10000')]
  for (let minute = 0; minute < 46; minute += 5) await pass(service, 300)
  service.sandbox.rules.clear()
  for (const id of never)
    expect(await paymentOf(person, id)).toMatchObject({ status: 'failed', failure_code: 'provider_unreachable' })
  expect(ordersTo(service, phone)).toHaveLength(0)
  expect((await balanceOf(person)).held).toBe('0')
})

test('a delivery that cannot be booked is set aside after several attempts, with an alert and a suspense item, and processed again on command', async () => {
  const id = await pay(person, { payment_rail: 'MPESA_B2C', destination: '254700004999' })
  await service.settle()
  const order = lastOrder(service)
  await deliver(order.resultUrl, b2cResult(order))
  const spoil = (ciphertext: string) =>
    service.deps.db.query<{ before: Buffer }>(
      `update callback_bodies b set body_ciphertext = decode($2, 'hex') from callback_deliveries d join callback_bodies old on old.id = d.id
       where b.id = d.id and d.processed_at is null and d.attempt_id in (select id from rail_attempts where subject_id = $1)
       returning old.body_ciphertext as before`,
      [parseId('payment', id), ciphertext],
    )
  const [{ before } = { before: Buffer.alloc(0) }] = await spoil('00')
  for (let tries = 1; tries < 8; tries += 1) await expect(service.deps.jobs.drain()).rejects.toThrow()
  expect(alerts(service)).not.toContain('suspense')
  await service.settle()
  expect(alerts(service)).toContain('suspense')
  expect((await paymentOf(person, id)).status).toBe('processing')
  const items = await service.deps.db.query('select reason, transfer_id from suspense_items where subject_id = $1', [
    parseId('payment', id),
  ])
  expect(items).toEqual([{ reason: 'unbookable_delivery', transfer_id: null }])

  expect(await retryDeliveries(service.deps.db, shellOperator('a test'))).toBe(1)
  await spoil(before.toString('hex'))
  await service.settle()
  expect((await paymentOf(person, id)).status).toBe('succeeded')
})

test('a sweep with a broken row raises an alert and continues with the others', async () => {
  const expiring: string[] = []
  for (let index = 0; index < 3; index += 1) {
    const payer = await signIn(service.api)
    await credit(service, payer.accountId, 1_000_000n)
    await payer.api.post('/v1/spending-policies', { name: 'Ask', approval_threshold_minor: '100' })
    const id = await pay(payer, toPhone())
    expiring.push(id)
    if (index === 0)
      await service.deps.db.query(
        `update payments set hold_transfer_id = gen_random_uuid() where account_id = (select account_id from payments where id = $1)`,
        [parseId('payment', id)],
      )
  }
  service.clock.advance(service.deps.config.APPROVAL_TTL_HOURS * 3_600 + 1)
  await service.deps.jobs.sweep()
  const rows = await service.deps.db.query<{ status: string }>(
    `select p.status from payments p join approvals a on a.payment_id = p.id order by p.id desc limit 3`,
  )
  expect(rows.map(({ status }) => status)).toEqual(['expired', 'expired', 'pending_approval'])
  expect(alerts(service)).toContain('sweep_failing')
  await service.deps.db.query(
    `update payments p set hold_transfer_id = t.id from ledger_transfers t where t.kind = 'pending' and t.reference_id = p.id and p.hold_transfer_id <> t.id`,
  )
  await service.deps.jobs.sweep()
  expect(await service.deps.db.query(`select from payments where status = 'pending_approval'`)).toEqual([])
})
