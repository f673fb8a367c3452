import { parse } from 'csv-parse/sync'
import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { parseId } from '../../src/lib/ids.ts'
import { startOfDate, startOfDateInZones, zoneChangesAt, zonesOf } from '../../src/policy/calendar.ts'
import type { Client, Json } from '../harness/client.ts'
import { credit, fund, newBeneficiary } from '../harness/money.ts'
import { createKey, type Person, signIn } from '../harness/people.ts'
import { startService, type TestService } from '../harness/service.ts'
import { findBreaches } from '../harness/verify.ts'
import { deliver, lastOrder, pass, transferCallback } from '../rails-flows/scene.ts'
import { createTeam, join, standIn } from '../workspaces/team.ts'

let service: TestService
let person: Person
let key: Awaited<ReturnType<typeof createKey>>
let payee: string

const payTo = async (beneficiary_id: string, amount_minor: string, more: object = {}) => {
  const answer = await person.api.post('/v1/payments', { beneficiary_id, amount_minor, ...more })
  expect(answer.status).toBe(201)
  await service.settle()
  return answer.body.id
}
const statement = async (query = '', path = '/v1/accounts/me/statement') => {
  const answer = await key.api.get(`${path}${query}`)
  expect(answer.status).toBe(200)
  return answer.body
}
type Entry = { type: string; amount_minor: string; balance_after_minor: string; payment_id: string | null }
const amounts = ({ entries }: { entries: Entry[] }) => entries.map(({ amount_minor }) => Number(amount_minor))

let march: { paid: string; late: string; returned: string }
beforeAll(async () => {
  service = await startService()
  person = await signIn(service.api)
  // A key outlasts the weeks that pass here. A session does not.
  key = await createKey(person)
  await fund(service, person, 1_000_000n)
  payee = await newBeneficiary(person.api, { display_name: '=HYPERLINK("x")' })
  const paid = await payTo(payee, '150000', { narrative: 'March rent', metadata: { invoice: 'A-1' } })
  const failing = await newBeneficiary(person.api, { destination: '254700000001' })
  await payTo(failing, '70000')
  const bank = await newBeneficiary(person.api, { payment_rail: 'PESALINK', destination: '0123456789', bank_code: '57' })
  const returned = await payTo(bank, '40050')
  const order = lastOrder(service)
  await deliver(order.resultUrl, transferCallback(order, { state: 'Returned' }))
  await service.settle()
  service.clock.set(new Date('2026-03-31T20:59:59Z'))
  person = await signIn(service.api, person.wallet)
  march = { paid, late: await payTo(payee, '20000'), returned }
  service.clock.advance(2)
  await payTo(payee, '30000')
})
afterAll(async () => {
  await pass(service, 1)
  expect(await findBreaches(service)).toEqual([])
  await service.close()
})

test('a month has its balances, its bookings in their order, and the sums by payee and by type', async () => {
  const body = await statement('?from=2026-03-01&to=2026-03-31')
  expect(body).toMatchObject({
    from: '2026-03-01',
    to: '2026-03-31',
    time_zone: 'Africa/Nairobi',
    currency: 'KES',
    opening_balance_minor: '0',
    closing_balance_minor: '830000',
    in_minor: '1040050',
    out_minor: '210050',
    next_cursor: null,
  })
  expect(
    body.entries.map(({ type, amount_minor, balance_after_minor }: Entry) => [type, amount_minor, balance_after_minor]),
  ).toEqual([
    ['topup', '1000000', '1000000'],
    ['payment', '-150000', '850000'],
    ['payment', '-40050', '809950'],
    ['payment_return', '40050', '850000'],
    ['payment', '-20000', '830000'],
  ])
  expect(body.entries[1]).toMatchObject({
    payee: { display_name: '=HYPERLINK("x")' },
    narrative: 'March rent',
    metadata: { invoice: 'A-1' },
    provider_receipt: expect.any(String),
    requested_by: person.accountId,
    approved_by: [],
    payment_id: march.paid,
    topup_id: null,
  })
  expect(body.totals.by_type).toEqual([
    { type: 'payment', in_minor: '0', out_minor: '210050', entries: 3 },
    { type: 'payment_return', in_minor: '40050', out_minor: '0', entries: 1 },
    { type: 'topup', in_minor: '1000000', out_minor: '0', entries: 1 },
  ])
  expect(body.totals.by_payee).toMatchObject([
    { display_name: '=HYPERLINK("x")', out_minor: '170000', entries: 2 },
    { in_minor: '40050', out_minor: '40050', entries: 2 },
  ])
})

