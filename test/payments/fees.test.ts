import { parse } from 'csv-parse/sync'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { countHours } from '../../src/ledger/count-hours.ts'
import { trialBalance } from '../../src/ledger/reports.ts'
import { parseId } from '../../src/lib/ids.ts'
import { requestBalances } from '../../src/modules/exceptions/reconciliation/request-balances.ts'
import { shellOperator } from '../../src/modules/operators.ts'
import { readCommand } from '../../src/operate/admin/commands.ts'
import { checkLedger } from '../../verifier/checks/ledger.ts'
import { holds, verifyReceipt } from '../../verifier/main.ts'
import { startAdministered } from '../admin/administrators.ts'
import type { Client, Json } from '../harness/client.ts'
import { createMandate } from '../harness/mandates.ts'
import { credit, newBeneficiary } from '../harness/money.ts'
import { createKey, type Person, signIn } from '../harness/people.ts'
import { startService, type TestService } from '../harness/service.ts'
import { findBreaches } from '../harness/verify.ts'
import { connectAgent } from '../mcp/connect.ts'
import { balanceOf, deliver, lastOrder, pass, pay, paymentOf, transferCallback } from '../rails-flows/scene.ts'
import { receiptOf } from '../verifier/receipts.ts'

const small = { up_to_minor: '100000', fee_minor: '1500' }
const tariff = {
  MPESA_B2C: [small, { up_to_minor: null, fee_minor: '3000' }],
  PESALINK: [{ up_to_minor: null, fee_minor: '5000' }],
}

let service: TestService
let admin: Person
beforeAll(async () => {
  const env = { RATE_LIMIT_ENABLED: 'false', FEES: JSON.stringify(tariff) }
  ;({ service, admin } = await startAdministered({ env }))
})
afterAll(async () => {
  await service.settle()
  await service.deps.jobs.sweep()
  expect(await findBreaches(service)).toEqual([])
  await service.close()
})

const phone = { payment_rail: 'MPESA_B2C', destination: '254722000777' }
const failing = { payment_rail: 'MPESA_B2C', destination: '254700000001' }
const bank = { payment_rail: 'PESALINK', destination: '0123456789', bank_code: '57' }

const payer = async (amount: bigint): Promise<Person> => {
  const person = await signIn(service.api)
  await credit(service, person.accountId, amount)
  return person
}
const submit = (api: Client, beneficiary_id: string, amount_minor: string, more: Json = {}) =>
  api.post('/v1/payments', { beneficiary_id, amount_minor, ...more })
const historyOf = async ({ api }: Person): Promise<string[][]> =>
  (await api.get('/v1/accounts/me/history')).body.data
    .map((entry: Json) => [entry.type, entry.amount_minor, entry.held_change_minor, entry.available_after_minor])
    .reverse()
const feesBooked = async () =>
  (await trialBalance(service.deps.db)).find(({ code }) => code === 'fees') ?? { creditsMinor: 0n, pendingCreditsMinor: 0n }

