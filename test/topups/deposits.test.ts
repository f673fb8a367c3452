import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { clearingTotals } from '../../dashboard/src/pages/reconciliation/clearing.ts'
import { inTx } from '../../src/db/client.ts'
import { statementCsv } from '../../src/dev/sandbox/control.ts'
import { trialBalance } from '../../src/ledger/reports.ts'
import { newDepositCode, readDepositCode } from '../../src/lib/deposit-code.ts'
import { formatId, newId, parseId } from '../../src/lib/ids.ts'
import type { DepositRail } from '../../src/lib/rail-names.ts'
import { findLostDeposits, settleDeposits } from '../../src/modules/deposits/deposit.ts'
import { checkRegistrations, depositUrls, registerAtEmulator, registerDeposits } from '../../src/modules/deposits/registration.ts'
import { reconcilePaidIn, reconcileStatement } from '../../src/modules/exceptions/reconciliation/service.ts'
import { shellOperator } from '../../src/modules/operators.ts'
import { recordSuspense, resolveSuspense } from '../../src/modules/suspense/service.ts'
import type { Console } from '../../src/operate/admin/console.ts'
import { railCommands } from '../../src/operate/admin/rails.ts'
import { type Administered, startAdministered } from '../admin/administrators.ts'
import type { Json } from '../harness/client.ts'
import { unguarded } from '../harness/money.ts'
import { createKey, type Person, signIn } from '../harness/people.ts'
import { startService, type TestService } from '../harness/service.ts'
import { findBreaches, findBreachesOf } from '../harness/verify.ts'
import { alerts, balanceOf, deliver, initiate, lastOrder, pass, stkCallback, topupOf } from '../rails-flows/scene.ts'
import { createTeam, join } from '../workspaces/team.ts'

let administered: Administered
let service: TestService
let person: Person
beforeAll(async () => {
  administered = await startAdministered()
  service = administered.service
  await registerAtEmulator(service.deps)
})
beforeEach(async () => {
  person = await signIn(service.api)
  service.sandbox.rules.clear()
})
afterAll(async () => {
  // Seals the past days here, as the regular job does elsewhere.
  await pass(service, 1)
  expect(await findBreaches(service)).toEqual([])
  await service.close()
})

const ask = async (body: object = { method: 'MPESA_PAYBILL' }) => {
  const answer = await person.api.post('/v1/topups/initiate', body)
  expect(answer.status).toBe(201)
  return answer.body
}
/** Pays in at the emulated provider, and returns its answer. */
const payIn = async (reference: string, more: object = {}, at = service) => {
  const answer = await fetch(`${at.sandboxUrl}/control/deposits`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ reference, amount_minor: '500000', ...more }),
  })
  const body = (await answer.json()) as { receipt: string; error?: string }
  await at.settle()
  return { status: answer.status, ...body }
}
const openSuspense = async () => (await administered.admin.api.get('/v1/admin/suspense?status=open')).body.data
const urlOf = (kind: 'confirmation' | 'validation' = 'confirmation') =>
  depositUrls(service.operatorUrl, service.deps.derivations, 'MPESA_PAYBILL')[kind]
const notice = (fields: object) => ({
  TransactionType: 'Pay Bill',
  TransID: 'SGH0000001',
  TransTime: '20260304120000',
  TransAmount: '5000.00',
  BusinessShortCode: '174379',
  BillRefNumber: '',
  MSISDN: '2547 ***** 000',
  FirstName: 'JANE',
  MiddleName: '',
  LastName: 'DOE',
  ...fields,
})

describe('the account number of a deposit', () => {
  test('is nine digits whose last one checks the others: no single wrong digit and no two swapped neighbours pass', () => {
    for (let round = 0; round < 50; round += 1) {
      const code = newDepositCode()
      expect(code).toMatch(/^[1-9]\d{8}$/)
      for (let index = 0; index < 9; index += 1) {
        for (const digit of '0123456789')
          if (digit !== code[index]) expect(readDepositCode(code.slice(0, index) + digit + code.slice(index + 1))).toBeUndefined()
        const [one = '', two = ''] = code.slice(index, index + 2)
        if (index < 8 && one !== two)
          expect(readDepositCode(code.slice(0, index) + two + one + code.slice(index + 2))).toBeUndefined()
      }
    }
  })
  test('is read however a person types it', () => {
    const code = newDepositCode()
    const written = `${code.slice(0, 3)} ${code.slice(3, 6)}-${code.slice(6)} `
    expect(readDepositCode(written.replace('0', 'o').replace('1', 'l'))).toBe(code)
  })
})

