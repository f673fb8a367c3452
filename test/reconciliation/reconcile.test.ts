import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { statementCsv } from '../../src/dev/sandbox/control.ts'
import { advanceClearing } from '../../src/ledger/clearing.ts'
import { newDepositCode } from '../../src/lib/deposit-code.ts'
import { newId, parseId } from '../../src/lib/ids.ts'
import { traceByProviderName } from '../../src/modules/attempts/trace.ts'
import { lockProvider, recordMovement } from '../../src/modules/exceptions/reconciliation/movements-service.ts'
import { requestBalances } from '../../src/modules/exceptions/reconciliation/request-balances.ts'
import { reconcilePaidIn, reconcileStatement } from '../../src/modules/exceptions/reconciliation/service.ts'
import { shellOperator } from '../../src/modules/operators.ts'
import { recordSuspense } from '../../src/modules/suspense/service.ts'
import { type Administered, startAdministered } from '../admin/administrators.ts'
import type { Json } from '../harness/client.ts'
import { waitingForLock } from '../harness/lock-waits.ts'
import { credit, newBeneficiary, unguarded } from '../harness/money.ts'
import { type Person, signIn } from '../harness/people.ts'
import type { TestService } from '../harness/service.ts'
import { findBreaches } from '../harness/verify.ts'
import {
  alerts,
  b2cResult,
  balanceOf,
  deliver,
  initiate,
  lastOrder,
  pass,
  pay,
  paymentOf,
  stkCallback,
  topupOf,
} from '../rails-flows/scene.ts'

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
  // Seals the past days here, as the regular job does elsewhere.
  await pass(service, 1)
  expect(await findBreaches(service)).toEqual([])
  await service.close()
})

const reconcile = (text = statementCsv(service.sandbox.movements(), 'MPESA')) =>
  reconcileStatement(service.deps, shellOperator('a test'), { source: 'statement.csv', text })
const open = async (path: string) => (await administered.admin.api.get(`${path}?status=open`)).body.data

