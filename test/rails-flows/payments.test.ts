import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { parseId } from '../../src/lib/ids.ts'
import { credit, fund, newBeneficiary } from '../harness/money.ts'
import { type Person, signIn } from '../harness/people.ts'
import { startService, type TestService } from '../harness/service.ts'
import {
  alerts,
  b2cResult,
  badRequest,
  balanceOf,
  deliver,
  isLedgerSound,
  lastOrder,
  movementsTo,
  ordersTo,
  type Payee,
  pass,
  pay,
  paymentOf,
  spikeArrest,
  transferCallback,
  verdicts,
} from './scene.ts'

let service: TestService
let person: Person
beforeAll(async () => {
  service = await startService()
})
beforeEach(async () => {
  // The provider's failures in the previous test are over: its rail may be called again.
  service.clock.advance(61)
  person = await signIn(service.api)
  await credit(service, person.accountId, 1_000_000n)
  service.log.length = 0
})
afterAll(async () => {
  expect(await isLedgerSound(service)).toBe(true)
  await service.close()
})

const untouched = { available: '1000000', held: '0' }
const held = { available: '850000', held: '150000' }
const paid = { available: '850000', held: '0' }

const b2c = (destination: string): Payee => ({ payment_rail: 'MPESA_B2C', destination })
const paybill = (destination: string): Payee => ({ payment_rail: 'MPESA_B2B', destination, account_reference: 'INV-7' })
const till = (destination: string): Payee => ({ payment_rail: 'MPESA_B2B', destination })
const bank = (destination: string): Payee => ({ payment_rail: 'PESALINK', destination, bank_code: '57' })
const phoneAtBank = (destination: string): Payee => ({ payment_rail: 'PESALINK', destination })

describe('a payment whose success is reported has its receipt and its hold posted once', () => {
  const payees = [
    b2c('254700000000'),
    paybill('9990000'),
    till('9990000'),
    bank('99990000'),
    phoneAtBank('254700000000'),
    bank('0123456789'),
  ]
  test.each(payees)('$payment_rail $destination', async (payee) => {
    const id = await pay(person, payee)
    expect(await balanceOf(person)).toEqual(held)
    await service.settle()
    const payment = await paymentOf(person, id)
    expect(payment).toMatchObject({ status: 'succeeded', provider_receipt: lastOrder(service).receipt, failure_code: null })
    expect(payment.completed_at).toBe(service.clock.now().toISOString())
    expect(await balanceOf(person)).toEqual(paid)
    const events = await service.deps.db.query<{ type: string }>(`select type from events where payment_id = $1 order by id`, [
      parseId('payment', id),
    ])
    expect(events.map(({ type }) => type)).toEqual(['payment.created', 'payment.processing', 'payment.succeeded'])
  })
})

describe('a code that proves that nothing was paid fails the payment and releases the hold', () => {
  const codes = ['1', '2', '3', '4', '8', '11', '21', '2001', '2006', '2028', '2040', '8006']
  const cases = codes.flatMap((code) => {
    const digits = code.padStart(4, '0')
    return [b2c(`25470000${digits}`), paybill(`999${digits}`), bank(`9999${digits}`)].map((payee) => ({ ...payee, code }))
  })
  test.each(cases)('$payment_rail $code', async ({ code, ...payee }) => {
    const id = await pay(person, payee)
    await service.settle()
    expect(await paymentOf(person, id)).toMatchObject({ status: 'failed', provider_code: code, provider_receipt: null })
    expect(await balanceOf(person)).toEqual(untouched)
  })
})

describe("an unknown code proves nothing: the payment is unknown, the hold stays, an alert is raised; the query's answer settles it", () => {
  test.each([b2c('254700000099'), till('9990099')])('$payment_rail', async (payee) => {
    const id = await pay(person, payee)
    await service.settle()
    expect(await paymentOf(person, id)).toMatchObject({ status: 'unknown', failure_code: null, completed_at: null })
    expect(await balanceOf(person)).toEqual(held)
    expect(alerts(service)).toEqual(['payment_unknown'])
    await pass(service, 31)
    expect(await paymentOf(person, id)).toMatchObject({
      status: 'failed',
      failure_code: 'provider_declined',
      provider_code: 'declined',
    })
    expect(await balanceOf(person)).toEqual(untouched)
  })
})