test('money under a hold has not left, and a payment that failed is not in it', async () => {
  const held = await signIn(service.api)
  await credit(service, held.accountId, 500_000n)
  const beneficiary_id = await newBeneficiary(held.api, { destination: '254700004999' })
  await held.api.post('/v1/payments', { beneficiary_id, amount_minor: '100000' })
  const { body } = await held.api.get('/v1/accounts/me/statement')
  expect([body.closing_balance_minor, amounts(body)]).toEqual(['500000', [500_000]])
})

describe('the days are those of the workspace’s time zone', () => {
  test('a second after midnight there belongs to the next month, which begins where the last one ended', async () => {
    const april = await statement('?from=2026-04-01')
    expect(april).toMatchObject({ to: '2026-04-30', opening_balance_minor: '830000', closing_balance_minor: '800000' })
    expect(amounts(april)).toEqual([-30_000])
  })
  test('without dates it is the current month', async () => {
    expect(await statement()).toMatchObject({ from: '2026-04-01', to: '2026-04-30' })
  })
  test('the closing balance of any period is the opening balance of the one after it', async () => {
    for (const day of ['2026-03-03', '2026-03-04', '2026-03-05', '2026-03-30', '2026-03-31']) {
      const next = new Date(Date.parse(day) + 86_400_000).toISOString().slice(0, 10)
      const before = await statement(`?from=2026-02-01&to=${day}`)
      const after = await statement(`?from=${next}&to=2026-04-30`)
      expect([day, after.opening_balance_minor]).toEqual([day, before.closing_balance_minor])
      expect([...amounts(before), ...amounts(after)]).toEqual(amounts(await statement('?from=2026-02-01&to=2026-04-30')))
    }
  })
  test.each([
    ['Africa/Nairobi', '2026-03-01', '2026-02-28T21:00:00Z'],
    ['America/New_York', '2026-03-08', '2026-03-08T05:00:00Z'],
    ['America/New_York', '2026-03-09', '2026-03-09T04:00:00Z'],
    // The zone's clocks go from 23:59:59 to 01:00.
    ['Africa/Cairo', '2026-04-24', '2026-04-23T22:00:00Z'],
    // The zone had no such day.
    ['Pacific/Apia', '2011-12-30', '2011-12-30T10:00:00Z'],
    ['UTC', '2024-03-01', '2024-03-01T00:00:00Z'],
  ])('in %s %s begins at %s', (zone, date, instant) => {
    expect(startOfDate(date, zone)).toEqual(new Date(instant))
  })
})

test('page by page it is the same, and a cursor is of one period alone', async () => {
  const whole = await statement('?from=2026-03-01&to=2026-04-30')
  const seen: Entry[] = []
  for (let cursor: string | null = ''; cursor !== null; ) {
    const page = await statement(`?from=2026-03-01&to=2026-04-30&limit=2${cursor && `&cursor=${cursor}`}`)
    expect(page.closing_balance_minor).toBe('800000')
    seen.push(...page.entries)
    cursor = page.next_cursor
  }
  expect(seen).toEqual(whole.entries)
  const { next_cursor } = await statement('?from=2026-03-01&limit=1')
  expect((await key.api.get(`/v1/accounts/me/statement?from=2026-03-02&limit=1&cursor=${next_cursor}`)).body.error).toBe(
    'invalid_cursor',
  )
})

test.each(['?from=2026-03-02&to=2026-03-01', '?from=2025-01-01&to=2026-03-01', '?from=yesterday', '?since=2026-03-01'])(
  '%s is refused',
  async (query) => {
    expect((await key.api.get(`/v1/accounts/me/statement${query}`)).status).toBe(400)
  },
)