test('a deposit needs no phone and no amount, and says at once where to pay in', async () => {
  const topup = await ask()
  expect(topup).toMatchObject({
    status: 'pending',
    amount_minor: null,
    received_minor: null,
    method: 'MPESA_PAYBILL',
    phone_number_mask: null,
    instructions: { paybill: '174379', account_number: expect.stringMatching(/^\d{9}$/) },
    expires_at: new Date(service.clock.now().getTime() + 7 * 86_400_000).toISOString(),
  })
  expect(await ask({ method: 'PESALINK', amount_minor: '700000' })).toMatchObject({
    amount_minor: '700000',
    instructions: { bank_code: '68', account_number: '1450160649886', reference: expect.stringMatching(/^\d{9}$/) },
  })
})

test('a prompt still needs both, and a deposit accepts a phone without using it', async () => {
  const refused = async (body: object) => (await person.api.post('/v1/topups/initiate', body)).body.details.fields
  expect(await refused({})).toMatchObject([{ path: 'amount_minor' }, { path: 'phone_number' }])
  expect(await ask({ method: 'MPESA_PAYBILL', phone_number: '0712345678' })).toMatchObject({ phone_number_mask: null })
})

test.each(['MPESA_PAYBILL', 'PESALINK'] as const)('any amount paid in by %s is credited, and ends the top-up', async (method) => {
  const { id, instructions } = await ask({ method, amount_minor: '100000' })
  const code = instructions.reference ?? instructions.account_number
  const before = (await person.api.get('/v1/notifications?limit=1')).body.data[0].id
  const { status, receipt } = await payIn(` ${code.slice(0, 4)} ${code.slice(4)}`, { method, amount_minor: '123400' })
  expect(status).toBe(201)
  expect(await topupOf(person, id)).toMatchObject({
    status: 'succeeded',
    amount_minor: '100000',
    received_minor: '123400',
    provider_receipt: receipt,
  })
  expect(await balanceOf(person)).toEqual({ available: '123400', held: '0' })
  const events = (await person.api.get('/v1/notifications?after=' + before)).body.data
  expect(events.map(({ type }: { type: string }) => type).sort()).toEqual(['balance.updated', 'topup.succeeded'])
})

test('later deposits under the same account number are credited too, and stand in the history', async () => {
  const { id, instructions } = await ask()
  const first = await payIn(instructions.account_number)
  await payIn(instructions.account_number, { amount_minor: '20000' })
  expect(await topupOf(person, id)).toMatchObject({ received_minor: '500000', provider_receipt: first.receipt })
  expect(await balanceOf(person)).toEqual({ available: '520000', held: '0' })
  const { data } = (await person.api.get('/v1/accounts/me/history?type=topup')).body
  expect(
    data.map(({ amount_minor, reference }: { amount_minor: string; reference: { id: string } }) => [amount_minor, reference.id]),
  ).toEqual([
    ['20000', id],
    ['500000', id],
  ])
})

describe('what a provider tells wrongly moves nothing twice and nothing to a stranger', () => {
  test('told three times, credited once', async () => {
    const { instructions } = await ask()
    await payIn(instructions.account_number, { phone_number: '254711000002' })
    expect(await balanceOf(person)).toEqual({ available: '500000', held: '0' })
  })
  test('two confirmations at once are one', async () => {
    const { instructions } = await ask()
    const body = notice({ TransID: 'SGHTWICE01', BillRefNumber: instructions.account_number })
    await Promise.all([deliver(urlOf(), body), deliver(urlOf(), body), deliver(urlOf(), body)])
    expect(await balanceOf(person)).toEqual({ available: '500000', held: '0' })
  })
  test('a forged one, with another secret, is answered alike and not believed', async () => {
    const { instructions } = await ask()
    const forged = urlOf().replace(/[0-9a-f]{64}/, (secret) => secret.replaceAll(/./g, 'a'))
    const answer = await deliver(forged, notice({ TransID: 'SGHFORGED1', BillRefNumber: instructions.account_number }))
    expect(answer).toEqual(await deliver(urlOf(), notice({ TransID: 'SGHOWN0001', BillRefNumber: instructions.account_number })))
    expect(await balanceOf(person)).toEqual({ available: '500000', held: '0' })
  })
  test('one for another paybill, or without a receipt, is not booked, and a person is told', async () => {
    const { instructions } = await ask()
    const before = alerts(service).length
    await deliver(urlOf(), notice({ BusinessShortCode: '600000', BillRefNumber: instructions.account_number }))
    await deliver(urlOf(), notice({ TransID: '', BillRefNumber: instructions.account_number }))
    expect(await balanceOf(person)).toEqual({ available: '0', held: '0' })
    expect(alerts(service).slice(before)).toEqual(['suspense', 'suspense'])
  })
})

test('the public listener does not serve the addresses of providers', async () => {
  const path = new URL(urlOf()).pathname
  expect((await service.api.post(path, notice({}))).status).toBe(404)
})

