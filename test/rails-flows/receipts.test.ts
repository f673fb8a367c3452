import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { formatId, newId } from '../../src/lib/ids.ts'
import { depositUrls, registerAtEmulator } from '../../src/modules/deposits/registration.ts'
import { reconcileStatement } from '../../src/modules/exceptions/reconciliation/service.ts'
import { shellOperator } from '../../src/modules/operators.ts'
import { claimEarlierReceipts } from '../../src/modules/suspense/earlier-receipts-service.ts'
import { writeClaims } from '../../src/modules/suspense/receipts-service.ts'
import { recordAllSuspense, recordSuspense } from '../../src/modules/suspense/service.ts'
import { type Administered, startAdministered } from '../admin/administrators.ts'
import type { Json } from '../harness/client.ts'
import { waitingForLock } from '../harness/lock-waits.ts'
import { credit, unguarded } from '../harness/money.ts'
import { type Person, signIn } from '../harness/people.ts'
import { startService, type TestService } from '../harness/service.ts'
import { findBreaches } from '../harness/verify.ts'
import {
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
  transferCallback,
} from './scene.ts'

// The test is the provider: its emulator never reports on these numbers itself.
const silent = '254700004999'

let administered: Administered
let service: TestService
let second: TestService
let person: Person
let other: Person
beforeAll(async () => {
  administered = await startAdministered()
  service = administered.service
  second = await startService({ database: service.database, clock: service.clock, provider: service })
  await registerAtEmulator(service.deps)
})
beforeEach(async () => {
  ;[person, other] = [await signIn(service.api), await signIn(service.api)]
  start = await books()
})
afterAll(async () => {
  await pass(service, 1)
  expect(await findBreaches(service)).toEqual([])
  await second.close()
  await service.close()
})

const api = () => administered.admin.api

type Books = { credited: bigint; open: bigint; out: bigint }
let start: Books = { credited: 0n, open: 0n, out: 0n }

const books = async (): Promise<Books> => {
  const [sums] = await service.deps.db.query<Books>(
    `select (select coalesce(sum(case when c.kind = 'customer' then t.amount_minor else -t.amount_minor end), 0)::bigint
         from ledger_transfers t join ledger_accounts c on c.id = t.credit_account_id join ledger_accounts d on d.id = t.debit_account_id
         where t.kind = 'direct' and t.reference_type in ('topup', 'deposit', 'suspense', 'payment') and (c.kind = 'customer' or d.kind = 'customer')) as credited,
       (select coalesce(sum(amount_minor), 0)::bigint from suspense_items where transfer_id is not null and resolved_at is null and direction = 'in') as open,
       (select coalesce(sum(amount_minor), 0)::bigint from suspense_items where transfer_id is not null and resolved_at is null and direction = 'out') as out`,
  )
  if (!sums) throw new Error('no sums')
  return sums
}

/** Since the test's start: credited + open suspense = received, with other waiting money. */
const expectBooks = async (received: bigint, credited: bigint): Promise<void> => {
  const now = await books()
  expect({ credited: now.credited - start.credited, open: now.open - start.open }).toEqual({
    credited,
    open: received - credited,
  })
}

const prompt = async (by: Person, amountMinor: string) => {
  const id = await initiate(by, silent, amountMinor)
  await service.settle()
  return { id, order: lastOrder(service) }
}
const tell = async (url: string, body: unknown) => {
  await deliver(url, body)
  await service.settle()
}
const paybill = (at = service) => depositUrls(at.operatorUrl, at.deps.derivations, 'MPESA_PAYBILL').confirmation
const depositNotice = (fields: { TransID: string; BillRefNumber: string; TransAmount?: string }) => ({
  ...{ TransactionType: 'Pay Bill', TransTime: '20260304120000', TransAmount: '100.00' },
  ...{ BusinessShortCode: '174379', MSISDN: '2547*****126', FirstName: 'JANE', ...fields },
})
const itemsOf = async (receipt: string) =>
  (await api().get('/v1/admin/suspense?limit=100')).body.data.filter(
    ({ provider_receipt }: { provider_receipt: string | null }) => provider_receipt?.toUpperCase() === receipt.toUpperCase(),
  )