describe('a payment without any report becomes unknown, is queried, and never ends by time', () => {
  test.each([b2c('254700004999'), paybill('9994999'), bank('99994999')])('$payment_rail', async (payee) => {
    const id = await pay(person, payee)
    await service.settle()
    for (let passed = 0; passed < 900; passed += 150) {
      expect((await paymentOf(person, id)).status).toBe('processing')
      await pass(service, 150)
    }
    expect((await paymentOf(person, id)).status).toBe('unknown')
    expect(alerts(service)).toEqual(['payment_unknown'])
    for (let day = 0; day < 5; day += 1) await pass(service, 86_400)
    const asked = service.clock.now().getTime()
    const { outcome_check: check, ...followed } = await paymentOf(person, id)
    expect(followed.status).toBe('unknown')
    // The rail is queried every few hours for as long as necessary, and the record has the time.
    expect(asked - Date.parse(check.last_at)).toBeLessThanOrEqual(21_600_000)
    expect(Date.parse(check.next_at)).toBeGreaterThan(asked)
    // A list item has the same fields as an event.
    expect((await person.api.get('/v1/payments?limit=1')).body.data[0]).not.toHaveProperty('outcome_check')
    expect(await balanceOf(person)).toEqual(held)
  })
})

describe('the result of a lost callback is found by a query', () => {
  test.each([b2c('254711000001'), phoneAtBank('254711000001')])('$payment_rail', async (payee) => {
    const id = await pay(person, payee)
    await service.settle()
    expect((await paymentOf(person, id)).status).toBe('processing')
    await pass(service, 31)
    expect(await paymentOf(person, id)).toMatchObject({ status: 'succeeded', provider_receipt: lastOrder(service).receipt })
    expect(await balanceOf(person)).toEqual(paid)
  })
})

describe('a callback that comes three times is posted once', () => {
  test.each([b2c('254711000002'), phoneAtBank('254711000002')])('$payment_rail', async (payee) => {
    const id = await pay(person, payee)
    await service.settle()
    expect((await paymentOf(person, id)).status).toBe('succeeded')
    expect((await verdicts(service, lastOrder(service).resultUrl)).sort()).toEqual(['applied', 'repeated', 'repeated'])
    expect(await balanceOf(person)).toEqual(paid)
  })
})

test('a queue time-out makes a payment unknown; the result 30 seconds later settles it', async () => {
  const id = await pay(person, b2c('254711000003'))
  await service.deps.jobs.drain()
  await service.scheduler.runDue()
  await service.deps.jobs.drain()
  expect((await paymentOf(person, id)).status).toBe('unknown')
  expect(await balanceOf(person)).toEqual(held)
  await service.settle()
  expect((await paymentOf(person, id)).status).toBe('succeeded')
  expect(await verdicts(service, lastOrder(service).resultUrl)).toEqual(['applied', 'applied'])
  expect(await balanceOf(person)).toEqual(paid)
})

describe('if the answer to the request is lost the payment is unknown, is never sent again, and the callback settles it', () => {
  test.each([b2c('254711000004'), phoneAtBank('254711000004')])('$payment_rail', async (payee) => {
    const before = ordersTo(service, payee.destination).length
    const id = await pay(person, payee)
    await service.deps.jobs.drain()
    expect((await paymentOf(person, id)).status).toBe('unknown')
    expect(alerts(service)).toEqual(['payment_unknown'])
    await service.deps.jobs.sweep()
    await service.deps.jobs.drain()
    await pass(service, 3_600)
    expect(await paymentOf(person, id)).toMatchObject({ status: 'succeeded', provider_receipt: lastOrder(service).receipt })
    expect(ordersTo(service, payee.destination).length - before).toBe(1)
    expect(await balanceOf(person)).toEqual(paid)
  })
})