test('asked beforehand, an account number that nothing here has is refused, and no money moves', async () => {
  const { instructions } = await ask()
  const wrong = instructions.account_number.replace(/.$/, (digit: string) => String((Number(digit) + 1) % 10))
  expect(await payIn(wrong)).toMatchObject({ status: 409, error: 'rejected' })
  const validated = await deliver(urlOf('validation'), notice({ BillRefNumber: wrong }))
  expect(JSON.parse(validated.body)).toEqual({ ResultCode: 'C2B00012', ResultDesc: 'Rejected' })
  expect(service.sandbox.movements().some(({ reference }) => reference === wrong)).toBe(false)
})

describe('a confirmation that is lost', () => {
  test('is found in the list of the last hours', async () => {
    const { id, instructions } = await ask()
    await payIn(instructions.account_number, { phone_number: '254711000001' })
    expect((await topupOf(person, id)).status).toBe('pending')
    service.clock.advance(60)
    await findLostDeposits(service.deps)
    expect(await topupOf(person, id)).toMatchObject({ status: 'succeeded', received_minor: '500000' })
    await findLostDeposits(service.deps)
    expect(await balanceOf(person)).toEqual({ available: '500000', held: '0' })
  })
  test('is found in the list also under an account number that was paid before, although no deposit is awaited', async () => {
    const other = await startService()
    await registerAtEmulator(other.deps)
    const someone = await signIn(other.api)
    const { id, instructions } = (await someone.api.post('/v1/topups/initiate', { method: 'MPESA_PAYBILL' })).body
    await payIn(instructions.account_number, {}, other)
    expect((await topupOf(someone, id)).status).toBe('succeeded')
    await payIn(instructions.account_number, { phone_number: '254711000001' }, other)
    expect(await balanceOf(someone)).toEqual({ available: '500000', held: '0' })
    other.clock.advance(60)
    await findLostDeposits(other.deps)
    expect(await balanceOf(someone)).toEqual({ available: '1000000', held: '0' })
    await other.close()
  })
  test('is found beside an entry of the list that cannot be read', async () => {
    const { id, instructions } = await ask()
    await payIn(instructions.account_number, { phone_number: '254711000001' })
    service.clock.advance(60)
    const { receipt, amountMinor, at } = service.sandbox.movements().at(-1) ?? {}
    const row = { transactionId: receipt, trxDate: at?.toISOString(), billreference: instructions.account_number }
    const rows = [
      { ...row, amount: `${Number(amountMinor) / 100}.00` },
      { ...row, transactionId: 'SGHODD0001', amount: 'ten' },
    ]
    service.sandbox.failNext({
      kind: 'answer',
      takesEffect: false,
      status: 200,
      body: { ResponseCode: '1000', Response: [rows] },
    })
    await findLostDeposits(service.deps)
    expect(await topupOf(person, id)).toMatchObject({ status: 'succeeded', received_minor: '500000' })
    expect(await balanceOf(person)).toEqual({ available: '500000', held: '0' })
  })
  test('is found in an imported statement, and is no difference there', async () => {
    const topup = await ask({ method: 'PESALINK' })
    const { receipt } = await payIn(topup.instructions.reference, { method: 'PESALINK', phone_number: '254711000001' })
    service.clock.advance(60)
    const [header, ...lines] = statementCsv(service.sandbox.movements(), 'PESALINK').trimEnd().split('\n')
    const text = [header, ...lines.filter((line) => line.includes(receipt))].join('\n')
    const run = await reconcileStatement(service.deps, shellOperator('a test'), { source: 'bank.csv', text })
    expect(run).toMatchObject({ lines: 1, matched: 1, differences: 0 })
    expect(await balanceOf(person)).toEqual({ available: '500000', held: '0' })
  })
})