const alertsOn = async (receipt: string) =>
  (await api().get('/v1/admin/provider-alerts?status=open&limit=100')).body.data
    .filter(({ provider_receipt }: { provider_receipt: string }) => provider_receipt === receipt)
    .map(({ word, amount_minor }: { word: string; amount_minor: string }) => [word, amount_minor])
const claimsOf = async (receipt: string) => {
  const rows = await service.deps.db.query<{ kind: string; id: string }>(
    'select owner_kind as kind, owner_id as id from receipt_claims where receipt_key = $1',
    [receipt],
  )
  return rows.map(({ kind, id }) => [kind, kind === 'topup' ? formatId('topup', id) : id])
}
const list = (line: string) =>
  reconcileStatement(service.deps, shellOperator('a test'), {
    source: 'statement.csv',
    text: `Receipt No.,Completion Time,Transaction Status,Paid In,Withdrawn,Details\n${line}\n`,
  })

describe('money that is credited ends the open item of its receipt', () => {
  test('a notice at the address of another prompt, then at its own', async () => {
    const x = await prompt(person, '150000')
    const y = await prompt(other, '200000')
    await tell(x.order.resultUrl, stkCallback(y.order))
    await expectBooks(200_000n, 0n)
    await tell(y.order.resultUrl, stkCallback(y.order))
    await expectBooks(200_000n, 200_000n)
    const [item] = await itemsOf(y.order.receipt)
    expect(item).toMatchObject({ outcome: 'assigned', resolved_by: 'rail:delivery' })
    const again = await api().post(`/v1/admin/suspense/${item.id}/assign`, { topup_id: x.id, note: 'as told' })
    expect([again.status, again.body.details?.reason]).toEqual([409, 'decided'])
    await tell(x.order.resultUrl, stkCallback(x.order))
    expect([await topupOf(person, x.id), await topupOf(other, y.id)]).toMatchObject([
      { status: 'succeeded', provider_receipt: x.order.receipt, failure_code: null },
      { status: 'succeeded', received_minor: '200000' },
    ])
    await expectBooks(350_000n, 350_000n)
  })

  test.each([
    ['shgcase001', 'SHGCASE001'],
    ['sHgCaSe002', 'ShGcAsE002'],
  ])('a statement that lists a prompt as %s before its callback says %s', async (listed, receipt) => {
    const { id, order } = await prompt(person, '150000')
    await list(`${listed},2026-03-04 12:00:00,Completed,1500.00,,from a phone`)
    await expectBooks(150_000n, 0n)
    await tell(order.resultUrl, stkCallback(order, { receipt }))
    expect((await topupOf(person, id)).status).toBe('succeeded')
    await expectBooks(150_000n, 150_000n)
  })

  test('a statement that is being imported while the callback comes', async () => {
    const { db } = service.deps
    const { id, order } = await prompt(person, '150000')
    const about = { rail: 'MPESA', direction: 'in', reason: 'not_in_our_books', receipt: order.receipt } as const
    const told = await db.transaction(async (tx) => {
      await recordSuspense(tx, { ...about, amountMinor: 150_000n, book: true, alerted: true })
      const telling = tell(order.resultUrl, stkCallback(order))
      await expect.poll(() => db.query(`select from ${waitingForLock}`)).not.toEqual([])
      return { telling }
    })
    await told.telling
    expect((await topupOf(person, id)).status).toBe('succeeded')
    await expectBooks(150_000n, 150_000n)
  })

  test('a statement that lists a payout before its result', async () => {
    await credit(service, person.accountId, 1_000_000n)
    const id = await pay(person, { payment_rail: 'MPESA_B2C', destination: silent })
    await service.settle()
    const order = lastOrder(service)
    await list(`${order.receipt},2026-03-04 12:00:00,Completed,,1500.00,to somebody`)
    expect((await books()).out - start.out).toBe(150_000n)
    await tell(order.resultUrl, b2cResult(order))
    expect((await paymentOf(person, id)).status).toBe('succeeded')
    expect((await books()).out - start.out).toBe(0n)
    expect(await itemsOf(order.receipt)).toMatchObject([{ outcome: 'explained', note: expect.stringContaining(id) }])
  })
})