describe('a fee', () => {
  test('is decided with the payment, held with it and booked with its success', async () => {
    const before = await feesBooked()
    const person = await payer(200_000n)
    const id = await pay(person, phone, '100000')
    const made = await paymentOf(person, id)
    expect([made.amount_minor, made.fee_minor]).toEqual(['100000', '1500'])
    expect(await balanceOf(person)).toEqual({ available: '98500', held: '101500' })
    expect((await feesBooked()).pendingCreditsMinor - before.pendingCreditsMinor).toBe(1500n)
    await service.settle()
    expect(await paymentOf(person, id)).toMatchObject({ status: 'succeeded', fee_minor: '1500' })
    expect(await balanceOf(person)).toEqual({ available: '98500', held: '0' })
    expect((await feesBooked()).creditsMinor - before.creditsMinor).toBe(1500n)
    expect(await historyOf(person)).toEqual([
      ['adjustment', '200000', '0', '200000'],
      ['payment_hold', '-100000', '100000', '100000'],
      ['payment_hold', '-1500', '1500', '98500'],
      ['payment', '0', '-100000', '98500'],
      ['fee', '0', '-1500', '98500'],
    ])
    const [entry] = (await person.api.get('/v1/accounts/me/history?type=fee')).body.data
    expect(entry).toMatchObject({ type: 'fee', reference: { type: 'payment', id } })
  })

  test('is that of the band and the rail; a rail without a tariff has none', async () => {
    const person = await payer(10_000_000n)
    const till = { payment_rail: 'MPESA_B2B', destination: '600123' }
    for (const [payee, amount, fee] of [
      [phone, '100100', '3000'],
      [bank, '1000', '5000'],
      [till, '500000', '0'],
    ] as const)
      expect((await paymentOf(person, await pay(person, payee, amount))).fee_minor).toBe(fee)
    await service.settle()
  })

  test('is given back with a payment that fails, is cancelled or is rejected', async () => {
    await service.settle()
    const before = await feesBooked()
    const person = await payer(200_000n)
    await pay(person, failing, '100000')
    await service.settle()
    expect(await balanceOf(person)).toEqual({ available: '200000', held: '0' })
    await person.api.post('/v1/spending-policies', { name: 'Ask', approval_threshold_minor: '1000' })
    const cancelled = await pay(person, phone, '100000')
    expect(await balanceOf(person)).toEqual({ available: '98500', held: '101500' })
    await person.api.post(`/v1/payments/${cancelled}/cancel`)
    const rejected = await paymentOf(person, await pay(person, phone, '100000'))
    const message = (await person.api.get(`/v1/approvals/${rejected.approval_id}`)).body.signing.approve
    expect(message).toContain('\nAmount: KES 1,000.00\nFee: KES 15.00\n')
    await person.api.post(`/v1/approvals/${rejected.approval_id}/decide`, { decision: 'reject' })
    expect((await historyOf(person)).slice(-2)).toEqual([
      ['payment_release', '100000', '-100000', '198500'],
      ['payment_release', '1500', '-1500', '200000'],
    ])
    expect(await balanceOf(person)).toEqual({ available: '200000', held: '0' })
    expect(await feesBooked()).toMatchObject({ creditsMinor: before.creditsMinor })
  })

  test('stays charged where the money comes back, and is charged with a late success', async () => {
    const person = await payer(200_000n)
    const returned = await pay(person, bank, '100000')
    await service.settle()
    const first = lastOrder(service)
    await deliver(first.resultUrl, transferCallback(first, { state: 'Returned' }))
    await service.settle()
    expect((await paymentOf(person, returned)).status).toBe('returned')
    expect(await balanceOf(person)).toEqual({ available: '195000', held: '0' })
    const late = await pay(person, { ...bank, destination: '99990001' }, '150000')
    await service.settle()
    const order = lastOrder(service)
    await deliver(order.resultUrl, transferCallback(order))
    await service.settle()
    expect(await balanceOf(person)).toEqual({ available: '195000', held: '0' })
    const outcome = { outcome: 'charged', evidence: 'statement of 4 March, line 17' }
    expect((await admin.api.post(`/v1/admin/payments/${late}/resolve`, outcome)).status).toBe(200)
    expect(await balanceOf(person)).toEqual({ available: '40000', held: '0' })
    expect((await historyOf(person)).slice(-2)).toEqual([
      ['payment', '-150000', '0', '45000'],
      ['fee', '-5000', '0', '40000'],
    ])
  })

  test('of a late success is charged with its amount or not at all', async () => {
    const person = await payer(160_000n)
    const late = await pay(person, { ...bank, destination: '99990001' }, '150000')
    await service.settle()
    const order = lastOrder(service)
    await deliver(order.resultUrl, transferCallback(order))
    await service.settle()
    await pay(person, { payment_rail: 'MPESA_B2B', destination: '600123' }, '7000')
    const outcome = { outcome: 'charged', evidence: 'statement of 4 March, line 17' }
    const refused = await admin.api.post(`/v1/admin/payments/${late}/resolve`, outcome)
    expect([refused.status, refused.body.error]).toEqual([402, 'insufficient_funds'])
    await service.settle()
    expect(await balanceOf(person)).toEqual({ available: '153000', held: '0' })
  })
})