describe('as CSV', () => {
  const rowsOf = async (path: string) => {
    const answer = await key.api.get(path, { headers: { accept: 'text/csv' } })
    expect(answer.status).toBe(200)
    return parse(answer.text, { columns: true, bom: true }) as Record<string, string>[]
  }
  test('it ends with its closing balance, even if that fills a page of 200 lines', async () => {
    const rich = await signIn(service.api)
    for (let count = 1; count <= 200; count += 1) {
      await credit(service, rich.accountId, 100n)
      if (count < 198) continue
      const answer = await rich.api.get('/v1/accounts/me/statement', { headers: { accept: 'text/csv' } })
      const lines = parse(answer.text, { columns: true, bom: true }) as Record<string, string>[]
      const [first, last] = [lines.at(0), lines.at(-1)].map((line) => [line?.type, line?.balance])
      expect([lines.length, first, last]).toEqual([count + 2, ['opening_balance', '0.00'], ['balance_so_far', `${count}.00`]])
    }
  }, 60_000)
  test('it is whole, between its two balances, with amounts and days that a spreadsheet reads', async () => {
    const rows = await rowsOf('/v1/accounts/me/statement?from=2026-03-01&to=2026-04-30&limit=1')
    expect(rows.map(({ type, amount, balance }) => [type, amount, balance])).toEqual([
      ['opening_balance', '', '0.00'],
      ['topup', '10000.00', '10000.00'],
      ['payment', '-1500.00', '8500.00'],
      ['payment', '-400.50', '8099.50'],
      ['payment_return', '400.50', '8500.00'],
      ['payment', '-200.00', '8300.00'],
      ['payment', '-300.00', '8000.00'],
      ['balance_so_far', '', '8000.00'],
    ])
    expect(rows.at(-2)).toMatchObject({
      date: '2026-04-01',
      time: '00:00:01',
      time_zone: 'Africa/Nairobi',
      at: '2026-03-31T21:00:01.000Z',
    })
    expect(rows[2]).toMatchObject({ payee: `'=HYPERLINK("x")`, amount_minor: '-150000', narrative: 'March rent' })
  })
  test('a day that has not ended is marked: its balance is dated when it was read, and is the closing balance once it has', async () => {
    const path = '/v1/accounts/me/statement?from=2026-04-01&to=2026-04-01'
    const open = await rowsOf(path)
    expect(open.at(-1)).toMatchObject({ type: 'balance_so_far', at: service.clock.now().toISOString() })
    const { body } = await key.api.get(path)
    expect(body).toMatchObject({ unfinished_at: service.clock.now().toISOString(), closing_balance_minor: '800000' })
    const answer = await key.api.get(path, { headers: { accept: 'text/csv' } })
    expect(answer.headers.get('content-disposition')).toContain('statement-2026-04-01-2026-04-01-unfinished.csv')
    const ended = await rowsOf(path.replaceAll('04-01', '03-31'))
    expect(ended.at(-1)).toMatchObject({ type: 'closing_balance', date: '2026-03-31', time: '23:59:59' })
    expect((await key.api.get(path.replaceAll('04-01', '03-31'))).body.unfinished_at).toBeNull()
  })
  test('every file begins with a byte order mark, which Excel needs to show letters as they are', async () => {
    for (const path of [
      '/v1/accounts/me/statement',
      '/v1/workspaces/current/statement',
      '/v1/payments',
      '/v1/accounts/me/history',
    ]) {
      const answer = await key.api.get(path, { headers: { accept: 'text/csv' } })
      expect([path, answer.status, answer.text.startsWith('\uFEFF')]).toEqual([path, 200, true])
    }
  })
  test('the lists have amounts in major units and local times as well', async () => {
    const payments = await rowsOf('/v1/payments?status=succeeded')
    expect(payments[0]).toMatchObject({
      amount: '300.00',
      amount_minor: '30000',
      created_local: '2026-04-01 00:00:01',
      updated_local: expect.stringMatching(/^2026-04-01 00:00:/),
      execute_local: '',
      time_zone: 'Africa/Nairobi',
    })
    const history = await rowsOf('/v1/accounts/me/history?type=payment_hold')
    expect(history[0]).toMatchObject({
      amount: '-300.00',
      available_after: '8000.00',
      currency: 'KES',
      created_local: '2026-04-01 00:00:01',
    })
  })
  test('people, keys and lists stand by name beside their ids, with the way, the number and the purpose', async () => {
    await person.api.patch('/v1/accounts/me', { display_name: 'Nía Kimani' })
    await person.api.post('/v1/spending-policies', { name: 'Ask', approval_threshold_minor: '500000' })
    const { body: batch } = await key.api.post(
      '/v1/payment-batches',
      { name: 'Rents', items: [{ beneficiary_id: payee, amount_minor: '500000', purpose_code: 'RENT' }] },
      { key: 'rents-2026-04' },
    )
    await person.api.post(`/v1/approvals/${batch.approval_id}/decide`, { decision: 'approve' })
    await service.settle()
    const named = { list: 'Rents', batch_id: batch.id, requested_by_name: 'Nía Kimani', approved_by_names: 'Nía Kimani' }
    const paid = { ...named, destination: expect.stringMatching(/^\*{8}\d{4}$/), payment_rail: 'MPESA_B2C', purpose_code: 'RENT' }
    for (const path of ['/v1/accounts/me/statement', '/v1/workspaces/current/statement']) {
      const [row] = (await rowsOf(`${path}?from=2026-04-01`)).filter(({ batch_id }) => batch_id !== '')
      expect(row).toMatchObject({
        ...paid,
        requested_through: 'Agent',
        grant_id: key.grantId,
        requested_by: person.accountId,
        approved_by: person.accountId,
        idempotency_key: 'rents-2026-04',
        batch_index: '0',
      })
      const entry = (await statement('?from=2026-04-01', path)).entries.at(-1)
      expect(entry).toMatchObject({
        batch: { id: batch.id, name: 'Rents' },
        ...{ idempotency_key: 'rents-2026-04', batch_id: batch.id, batch_index: 0 },
        payee: { destination_mask: expect.stringMatching(/^\*{8}\d{4}$/) },
        payment_rail: 'MPESA_B2C',
        purpose_code: 'RENT',
        requested_by_name: 'Nía Kimani',
        requested_through: 'Agent',
        grant_id: key.grantId,
        approved_by: [person.accountId],
        approved_by_names: ['Nía Kimani'],
      })
    }
    const blind = await createKey(person, { permissions: ['account.read'] })
    for (const { api } of [key, blind]) {
      const [entry] = (await api.get('/v1/accounts/me/history?type=payment')).body.data
      expect(entry).toMatchObject({ idempotency_key: 'rents-2026-04', batch_id: batch.id, batch_index: 0 })
    }
    const topup = { amount_minor: '10000', phone_number: '0712345678' }
    await person.api.post('/v1/topups/initiate', topup, { key: 'float-7' })
    await service.settle()
    for (const entry of [
      (await statement('?from=2026-04-01')).entries.at(-1),
      (await person.api.get('/v1/accounts/me/history?type=topup')).body.data[0],
    ])
      expect(entry).toMatchObject({ type: 'topup', idempotency_key: 'float-7', batch_id: null, batch_index: null })
    const [listed] = await rowsOf(`/v1/payments?batch_id=${batch.id}`)
    expect(listed).toMatchObject({ ...paid, requested_through: 'Agent', initiator_account_id: person.accountId })
  })
})