test('money that an administrator has given to an account keeps its receipt: a prompt is not credited under it', async () => {
  const { id, order } = await prompt(person, '150000')
  await list(`${order.receipt},2026-03-04 12:00:00,Completed,1500.00,,from a phone`)
  const [item] = await itemsOf(order.receipt)
  const given = await api().post(`/v1/admin/suspense/${item.id}/assign`, { account_id: other.accountId, note: 'a call' })
  expect(given.status).toBe(200)
  await tell(order.resultUrl, stkCallback(order))
  expect((await topupOf(person, id)).status).toBe('pending')
  expect([(await balanceOf(person)).available, (await balanceOf(other)).available]).toEqual(['0', '150000'])
  await expectBooks(150_000n, 150_000n)
})

describe('a second amount under one receipt books nothing, and an administrator is told once', () => {
  test('of a prompt that is credited', async () => {
    const { id, order } = await prompt(person, '300000')
    await tell(order.resultUrl, stkCallback(order))
    for (const amountMinor of [950_000n, 950_000n]) await tell(order.resultUrl, stkCallback(order, { amountMinor }))
    expect(await topupOf(person, id)).toMatchObject({ status: 'succeeded', received_minor: '300000' })
    await expectBooks(300_000n, 300_000n)
    expect(await itemsOf(order.receipt)).toMatchObject([{ booked: false, amount_minor: '950000' }])
    expect(await alertsOn(order.receipt)).toEqual([['another_amount', '950000']])
  })

  test('of a payout that is paid', async () => {
    await credit(service, person.accountId, 1_000_000n)
    const id = await pay(person, { payment_rail: 'MPESA_B2C', destination: silent })
    await service.settle()
    const order = lastOrder(service)
    await tell(order.resultUrl, b2cResult(order))
    for (const amountMinor of [950_000n, 950_000n]) await tell(order.resultUrl, b2cResult(order, { amountMinor }))
    expect([(await paymentOf(person, id)).status, (await balanceOf(person)).available]).toEqual(['succeeded', '850000'])
    expect(await itemsOf(order.receipt)).toMatchObject([
      { booked: false, direction: 'out', amount_minor: '950000', payment_id: id },
    ])
    expect(await alertsOn(order.receipt)).toEqual([['another_amount', '950000']])
  })

  test.each([
    ['a deposit that is credited', 'SGHOTHER01'],
    ['a deposit that waits in suspense', 'SGHOTHER02'],
    ['a prompt', undefined],
  ])('of %s: what was told is kept', async (_what, receipt) => {
    const { instructions } = (await person.api.post('/v1/topups/initiate', { method: 'MPESA_PAYBILL' })).body
    const BillRefNumber = receipt === 'SGHOTHER02' ? 'nobody' : instructions.account_number
    const paid = receipt === undefined ? (await prompt(person, '10000')).order : undefined
    const TransID = receipt ?? paid?.receipt ?? ''
    if (paid) await tell(paid.resultUrl, stkCallback(paid))
    else await tell(paybill(), depositNotice({ TransID, BillRefNumber }))
    const credited = receipt === 'SGHOTHER02' ? 0n : 10_000n
    await expectBooks(10_000n, credited)
    for (const name of [TransID, TransID.toLowerCase()])
      await tell(paybill(), depositNotice({ TransID: name, BillRefNumber, TransAmount: '950.00' }))
    await expectBooks(10_000n, credited)
    const kept = (await itemsOf(TransID)).find(({ amount_minor }: Json) => amount_minor === '95000')
    expect(kept).toMatchObject({ reason: 'amount_mismatch', booked: false, direction: 'in' })
    expect((await itemsOf(TransID)).length).toBe(credited === 0n ? 2 : 1)
    expect(await alertsOn(TransID)).toEqual([['another_amount', '95000']])
  })

  test('of two findings that are recorded at once, whatever the case, the first is booked', async () => {
    const about = { rail: 'MPESA', direction: 'in', book: true, alerted: true } as const
    const findings = [
      { ...about, reason: 'not_in_our_books', receipt: 'SGHTWICE01', amountMinor: 40_000n },
      { ...about, reason: 'unknown_reference', receipt: 'sghtwice01', amountMinor: 90_000n },
    ] as const
    await service.deps.db.transaction((tx) => recordAllSuspense(tx, findings))
    expect((await itemsOf('SGHTWICE01')).map(({ amount_minor, booked }: Json) => [amount_minor, booked]).sort()).toEqual([
      ['40000', true],
      ['90000', false],
    ])
    await expectBooks(40_000n, 0n)
  })

  test('of money in suspense: the amount that was asked for comes under the same receipt', async () => {
    const { id, order } = await prompt(person, '1000000')
    await tell(order.resultUrl, stkCallback(order, { amountMinor: 1_000n }))
    expect(await topupOf(person, id)).toMatchObject({ status: 'pending', failure_code: 'other_amount' })
    await tell(order.resultUrl, stkCallback(order))
    expect((await topupOf(person, id)).status).toBe('pending')
    await expectBooks(1_000n, 0n)
    expect(await alertsOn(order.receipt)).toEqual([['another_amount', '1000000']])
  })

  test('of a prompt that a query had found to be paid', async () => {
    const { id, order } = await prompt(person, '300000')
    service.sandbox.failNext({ kind: 'answer', takesEffect: false, status: 200, body: { ResponseCode: '0', ResultCode: '0' } })
    await pass(service, 31)
    expect(await topupOf(person, id)).toMatchObject({ status: 'succeeded', provider_receipt: null })
    await tell(order.resultUrl, stkCallback(order, { amountMinor: 100n }))
    await expectBooks(300_000n, 300_000n)
    expect(await alertsOn(order.receipt)).toEqual([['another_amount', '100']])
    await list(`${order.receipt},2026-03-04 12:00:00,Completed,1.00,,from a phone`)
    await expectBooks(300_000n, 300_000n)
  })
})