describe('the balance', () => {
  test('must cover amount and fee, which a refusal and a simulation name', async () => {
    const person = await payer(101_499n)
    const beneficiary_id = await newBeneficiary(person.api, phone)
    const refused = await submit(person.api, beneficiary_id, '100000')
    expect([refused.status, refused.body.error]).toEqual([402, 'insufficient_funds'])
    expect(refused.body.details).toMatchObject({
      amount_minor: '100000',
      fee_minor: '1500',
      required_minor: '101500',
      available_minor: '101499',
    })
    expect(refused.body.message).toContain('of KES 1,000.00 and its fee of KES 15.00')
    const simulated = (await person.api.post('/v1/spending-policies/simulate', { beneficiary_id, amount_minor: '100000' })).body
    expect([simulated.outcome, simulated.fee_minor, simulated.explanation]).toEqual(['deny', '1500', refused.body.message])
    await credit(service, person.accountId, 1n)
    expect((await submit(person.api, beneficiary_id, '100000')).status).toBe(201)
    expect(await balanceOf(person)).toEqual({ available: '0', held: '101500' })
  })

  test('never falls below zero, however many payments with fees are asked for at once', async () => {
    const person = await payer(7n * 11_500n + 11_499n)
    const beneficiary_id = await newBeneficiary(person.api, phone)
    const answers = await Promise.all(Array.from({ length: 20 }, () => submit(person.api, beneficiary_id, '10000')))
    expect(answers.map(({ status }) => status).sort()).toEqual([...Array(7).fill(201), ...Array(13).fill(402)])
    expect(await balanceOf(person)).toEqual({ available: '11499', held: '80500' })
    await service.settle()
    expect(await balanceOf(person)).toEqual({ available: '11499', held: '0' })
  })

  test('is what fees count against: limits, thresholds and mandates count the amount', async () => {
    const person = await payer(300_000n)
    const beneficiary_id = await newBeneficiary(person.api, phone)
    await person.api.post('/v1/spending-policies', {
      ...{ name: 'Tight', per_payment_limit_minor: '100000', daily_limit_minor: '200000' },
      ...{ approval_threshold_minor: '200001' },
    })
    const mandate = await createMandate(service, person.wallet, { max_total_minor: '100000' })
    expect((await submit(person.api, beneficiary_id, '100000', { mandate_id: mandate.id })).body.status).toBe('processing')
    expect((await submit(person.api, beneficiary_id, '100000')).body.status).toBe('processing')
    expect((await submit(person.api, beneficiary_id, '1000')).body.error).toBe('policy_denied')
    await service.settle()
    expect((await person.api.get(`/v1/intent-mandates/${mandate.id}`)).body).toMatchObject({ spent_minor: '100000' })
  })
})