test('a statement that equals the books has no difference, and the same file counts once', async () => {
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

test('several items and differences are resolved with one reason, all or none, and each is in the audit log by itself', async () => {
  const rows = [1, 2, 3].map((line) => `MANY${line},2026-03-04 20:00:00,Completed,70.00,\n`).join('')
  await reconcile(`Receipt No.,Completion Time,Transaction Status,Paid In,Withdrawn\n${rows}`)
  const idsOf = (items: readonly { id: string }[]) => items.map(({ id }) => id)
  const { api } = administered.admin
  const audited = async (subject: string, action: string) => {
    const { body } = await api.get(`/v1/admin/audit-log?subject_id=${subject}&action=${action}`)
    return body.data.map(({ after }: { after: { note: string } }) => after.note)
  }
  for (const [path, more, action] of [
    ['/v1/admin/suspense', { outcome: 'explained' }, 'admin.resolve_suspense'],
    ['/v1/admin/reconciliation-differences', {}, 'admin.resolve_difference'],
  ] as const) {
    const ids = idsOf(await open(path))
    expect(ids).toHaveLength(3)
    const send = (some: readonly string[], by = api) => by.post(`${path}/resolve`, { ids: some, note: 'one morning', ...more })
    const unknown = ids[0]?.replace(/.$/, (last) => (last === '0' ? '1' : '0')) ?? ''
    expect((await send([...ids, unknown])).status).toBe(404)
    expect((await send([])).body.error).toBe('invalid_request')
    expect((await send(ids, person.api)).body.error).toBe('admin_required')
    expect((await send(ids, service.api)).status).toBe(401)
    expect(idsOf(await open(path))).toEqual(ids)
    const resolved = await send(ids)
    expect([resolved.status, resolved.body.data.map(({ note }: { note: string }) => note)]).toEqual([
      200,
      Array(3).fill('one morning'),
    ])
    expect(await open(path)).toEqual([])
    for (const id of ids) expect(await audited(id, action)).toEqual(['one morning'])
    const again = await send(ids.slice(0, 1))
    expect([again.status, again.body.details]).toEqual([409, expect.objectContaining({ reason: 'decided', id: ids[0] })])
  }
  expect(await findBreaches(service)).toEqual([])
})

test('money without a payment in the books is in suspense until an administrator decides, and raises an alert', async () => {
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
  const resolution = await api.post(`/v1/admin/reconciliation-differences/${difference.id}/resolve`, {
    note: 'a transfer by mistake',
  })
  expect([resolution.status, resolution.body.note]).toEqual([200, 'a transfer by mistake'])
  expect([await open('/v1/admin/reconciliation-differences'), await open('/v1/admin/suspense')]).toEqual([[], []])
  expect(await balanceOf(person)).toEqual(before)
})

test('a payment that the statement lacks is a difference with advice', async () => {
  await pay(person, { payment_rail: 'PESALINK', destination: '0123456789', bank_code: '57' })
  await pay(person, { payment_rail: 'PESALINK', destination: '0123456788', bank_code: '57' })
  await pay(person, { payment_rail: 'PESALINK', destination: '0123456787', bank_code: '57' })
  await service.settle()
  const movements = service.sandbox.movements().filter(({ rail }) => rail === 'PESALINK')
  const run = await reconcile(statementCsv(movements.toSpliced(1, 1), 'PESALINK', '1450160649886'))
  expect(run).toMatchObject({ provider: 'PESALINK', lines: 2, matched: 2, differences: 1 })
  expect(await open('/v1/admin/reconciliation-differences')).toMatchObject([
    { kind: 'not_in_statement', booked_minor: '-150000', stated_minor: null, action: expect.stringMatching(/Ask the provider/) },
  ])
  const { data } = (await administered.admin.api.get('/v1/admin/reconciliations')).body
  expect(data[0]).toMatchObject({ booked_minor: '-450000', stated_minor: '-300000' })
})

describe('a statement that an administrator uploads', () => {
  const upload = (statement: string, options = {}, source = 'portal.csv') =>
    administered.admin.api.post('/v1/admin/reconciliations', { source, statement }, options)
  const header = 'Receipt No.,Completion Time,Transaction Status,Paid In,Withdrawn,A/C No.\n'

  test('lists what differs, once, and is evidence of nothing: no money, no payment and no deposit follows from it', async () => {
    service.sandbox.rules.add({ effect: 'lose_callback', times: 1, delay_ms: 0 })
    service.sandbox.failNext({ kind: 'reset', takesEffect: true })
    const beneficiary_id = await newBeneficiary(person.api, { payment_rail: 'MPESA_B2B', destination: '400201' })
    const { id } = (await person.api.post('/v1/payments', { beneficiary_id, amount_minor: '170000' })).body
    const asked = await person.api.post('/v1/topups/initiate', { method: 'MPESA_PAYBILL' })
    await service.settle()
    await pass(service, 3_600)
    const before = await balanceOf(person)
    const forged = `FORGED0001,2026-03-04 20:00:00,Completed,9000.00,,${asked.body.instructions.account_number}\n`
    const text = `${statementCsv(service.sandbox.movements(), 'MPESA').trimEnd()}\n`
    const own = await upload(text)
    expect([own.status, own.body.source, own.body.requested_by]).toEqual([201, 'portal.csv', expect.stringContaining('acc_')])
    const strange = await upload(header + forged)
    expect([strange.status, strange.body.lines, strange.body.matched]).toEqual([201, 1, 0])
    const found = await open('/v1/admin/reconciliation-differences')
    const about = found.filter(({ payment_id, provider_receipt: receipt }: Json) => payment_id === id || receipt === 'FORGED0001')
    expect(about.map(({ offered_outcome }: Json) => offered_outcome)).toEqual([null, null])
    expect(about.map(({ action }: Json) => action).join()).not.toMatch(/Accept the outcome|is taken as evidence|suspense/)
    expect((await paymentOf(person, id)).status).toBe('unknown')
    expect((await topupOf(person, asked.body.id)).status).toBe('pending')
    expect(await balanceOf(person)).toEqual(before)
    expect(await open('/v1/admin/suspense')).toEqual([])
    expect((await upload(header + forged)).body.details.reason).toBe('already_recorded')
    // An upload does not keep the command from taking evidence.
    await reconcile(text)
    expect((await paymentOf(person, id)).status).toBe('succeeded')
    for (const { id: difference } of await open('/v1/admin/reconciliation-differences'))
      await administered.admin.api.post(`/v1/admin/reconciliation-differences/${difference}/resolve`, { note: 'read' })
    expect(await findBreaches(service)).toEqual([])
  })

  test('is not taken for a comparison by the service, whatever its source is called', async () => {
    const own = async () =>
      (await administered.admin.api.get('/v1/admin/reconciliations?limit=100')).body.data.filter(
        ({ requested_by }: Json) => requested_by === 'timer',
      )
    const compare = async () => {
      await requestBalances(service.deps)
      await service.settle()
      await reconcilePaidIn(service.deps)
    }
    nextDayAt(4)
    await compare()
    const before = await own()
    await pay(person, { payment_rail: 'MPESA_B2C', destination: '254722000028' })
    await service.settle()
    nextDayAt(4)
    for (const source of ['balance', 'provider'])
      expect((await upload(`${header}NAMED${source},2026-03-04 20:00:00,Completed,1.00,,\n`, {}, source)).status).toBe(201)
    await compare()
    const sources = (await own()).slice(0, -before.length).map(({ source, differences }: Json) => [source, differences])
    expect(sources.sort()).toEqual([
      ['balance', 0],
      ['provider', 0],
    ])
    for (const { id } of await open('/v1/admin/reconciliation-differences'))
      await administered.admin.api.post(`/v1/admin/reconciliation-differences/${id}/resolve`, { note: 'read' })
  })

  test('is replayed by its Idempotency-Key, in the audit log, refused with the reason if it is none, and only for administrators', async () => {
    const line = (receipt: string) => `${header}${receipt},2026-03-04 20:00:00,Completed,70.00,,\n`
    const key = { headers: { 'idempotency-key': 'the statement of March' } }
    const [first, again] = [await upload(line('ONCE000001'), key), await upload(line('ONCE000001'), key)]
    expect([first.status, again.text, again.headers.get('idempotency-replayed')]).toEqual([201, first.text, 'true'])
    const { data } = (await administered.admin.api.get('/v1/admin/audit-log?action=admin.reconcile')).body
    expect(data[0]).toMatchObject({ after: { source: 'portal.csv', report: true } })
    const quoted = header.replaceAll(/([^,\n]+)/g, '"$1"')
    expect((await upload(`\ufeff${line('ONCE000003').replace(header, quoted)}`)).body.lines).toBe(1)
    const none = await upload('name,phone\nJane,0722000000\n')
    expect([none.status, none.body.details.param]).toEqual([400, 'statement'])
    const body = { source: 'portal.csv', statement: line('ONCE000002') }
    expect((await person.api.post('/v1/admin/reconciliations', body)).body.error).toBe('admin_required')
    expect((await service.api.post('/v1/admin/reconciliations', body)).body.error).toBe('authentication_required')
    for (const { id } of await open('/v1/admin/reconciliation-differences'))
      await administered.admin.api.post(`/v1/admin/reconciliation-differences/${id}/resolve`, { note: 'read' })
  })
})

/** A prompt fails, its phone's owner pays after all, and every report of it is lost. */
const paidAfterFailure = async (amountMinor = 150_000n) => {
  const id = await initiate(person, '254700001032', String(amountMinor))
  await service.settle()
  expect((await topupOf(person, id)).status).toBe('failed')
  await service.deps.rails.collection?.collect({
    ...{ orderId: newId(), amountMinor, currency: 'KES', phoneNumber: '254722000014' },
    reference: lastOrder(service).reference,
    at: service.clock.now(),
    callbacks: { result: 'http://127.0.0.1:9/nowhere', timeout: 'http://127.0.0.1:9/nowhere' },
  })
  await service.settle()
  return { id, receipt: service.sandbox.movements().at(-1)?.receipt }
}

const nairobiDay = 86_400
/** Advances to an hour of the next day in Nairobi, UTC+3. */
const nextDayAt = (hour: number) => {
  const now = service.clock.now().getTime() + 3 * 3_600_000
  service.clock.advance(nairobiDay - (Math.floor(now / 1000) % nairobiDay) + hour * 3_600)
}

describe("the provider's list of incoming payments", () => {
  const runs = async () => (await administered.admin.api.get('/v1/admin/reconciliations')).body.data.filter(byApi)
  const byApi = ({ source }: { source: string }) => source === 'provider'
  const sweep = () => reconcilePaidIn(service.deps)

  test('that has nothing is compared, and is a warning where the books have something: it may not be registered', async () => {
    nextDayAt(4)
    await sweep()
    const { collection } = service.deps.rails
    if (!collection) throw new Error('no prompts are sent')
    const empty = { ...service.deps, rails: { ...service.deps.rails, collection: { ...collection, listPaidIn: async () => [] } } }
    const before = await open('/v1/admin/reconciliation-differences')
    nextDayAt(4)
    await reconcilePaidIn(empty)
    expect((await runs())[0]).toMatchObject({ lines: 0, differences: 0, unproven: null })
    await initiate(person, '254722000010')
    await service.settle()
    nextDayAt(4)
    service.log.length = 0
    await reconcilePaidIn(empty)
    expect((await runs())[0]).toMatchObject({
      lines: 0,
      differences: 0,
      unproven: expect.stringMatching(/one payment .*rails register/),
    })
    expect(alerts(service)).toEqual(['reconciliation_difference'])
    expect(await open('/v1/admin/reconciliation-differences')).toEqual(before)
  })

  test('is compared with each past day once, by one of the processes', async () => {
    nextDayAt(4)
    await sweep()
    await initiate(person, '254722000011')
    await initiate(person, '254722000012')
    await service.settle()
    nextDayAt(2)
    const before = await runs()
    await sweep()
    expect(await runs()).toEqual(before)
    service.clock.advance(2 * 3_600)
    await Promise.all([sweep(), sweep(), sweep()])
    const [run, ...others] = await runs()
    expect(others).toEqual(before)
    const end = new Date(service.clock.now())
    end.setUTCHours(21, 0, 0, 0)
    end.setUTCDate(end.getUTCDate() - 1)
    expect(run).toMatchObject({
      provider: 'MPESA',
      requested_by: 'timer',
      period_start: new Date(end.getTime() - nairobiDay * 1000).toISOString(),
      period_end: end.toISOString(),
      lines: 2,
      matched: 2,
      differences: 0,
    })
  })

  test("counts a payment on the provider's day, also if its report came after midnight", async () => {
    nextDayAt(4)
    await sweep()
    const now = service.clock.now().getTime() + 3 * 3_600_000
    service.clock.advance(nairobiDay - (Math.floor(now / 1000) % nairobiDay) - 20)
    const lostCallback = '254711000001'
    const id = await initiate(person, lostCallback)
    await service.settle()
    await pass(service, 120)
    expect(await topupOf(person, id)).toMatchObject({ status: 'succeeded' })
    nextDayAt(4)
    await sweep()
    const [after, of] = await runs()
    expect([of, after]).toMatchObject([
      { lines: 1, matched: 1, differences: 0 },
      { lines: 0, matched: 0, differences: 0 },
    ])
  })

  test('books a payment that no top-up requested to suspense, with advice for an administrator', async () => {
    nextDayAt(4)
    await sweep()
    // Another system of the organisation prompts a phone to pay to the same shortcode.
    const sent = await service.deps.rails.collection?.collect({
      orderId: newId(),
      amountMinor: 4_200n,
      currency: 'KES',
      phoneNumber: '254722000013',
      reference: 'SHOP42',
      at: service.clock.now(),
      callbacks: { result: 'http://127.0.0.1:9/nowhere', timeout: 'http://127.0.0.1:9/nowhere' },
    })
    expect(sent).toMatchObject({ kind: 'accepted' })
    await service.settle()
    nextDayAt(4)
    service.log.length = 0
    await sweep()
    expect(alerts(service)).toEqual(['reconciliation_difference'])
    const { receipt } = service.sandbox.movements().at(-1) ?? {}
    expect((await runs())[0]).toMatchObject({ lines: 1, matched: 0, differences: 1, stated_minor: '4200', booked_minor: '0' })
    expect((await open('/v1/admin/reconciliation-differences'))[0]).toMatchObject({
      kind: 'not_in_our_books',
      provider_receipt: receipt,
      action: expect.stringContaining('Find out who moved it'),
    })
    expect((await open('/v1/admin/suspense'))[0]).toMatchObject({
      direction: 'in',
      provider_receipt: receipt,
      amount_minor: '4200',
    })
  })

  test('books no second time what a query proved, whose receipt the list alone names: the top-up gets it', async () => {
    nextDayAt(4)
    await sweep()
    const lostCallback = '254711000001'
    const one = await initiate(person, lostCallback, '130000')
    const twins = [await initiate(person, lostCallback, '140000'), await initiate(person, lostCallback, '140000')]
    await service.settle()
    const orders = service.sandbox.orders().slice(-3)
    const receiptsOf = (amountMinor: bigint) =>
      orders.flatMap((order) => (order.amountMinor === amountMinor ? [order.receipt] : [])).sort()
    await pass(service, 120)
    const before = await balanceOf(person)
    for (const id of [one, ...twins])
      expect(await topupOf(person, id)).toMatchObject({ status: 'succeeded', provider_receipt: null })
    const { collection } = service.deps.rails
    if (!collection) throw new Error('no prompts are sent')
    // A till's payments name no reference.
    const listed = orders.map(({ receipt, amountMinor, at }) => ({ receipt, amountMinor, at, references: [] }))
    const till = { ...collection, listPaidIn: async () => listed }
    nextDayAt(4)
    await reconcilePaidIn({ ...service.deps, rails: { ...service.deps.rails, collection: till } })
    // One of two equal payments may be either top-up's, so neither gets a receipt that may be the other's.
    expect((await runs())[0]).toMatchObject({
      lines: 3,
      matched: 2,
      differences: 1,
      stated_minor: '410000',
      booked_minor: '410000',
    })
    expect([(await topupOf(person, one)).provider_receipt]).toEqual(receiptsOf(130_000n))
    for (const id of twins) expect(await topupOf(person, id)).toMatchObject({ provider_receipt: null })
    const receipts = (await open('/v1/admin/suspense')).map((each: Json) => each.provider_receipt)
    for (const { receipt } of orders) expect(receipts).not.toContain(receipt)
    const about = (await open('/v1/admin/reconciliation-differences')).map((each: Json) => each.topup_id)
    for (const id of [one, ...twins]) expect(about).not.toContain(id)
    for (const order of orders) await deliver(order.resultUrl ?? '', stkCallback(order))
    await service.settle()
    const named = await Promise.all(twins.map((id) => topupOf(person, id)))
    expect(named.map(({ provider_receipt }) => provider_receipt).sort()).toEqual(receiptsOf(140_000n))
    expect(await balanceOf(person)).toEqual(before)
  })

  test('proves a prompt that was reported as failed: its top-up is credited', async () => {
    nextDayAt(4)
    await sweep()
    const before = await balanceOf(person)
    const { id, receipt } = await paidAfterFailure()
    nextDayAt(4)
    await sweep()
    expect(await topupOf(person, id)).toMatchObject({ status: 'succeeded', provider_receipt: receipt })
    expect(BigInt((await balanceOf(person)).available) - BigInt(before.available)).toBe(150_000n)
    const receipts = (await open('/v1/admin/reconciliation-differences')).map((each: Json) => each.provider_receipt)
    expect(receipts).not.toContain(receipt)
  })

  test('is queried again if the provider did not answer, for every missed day', async () => {
    nextDayAt(4)
    await sweep()
    const [last] = await runs()
    nextDayAt(4)
    nextDayAt(4)
    service.sandbox.rules.add({ effect: 'outage', times: 1, delay_ms: 0 })
    await expect(sweep()).rejects.toThrow('did not list')
    expect((await runs())[0]).toEqual(last)
    await sweep()
    const [newer, older] = await runs()
    expect([older.period_start, newer.period_start]).toEqual([last.period_end, older.period_end])
  })
})

describe("the provider's balance of the organisation's accounts", () => {
  beforeEach(async () => {
    person = await signIn(service.api, person.wallet)
  })
  const runs = async () =>
    (await administered.admin.api.get('/v1/admin/reconciliations?limit=100')).body.data.filter(
      ({ source }: { source: string }) => source === 'balance',
    )
  const ask = async () => {
    await requestBalances(service.deps)
    await service.settle()
  }
  const nextMorning = async () => {
    nextDayAt(4)
    await ask()
    return (await runs())[0]
  }
  /** Three shortcodes, each with two accounts. */
  const agrees = { provider: 'MPESA', requested_by: 'timer', lines: 9, matched: 9, differences: 0 }

  test('equals the books, is queried once a day, and once more if there was no answer', async () => {
    const first = await nextMorning()
    expect(first).toMatchObject(agrees)
    await ask()
    expect((await runs())[0]).toEqual(first)
    await pay(person, { payment_rail: 'MPESA_B2C', destination: '254722000021' })
    await pay(person, { payment_rail: 'MPESA_B2B', destination: '400200' })
    await initiate(person, '254722000022')
    await service.settle()
    const second = await nextMorning()
    // The provider charges 13 shillings for a payment to a phone, 108 to a paybill.
    expect(second).toMatchObject({ ...agrees, period_start: first.period_end, charges_minor: '-12100', fees_minor: '0' })
    expect(BigInt(second.stated_minor) - BigInt(first.stated_minor)).toBe(-150_000n)
    const [kept] = await service.deps.db.query<{ came: bigint; went: bigint }>(
      'select came_in_minor as came, went_out_minor as went from clearing_points',
    )
    expect([kept?.came, kept?.went].map((minor) => (minor ?? 0n) > 0n)).toEqual([true, true])
    nextDayAt(4)
    service.sandbox.rules.add({ effect: 'outage', times: 1, delay_ms: 0 })
    await expect(ask()).rejects.toThrow(/^MPESA did not accept the balance query: .*"message":"/)
    for (let silence = 0; silence < 2; silence += 1) {
      service.clock.advance(600)
      await requestBalances(service.deps)
    }
    service.clock.advance(600)
    await expect(ask()).rejects.toThrow('has not answered')
    expect((await runs())[0]).toEqual(second)
    await service.settle()
    expect((await runs()).slice(0, 2)).toMatchObject([agrees, { id: second.id }])
  })

  /** Money leaves the organisation's account without a request here. */
  const payWithoutUs = async (amountMinor: bigint) => {
    const orderId = newId()
    const sent = await service.deps.rails.payout.MPESA_B2C?.pay({
      rail: 'MPESA_B2C',
      amountMinor,
      payer: 'test',
      orderId,
      currency: 'KES',
      destination: '254722000023',
      bankCode: null,
      beneficiaryName: 'Nobody of ours',
      accountReference: null,
      narrative: null,
      reference: '999999999999',
      at: service.clock.now(),
      callbacks: { result: 'http://127.0.0.1:9/nowhere', timeout: 'http://127.0.0.1:9/nowhere' },
    })
    expect(sent).toMatchObject({ kind: 'accepted' })
    await service.settle()
    return service.sandbox.movements().at(-1)?.receipt ?? ''
  }

  test('that differs from the books is a difference with an alert, on the day when it began, whatever the charges', async () => {
    const before = await nextMorning()
    await payWithoutUs(77_000n)
    service.log.length = 0
    const after = await nextMorning()
    expect(after).toMatchObject({ lines: 9, matched: 0, differences: 1, booked_minor: before.stated_minor })
    expect(after.charges_minor).toBe('-1300')
    expect(BigInt(after.booked_minor) - BigInt(after.stated_minor)).toBe(77_000n)
    expect(alerts(service)).toEqual(['reconciliation_difference'])
    expect((await open('/v1/admin/reconciliation-differences'))[0]).toMatchObject({
      kind: 'balance_differs',
      reconciliation_id: after.id,
      booked_minor: after.booked_minor,
      stated_minor: after.stated_minor,
      action: expect.stringContaining('statement'),
    })
    expect(await nextMorning()).toMatchObject(agrees)
  })

  test('that has grown without us is a difference, however little it is beside the charges', async () => {
    await nextMorning()
    await pay(person, { payment_rail: 'MPESA_B2C', destination: '254722000027' })
    await service.settle()
    expect(await nextMorning()).toMatchObject({ ...agrees, charges_minor: '-1300' })
    const sent = await service.deps.rails.collection?.collect({
      ...{ orderId: newId(), amountMinor: 100n, currency: 'KES', phoneNumber: '254722000026', reference: 'SHOP43' },
      at: service.clock.now(),
      callbacks: { result: 'http://127.0.0.1:9/nowhere', timeout: 'http://127.0.0.1:9/nowhere' },
    })
    expect(sent).toMatchObject({ kind: 'accepted' })
    await service.settle()
    expect(await nextMorning()).toMatchObject({ matched: 0, differences: 1 })
    expect(await nextMorning()).toMatchObject(agrees)
  })

  test('is explained by transfers and settlements that a person names once, before the comparison or after it', async () => {
    await nextMorning()
    const name = (fields: object) =>
      administered.admin.api.post('/v1/admin/provider-movements', {
        ...{ provider: 'MPESA', kind: 'bank_transfer', direction: 'out', moved_at: service.clock.now().toISOString() },
        ...{ note: 'to the bank', ...fields },
      })
    const receipt = await payWithoutUs(50_000n)
    const transfer = { amount_minor: '50000', provider_receipt: receipt }
    expect(await name(transfer)).toMatchObject({ status: 201, body: { ...transfer, reconciliation_id: null } })
    expect((await name({ ...transfer, provider_receipt: receipt.toLowerCase() })).body.details.reason).toBe('already_recorded')
    // A receipt that the books already have is not a movement of the organisation's own.
    const [paid] = (await person.api.get('/v1/payments?status=succeeded&limit=1')).body.data
    const taken = await name({ amount_minor: paid.amount_minor, provider_receipt: paid.provider_receipt })
    expect([taken.status, taken.body.details]).toMatchObject([409, { reason: 'provider_receipt', id: paid.id }])
    for (const wrong of [
      { moved_at: new Date(service.clock.now().getTime() + 60_000).toISOString() },
      { kind: 'charges', direction: 'in' },
    ])
      expect((await name({ amount_minor: '100', ...wrong })).status).toBe(400)
    const settle = await fetch(`${service.sandboxUrl}/control/settlements`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ account: '600998', amount_minor: '1000' }),
    })
    expect(settle.status).toBe(204)
    expect((await name({ kind: 'settlement', amount_minor: '1000' })).status).toBe(201)
    const known = await nextMorning()
    expect(known).toMatchObject({ ...agrees, charges_minor: '-1300' })

    await payWithoutUs(60_000n)
    const movedAt = service.clock.now().toISOString()
    const before = await nextMorning()
    expect(before).toMatchObject({ matched: 0, differences: 1 })
    const differenceOf = async () =>
      (await administered.admin.api.get(`/v1/admin/reconciliation-differences?reconciliation_id=${before.id}`)).body.data[0]
    const late = { moved_at: movedAt, kind: 'bank_transfer' }
    expect((await name({ ...late, amount_minor: '45000' })).body.reconciliation_id).toBe(before.id)
    expect((await differenceOf()).resolved_at).toBeNull()
    expect((await name({ ...late, amount_minor: '15000' })).body.reconciliation_id).toBe(before.id)
    expect((await differenceOf()).resolved_at).not.toBeNull()
    expect(await nextMorning()).toMatchObject({ ...agrees, charges_minor: '0' })
    const listed = (await administered.admin.api.get('/v1/admin/provider-movements')).body.data
    expect(listed.map(({ amount_minor }: Json) => amount_minor)).toEqual(['15000', '45000', '1000', '50000'])
    expect(listed[3].reconciliation_id).toBe(known.id)

    // It is counted once, even if it is named after a person resolved the difference, or is older than the first comparison.
    await payWithoutUs(70_000n)
    const old = { amount_minor: '70000', moved_at: service.clock.now().toISOString() }
    const resolved = await nextMorning()
    for (const { id } of await open('/v1/admin/reconciliation-differences'))
      await administered.admin.api.post(`/v1/admin/reconciliation-differences/${id}/resolve`, { note: 'a transfer' })
    expect((await name(old)).body.reconciliation_id).toBe(resolved.id)
    const oldest = (await runs()).at(-1)
    expect((await name({ ...old, moved_at: '2026-01-01T00:00:00Z' })).body.reconciliation_id).toBe(oldest.id)
    expect(await nextMorning()).toMatchObject(agrees)

    const ours = service.sandbox.movements().filter((moved) => moved.receipt === receipt)
    expect(await reconcile(statementCsv(ours, 'MPESA'))).toMatchObject({
      matched: 1,
      differences: 0,
      lines: 1,
      chargesMinor: -1300n,
    })
  })

  test('has a movement that a person records while a statement is compared, which books no line of it', async () => {
    await nextMorning()
    const receipt = await payWithoutUs(40_000n)
    const ours = service.sandbox.movements().filter((moved) => moved.receipt === receipt)
    const named = {
      provider: 'MPESA',
      kind: 'bank_transfer',
      direction: 'out',
      amount_minor: 40_000n,
      provider_receipt: receipt,
      moved_at: service.clock.now(),
      note: 'to the bank',
    } as const
    const { db } = service.deps
    let compared: ReturnType<typeof reconcile> | undefined
    await db.transaction(async (tx) => {
      await lockProvider(tx, 'MPESA')
      let isOver = false
      compared = reconcile(statementCsv(ours, 'MPESA')).finally(() => {
        isOver = true
      })
      for (let waiting = 0; waiting < 1 && !isOver; ) waiting = (await db.query(`select from ${waitingForLock}`)).length
      await recordMovement(tx, shellOperator('a test'), named)
    })
    expect(await compared).toMatchObject({ matched: 1, differences: 0 })
    expect(await nextMorning()).toMatchObject(agrees)
  })

  test('of an earlier release, which summed charges up with the money, is continued without a false difference', async () => {
    await nextMorning()
    await unguarded(
      service,
      `update reconciliations r set charges_minor = null, totals = jsonb_build_object('stated_minor', totals -> 'stated_minor',
         'booked_minor', totals -> 'booked_minor', 'own_low_minor', ((totals ->> 'money_low_minor')::bigint + (totals ->> 'charges_account_minor')::bigint)::text,
         'own_high_minor', ((totals ->> 'money_high_minor')::bigint + (totals ->> 'charges_account_minor')::bigint)::text)
       where source = 'balance' and id = (select id from reconciliations where source = 'balance' order by id desc limit 1)`,
      [],
    )
    await pay(person, { payment_rail: 'MPESA_B2C', destination: '254722000025' })
    await service.settle()
    expect(await nextMorning()).toMatchObject({ ...agrees, charges_minor: '0' })
    await payWithoutUs(99_000n)
    expect(await nextMorning()).toMatchObject({ matched: 0, differences: 1 })
  })

  test('equals the books while money is under way in either direction', async () => {
    const open: string[] = []
    for (const destination of ['254711000001', '254700004999'])
      open.push(await pay(person, { payment_rail: 'MPESA_B2C', destination }))
    await service.settle()
    expect((await paymentOf(person, open[0] ?? '')).status).toBe('processing')
    expect(await nextMorning()).toMatchObject(agrees)
    await pass(service, 600)
    expect((await paymentOf(person, open[0] ?? '')).status).toBe('succeeded')
    expect(await nextMorning()).toMatchObject(agrees)
    const paidIn = await initiate(person, '254711000001')
    await service.settle()
    expect((await topupOf(person, paidIn)).status).toBe('pending')
    expect(await nextMorning()).toMatchObject(agrees)
  })

  test('is compared with every transfer, also with one that committed after younger ones were summed', async () => {
    nextDayAt(5)
    const { db } = service.deps
    const receipt = 'LATECOMMIT'
    await db.transaction(async (tx) => {
      const finding = { rail: 'MPESA', direction: 'in', reason: 'not_in_our_books', receipt, amountMinor: 500n } as const
      await recordSuspense(tx, { ...finding, book: true, alerted: true })
      await pay(person, { payment_rail: 'MPESA_B2C', destination: '254722000024' })
      await service.settle()
      await advanceClearing(db, 'MPESA')
    })
    service.clock.advance(7_200)
    await advanceClearing(db, 'MPESA')
    expect((await findBreaches(service)).filter((breach) => breach.includes('comparisons'))).toEqual([])
    const item = (await open('/v1/admin/suspense')).find(
      (each: { provider_receipt: string }) => each.provider_receipt === receipt,
    )
    const resolution = { outcome: 'explained', note: 'it was booked by this test' }
    expect((await administered.admin.api.post(`/v1/admin/suspense/${item.id}/resolve`, resolution)).status).toBe(200)
  })

  test('is accepted only with the secret that the provider knows, once', async () => {
    nextDayAt(4)
    await requestBalances(service.deps)
    const [query] = await service.deps.db.query<{ id: string }>(
      'select id from balance_queries order by requested_at desc limit 1',
    )
    const body = {
      Result: {
        ResultCode: 0,
        ResultParameters: { ResultParameter: { Key: 'AccountBalance', Value: 'Working Account|KES|1.00|1.00|0.00|0.00' } },
      },
    }
    const known = await runs()
    for (const path of [`${query?.id}/wrong/result`, `${newId()}/wrong/result`])
      expect((await deliver(`${service.operatorUrl}/callbacks/balances/${path}`, body)).status).toBe(200)
    expect(
      await service.deps.db.query('select from balance_queries where id = $1 and answered_at is null', [query?.id]),
    ).toHaveLength(1)
    await service.settle()
    expect(await runs()).toMatchObject([agrees, ...known])
  })

  test('that the provider refuses to state raises an alert with its code, and is asked for hourly after three queries', async () => {
    nextDayAt(4)
    const { rails } = service.deps
    const { MPESA } = rails.accounts
    if (!MPESA) throw new Error('M-PESA is connected')
    const urls: string[] = []
    const silent: typeof MPESA = {
      ...MPESA,
      numbers: ['600998'],
      requestBalances: async (_, { result }) => {
        urls.push(result)
        return { kind: 'accepted', provider: { request: null, conversation: null } }
      },
    }
    const askSilent = (accounts = { MPESA: silent }) => requestBalances({ ...service.deps, rails: { ...rails, accounts } })
    await askSilent()
    service.log.length = 0
    expect((await deliver(urls[0] ?? '', { Result: { ResultCode: 21, ResultDesc: 'not allowed' } })).status).toBe(200)
    expect(alerts(service)).toEqual(['balance_refused'])
    expect(service.log.some((line) => JSON.parse(line).code === '21')).toBe(true)
    for (let count = 2; count <= 3; count += 1) {
      service.clock.advance(600)
      await askSilent()
    }
    for (let count = 1; count <= 6; count += 1) {
      expect(urls).toHaveLength(3)
      service.clock.advance(600)
      await expect(askSilent()).rejects.toThrow('MPESA has not answered several balance queries')
    }
    expect(urls).toHaveLength(4)
    // A provider that fails does not keep the others from being asked.
    nextDayAt(4)
    const failing: typeof MPESA = { ...MPESA, requestBalances: () => Promise.reject(new Error('unreachable')) }
    const both = { MPESA: failing, PESALINK: silent }
    await expect(askSilent(both)).rejects.toThrow('unreachable')
    expect(urls).toHaveLength(5)
  })

  test('is compared once when the last answers of two rounds arrive together', async () => {
    const { stated_minor } = await nextMorning()
    const { rails } = service.deps
    const { MPESA } = rails.accounts
    if (!MPESA) throw new Error('M-PESA is connected')
    const rounds: string[][] = []
    nextDayAt(4)
    for (let round = 0; round < 2; round += 1) {
      const urls: string[] = []
      rounds.push(urls)
      const account: typeof MPESA = {
        ...MPESA,
        requestBalances: async (_, { result }) => {
          urls.push(result)
          return { kind: 'accepted', provider: { request: null, conversation: null } }
        },
      }
      await requestBalances({ ...service.deps, rails: { ...rails, accounts: { MPESA: account } } })
      service.clock.advance(600)
    }
    const before = await runs()
    const answer = (url: string | undefined, minor = '0') => {
      const Value = `Working Account|KES|${minor}|${minor}|0.00|0.00&Charges Paid Account|KES|0.00|0.00|0.00|0.00`
      const ResultParameters = { ResultParameter: { Key: 'AccountBalance', Value } }
      return deliver(url ?? '', { Result: { ResultCode: 0, ResultParameters } })
    }
    for (const [, ...others] of rounds) for (const url of others) await answer(url)
    let answered: Promise<unknown> | undefined
    await service.deps.db.transaction(async (tx) => {
      await lockProvider(tx, 'MPESA')
      answered = Promise.all(rounds.map(([url]) => answer(url, (BigInt(stated_minor) / 100n).toString())))
      for (let waiting = 0; waiting < 2; ) waiting = (await service.deps.db.query(`select from ${waitingForLock}`)).length
    })
    await answered
    await service.settle()
    expect((await runs()).slice(0, -before.length)).toMatchObject([{ ...agrees, lines: 6, matched: 6 }])
  })

  test('that is negative says so', async () => {
    await nextMorning()
    const settle = await fetch(`${service.sandboxUrl}/control/settlements`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ account: '600998', amount_minor: '1000000000000000' }),
    })
    expect(settle.status).toBe(204)
    const { id, stated_minor } = await nextMorning()
    expect(stated_minor).toMatch(/^-/)
    const { data } = (await administered.admin.api.get(`/v1/admin/reconciliation-differences?reconciliation_id=${id}`)).body
    expect(data[0].reason).toMatch(/hold KES -[\d,]+\.\d\d, and KES [\d,]+\.\d\d was expected/)
  })
})