describe('of a payment that was paid', () => {
  const paid = async () => {
    await credit(service, person.accountId, 1_000_000n)
    const id = await pay(person, { payment_rail: 'PESALINK', destination: '99994999', bank_code: '01' })
    await service.settle()
    const order = lastOrder(service)
    await tell(order.resultUrl, transferCallback(order))
    expect((await paymentOf(person, id)).status).toBe('succeeded')
    const say = (state: string, amount?: unknown) => {
      const body = transferCallback(order, { state })
      return tell(order.resultUrl, { ...body, data: { ...body.data, ...(amount !== undefined && { amount }) } })
    }
    return { id, order, say }
  }

  test.each([
    ['reversed', '-1500.00'],
    ['REFUNDED', '1,500.00'],
    ['BOUNCED', 'KES 1500.00'],
    ['RETURNED_TO_SENDER', 1500],
  ])('%s with %s returns it', async (word, amount) => {
    const { id, order, say } = await paid()
    await say(word, amount)
    expect([(await paymentOf(person, id)).status, (await balanceOf(person)).available]).toEqual(['returned', '1000000'])
    expect([await itemsOf(order.receipt), await alertsOn(order.receipt)]).toEqual([[], []])
    await expectBooks(150_000n, 150_000n)
  })

  test('an amount that came back and cannot be read waits for an administrator, who enters it: all of it returns the payment', async () => {
    const { id, order, say } = await paid()
    for (const word of ['reversed', 'reversed']) await say(word, 'all of it')
    const [item, ...others] = await itemsOf(order.receipt)
    expect([item, others]).toMatchObject([{ reason: 'unreadable_amount', amount_minor: null, booked: false, payment_id: id }, []])
    expect(await alertsOn(order.receipt)).toEqual([['reversed', null]])
    expect([(await paymentOf(person, id)).status, (await balanceOf(person)).available]).toEqual(['succeeded', '850000'])
    const enter = (amount_minor: string, by = api()) =>
      by.post(`/v1/admin/suspense/${item.id}/amount`, { amount_minor, note: 'the bank called' })
    expect((await enter('150000', person.api)).body.error).toBe('admin_required')
    expect((await enter('150000')).body).toMatchObject({ amount_minor: '150000', outcome: 'assigned', booked: true })
    expect([(await paymentOf(person, id)).status, (await balanceOf(person)).available]).toEqual(['returned', '1000000'])
    expect((await enter('150000')).status).toBe(409)
    await expectBooks(150_000n, 150_000n)
    expect(await findBreaches(service)).toEqual([])
  })

  test('another amount that is entered is booked, and assigned like any other', async () => {
    const { id, order, say } = await paid()
    await say('Reversed', '')
    const [item] = await itemsOf(order.receipt)
    const entered = await api().post(`/v1/admin/suspense/${item.id}/amount`, { amount_minor: '50000', note: 'the bank called' })
    expect(entered.body).toMatchObject({ amount_minor: '50000', outcome: null, booked: true })
    const assigned = await api().post(`/v1/admin/suspense/${item.id}/assign`, { account_id: person.accountId, note: 'a part' })
    expect([assigned.status, (await balanceOf(person)).available]).toEqual([200, '900000'])
    await expectBooks(50_000n, 50_000n)
    await say('Reversed', 1500)
    expect((await paymentOf(person, id)).status).toBe('succeeded')
    expect(await alertsOn(order.receipt)).toContainEqual(['Reversed', '150000'])
    expect((await balanceOf(person)).available).toBe('900000')
    expect(await findBreaches(service)).toEqual([])
  })

  test('a part of it that came back is booked beside money that came in under the same receipt', async () => {
    const { order, say } = await paid()
    const about = { rail: 'PESALINK', direction: 'in', reason: 'not_in_our_books', receipt: order.receipt } as const
    await service.deps.db.transaction((tx) => recordSuspense(tx, { ...about, amountMinor: 70_000n, book: true }))
    await say('Reversed', 500)
    expect((await itemsOf(order.receipt)).map(({ amount_minor, booked }: Json) => [amount_minor, booked])).toEqual([
      ['50000', true],
      ['70000', true],
    ])
    await expectBooks(120_000n, 0n)
    expect(await alertsOn(order.receipt)).toEqual([['Reversed', '50000']])
  })

  test('what came back under the receipt of another payment keeps it: that payment is not returned, and an administrator is told', async () => {
    const { id, order, say } = await paid()
    await pay(person, { payment_rail: 'PESALINK', destination: '99994999', bank_code: '01' })
    await service.settle()
    const second = lastOrder(service)
    const part = { state: 'Reversed', amountMinor: 50_000n, transactionId: order.receipt }
    await tell(second.resultUrl, transferCallback(second, part))
    await expectBooks(50_000n, 0n)
    await say('Reversed', 1500)
    expect([(await paymentOf(person, id)).status, (await balanceOf(person)).available]).toEqual(['succeeded', '700000'])
    await expectBooks(50_000n, 0n)
    expect(await alertsOn(order.receipt)).toContainEqual(['another_amount', '150000'])
  })

  test.each(['CANCELLED', 'FAILED', 'SEIZED'])('%s books nothing, and is told with payment, word and time', async (word) => {
    const { id, order, say } = await paid()
    for (const again of [word, word]) await say(again)
    expect((await paymentOf(person, id)).status).toBe('succeeded')
    expect(await itemsOf(order.receipt)).toEqual([])
    const raised = (await api().get('/v1/admin/provider-alerts?status=open')).body.data.filter(
      ({ provider_receipt }: { provider_receipt: string }) => provider_receipt === order.receipt,
    )
    expect(raised).toMatchObject([{ payment_id: id, word, created_at: service.clock.now().toISOString() }])
    const close = () => api().post(`/v1/admin/provider-alerts/${raised[0].id}/resolve`, { note: 'a mistake of the bank' })
    expect([(await close()).body.note, (await close()).status]).toEqual(['a mistake of the bank', 409])
    for (const state of ['success', 'pending']) await say(state)
    expect(await alertsOn(order.receipt)).toEqual([])
  })
})