test('a batch has its fees in the dry run, in its refusal, in itself and in the text that is signed', async () => {
  const person = await payer(208_000n)
  const items = [
    { beneficiary_id: await newBeneficiary(person.api), amount_minor: '100000' },
    { beneficiary_id: await newBeneficiary(person.api, bank), amount_minor: '100000' },
  ]
  const make = (more: Json[] = [], query = '') => person.api.post(`/v1/payment-batches${query}`, { items: [...items, ...more] })
  const dry = await make([], '?dry_run=true')
  expect(dry.body).toMatchObject({ total_minor: '200000', fees_minor: '6500' })
  const more = [{ beneficiary_id: await newBeneficiary(person.api), amount_minor: '1000' }]
  const short = await make(more)
  expect([short.status, short.body.details]).toEqual([
    402,
    expect.objectContaining({ total_minor: '201000', fees_minor: '8000', required_minor: '209000', available_minor: '208000' }),
  ])
  await person.api.post('/v1/spending-policies', { name: 'Ask', approval_threshold_minor: '1000' })
  const made = (await make()).body
  expect(made).toMatchObject({ total_minor: '200000', fees_minor: '6500' })
  expect(await balanceOf(person)).toEqual({ available: '1500', held: '206500' })
  const approval = `/v1/approvals/${made.approval_id}`
  expect((await person.api.get(approval)).body.signing.approve).toContain('\nTotal: KES 2,000.00\nFees: KES 65.00\n')
  await person.api.post(`${approval}/decide`, { decision: 'approve' })
  await service.settle()
  expect((await person.api.get(`/v1/payment-batches/${made.id}`)).body).toMatchObject({ status: 'completed', fees_minor: '6500' })
  expect(await balanceOf(person)).toEqual({ available: '1500', held: '0' })
})

test('a scheduled payment has the fee of its creation, whatever the tariff is when it is sent', async () => {
  const person = await payer(202_999n)
  const at = new Date(service.clock.now().getTime() + 3_600_000).toISOString()
  const ids: string[] = []
  for (let count = 0; count < 2; count += 1)
    ids.push((await submit(person.api, await newBeneficiary(person.api), '100000', { execute_at: at })).body.id)
  expect(await balanceOf(person)).toEqual({ available: '202999', held: '0' })
  const FEES = JSON.stringify({ MPESA_B2C: [{ up_to_minor: null, fee_minor: '900000' }] })
  const { database, clock } = service
  const next = await startService({ database, clock, provider: service, env: { FEES, RATE_LIMIT_ENABLED: 'false' } })
  await pass(next, 3_600)
  await service.settle()
  const states = await Promise.all(ids.map((id) => paymentOf(person, id)))
  // The first payment leaves a minor unit less than the second needs with its fee.
  expect(states.map(({ status, fee_minor, failure_code }) => [status, fee_minor, failure_code]).sort()).toEqual([
    ['failed', '1500', 'insufficient_funds'],
    ['succeeded', '1500', null],
  ])
  expect(await balanceOf(person)).toEqual({ available: '101499', held: '0' })
  await next.close()
})

test('a process that knows no fees can neither hold nor end a payment that has one', async () => {
  const person = await payer(300_000n)
  const { db } = service.deps
  const at = new Date(service.clock.now().getTime() + 3_600_000).toISOString()
  const scheduled = (await submit(person.api, await newBeneficiary(person.api), '100000', { execute_at: at })).body.id
  const hold = "update payments set hold_transfer_id = gen_random_uuid(), status = 'processing' where id = $1"
  await expect(db.query(hold, [parseId('payment', scheduled)])).rejects.toThrow()
  const sent = await pay(person, phone, '100000')
  for (const status of ['succeeded', 'failed', 'cancelled'])
    await expect(db.query('update payments set status = $2 where id = $1', [parseId('payment', sent), status])).rejects.toThrow()
  await service.settle()
  expect(await paymentOf(person, sent)).toMatchObject({ status: 'succeeded', fee_minor: '1500' })
})

test('an agent is told the fee before it pays, and of what it paid', async () => {
  const person = await payer(300_000n)
  const { call, close } = await connectAgent(service.api.url, { bearer: (await createKey(person)).key })
  const order = { beneficiary_id: await newBeneficiary(person.api), amount_minor: '100000' }
  const simulated = await call('simulate_payment', order)
  expect([simulated.fee_minor, simulated.message]).toEqual([
    '1500',
    expect.stringContaining('Fee: KES 15.00, in addition to the amount.'),
  ])
  const made = await call('create_payment', { ...order, idempotency_key: 'one' })
  expect([made.fee_minor, made.message]).toEqual(['1500', expect.stringContaining('Fee: KES 15.00, in addition to the amount.')])
  const items = [order.beneficiary_id].map((beneficiary_id) => ({ beneficiary_id, amount_minor: '120000' }))
  const batch = await call('create_payment_batch', { items, idempotency_key: 'two' })
  expect([batch.fees_minor, batch.message]).toEqual([
    '3000',
    expect.stringContaining('Fees: KES 30.00, in addition to the amount.'),
  ])
  await close()
})