test('a statement of the current month continues in that month, page by page, after the month has ended', async () => {
  const someone = await signIn(service.api)
  const reader = await createKey(someone)
  for (const amount of [100n, 200n, 300n]) await credit(service, someone.accountId, amount)
  service.clock.set(new Date('2026-04-30T20:59:59Z'))
  const paths = ['/v1/accounts/me/statement', '/v1/workspaces/current/statement']
  const firsts = await Promise.all(paths.map(async (path) => (await reader.api.get(`${path}?limit=1`)).body))
  service.clock.advance(1)
  for (const [index, { from, to, time_zone, closing_balance_minor, next_cursor, ...first }] of firsts.entries()) {
    const { body: next } = await reader.api.get(`${paths[index]}?limit=5&cursor=${next_cursor}`)
    expect([from, amounts(first), amounts(next)]).toEqual(['2026-04-01', [100], [200, 300]])
    expect(next).toMatchObject({ from, to, time_zone, closing_balance_minor, next_cursor: null })
  }
  expect((await reader.api.get(`${paths[0]}`)).body).toMatchObject({ from: '2026-05-01', entries: [] })
})

test('a team’s key reads only amounts of what other workspaces paid, in the statement as in the history', async () => {
  const owner = await signIn(service.api)
  const ofHome = await createKey(owner)
  await owner.api.post('/v1/topups/initiate', { amount_minor: '500000', phone_number: '254722000001' }, { key: 'float' })
  await service.settle()
  const beneficiary_id = await newBeneficiary(owner.api)
  const item = { beneficiary_id, amount_minor: '100000', narrative: 'Clinic', metadata: { visit: '7' }, purpose_code: 'HLTI' }
  await owner.api.post('/v1/payment-batches', { name: 'Health', items: [item] }, { key: 'health' })
  await service.settle()
  await standIn(owner, (await owner.api.post('/v1/workspaces', { name: 'Team' })).body.workspace.id)
  const ofTeam = await createKey(owner)
  const entriesFor = async ({ api }: { api: Client }) => (await api.get('/v1/accounts/me/statement')).body.entries as Json[]
  const [all, hidden] = [await entriesFor(owner), await entriesFor(ofTeam)]
  expect(await entriesFor(ofHome)).toEqual(all)
  const nothing = {
    ...{ payee: null, batch: null, batch_id: null, batch_index: null, idempotency_key: null, payment_rail: null },
    ...{ purpose_code: null, reference: null, narrative: null, metadata: {}, provider_receipt: null },
    ...{ requested_by: null, requested_by_name: null, requested_through: null, approved_by: [], approved_by_names: [] },
  }
  expect(all.map(({ narrative, idempotency_key }) => [narrative, idempotency_key])).toEqual([
    [null, 'float'],
    ['Clinic', 'health'],
  ])
  expect(hidden).toEqual(all.map((entry) => ({ ...entry, ...nothing })))
  const history = (await ofTeam.api.get('/v1/accounts/me/history')).body.data as Json[]
  expect(history.map(({ idempotency_key }) => idempotency_key)).toEqual([null, null, null])
})