test('a prompt whose amount cannot be read is an item in suspense that books nothing, and the amount that comes later is credited', async () => {
  const { id, order } = await prompt(person, '150000')
  const unread = JSON.stringify(stkCallback(order)).replace('"Value":1500}', '"Value":"all of it"}')
  for (const body of [unread, unread]) await tell(order.resultUrl, body)
  const items = (await api().get('/v1/admin/suspense?status=open&limit=100')).body.data
  expect(items.filter(({ topup_id }: Json) => topup_id === id)).toMatchObject([{ amount_minor: null, booked: false }])
  await expectBooks(0n, 0n)
  await tell(order.resultUrl, stkCallback(order))
  expect(await topupOf(person, id)).toMatchObject({ status: 'succeeded', received_minor: '150000' })
  await expectBooks(150_000n, 150_000n)
})

test('a status that names the whole number of another receiver under our id counts, and is told', async () => {
  await credit(service, person.accountId, 1_000_000n)
  const id = await pay(person, { payment_rail: 'MPESA_B2C', destination: silent })
  await service.settle()
  const order = lastOrder(service)
  const parameters = {
    ReceiptNo: order.receipt,
    Amount: '1500.00',
    ConversationID: order.conversation,
    TransactionStatus: 'Completed',
  }
  const ResultParameters = { ...parameters, CreditPartyName: '254799999999 - JANE DOE' }
  await tell(order.resultUrl, { Result: { ResultCode: 0, OriginatorConversationID: 'a query', ResultParameters } })
  expect((await paymentOf(person, id)).status).toBe('succeeded')
  const { data } = (await api().get('/v1/admin/provider-alerts?status=open')).body
  expect(data.filter(({ payment_id }: { payment_id: string }) => payment_id === id)).toMatchObject([{ word: 'another_receiver' }])
})