test('a receipt has the fee, and the verifier holds its hold and its booking against it', async () => {
  const person = await payer(300_000n)
  const id = await pay(person, phone, '100000')
  await service.settle()
  const receipt = await receiptOf(service, person, id)
  expect(receipt.payment.fee_minor).toBe('1500')
  expect(receipt.ledger_transfers.map((transfer: Json) => [transfer.kind, transfer.credit, transfer.amount_minor])).toEqual([
    ['pending', 'rail_clearing', '100000'],
    ['pending', 'fees', '1500'],
    ['post', 'rail_clearing', '100000'],
    ['post', 'fees', '1500'],
  ])
  const { keys } = (await service.api.get('/.well-known/jwks.json')).body
  expect(holds(await verifyReceipt(receipt, { keys }))).toBe(true)
  const other = structuredClone(receipt)
  other.ledger_transfers = other.ledger_transfers.filter(({ kind, credit }: Json) => kind !== 'post' || credit !== 'fees')
  expect(checkLedger(other).result).toBe('bad')
})

test('every export in CSV has the fee in major and minor units, and the keys by which programs match its rows', async () => {
  const person = await payer(500_000n)
  const items = [{ display_name: 'Achieng', destination: '0722000101', amount_minor: '100000' }]
  const once = { key: 'salaries-07' }
  const { body: batch } = await person.api.post('/v1/payment-batches', { name: 'July', items }, once)
  const { id: payee } = (await person.api.get('/v1/beneficiaries')).body.data[0]
  const order = { beneficiary_id: payee, amount_minor: '50000' }
  const { body: single } = await person.api.post('/v1/payments', order, { key: 'invoice-17' })
  await service.settle()
  const rowsOf = async (path: string): Promise<Json[]> =>
    parse((await person.api.get(path, { headers: { accept: 'text/csv' } })).text, { columns: true, bom: true })
  const fee = { fee: '15.00', fee_minor: '1500' }
  const of = (rows: Json[], id: string) => rows.find((row) => row.id === id || row.payment_id === id)
  expect(of(await rowsOf('/v1/payments'), single.id)).toMatchObject({ ...fee, idempotency_key: 'invoice-17' })
  expect(await rowsOf(`/v1/payment-batches/${batch.id}/lines`)).toMatchObject([{ ...fee, batch_row: '' }])
  expect(of(await rowsOf('/v1/accounts/me/statement'), single.id)).toMatchObject({ ...fee, idempotency_key: 'invoice-17' })
  const history = (await rowsOf('/v1/accounts/me/history?type=payment')).filter(({ batch_id }) => batch_id === batch.id)
  expect(history).toMatchObject([{ list: 'July', beneficiary_id: payee, idempotency_key: 'salaries-07' }])
})