describe('what a statement lists without its account number, before its notice comes', () => {
  const early = (receipt: string) =>
    reconcileStatement(service.deps, shellOperator('a test'), {
      source: `${receipt}.csv`,
      text: `Receipt No.,Completion Time,Details,Transaction Status,Paid In,Withdrawn\n${receipt},2026-03-04 12:00:00,Pay Bill,Completed,5000.00,`,
    })
  const itemsOf = async (receipt: string, status = '') =>
    (await administered.admin.api.get(`/v1/admin/suspense?limit=100${status}`)).body.data.filter(
      (item: { provider_receipt: string | null }) => item.provider_receipt?.toUpperCase() === receipt,
    )
  const inSuspense = async () => {
    const line = (await trialBalance(service.deps.db)).find(({ code }) => code === 'suspense')
    return (line?.creditsMinor ?? 0n) - (line?.debitsMinor ?? 0n)
  }

  test.each([
    ['as the notice has it', 'SGHEARLY01', 'SGHEARLY01'],
    ['in another case', 'sghearly02', 'SGHEARLY02'],
  ])('leaves suspense when its notice names the account, and the log tells of it: %s', async (_, printed, receipt) => {
    const { id, instructions } = await ask()
    await early(printed)
    const [item, ...others] = await itemsOf(receipt, '&status=open')
    expect([item, others]).toMatchObject([{ reason: 'not_in_our_books', booked: true }, []])
    await deliver(urlOf(), notice({ TransID: receipt, BillRefNumber: instructions.account_number }))
    expect(await balanceOf(person)).toEqual({ available: '500000', held: '0' })
    expect(await itemsOf(receipt)).toMatchObject([{ id: item.id, outcome: 'assigned', resolved_by: 'rail:delivery' }])
    const { body } = await administered.admin.api.get(`/v1/admin/audit-log?subject_id=${item.id}&action=admin.assign_suspense`)
    expect(body.data).toMatchObject([
      {
        account_id: null,
        credential: { kind: 'rail:delivery', id: null },
        after: { account_id: person.accountId, topup_id: id, note: expect.any(String) },
      },
    ])
  })

  const oneByOne = async (...printed: string[]) => {
    for (const each of printed) await early(each)
  }
  /** The form in which an earlier version wrote it. */
  const asBefore = (receipt: string) =>
    unguarded(
      service,
      `update suspense_items set fingerprint = concat_ws(':', rail, reason, '', provider_receipt) where provider_receipt = $1`,
      [receipt],
    )
  test.each([
    ['in capitals first', 'SGHTWO0001', (upper: string, lower: string) => oneByOne(upper, lower)],
    ['in small letters first', 'SGHTWO0002', (upper: string, lower: string) => oneByOne(lower, upper)],
    ['both at once', 'SGHTWO0003', (upper: string, lower: string) => Promise.all([early(upper), early(lower)])],
    [
      'the first one in small letters, by a version before',
      'SGHTWO0004',
      async (upper: string, lower: string) => {
        await oneByOne(lower)
        await asBefore(lower)
        await oneByOne(upper)
      },
    ],
    [
      'the first one in capitals, by a version before',
      'SGHTWO0005',
      async (upper: string, lower: string) => {
        await oneByOne(upper)
        await asBefore(upper)
        await oneByOne(lower)
      },
    ],
  ])('is one item, booked once, where two of them print its receipt in two cases: %s', async (_, receipt, compare) => {
    const { instructions } = await ask()
    const before = await inSuspense()
    await compare(receipt, receipt.toLowerCase())
    expect(await itemsOf(receipt)).toMatchObject([{ reason: 'not_in_our_books', booked: true, outcome: null }])
    expect(await inSuspense()).toBe(before + 500_000n)
    await deliver(urlOf(), notice({ TransID: receipt, BillRefNumber: instructions.account_number }))
    expect(await balanceOf(person)).toEqual({ available: '500000', held: '0' })
    expect(await itemsOf(receipt)).toMatchObject([{ outcome: 'assigned' }])
    expect(await inSuspense()).toBe(before)
  })
  test('is one item also where the money left', async () => {
    const out = (receipt: string) =>
      reconcileStatement(service.deps, shellOperator('a test'), {
        source: `${receipt}.csv`,
        text: `Receipt No.,Completion Time,Details,Transaction Status,Paid In,Withdrawn\n${receipt},2026-03-04 12:00:00,Business Payment,Completed,,5000.00`,
      })
    await Promise.all([out('sghtwo0006'), out('SGHTWO0006')])
    expect(await itemsOf('SGHTWO0006')).toMatchObject([{ direction: 'out', amount_minor: '500000', booked: true }])
  })
})

test('a notice of money that cannot be read is kept and waits in suspense, once; a receipt in another case is the same deposit', async () => {
  const { instructions } = await ask()
  const unread = notice({ TransID: 'SGHUNREAD1', BillRefNumber: instructions.account_number, TransAmount: 'ten' })
  const kept = async () => (await service.deps.db.query("select from callback_deliveries where kind = 'deposit'")).length
  const items = async () =>
    (await administered.admin.api.get('/v1/admin/suspense?status=open')).body.data.filter(
      ({ reason }: { reason: string }) => reason === 'unbookable_delivery',
    )
  const [before, earlier] = [await kept(), await items()]
  for (let time = 0; time < 3; time += 1) await deliver(urlOf(), unread)
  expect([await kept(), (await items()).length]).toEqual([before + 1, earlier.length + 1])
  const [item] = await items()
  expect(item).toMatchObject({ direction: 'in', amount_minor: null, booked: false })
  const shown = await railCommands['suspense show'].run({ deps: service.deps } as unknown as Console, [item.id], {})
  expect(shown).toMatchObject({ id: item.id, told: expect.stringContaining('SGHUNREAD1') })
  for (const TransID of ['SGHCASE001', 'sghcase001'])
    await deliver(urlOf(), notice({ TransID, BillRefNumber: instructions.account_number, TransAmount: '50.00' }))
  expect(await balanceOf(person)).toEqual({ available: '5000', held: '0' })
})