test('an approver whose account is closed stands in CSV by the id of the account', async () => {
  const team = await createTeam(service)
  const approver = await join(service, team, 'approver')
  await credit(service, team.id, 100_000n)
  await team.owner.api.post('/v1/spending-policies', { name: 'Ask', approval_threshold_minor: '1' })
  const paid = await team.owner.api.post('/v1/payments', {
    beneficiary_id: await newBeneficiary(team.owner.api),
    amount_minor: '10000',
  })
  const approved = await approver.api.post(`/v1/approvals/${paid.body.approval_id}/decide`, { decision: 'approve' })
  expect(approved.status).toBe(200)
  await service.settle()
  expect((await approver.api.delete('/v1/accounts/me')).status).toBe(200)
  for (const path of ['/v1/payments', '/v1/workspaces/current/statement']) {
    const { text } = await team.owner.api.get(path, { headers: { accept: 'text/csv' } })
    const rows = parse(text, { columns: true, bom: true }) as Record<string, string>[]
    expect(rows.map((row) => row.approved_by_names).filter(Boolean)).toEqual([approver.accountId])
  }
})

test('a workspace’s statement is that of its balance: of a personal workspace, its person’s own', async () => {
  const period = '?from=2026-03-01&to=2026-03-31'
  const [own, body] = [await statement(period), await statement(period, '/v1/workspaces/current/statement')]
  expect({ ...body, next_cursor: null }).toEqual({ ...own, next_cursor: null })
})

test('a person’s own statement and history have the days of the personal workspace, whichever workspace the session is in', async () => {
  const visitor = await signIn(service.api)
  await fund(service, visitor, 100_000n)
  const path = '/v1/accounts/me/statement?from=2026-03-01&to=2026-03-31'
  const own = await visitor.api.get(path)
  const history = async () => (await visitor.api.get('/v1/accounts/me/history', { headers: { accept: 'text/csv' } })).text
  const ownHistory = await history()
  expect(ownHistory).toContain('Africa/Nairobi')
  const team = await visitor.api.post('/v1/workspaces', { name: 'New York', time_zone: 'America/New_York' })
  await standIn(visitor, team.body.workspace.id)
  const { body } = await visitor.api.get('/v1/workspaces/current')
  expect([own.body.time_zone, body.workspace.time_zone]).toEqual(['Africa/Nairobi', 'America/New_York'])
  expect((await visitor.api.get(path)).body).toEqual(own.body)
  expect(await history()).toBe(ownHistory)
})