describe('a report of another amount moves no money: the payment is unknown, until a query says what was paid', () => {
  test.each([b2c('254711000005'), phoneAtBank('254711000005')])('$payment_rail', async (payee) => {
    const id = await pay(person, payee)
    await service.settle()
    expect((await paymentOf(person, id)).status).toBe('unknown')
    expect(alerts(service).sort()).toEqual(['evidence_mismatch', 'payment_unknown'])
    const order = lastOrder(service)
    expect(await verdicts(service, order.resultUrl)).toEqual(['mismatch'])
    const found = () =>
      service.deps.db.query('select reason, amount_minor::text as amount from suspense_items where subject_id = $1', [
        parseId('payment', id),
      ])
    expect(await found()).toEqual([{ reason: 'amount_mismatch', amount: String(order.amountMinor + 100n) }])
    // A right report after a wrong one decides nothing by itself.
    const right = payee.payment_rail === 'PESALINK' ? transferCallback(order) : b2cResult(order)
    await deliver(order.resultUrl, right)
    await service.settle()
    expect((await paymentOf(person, id)).status).toBe('unknown')
    expect(await balanceOf(person)).toEqual(held)
    await pass(service, 60)
    expect(await paymentOf(person, id)).toMatchObject({ status: 'succeeded', provider_receipt: order.receipt })
    expect(await found()).toHaveLength(1)
  })
})

describe('a forged callback is refused; the real one settles the payment', () => {
  test.each([b2c('254711000006'), phoneAtBank('254711000006')])('$payment_rail', async (payee) => {
    const id = await pay(person, payee)
    await service.settle()
    expect(await paymentOf(person, id)).toMatchObject({ status: 'succeeded', provider_receipt: lastOrder(service).receipt })
    expect(await verdicts(service, lastOrder(service).resultUrl)).toEqual(['forged', 'applied'])
  })
})

test('a provider that cannot be reached is tried again with longer waits, for as long as a payment may wait; then it fails and nothing was sent', async () => {
  const id = await pay(person, b2c('254722000041'))
  for (const wait of [0, 5, 15, 45, 120, 300, 600]) {
    expect(await paymentOf(person, id)).toMatchObject({ status: 'processing' })
    service.sandbox.failNext(spikeArrest)
    await pass(service, wait)
  }
  service.sandbox.rules.add({ effect: 'spike_arrest', rail: 'MPESA_B2C', times: null, delay_ms: 0 })
  for (let minute = 18; minute < 43; minute += 5) await pass(service, 300)
  expect(await paymentOf(person, id)).toMatchObject({ status: 'processing' })
  await pass(service, 300)
  service.sandbox.rules.clear()
  expect(await paymentOf(person, id)).toMatchObject({ status: 'failed', failure_code: 'provider_unreachable' })
  expect(ordersTo(service, '254722000041')).toHaveLength(0)
  expect(await balanceOf(person)).toEqual(untouched)
  await pass(service, 86_400)
  expect(ordersTo(service, '254722000041')).toHaveLength(0)
})

test('a payment whose first request never left is sent once later', async () => {
  await pay(person, b2c('254722000048'))
  await service.settle()
  service.sandbox.failNext(spikeArrest)
  const id = await pay(person, b2c('254722000042'))
  await service.settle()
  await pass(service, 4)
  expect(ordersTo(service, '254722000042')).toHaveLength(0)
  await pass(service, 1)
  expect((await paymentOf(person, id)).status).toBe('succeeded')
  expect(ordersTo(service, '254722000042')).toHaveLength(1)
})

test("the provider's plain refusal fails the payment with its code", async () => {
  service.sandbox.failNext(badRequest('Bad Request - Invalid PartyB'))
  const id = await pay(person, b2c('254722000043'))
  await service.settle()
  expect(await paymentOf(person, id)).toMatchObject({
    status: 'failed',
    failure_code: 'provider_refused',
    provider_code: '400.002.02',
    failure_message: 'Bad Request - Invalid PartyB',
  })
  expect(await balanceOf(person)).toEqual(untouched)
})