test('an unreadable notice is booked only under its receipt: money that the provider’s list has credited is not credited again', async () => {
  const { instructions } = await ask()
  const { receipt } = await payIn(instructions.account_number, { phone_number: '254711000001' })
  const unreadable = (fields: object) =>
    deliver(urlOf(), notice({ BillRefNumber: instructions.account_number, TransAmount: 'ten', ...fields }))
  await unreadable({ TransID: receipt })
  const [item] = await openSuspense()
  expect(item).toMatchObject({ reason: 'unbookable_delivery', provider_receipt: receipt })
  service.clock.advance(60)
  await findLostDeposits(service.deps)
  expect(await balanceOf(person)).toEqual({ available: '500000', held: '0' })
  const enter = (id: string, more: object = {}) =>
    administered.admin.api.post(`/v1/admin/suspense/${id}/amount`, { amount_minor: '10000', note: 'the portal', ...more })
  expect((await enter(item.id)).body.details).toMatchObject({ reason: 'provider_receipt' })
  expect((await enter(item.id, { provider_receipt: 'SGHOTHER01' })).body.details).toMatchObject({ param: 'provider_receipt' })

  await unreadable({ TransID: 'no receipt' })
  const [nameless] = await openSuspense()
  expect(nameless).toMatchObject({ reason: 'unbookable_delivery', provider_receipt: null })
  expect((await enter(nameless.id)).body.details).toMatchObject({ param: 'provider_receipt' })
  expect((await enter(nameless.id, { provider_receipt: receipt })).body.details).toMatchObject({ reason: 'provider_receipt' })
  const entered = await enter(nameless.id, { provider_receipt: 'SGHNAMED01' })
  expect(entered).toMatchObject({ status: 200, body: { provider_receipt: 'SGHNAMED01', amount_minor: '10000', booked: true } })

  await unreadable({ TransID: 'SGHSPELT01' })
  const [spelt] = await openSuspense()
  expect((await enter(spelt.id, { provider_receipt: 'sghspelt01' })).body).toMatchObject({ provider_receipt: 'SGHSPELT01' })
  expect((await findBreaches(service)).filter((breach) => breach.includes('suspense_items'))).toEqual([])

  // An item of release 0.4.0.
  const recorded = { rail: 'MPESA_PAYBILL', direction: 'in', reason: 'unbookable_delivery', book: false } as const
  await inTx(service.deps.db, (tx) => recordSuspense(tx, { ...recorded, receipt: 'notice 0123456789ab' }))
  const [digested] = await openSuspense()
  for (const more of [{}, { provider_receipt: 'SGHNAMED02' }])
    expect((await enter(digested.id, more)).body).toMatchObject({
      message: expect.stringContaining('resolve this item as explained'),
      details: { reason: 'not_assignable' },
    })
  const resolved = await administered.admin.api.post(`/v1/admin/suspense/${digested.id}/resolve`, {
    outcome: 'explained',
    note: 'listed under its receipt',
  })
  expect(resolved.status).toBe(200)
  expect(await balanceOf(person)).toEqual({ available: '500000', held: '0' })
})

test('a confirmation that could not be booked is booked by the next sweep', async () => {
  const { instructions } = await ask()
  await service.deps.db.query('alter table ledger_transfers rename to ledger_transfers_away')
  const answer = await deliver(urlOf(), notice({ TransID: 'SGHLATER01', BillRefNumber: instructions.account_number })).finally(
    () => service.deps.db.query('alter table ledger_transfers_away rename to ledger_transfers'),
  )
  expect(JSON.parse(answer.body)).toEqual({ ResultCode: 0, ResultDesc: 'Accepted' })
  service.clock.advance(10)
  await settleDeposits(service.deps)
  expect(await balanceOf(person)).toEqual({ available: '500000', held: '0' })
})

test('a notice about a prompt’s own payment is evidence for the prompt, and no second credit', async () => {
  const id = await initiate(person, '254711000001')
  await service.settle()
  const order = lastOrder(service)
  const told = notice({ TransID: order.receipt, TransAmount: '1500.00', BillRefNumber: order.reference })
  await deliver(urlOf(), told)
  await deliver(urlOf(), told)
  expect(await topupOf(person, id)).toMatchObject({
    status: 'succeeded',
    provider_receipt: order.receipt,
    received_minor: '150000',
  })
  expect(await balanceOf(person)).toEqual({ available: '150000', held: '0' })
})

test('a second payment of a prompt is given to its account: the prompt has its money already', async () => {
  const id = await initiate(person, '254711000001')
  await service.settle()
  const { receipt, reference } = lastOrder(service)
  for (const TransID of [receipt, 'SGHAGAIN01'])
    await deliver(urlOf(), notice({ TransID, TransAmount: '1500.00', BillRefNumber: reference }))
  const item = (await openSuspense()).find((one: { provider_receipt: string }) => one.provider_receipt === 'SGHAGAIN01')
  expect(item).toMatchObject({ reason: 'contradiction', booked: true, topup_id: id })
  const assign = (body: object) =>
    administered.admin.api.post(`/v1/admin/suspense/${item.id}/assign`, { note: 'paid twice', ...body })
  const refused = await assign({ topup_id: id })
  expect([refused.status, refused.body.message]).toEqual([409, expect.stringContaining('name the account')])
  expect(refused.body.details.reason).toBe('not_assignable')
  expect((await assign({ account_id: person.accountId })).body).toMatchObject({ outcome: 'assigned' })
  expect(await balanceOf(person)).toEqual({ available: '300000', held: '0' })
  // Another day: later tests need the administrator's daily amount.
  service.clock.advance(86_401)
})