test('a deposit that is told in capitals and small letters at the same moment, to two processes, is credited once', async () => {
  const { instructions } = (await person.api.post('/v1/topups/initiate', { method: 'MPESA_PAYBILL' })).body
  const receipts = Array.from({ length: 15 }, (_, index) => `SGHCASE${100 + index}`)
  const forms = receipts.flatMap((receipt) => [
    [paybill(), receipt],
    [paybill(second), receipt.toLowerCase()],
  ])
  const BillRefNumber = instructions.account_number
  await Promise.all(forms.map(([url = '', TransID = '']) => deliver(url, depositNotice({ TransID, BillRefNumber }))))
  await expectBooks(150_000n, 150_000n)
  expect((await balanceOf(person)).available).toBe('150000')
})

test('one receipt may stand on a payout and on the deposit that it made, and on the return of that payout', async () => {
  await credit(service, person.accountId, 1_000_000n)
  const { order } = await prompt(other, '150000')
  await tell(order.resultUrl, stkCallback(order))
  const id = await pay(person, { payment_rail: 'MPESA_B2C', destination: silent })
  await service.settle()
  const payout = lastOrder(service)
  await tell(payout.resultUrl, b2cResult(payout, { receipt: order.receipt }))
  expect(await paymentOf(person, id)).toMatchObject({ status: 'succeeded', provider_receipt: order.receipt })
  await expectBooks(150_000n, 150_000n)
})