describe('a statement that covers the time of payments whose outcome is unknown, and that does not name them', () => {
  const lost = async (destination: string, amount: string): Promise<string> => {
    const beneficiary_id = await newBeneficiary(person.api, { payment_rail: 'MPESA_B2B', destination })
    service.sandbox.failNext({ kind: 'reset', takesEffect: false })
    const { id } = (await person.api.post('/v1/payments', { beneficiary_id, amount_minor: amount })).body
    await service.settle()
    return id
  }
  const printed = (at: Date) => new Date(at.getTime() + 3 * 3_600_000).toISOString().slice(0, 19).replace('T', ' ')
  const heading = (account: string) => [['Organization Name:,Sandbox'], [`Short Code:,${account}`], ['Account:,Working Account']]
  const columns =
    'Receipt No.,Completion Time,Details,Transaction Status,Paid In,Withdrawn,Other Party Info,Linked Transaction ID,A/C No.'
  let serial = 0
  /** Another payment to an organisation, which succeeds: a statement of the paying account lists both. */
  const neighbour = async (): Promise<string> => {
    const id = await pay(person, { payment_rail: 'MPESA_B2B', destination: '400299' })
    await service.settle()
    const { receipt = '', at = new Date() } = service.sandbox.movements().at(-1) ?? {}
    expect((await paymentOf(person, id)).provider_receipt).toBe(receipt)
    return `${receipt},${printed(at)},Business Pay Bill to 400***299,Completed,,-1500.00,400***299,,`
  }
  /** `around`: lines before and after. The last line is from five hours later. */
  const statementWith = (lines: readonly string[], around: readonly string[], account = '600997') => {
    serial += 1
    const last = `EDGE${serial}B,${printed(service.clock.now())},Pay Bill from 254***111,Completed,1.00,,254***111,,`
    return [...(account === '' ? [] : heading(account)), columns, ...around, ...lines, last].join('\n')
  }
  const differenceOf = async (payment: string) =>
    (await open('/v1/admin/reconciliation-differences')).find(
      (each: { payment_id: string | null }) => each.payment_id === payment,
    )
  const newest = async () => (await administered.admin.api.get('/v1/admin/reconciliations')).body.data[0]
  const resolve = (id: string, body: object) =>
    administered.admin.api.post(`/v1/admin/reconciliation-differences/${id}/resolve`, body as Record<string, unknown>)
  const later = async () => {
    await pass(service, 5 * 3_600)
    service.clock.advance(901)
  }
  /** A lost payment between other payments. */
  const lostAmongOthers = async (destinations: readonly (readonly [string, string])[]) => {
    const before = await neighbour()
    service.clock.advance(60)
    const sentAt = service.clock.now()
    const ids: string[] = []
    for (const [destination, amount] of destinations) ids.push(await lost(destination, amount))
    service.clock.advance(60)
    const after = await neighbour()
    await later()
    return { sentAt, ids, around: [before, after] }
  }

  test('offers failed where it lists nothing like it, succeeded for the one line that can be it, and nothing where two can', async () => {
    const { sentAt, ids, around } = await lostAmongOthers([
      ['400201', '150000'],
      ['400202', '130000'],
      ['400203', '120000'],
      ['400204', '110000'],
      ['400205', '140000'],
    ])
    const [nothing = '', alone = '', refused = '', doubled = '', ended = ''] = ids
    const line = (receipt: string, amount: string, party: string) =>
      `${receipt},${printed(sentAt)},Business Pay Bill to ${party},Completed,,-${amount},${party},,`
    await reconcile(
      statementWith(
        [
          line('ALONE00001', '1300.00', '400***202'),
          line('ALONE00001', '13.00', '400***202').replace('Pay Bill', 'Pay Bill Charge'),
          line('REFUSED001', '1200.00', '400***203'),
          line('DOUBLE0001', '1100.00', '400***204'),
          line('DOUBLE0002', '1100.00', '400***204'),
          line('OTHER00001', '1400.00', '400***205'),
        ],
        around,
      ),
    )
    expect(await newest()).toMatchObject({ account: '600997, Working Account', charges_minor: '-1300' })
    expect(await differenceOf(nothing)).toMatchObject({ kind: 'outcome_unknown', offered_outcome: 'failed' })
    expect(await differenceOf(alone)).toMatchObject({ offered_outcome: 'succeeded', provider_receipt: 'ALONE00001' })
    expect(await differenceOf(doubled)).toMatchObject({ offered_outcome: null, provider_receipt: null })

    const accept = { note: 'the statement of today', accept: true }
    expect((await resolve((await differenceOf(alone)).id, accept)).status).toBe(200)
    expect(await paymentOf(person, alone)).toMatchObject({ status: 'succeeded', provider_receipt: 'ALONE00001' })
    expect((await resolve((await differenceOf(nothing)).id, accept)).status).toBe(200)
    expect((await paymentOf(person, nothing)).status).toBe('failed')
    expect((await resolve((await differenceOf(doubled)).id, accept)).body.details.reason).toBe('no_offer')
    const otherwise = { outcome: 'succeeded', evidence: 'a call', provider_receipt: 'BYPHONE001' }
    expect((await administered.admin.api.post(`/v1/admin/payments/${ended}/resolve`, otherwise)).status).toBe(200)
    const contradicted = await resolve((await differenceOf(ended)).id, accept)
    expect([contradicted.status, contradicted.body.details.reason]).toEqual([409, 'provider_receipt'])
    expect(await differenceOf(ended)).toMatchObject({ resolved_at: null })
    // Now nothing explains the line's money.
    expect((await resolve((await differenceOf(ended)).id, { note: 'not that one' })).status).toBe(200)

    // The money is not that payment's after all: nothing explains it.
    expect((await resolve((await differenceOf(refused)).id, { note: 'another one' })).status).toBe(200)
    expect((await paymentOf(person, refused)).status).toBe('unknown')
    const receipts = (await open('/v1/admin/suspense')).map((each: { provider_receipt: string }) => each.provider_receipt)
    expect(receipts).toEqual(expect.arrayContaining(['REFUSED001', 'DOUBLE0001', 'DOUBLE0002', 'OTHER00001']))
    expect(receipts).not.toContain('ALONE00001')
    expect(await findBreaches(service)).toEqual([])
  })

  test('offers nothing, and says why, unless it is of the account that pays, lists others before and after, and goes on', async () => {
    const { ids, around } = await lostAmongOthers([['400207', '100000']])
    const [id = ''] = ids
    const [before = '', after = ''] = around
    const settings = { ...service.deps.config, RECONCILIATION_RESOLVES: true }
    const said = async (text: string) => {
      await reconcileStatement({ ...service.deps, config: settings }, shellOperator('a test'), {
        source: 's.csv',
        text,
      })
      const { unproven } = await newest()
      const difference = await differenceOf(id)
      expect(difference?.offered_outcome ?? null).toBeNull()
      expect((await paymentOf(person, id)).status).toBe('unknown')
      if (difference) await resolve(difference.id, { note: 'read' })
      return difference?.reason ?? unproven
    }
    expect(await said(statementWith([], around, ''))).toMatch(/does not name the account .* Export it with the lines above/)
    expect(await said(statementWith([], around, '174379'))).toMatch(
      /another account than 174379: import the statement of .*600997/,
    )
    expect(await said(statementWith([], around, '600998'))).toMatch(/another account than 600998/)
    for (const some of [[before], [after, `${before.slice(0, 10)},${after.slice(11)}`], []])
      expect(await said(statementWith([], some))).toMatch(/may not be complete|at a time that it does not cover/)
    expect(await said([...heading('600997'), columns, ...around].join('\n'))).toMatch(/covers for less than three hours/)
    const until = (day: string) =>
      statementWith([], around).replace('Account:', `Time Period:,From ${day} 00:00:00 To ${day} 00:00:01\nAccount:`)
    expect(await said(until('01-03-2026'))).toMatch(/at a time that it does not cover/)
    const [{ order } = { order: '' }] = await service.deps.db.query<{ order: string }>(
      'select reference as "order" from rail_attempts where subject_id = (select id from payments where amount_minor = 100000 order by created_at desc limit 1)',
    )
    for (const status of ['Failed', 'Pending', 'Cancelled'])
      expect(
        await said(
          statementWith([`NAMED00001,${before.split(',')[1]},Business Pay Bill ${order},${status},,-1.00,900***999,,`], around),
        ),
      ).toMatch(/names this payment/)
    expect(
      await said(statementWith([`LIKE000001,${after.split(',')[1]},Business Pay Bill,Pending,,-1000.00,400***207,,`], around)),
    ).toMatch(/lists something like it/)
    await expect(reconcile(statementWith([], around, '999999'))).rejects.toMatchObject({
      details: { fields: [{ path: 'file', message: expect.stringMatching(/statement of 999999, by which no money .* 600997/) }] },
    })
  })

  test('gives its receipt to a payment that a person has ended without one, and books nothing for it', async () => {
    const { sentAt, ids, around } = await lostAmongOthers([['400208', '160000']])
    const [id = ''] = ids
    const by = { outcome: 'succeeded', evidence: 'a call' }
    expect((await administered.admin.api.post(`/v1/admin/payments/${id}/resolve`, by)).status).toBe(200)
    expect((await paymentOf(person, id)).provider_receipt).toBeNull()
    const of = (receipt: string, payee: string) =>
      `${receipt},${printed(sentAt)},Business Pay Bill to ${payee},Completed,,-1600.00,${payee},,778899`
    await reconcile(statementWith([of('OTHERS0008', '400***209'), of('PAIRED0008', '400***208')], around))
    expect((await paymentOf(person, id)).provider_receipt).toBe('PAIRED0008')
    expect(await differenceOf(id)).toBeUndefined()
    const receipts = (await open('/v1/admin/suspense')).map((each: Json) => each.provider_receipt)
    expect([receipts.includes('OTHERS0008'), receipts.includes('PAIRED0008')]).toEqual([true, false])
    expect(await findBreaches(service)).toEqual([])
  })

  test('ends them without a person only where a setting says so', async () => {
    const { ids, around } = await lostAmongOthers([['400206', '90000']])
    const [id = ''] = ids
    const deps = { ...service.deps, config: { ...service.deps.config, RECONCILIATION_RESOLVES: true } }
    await reconcileStatement(deps, shellOperator('a test'), { source: 'whole.csv', text: statementWith([], around) })
    expect((await paymentOf(person, id)).status).toBe('failed')
    expect(await differenceOf(id)).toBeUndefined()
  })
})