test("a month's statement has each fee as an entry, in its balances and in its sums by type, and not in those of payees", async () => {
  const person = await payer(1_000_000n)
  const day = service.clock.now().toISOString().slice(0, 10)
  const ids = [await pay(person, phone, '100000'), await pay(person, phone, '250000'), await pay(person, failing, '100000')]
  ids.push(await pay(person, bank, '90000'))
  await service.settle()
  const order = lastOrder(service)
  await deliver(order.resultUrl, transferCallback(order, { state: 'Returned' }))
  await service.settle()
  // 1,000,000 - (100,000 + 1,500) - (250,000 + 3,000) - (90,000 + 5,000) + 90,000
  const closing = '640500'
  const read = async () => (await person.api.get(`/v1/accounts/me/statement?from=${day.slice(0, 8)}01`)).body
  const check = (body: Json) => {
    expect([body.opening_balance_minor, body.closing_balance_minor]).toEqual(['0', closing])
    expect([body.in_minor, body.out_minor]).toEqual(['1090000', '449500'])
    expect(body.totals.by_type).toEqual([
      { type: 'adjustment', entries: 1, in_minor: '1000000', out_minor: '0' },
      { type: 'fee', entries: 3, in_minor: '0', out_minor: '9500' },
      { type: 'payment', entries: 3, in_minor: '0', out_minor: '440000' },
      { type: 'payment_return', entries: 1, in_minor: '90000', out_minor: '0' },
    ])
    expect(body.totals.by_payee.map((payee: Json) => payee.out_minor).sort()).toEqual(['100000', '250000', '90000'])
  }
  const body = await read()
  check(body)
  const entries = body.entries.filter((entry: Json) => entry.payment_id !== null)
  const byPayment = Map.groupBy(entries, (entry: Json) => entry.payment_id)
  expect(
    ids.map((id) => byPayment.get(id)?.map(({ type, amount_minor, fee_minor }: Json) => [type, amount_minor, fee_minor])),
  ).toEqual([
    [
      ['payment', '-100000', '1500'],
      ['fee', '-1500', '0'],
    ],
    [
      ['payment', '-250000', '3000'],
      ['fee', '-3000', '0'],
    ],
    undefined,
    [
      ['payment', '-90000', '5000'],
      ['fee', '-5000', '0'],
      ['payment_return', '90000', '0'],
    ],
  ])
  let balance = 0n
  for (const entry of body.entries) {
    balance += BigInt(entry.amount_minor)
    expect(entry.balance_after_minor).toBe(String(balance))
  }
  expect(String(balance)).toBe(closing)
  // The same result from counted hours.
  service.clock.advance(2 * 3_600)
  await countHours(service.deps.db, service.clock.now())
  check(await read())
})

test("an operator reads the day's fees by rail", async () => {
  const person = await payer(300_000n)
  service.clock.advance(86_400 * 40)
  const own = (await signIn(service.api, person.wallet)).api
  for (const payee of [phone, { ...phone, destination: '254722000778' }, bank]) await pay({ api: own }, payee, '50000')
  await service.settle()
  const run = async (...args: string[]) => {
    const command = readCommand(['fees', ...args])
    const at = {
      deps: service.deps,
      databaseUrl: service.database.url,
      operator: shellOperator('amina'),
      close: async () => undefined,
    }
    return command.run(at)
  }
  const date = new Date(service.clock.now().getTime() + 3 * 3_600_000).toISOString().slice(0, 10)
  const since = new Date(service.clock.now().getTime() - 3_600_000).toISOString()
  service.clock.advance(1)
  expect(await run('--after', since)).toEqual([
    { date, rail: 'MPESA_B2C', count: 2, fees_minor: '3000', currency: 'KES' },
    { date, rail: 'PESALINK', count: 1, fees_minor: '5000', currency: 'KES' },
  ])
  expect(await run('--after', '2020-01-01T00:00:00Z', '--before', '2020-02-01T00:00:00Z')).toEqual([])
})

test("the comparison of the provider's balance says the fees of its time beside what the provider charged", async () => {
  const compare = async () => {
    service.clock.advance(86_400)
    await requestBalances(service.deps)
    await service.settle()
    const { body } = await (await signIn(service.api, admin.wallet)).api.get('/v1/admin/reconciliations?limit=100')
    return body.data.find(({ source }: Json) => source === 'balance')
  }
  const before = await compare()
  service.clock.advance(1)
  const person = await payer(300_000n)
  for (const payee of [phone, { ...phone, destination: '254722000779' }, bank]) await pay(person, payee, '50000')
  await service.settle()
  const after = await compare()
  // The bank's fee is not part of M-PESA's balance.
  expect(after).toMatchObject({ period_start: before.period_end, differences: 0, charges_minor: '-2600', fees_minor: '3000' })
})