test('a notice that proves a prompt that was reported as failed is its settlement', async () => {
  const id = await initiate(person, '254700004999')
  await service.settle()
  const order = lastOrder(service)
  await deliver(order.resultUrl, stkCallback(order, { code: 1037 }))
  await service.settle()
  expect((await topupOf(person, id)).status).toBe('failed')
  service.clock.advance(1)
  await deliver(urlOf(), notice({ TransID: 'SGHPROOF01', TransAmount: '1500.00', BillRefNumber: order.reference }))
  expect((await topupOf(person, id)).status).toBe('succeeded')
  expect(await findBreachesOf(service, service.deps.db, 'every settlement by a callback has that callback')).toEqual([])
})

test('a bank’s notice of a debit, or of a payment that was not made, is no suspense; one with an unknown status is', async () => {
  const count = async () => [(await openSuspense()).length, alerts(service).length]
  const [items = 0, told = 0] = await count()
  const say = (status: string, transactionType = 'C') =>
    deliver(depositUrls(service.operatorUrl, service.deps.derivations, 'PESALINK').confirmation, {
      transaction: { date: '2026-03-04 12:00:00', amount: '100.00', status, remarks: 'RENT' },
      bank: { reference: `BANK${status}`, transactionType, account: '1450160649886' },
    })
  for (const answer of [await say('SUCCESS', 'D'), await say('FAILED'), await say('PENDING')]) expect(answer.status).toBe(200)
  expect(await count()).toEqual([items, told])
  await say('ODD')
  expect(await count()).toEqual([items + 1, told + 1])
})

describe('a bank’s notice', () => {
  const say = (receipt: string, reference: string, fields: object) =>
    deliver(depositUrls(service.operatorUrl, service.deps.derivations, 'PESALINK').confirmation, {
      transaction: { date: '2026-03-04 12:00:00', amount: '100.00', status: 'SUCCESS', billNumber: reference, ...fields },
      bank: { reference: receipt, transactionType: 'C', account: '1450160649886' },
    })

  test('states its time in the zone that it names, or else in Nairobi’s', async () => {
    const { instructions } = await ask({ method: 'PESALINK' })
    const times = ['2026-03-04T09:00:00Z', '2026-03-04T12:00:00+03:00', '2026-03-04 12:00:00']
    for (const [index, date] of times.entries()) await say(`BANKZONE${index}`, instructions.reference, { date })
    const paidAt = await service.deps.db.query<{ at: Date }>(
      `select distinct paid_at as at from deposits where receipt like 'BANKZONE%'`,
    )
    expect(paidAt.map(({ at }) => at.toISOString())).toEqual(['2026-03-04T09:00:00.000Z'])
  })

  test('of money in another currency credits nothing, is kept, and is told to an administrator', async () => {
    const { instructions } = await ask({ method: 'PESALINK' })
    const items = (await openSuspense()).length
    await say('BANKUSD001', instructions.reference, { currency: 'USD' })
    expect(await balanceOf(person)).toEqual({ available: '0', held: '0' })
    const [item, ...others] = await openSuspense()
    expect([item, others.length]).toMatchObject([{ reason: 'unbookable_delivery', amount_minor: null, booked: false }, items])
    await say('BANKKES001', instructions.reference, { currency: 'KES' })
    expect(await balanceOf(person)).toEqual({ available: '10000', held: '0' })
  })
})