test('a payment whose beneficiary was frozen before it was sent fails and is not sent', async () => {
  const beneficiary_id = await newBeneficiary(person.api, { destination: '254722000044' })
  const made = await person.api.post('/v1/payments', { beneficiary_id, amount_minor: '150000' })
  await person.api.patch(`/v1/beneficiaries/${beneficiary_id}`, { status: 'frozen' })
  await service.settle()
  expect(await paymentOf(person, made.body.id)).toMatchObject({ status: 'failed', failure_code: 'policy_changed' })
  expect(ordersTo(service, '254722000044')).toHaveLength(0)
  expect(await balanceOf(person)).toEqual(untouched)
})

test('a payment that a new policy would hold for approval fails and is not sent', async () => {
  const id = await pay(person, b2c('254722000045'))
  const policy = await person.api.post('/v1/spending-policies', {
    name: 'Ask first',
    approval_threshold_minor: '100',
    required_approval_count: 1,
  })
  expect(policy.status).toBe(201)
  await service.settle()
  expect(await paymentOf(person, id)).toMatchObject({ status: 'failed', failure_code: 'policy_changed' })
  expect(ordersTo(service, '254722000045')).toHaveLength(0)
})

test('a payment under way finishes although its workspace was frozen in the meantime', async () => {
  const id = await pay(person, b2c('254722000046'))
  expect((await person.api.post('/v1/workspaces/current/freeze', { reason: 'stop' })).status).toBe(200)
  await service.settle()
  expect((await paymentOf(person, id)).status).toBe('succeeded')
})

test('a payment whose process died before it was sent is sent by another', async () => {
  const id = await pay(person, b2c('254722000047'))
  const other = await startService({ database: service.database, clock: service.clock, provider: service })
  await other.settle()
  expect((await paymentOf(person, id)).status).toBe('succeeded')
  await other.close()
})

test('a destination that cannot be decrypted is not sent, and the log has no secret', async () => {
  const cut = await pay(person, b2c('254722000048'))
  await service.deps.db.query(
    `update beneficiaries set destination_ciphertext = substr(destination_ciphertext, 1, 20) where destination_mask = '********0048'`,
  )
  // A ciphertext from another row would pay another payee.
  const moved = await pay(person, b2c('254733009147'))
  await newBeneficiary(person.api, b2c('254733009146'))
  const swapped = await service.deps.db.query(
    `update beneficiaries b set destination_ciphertext = other.destination_ciphertext, destination_key_id = other.destination_key_id
     from beneficiaries other where b.destination_mask = '********9147' and other.destination_mask = '********9146' returning b.id`,
  )
  expect(swapped).toHaveLength(1)
  await service.settle()
  for (const id of [cut, moved]) expect((await paymentOf(person, id)).status).toBe('processing')
  for (const wait of [5, 15, 45, 120, 300, 600]) await pass(service, wait)
  for (const id of [cut, moved])
    expect(await paymentOf(person, id)).toMatchObject({
      status: 'failed',
      failure_message: 'The destination could not be decrypted. Nothing was sent.',
    })
  expect([...ordersTo(service, '254733009146'), ...ordersTo(service, '254733009147')]).toEqual([])
  for (const destination of ['722000048', '733009147', '733009146']) expect(service.log.join()).not.toContain(destination)
})