test('verify finds a booking that was slipped in before a statement that has ended', async () => {
  const breaches = await service.deps.db
    .transaction(async (tx) => {
      await tx.query('set local session_replication_role = replica')
      await tx.query(
        `update ledger_transfers set created_at = '2026-02-10T00:00:00Z' where reference_type = 'payment' and created_at > '2026-03-31T21:00:00Z'`,
      )
      throw Object.assign(new Error('undone'), { breaches: await findBreaches(service, tx) })
    })
    .catch((error: Error & { breaches?: string[] }) => error.breaches)
  expect(breaches).toEqual(expect.arrayContaining([expect.stringMatching(/opening balance of every statement/)]))
})

test('periods that are over keep their days, sums and zone, whatever number of times the workspace changes its time zone since', async () => {
  const mover = await signIn(service.api)
  const { api } = await createKey(mover)
  await fund(service, mover, 1_000_000n)
  const to = await newBeneficiary(mover.api)
  const limit = await mover.api.post('/v1/spending-policies', { name: 'A month', monthly_limit_minor: '8000' })
  expect(limit.status).toBe(201)
  const move = async (time_zone: string) => {
    const answer = await (await signIn(service.api, mover.wallet)).api.patch('/v1/workspaces/current', { time_zone })
    expect(answer.status).toBe(200)
    return answer.body.workspace
  }
  const payAt = async (instant: string, expected = 201, amount_minor = '7000') => {
    service.clock.set(new Date(instant))
    const answer = await api.post('/v1/payments', { beneficiary_id: to, amount_minor, account_reference: instant.slice(5, 10) })
    expect(answer.status).toBe(expected)
    await service.settle()
  }
  const csv = async (path: string): Promise<Record<string, string>[]> =>
    parse((await api.get(path, { headers: { accept: 'text/csv' } })).text, { bom: true, columns: true })
  const ofMonth = (name: string) => `/v1/accounts/me/statement?from=2026-${name}-01`
  const month = async (name: string) => [(await api.get(ofMonth(name))).body, await csv(ofMonth(name))]
  const localDays = async (): Promise<Record<string, (string | undefined)[]>> =>
    Object.fromEntries(
      (await csv('/v1/payments')).map((row: Record<string, string>) => [
        row.account_reference,
        [row.created_local, row.time_zone],
      ]),
    )
  // The first of June in Nairobi, the last of May in New York.
  await payAt('2026-05-31T22:00:00Z')
  await move('America/New_York')
  // June's limit counts by Nairobi until the month is over in both zones.
  await payAt('2026-06-30T20:30:00Z', 403)
  await payAt('2026-07-01T03:30:00Z')
  const [may, june] = [await month('05'), await month('06')]
  expect([may[0].out_minor, may[0].closing_balance_minor, may[0].time_zone]).toEqual(['0', '1000000', 'Africa/Nairobi'])
  // The last of July in New York, the first of August in Kiritimati.
  await payAt('2026-07-31T20:00:00Z', 403)
  await payAt('2026-07-31T20:00:00Z', 201, '1000')
  expect(await move('Pacific/Kiritimati')).toMatchObject({ time_zone_from: '2026-08-01T04:00:00.000Z' })
  await payAt('2026-08-20T12:00:00Z')
  const july = await month('07')
  expect([july[0].out_minor, july[0].time_zone]).toEqual(['8000', 'America/New_York'])
  expect(await move('Asia/Kathmandu')).toMatchObject({ time_zone_from: '2026-08-31T18:15:00.000Z' })
  await payAt('2026-09-02T12:00:00Z')
  const august = await month('08')
  const days = await localDays()
  expect(days).toEqual({
    '05-31': ['2026-06-01 01:00:00', 'Africa/Nairobi'],
    '07-01': ['2026-07-01 06:30:00', 'Africa/Nairobi'],
    '07-31': ['2026-07-31 16:00:00', 'America/New_York'],
    '08-20': ['2026-08-21 02:00:00', 'Pacific/Kiritimati'],
    '09-02': ['2026-09-02 17:45:00', 'Asia/Kathmandu'],
  })
  const byDay = async () => {
    const [flow, made] = await Promise.all(
      ['/v1/workspaces/current/history/summary', '/v1/payments/summary'].map((path) => api.get(`${path}?days=90`)),
    )
    const paid = made?.body.by_day.filter(({ count }: { count: number }) => count > 0)
    const out = flow?.body.days.filter(({ out_minor }: { out_minor: string }) => out_minor !== '0')
    return [paid, out].map((list: { date: string }[]) => list.map(({ date }) => date))
  }
  const counted = ['2026-07-01', '2026-07-31', '2026-08-21', '2026-09-02']
  expect(await byDay()).toEqual([counted, counted])

  // A withdrawn change, and one back to an earlier zone.
  await move('America/New_York')
  await move('Asia/Kathmandu')
  await move('Africa/Nairobi')
  service.clock.set(new Date('2026-10-10T12:00:00Z'))
  expect(await Promise.all(['05', '06', '07', '08'].map(month))).toEqual([may, june, july, august])
  expect(await localDays()).toEqual(days)
  // The last 90 days.
  expect(await byDay()).toEqual([counted.slice(1), counted.slice(1)])
  const september = (await month('09'))[0]
  expect([september.out_minor, september.time_zone, (await month('10'))[0].time_zone]).toEqual([
    '7000',
    'Asia/Kathmandu',
    'Africa/Nairobi',
  ])
  const whole = await csv('/v1/accounts/me/statement?from=2026-06-01&to=2026-10-10')
  expect(whole.filter(({ type }) => type === 'payment').map(({ date, time_zone }) => [date, time_zone])).toEqual(
    Object.values(days)
      .map(([local, zone]) => [local?.slice(0, 10), zone])
      .toReversed(),
  )
})