test('a claim that meets one of credited money fails its transaction, whatever led to it', async () => {
  const { id, order } = await prompt(person, '150000')
  await tell(order.resultUrl, stkCallback(order))
  const { db } = service.deps
  const claim = { rail: 'MPESA', direction: 'in', receipt: order.receipt, amountMinor: 150_000n } as const
  const claiming = db.transaction(async (tx) => {
    await recordSuspense(tx, { ...claim, reason: 'not_in_our_books', receipt: `${order.receipt}X`, book: true })
    writeClaims(tx, [{ ...claim, owner: { kind: 'deposit', id: newId() } }])
  })
  await expect(claiming).rejects.toThrow('receipt_claims')
  expect(await claimsOf(order.receipt)).toEqual([['topup', id]])
  await expectBooks(150_000n, 150_000n)
})

describe('rows that a release before wrote', () => {
  /** Credited, and also in suspense: the previous release had no claims. */
  const conflicting = async () => {
    const { id, order } = await prompt(person, '150000')
    await tell(order.resultUrl, stkCallback(order))
    const twin = `${order.receipt}X`
    await list(`${twin},2026-03-04 12:00:00,Completed,1500.00,,from a phone`)
    await unguarded(service, 'delete from receipt_claims where receipt_key = any($1)', [[order.receipt, twin]])
    await unguarded(service, 'update suspense_items set provider_receipt = $2 where provider_receipt = $1', [twin, order.receipt])
    const [item] = await itemsOf(order.receipt)
    return { id, order, item, twin }
  }
  test('an item whose receipt is credited is neither assigned nor adjusted: 409 names what has it; nothing is chosen, and a person is told', async () => {
    const { id, order, item, twin } = await conflicting()
    const answer = await api().post(`/v1/admin/suspense/${item.id}/assign`, {
      account_id: other.accountId,
      note: 'the payer called',
    })
    expect([answer.status, answer.body.details]).toMatchObject([409, { reason: 'provider_receipt', id }])
    const adjusted = await api().post(`/v1/admin/suspense/${item.id}/resolve`, { outcome: 'adjusted', note: 'as told' })
    expect([adjusted.status, adjusted.body.details]).toMatchObject([409, { reason: 'provider_receipt', id }])
    expect(await balanceOf(other)).toEqual({ available: '0', held: '0' })
    await claimEarlierReceipts(service.deps)
    expect(await claimsOf(order.receipt)).toEqual([])
    expect(await alertsOn(order.receipt)).toEqual([
      ['receipt_conflict', '150000'],
      ['receipt_conflict', '150000'],
    ])
    expect(await findBreaches(service)).toContainEqual(expect.stringContaining(`MPESA in ${order.receipt}`))
    await unguarded(service, 'update suspense_items set provider_receipt = $2 where provider_receipt = $1', [order.receipt, twin])
    await claimEarlierReceipts(service.deps)
    expect(await claimsOf(order.receipt)).toEqual([['topup', id]])
    expect(await findBreaches(service)).toEqual([])
  })

  test('are claimed later, and count before that', async () => {
    const { id, order } = await prompt(person, '150000')
    await tell(order.resultUrl, stkCallback(order))
    await unguarded(service, 'delete from receipt_claims where receipt_key = $1', [order.receipt])
    const another = await prompt(other, '150000')
    await tell(another.order.resultUrl, stkCallback(another.order, { receipt: order.receipt }))
    expect((await topupOf(other, another.id)).status).toBe('pending')
    await expectBooks(150_000n, 150_000n)
    await claimEarlierReceipts(service.deps)
    expect(await claimsOf(order.receipt)).toEqual([['topup', id]])
  })
})