describe('a report after the end', () => {
  const settled = async (destination: string) => {
    const id = await pay(person, bank(destination))
    await service.settle()
    return { id, order: lastOrder(service) }
  }
  const deliverOutcome = async (order: ReturnType<typeof lastOrder>, outcome: Parameters<typeof transferCallback>[1]) => {
    await deliver(order.resultUrl, transferCallback(order, outcome))
    await service.settle()
  }

  test('a failure after a success changes nothing and raises an alert', async () => {
    const { id, order } = await settled('99990000')
    await deliverOutcome(order, { state: 'Failed', code: 1 })
    expect((await paymentOf(person, id)).status).toBe('succeeded')
    expect(alerts(service)).toEqual(['evidence_contradiction', 'provider_word'])
    expect(await balanceOf(person)).toEqual(paid)
  })

  test('a success after a failure leaves the payment failed, is in the record, in an event and in an alert, and moves nothing', async () => {
    const { id, order } = await settled('99990001')
    for (let time = 0; time < 3; time += 1) await deliverOutcome(order, { state: 'Success' })
    const at = service.clock.now().toISOString()
    const late_success = { receipt: order.receipt, amount_minor: '150000', at }
    expect(await paymentOf(person, id)).toMatchObject({
      status: 'failed',
      failure_code: 'provider_failed',
      late_success,
    })
    expect(await verdicts(service, order.resultUrl)).toEqual(['applied', 'applied', 'repeated', 'repeated'])
    expect(alerts(service)).toEqual(['late_success'])
    expect(await balanceOf(person)).toEqual(untouched)
    const events = (await person.api.get('/v1/notifications')).body.data
    expect(events[0]).toMatchObject({ type: 'payment.late_success', data: { id, status: 'failed', late_success } })
    await deliverOutcome(order, { state: 'Success', transactionId: 'ASECONDRECEIPT' })
    expect(alerts(service)).toHaveLength(2)
  })

  test('money that the rail returns is credited once; the payment still counts against its limits', async () => {
    const { id, order } = await settled('99990000')
    for (let time = 0; time < 3; time += 1) await deliverOutcome(order, { state: 'Returned' })
    expect((await paymentOf(person, id)).status).toBe('returned')
    expect(await balanceOf(person)).toEqual(untouched)
    const history = (await person.api.get('/v1/accounts/me/history')).body.data
    expect(history.map((entry: { type: string; amount_minor: string }) => [entry.type, entry.amount_minor]).slice(0, 3)).toEqual([
      ['payment_return', '150000'],
      ['payment', '0'],
      ['payment_hold', '-150000'],
    ])
    const events = await service.deps.db.query<{ type: string }>(`select type from events where payment_id = $1 order by id`, [
      parseId('payment', id),
    ])
    expect(events.map(({ type }) => type).slice(2)).toEqual(['payment.succeeded', 'payment.returned'])
  })

  test.each(['99990000', '99994999'])(
    'of a payment to %s another amount came back than left: nothing is credited, what came back is in suspense, and a person decides',
    async (account) => {
      const { id, order } = await settled(account)
      const before = await balanceOf(person)
      for (let time = 0; time < 3; time += 1) await deliverOutcome(order, { state: 'Returned', amountMinor: 100n })
      expect((await paymentOf(person, id)).status).toBe(account === '99990000' ? 'succeeded' : 'unknown')
      expect(await balanceOf(person)).toEqual(before)
      expect(alerts(service)).toContain('evidence_mismatch')
      const items = await service.deps.db.query(
        `select direction, reason, amount_minor::text as amount, transfer_id is not null as booked from suspense_items where subject_id = $1`,
        [parseId('payment', id)],
      )
      expect(items).toEqual([{ direction: 'in', reason: 'amount_mismatch', amount: '100', booked: true }])
    },
  )

  test('a return that is the first report of a payment proves both: it was paid, and returned', async () => {
    const { id, order } = await settled('99994999')
    await deliverOutcome(order, { state: 'Reversed' })
    expect((await paymentOf(person, id)).status).toBe('returned')
    expect(await balanceOf(person)).toEqual(untouched)
  })

  test("a delivery that names another transaction than the bank's answer is the payment's: the bank may answer with a tracking id", async () => {
    const { id, order } = await settled('99994999')
    await deliverOutcome(order, { transactionId: 'ANOTHERTRANSACTION' })
    expect(await paymentOf(person, id)).toMatchObject({ status: 'succeeded', provider_receipt: 'ANOTHERTRANSACTION' })
    expect(await verdicts(service, order.resultUrl)).toEqual(['applied'])
  })
})