describe('what a statement shows and the service does not book', () => {
  beforeEach(async () => {
    person = await signIn(service.api, person.wallet)
  })
  const differencesOf = async (id: string) =>
    (await open('/v1/admin/reconciliation-differences')).filter(
      ({ payment_id, topup_id }: Json) => payment_id === id || topup_id === id,
    )
  /** Reconciles a statement that has a shilling more for the last order. `undone`: the same amount also came back. */
  const reconcileAltered = async (undone = false) => {
    service.log.length = 0
    const [last] = service.sandbox.movements().slice(-1)
    if (!last) throw new Error('nothing moved')
    const [columns = '', line = ''] = statementCsv([last], 'MPESA').trimEnd().split('\n')
    const cells = columns.split(',')
    const amounts = [cells.indexOf('Paid In'), cells.indexOf('Withdrawn')]
    const values = line.split(',')
    const more = values.map((value, index) =>
      amounts.includes(index) && value !== '' ? value.replace(/(\d+)\./, '1501.') : value,
    )
    const [paidIn = 0, withdrawn = 0] = amounts
    const back = more.with(paidIn, '1501.00').with(withdrawn, '')
    return reconcile([columns, more.join(','), ...(undone ? [back.join(',')] : [])].join('\n'))
  }

  test('of a top-up that another amount came for, stays open, says both amounts and raises an alert', async () => {
    service.sandbox.rules.add({ effect: 'lose_callback', times: 1, delay_ms: 0 })
    const id = await initiate(person, '254722000051')
    await service.settle()
    const before = await balanceOf(person)
    await reconcileAltered()
    expect(await differencesOf(id)).toMatchObject([
      {
        kind: 'under_way',
        reason: 'The statement shows KES 1,501.00 for a top-up of KES 1,500.00 that is pending here.',
        action: expect.stringMatching(/nothing was booked for the top-up: .* suspense/),
        resolved_at: null,
      },
    ])
    expect(alerts(service)).toEqual(['evidence_mismatch', 'reconciliation_difference'])
    expect(await topupOf(person, id)).toMatchObject({ status: 'pending', failure_code: 'other_amount' })
    expect(await balanceOf(person)).toEqual(before)
  })

  test('of a payment that another amount left for, stays open, also in the next statement', async () => {
    service.sandbox.rules.add({ effect: 'lose_callback', times: 1, delay_ms: 0 })
    service.sandbox.failNext({ kind: 'reset', takesEffect: true })
    const id = await pay(person, { payment_rail: 'MPESA_B2B', destination: '400251' })
    await service.settle()
    await reconcileAltered()
    expect(await differencesOf(id)).toMatchObject([{ kind: 'under_way', stated_minor: '-150100' }])
    // A mismatch waits for a person or the rail's answer. A statement does not end it.
    await reconcile()
    expect(await differencesOf(id)).toHaveLength(2)
    expect((await paymentOf(person, id)).status).toBe('unknown')
  })

  test('of a payment that came back, is its return and no deposit, although the account number at the payee reads as a code', async () => {
    const account_reference = newDepositCode()
    const beneficiary_id = await newBeneficiary(person.api, {
      payment_rail: 'MPESA_B2B',
      destination: '400209',
      account_reference,
    })
    const header = 'Receipt No.,Completion Time,Details,Transaction Status,Paid In,Withdrawn,Linked Transaction ID,A/C No.\n'
    for (const isLinked of [true, false]) {
      const { id } = (await person.api.post('/v1/payments', { beneficiary_id, amount_minor: '150000' })).body
      await service.settle()
      const { provider_receipt } = await paymentOf(person, id)
      const time = service.clock.now().toISOString().slice(0, 19).replace('T', ' ')
      const [receipt, linked] = isLinked ? ['RVSLCODE01', provider_receipt] : [provider_receipt, '']
      await reconcile(`${header}${receipt},${time},Pay Bill reversal,Completed,1500.00,,${linked},${account_reference}\n`)
      expect((await paymentOf(person, id)).status).toBe('returned')
    }
    expect(await service.deps.db.query('select from deposits where reference = $1', [account_reference])).toEqual([])
  })

  test('of a payment of which another amount came back, stays open', async () => {
    const id = await pay(person, { payment_rail: 'MPESA_B2B', destination: '400252' })
    await service.settle()
    await reconcileAltered(true)
    const kinds = (await differencesOf(id)).map(({ kind }: Json) => kind).sort()
    expect(kinds).toEqual(['amount_differs', 'reversed'])
    expect((await paymentOf(person, id)).status).toBe('succeeded')
  })
})