test('the database refuses a zone that would move days that are over, and keeps the zones that were', async () => {
  const { api, accountId, wallet } = await signIn(service.api)
  await api.patch('/v1/workspaces/current', { time_zone: 'Asia/Tokyo' })
  const change = (set: string) =>
    service.deps.db.query(`update workspaces set updated_at = '2027-06-01', ${set} where owning_account_id = $1`, [
      parseId('account', accountId),
    ])
  const refused = [
    "time_zone = 'Asia/Tokyo'",
    'next_time_zone = null, next_time_zone_from = null',
    "next_time_zone_from = '2027-05-01'",
    "next_time_zone = 'UTC'",
  ]
  for (const set of refused) await expect(change(set)).rejects.toThrow('may not change for time that is over')
  await expect(change('next_time_zone_from = null')).rejects.toThrow(/may not change|next_time_zone_check/)
  service.clock.set(new Date('2026-11-05T12:00:00Z'))
  const later = await signIn(service.api, wallet)
  expect((await later.api.patch('/v1/workspaces/current', { time_zone: 'UTC' })).status).toBe(200)
  for (const write of [
    "update workspace_time_zones set time_zone = 'UTC'",
    'delete from workspace_time_zones',
    'truncate workspace_time_zones',
  ])
    await expect(service.deps.db.query(write)).rejects.toThrow('append-only')
})

const instant = fc.integer({ min: Date.UTC(2026, 0, 1), max: Date.UTC(2027, 0, 1) }).map((at) => new Date(at))
const zone = fc.constantFrom('Africa/Nairobi', 'America/New_York', 'Pacific/Apia', 'Asia/Kathmandu', 'UTC', 'Pacific/Pago_Pago')

test('a change of the time zone moves no day that has begun, and days follow each other without a gap', () => {
  fc.assert(
    fc.property(instant, zone, zone, fc.integer({ min: -40, max: 40 }), (at, timeZone, nextTimeZone, days) => {
      const nextTimeZoneFrom = zoneChangesAt(at, timeZone, nextTimeZone)
      const date = (more: number) => new Date(nextTimeZoneFrom.getTime() + (days + more) * 86_400_000).toISOString().slice(0, 10)
      const startOf = (more: number) =>
        startOfDateInZones(zonesOf({ timeZone, nextTimeZone, nextTimeZoneFrom }, []), date(more)).getTime()
      expect(startOf(1)).toBeGreaterThan(startOf(0))
      const before = startOfDate(date(0), timeZone).getTime()
      if (before < nextTimeZoneFrom.getTime()) expect(startOf(0)).toBe(before)
    }),
  )
})