describe("evidence that money moved, after it was said to have failed or at another order's address", () => {
  const item = (id: string) =>
    service.deps.db.query('select direction, reason, provider_receipt as receipt from suspense_items where subject_id = $1', [
      parseId('payment', id),
    ])

  test('without a receipt that can be read is in suspense', async () => {
    const id = await pay(person, b2c('254700000001'))
    await service.settle()
    expect((await paymentOf(person, id)).status).toBe('failed')
    const order = lastOrder(service)
    await deliver(order.resultUrl, b2cResult(order, { receipt: '' }))
    await service.settle()
    expect(await item(id)).toEqual([{ direction: 'out', reason: 'contradiction', receipt: null }])
  })

  test("with the id of another order of ours is not booked, and is in suspense; with a gateway's id it is booked", async () => {
    const one = await pay(person, b2c('254700004999'))
    await service.settle()
    const first = lastOrder(service)
    const two = await pay(person, b2c('254700004999'))
    await service.settle()
    const second = lastOrder(service)
    await deliver(first.resultUrl, b2cResult({ ...first, key: second.key }, { receipt: 'CROSSED001' }))
    await service.settle()
    expect((await paymentOf(person, one)).status).toBe('processing')
    expect(await item(one)).toEqual([{ direction: 'out', reason: 'contradiction', receipt: 'CROSSED001' }])
    await deliver(second.resultUrl, b2cResult({ ...second, key: '0c1d-4e2f-8a3b-11aa22bb33cc4455667' }))
    await service.settle()
    expect((await paymentOf(person, two)).status).toBe('succeeded')
  })
})

describe('a receipt that already belongs to something else ends no payment', () => {
  const never = b2c('254700004999')
  const open = async () => {
    const id = await pay(person, never)
    await service.settle()
    return { id, order: lastOrder(service) }
  }
  const deliverOutcome = async (order: ReturnType<typeof lastOrder>, receipt: string) => {
    await deliver(order.resultUrl, b2cResult(order, { receipt }))
    await service.settle()
  }

  test('another payment', async () => {
    const other = await open()
    await deliverOutcome(other.order, other.order.receipt)
    expect((await paymentOf(person, other.id)).status).toBe('succeeded')
    const { id, order } = await open()
    await deliverOutcome(order, other.order.receipt)
    expect((await paymentOf(person, id)).status).toBe('unknown')
    expect(await verdicts(service, order.resultUrl)).toEqual(['mismatch'])
    expect((await balanceOf(person)).held).toBe('150000')
  })

  test('of two payments of different accounts that name it at the same moment, one succeeds', async () => {
    const one = { person, ...(await open()) }
    person = await signIn(service.api)
    await credit(service, person.accountId, 1_000_000n)
    const two = { person, ...(await open()) }
    await Promise.all([one, two].map(({ order }) => deliver(order.resultUrl, b2cResult(order, { receipt: 'SAMERECEIPT' }))))
    await service.settle()
    const payments = await Promise.all([one, two].map((each) => paymentOf(each.person, each.id)))
    expect(payments.map(({ status }) => status).sort()).toEqual(['succeeded', 'unknown'])
  })
})

test('one callback that both processes get ten times each at once is posted once', async () => {
  const second = await startService({ database: service.database, clock: service.clock, provider: service })
  const id = await pay(person, bank('99994999'))
  await service.settle()
  const order = lastOrder(service)
  const elsewhere = order.resultUrl.replace(service.operatorUrl, second.operatorUrl)
  await Promise.all(
    Array.from({ length: 20 }, (_, index) => deliver(index % 2 ? order.resultUrl : elsewhere, transferCallback(order))),
  )
  await Promise.all([service.deps.jobs.drain(), second.deps.jobs.drain()])
  await service.settle()
  expect((await paymentOf(person, id)).status).toBe('succeeded')
  expect((await verdicts(service, order.resultUrl)).filter((verdict) => verdict === 'applied')).toHaveLength(1)
  expect(await balanceOf(person)).toEqual(paid)
  await second.close()
})

test("after top-ups and payments the provider's movements equal the ledger", async () => {
  const someone = await signIn(service.api)
  await fund(service, someone, 500_000n)
  const id = await pay(someone, b2c('254722000049'), '200000')
  await service.settle()
  expect((await paymentOf(someone, id)).status).toBe('succeeded')
  expect(await balanceOf(someone)).toEqual({ available: '300000', held: '0' })
  expect(movementsTo(service, '254722000049').map(({ amountMinor }) => amountMinor)).toEqual([200_000n])
})