describe('a payment that failed and that the provider paid later', () => {
  test('is found by its late receipt, is a difference until it is booked, matches afterwards, and puts nothing in suspense', async () => {
    person = await signIn(service.api, person.wallet)
    const { api } = administered.admin
    const id = await pay(person, { payment_rail: 'MPESA_B2B', destination: '9990001' })
    await service.settle()
    expect((await paymentOf(person, id)).status).toBe('failed')
    const receipt = 'LATEPAID01'
    await deliver(lastOrder(service).resultUrl, b2cResult(lastOrder(service), { receipt }))
    await service.settle()
    expect(await paymentOf(person, id)).toMatchObject({ status: 'failed', late_success: { receipt } })
    for (const printed of [receipt, receipt.toLowerCase()]) {
      const { data } = (await api.get(`/v1/admin/payments?provider_receipt=${printed}`)).body
      expect(data.map((each: Json) => each.id)).toEqual([id])
      expect(await traceByProviderName(service.deps.db, printed)).toMatchObject([{ providerReceipt: receipt, status: 'failed' }])
    }
    // The line names the payee's account, and nothing of ours.
    const statement = (time: string) =>
      `Receipt No.,Completion Time,Transaction Status,Paid In,Withdrawn,A/C No.\n${receipt},${time},Completed,,-1500.00,778899\n`
    const of = async () => (await open('/v1/admin/reconciliation-differences')).filter((each: Json) => each.payment_id === id)
    expect(await reconcile(statement('2026-03-04 20:00:00'))).toMatchObject({ matched: 0, differences: 1 })
    expect(await of()).toMatchObject([{ kind: 'ended_otherwise', provider_receipt: receipt }])
    expect((await api.post(`/v1/admin/payments/${id}/resolve`, { outcome: 'charged', evidence: 'the statement' })).status).toBe(
      200,
    )
    expect(await reconcile(statement('2026-03-04 20:00:01'))).toMatchObject({
      matched: 1,
      differences: 0,
      totals: { booked_minor: '-150000', stated_minor: '-150000' },
    })
    expect(await of()).toHaveLength(1)
    expect((await open('/v1/admin/suspense')).map((each: Json) => each.provider_receipt)).not.toContain(receipt)
  })

  test('and that only a statement shows as paid, has a late success, which an administrator books', async () => {
    person = await signIn(service.api, person.wallet)
    const id = await pay(person, { payment_rail: 'MPESA_B2C', destination: '254700000001' })
    await service.settle()
    expect(await paymentOf(person, id)).toMatchObject({ status: 'failed', late_success: null })
    const time = service.clock.now().toISOString().slice(0, 19).replace('T', ' ')
    const details = `Business Payment via API. Original conversation ID is ${lastOrder(service).key}.`
    await reconcile(
      `Receipt No.,Completion Time,Details,Transaction Status,Paid In,Withdrawn\nLATEPAID02,${time},${details},Completed,,-1500.00\n`,
    )
    expect(await paymentOf(person, id)).toMatchObject({
      status: 'failed',
      late_success: { receipt: 'LATEPAID02', amount_minor: '150000' },
    })
    const differences = await open('/v1/admin/reconciliation-differences')
    expect(differences.filter((each: Json) => each.payment_id === id)).toEqual([])
    const { api } = await signIn(service.api, administered.wallets[0])
    const charged = { outcome: 'charged', evidence: 'the statement' }
    expect((await api.post(`/v1/admin/payments/${id}/resolve`, charged)).status).toBe(200)
  })
})