describe('money under a reference that nothing here has', () => {
  const stray = async (receipt: string, amount = '5000.00') => {
    await deliver(urlOf(), notice({ TransID: receipt, TransAmount: amount, BillRefNumber: 'RENT MARCH' }))
    return (await openSuspense()).find(({ provider_receipt }: { provider_receipt: string }) => provider_receipt === receipt)
  }
  const assign = (id: string, body: object, api = administered.admin.api) =>
    api.post(`/v1/admin/suspense/${id}/assign`, { note: 'the payer called', ...body })

  test('waits in suspense with the sender’s name, and an administrator gives it to its account in one step', async () => {
    const item = await stray('SGHSTRAY01')
    expect(item).toMatchObject({
      reason: 'unknown_reference',
      sender_name: 'JANE DOE',
      payment_reference: 'RENT MARCH',
      amount_minor: '500000',
      booked: true,
    })
    expect((await assign(item.id, { account_id: person.accountId, note: 'the payer\u202e called' })).status).toBe(400)
    const { body } = await assign(item.id, { account_id: person.accountId })
    expect(body).toMatchObject({ outcome: 'assigned', note: 'the payer called' })
    expect(await balanceOf(person)).toEqual({ available: '500000', held: '0' })
    expect((await assign(item.id, { account_id: person.accountId })).status).toBe(409)
    expect(await balanceOf(person)).toEqual({ available: '500000', held: '0' })
  })
  test('is compared without a top-up, and matches both its lines once an administrator has sent it back', async () => {
    const differences = async (line: string) => {
      const header = 'Receipt No.,Completion Time,Transaction Status,Paid In,Withdrawn,Linked Transaction ID\n'
      const text = `${header}SGHSTRAY19,2026-03-04 12:00:00,Completed,${line}\n`
      const run = await reconcileStatement(service.deps, shellOperator('a test'), { source: 'portal.csv', text })
      const path = `/v1/admin/reconciliation-differences?reconciliation_id=${formatId('reconciliation', run.id)}`
      const { data } = (await administered.admin.api.get(path)).body
      return data.filter((each: Json) => ['SGHSTRAY19', 'SGHBACK019'].includes(each.provider_receipt))
    }
    const item = await stray('SGHSTRAY19', '50.00')
    expect(await differences('60.00,,')).toMatchObject([{ kind: 'amount_differs', topup_id: null }])
    const back = { outcome: 'reversed', note: 'sent back in the portal' } as const
    const [id, { db, config }] = [parseId('suspense', item.id), service.deps]
    await inTx(db, (tx) => resolveSuspense(tx, config, shellOperator('another person'), id ?? newId(), back))
    const reversal = 'SGHBACK019,2026-03-04 12:30:00,Completed,,-50.00,SGHSTRAY19'
    expect(await differences(`50.00,,\n${reversal}`)).toEqual([])
    const receipts = (await openSuspense()).map((each: Json) => each.provider_receipt)
    expect(receipts).not.toContain('SGHBACK019')
  })
  test('is counted once in what the provider holds, as the dashboard sums it', async () => {
    const totals = async () => {
      const { body } = await administered.admin.api.get('/v1/admin/ledger/trial-balance')
      const read = new Map(clearingTotals(body.lines))
      return ['Left at the providers', 'Of which in suspense'].map((name) => BigInt(read.get(name) ?? ''))
    }
    const [left = 0n, waiting = 0n] = await totals()
    await stray('SGHSTRAY08')
    expect(await totals()).toEqual([left + 500_000n, waiting + 500_000n])
  })
  test('can be given to the top-up that the payer meant, which it ends', async () => {
    const { id } = await ask()
    const item = await stray('SGHSTRAY02')
    const { status, body } = await assign(item.id, { topup_id: id })
    expect(status).toBe(200)
    expect(body).toMatchObject({ outcome: 'assigned', sender_name: 'JANE DOE', payment_reference: 'RENT MARCH' })
    expect(await topupOf(person, id)).toMatchObject({
      status: 'succeeded',
      received_minor: '500000',
      provider_receipt: 'SGHSTRAY02',
    })
    expect(await balanceOf(person)).toEqual({ available: '500000', held: '0' })
  })
  test('is never given to the administrator, and above the sum for one it needs a second', async () => {
    const own = await stray('SGHSTRAY03')
    expect((await assign(own.id, { account_id: administered.admin.accountId })).body.error).toBe('separation_of_duties')
    const large = await stray('SGHSTRAY04', '10001.00')
    expect((await assign(large.id, { account_id: person.accountId })).body.error).toBe('separation_of_duties')
    expect((await assign(own.id, {})).status).toBe(400)
    expect((await assign(own.id, { account_id: person.accountId }, person.api)).status).toBe(403)
    expect(await balanceOf(person)).toEqual({ available: '0', held: '0' })
  })
  test('goes to a team’s balance by its workspace, never to a team of the administrator, and to one place alone', async () => {
    // Another day, because the administrator's daily amount is used up.
    service.clock.advance(86_400)
    const team = await createTeam(service)
    const item = await stray('SGHSTRAY09')
    const both = { account_id: person.accountId, workspace_id: team.id }
    expect([(await assign(item.id, both)).status, (await assign(item.id, {})).status]).toEqual([400, 400])
    const member = await join(service, team, 'viewer', administered.admin.wallet)
    expect((await assign(item.id, { workspace_id: team.id })).body.error).toBe('separation_of_duties')
    await team.owner.api.delete(`/v1/workspaces/current/members/${member.memberId}`)
    expect((await assign(item.id, { workspace_id: team.id })).body).toMatchObject({ outcome: 'assigned' })
    const { body } = await team.owner.api.get('/v1/workspaces/current')
    expect(body.workspace.balance).toMatchObject({ available_minor: '500000' })
    expect([(await balanceOf(person)).available, (await balanceOf(team.owner)).available]).toEqual(['0', '0'])
  })
  test('counts in the one sum of what an administrator moves within a day, with adjustments', async () => {
    service.clock.advance(86_401)
    const adjusted = await administered.admin.api.post('/v1/admin/adjustments', {
      account_id: person.accountId,
      direction: 'credit',
      amount_minor: '400000',
      reason: 'a deposit of last week',
    })
    expect(adjusted.body.status).toBe('posted')
    const items = [await stray('SGHSTRAY05'), await stray('SGHSTRAY06', '1000.00'), await stray('SGHSTRAY07', '0.01')]
    const [half, rest, last] = items.map((item) => item?.id)
    expect((await assign(half, { account_id: person.accountId })).status).toBe(200)
    expect((await assign(rest, { account_id: person.accountId })).status).toBe(200)
    const { status, body } = await assign(last, { account_id: person.accountId })
    expect([status, body.error]).toEqual([403, 'separation_of_duties'])
    const waits = { account_id: person.accountId, direction: 'credit', amount_minor: '1', reason: 'the last cent' }
    expect((await administered.admin.api.post('/v1/admin/adjustments', waits)).body.status).toBe('pending')
    service.clock.advance(86_401)
    expect((await assign(last, { account_id: person.accountId })).status).toBe(200)
  })
})