test('a top-up that an operator was told to book is credited by no later statement: an adjustment claims no receipt', async () => {
  let admin = administered.admin
  const nextDay = async () => {
    nextDayAt(4)
    person = await signIn(service.api, person.wallet)
    admin = await signIn(service.api, administered.wallets[0])
  }
  const about = async (id: string) =>
    (await admin.api.get('/v1/admin/reconciliation-differences?status=open')).body.data.filter(
      (each: Json) => each.topup_id === id,
    )
  /** A statement that shows another amount is left to an operator. */
  const leftToOperator = async (amountMinor: bigint, from: string, to: string) => {
    const { id } = await paidAfterFailure(amountMinor)
    await reconcile(statementCsv(service.sandbox.movements().slice(-1), 'MPESA').replace(from, to))
    const [difference] = await about(id)
    expect(difference).toMatchObject({ kind: 'ended_otherwise', note: 'Not booked: mismatch.' })
    return { id, difference }
  }
  await nextDay()
  await reconcilePaidIn(service.deps)
  const { id: adjusted, difference } = await leftToOperator(150_000n, '1500.00', '1501.00')
  const path = `/v1/admin/reconciliation-differences/${difference.id}/resolve`
  expect((await admin.api.post(path, { note: 'credited by an adjustment' })).status).toBe(200)
  // The state in which release 0.4.0 left it.
  const { id: told } = await leftToOperator(160_000n, '1600.00', '1601.00')
  await service.deps.db.query('update reconciliation_differences set note = null, action = $1 where subject_id = $2', [
    'Book it: resolve the late success, or adjust the account.',
    parseId('topup', told),
  ])
  const before = await balanceOf(person)
  await nextDay()
  service.log.length = 0
  await reconcilePaidIn(service.deps)
  for (const id of [adjusted, told]) {
    expect((await about(id))[0]).toMatchObject({ kind: 'ended_otherwise', note: 'Not booked: inconclusive.' })
    expect((await topupOf(person, id)).status).toBe('failed')
  }
  expect([alerts(service), await balanceOf(person)]).toEqual([['reconciliation_difference'], before])
})