describe('the registration of our addresses', () => {
  const rail = 'MPESA_PAYBILL'
  const problem = async () => (await checkRegistrations(service.deps, [rail]))[0]?.problem
  const forget = () => unguarded(service, 'delete from deposit_registrations where rail = $1', [rail])

  test('that the provider has already counts, and is told to an operator who did not know of it', async () => {
    const done = { problem: null, step: null }
    expect(await registerDeposits(service.deps, rail)).toEqual(done)
    await forget()
    expect(await problem()).toMatch(/no address was registered/)
    expect(await registerDeposits(service.deps, rail)).toEqual({
      problem: null,
      step: expect.stringMatching(/"Urls are already registered".*pay in a small amount/),
    })
    expect(await problem()).toBeNull()
    expect(await registerDeposits(service.deps, rail)).toEqual(done)
  })

  test('counts although the list of payments is not registered, which the next run registers', async () => {
    const adapter = service.deps.rails.deposits[rail]
    if (!adapter) throw new Error('deposits are switched off')
    const answering = (register: typeof adapter.register) => ({
      ...service.deps,
      rails: { ...service.deps.rails, deposits: { [rail]: { ...adapter, register } } },
    })
    await forget()
    const list = 'M-PESA did not register the list of payments: no such phone'
    expect(
      await registerDeposits(
        answering(async () => ({ urls: 'registered', problem: list })),
        rail,
      ),
    ).toEqual({ problem: list, step: null })
    expect(await problem()).toBeNull()
    // At a provider without an API for it, a person enters the address: nothing has failed.
    const byHand = await registerDeposits(answering(null), rail)
    expect(byHand).toEqual({ problem: null, step: expect.stringMatching(/^enter this address at the provider: http/) })
    // After OPERATOR_URL changed, the provider still has the earlier address.
    const moved = { ...answering(async () => ({ urls: 'kept', said: 'already registered', problem: null })) }
    const elsewhere = { ...moved, config: { ...moved.config, operatorUrl: 'https://other.example' } }
    expect((await registerDeposits(elsewhere, rail)).problem).toMatch(/earlier OPERATOR_URL or TOKEN_SECRETS/)
    expect(await problem()).toBeNull()
  })
})

test('rails check sees whether the addresses that were registered are those of this configuration', async () => {
  const { config } = service.deps
  const problems = async (operatorUrl: string, rail: DepositRail = 'MPESA_PAYBILL') =>
    (await checkRegistrations({ ...service.deps, config: { ...config, operatorUrl } }, [rail])).map(({ problem }) => problem)
  expect(await problems(config.operatorUrl)).toEqual([null])
  expect(await problems('https://other.example')).toEqual([expect.stringMatching(/changed since/)])
  // Only M-PESA's portal refuses words.
  expect(await problems('https://safaricom.example')).toEqual([expect.stringMatching(/"safaricom"/)])
  expect(await problems('https://mysql.safaricom.example', 'PESALINK')).toEqual([expect.stringMatching(/changed since/)])
})

test('a lost confirmation is found when its day is compared, also after the top-up has expired', async () => {
  const { id, instructions } = await ask()
  // A session ends after a week without use, a key does not.
  const key = await createKey(person)
  service.clock.advance(6 * 86_400)
  await service.deps.jobs.sweep()
  expect(await findBreaches(service)).toEqual([])
  service.clock.advance(2 * 86_400)
  await service.deps.jobs.sweep()
  expect((await topupOf(key, id)).status).toBe('expired')
  await payIn(instructions.account_number, { phone_number: '254711000001' })
  service.clock.advance(86_400)
  await reconcilePaidIn(service.deps)
  expect(await topupOf(key, id)).toMatchObject({ status: 'succeeded', received_minor: '500000' })
  expect(await balanceOf(key)).toEqual({ available: '500000', held: '0' })
})
