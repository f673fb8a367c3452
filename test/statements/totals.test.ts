import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { countHours } from '../../src/ledger/count-hours.ts'
import { readFlow } from '../../src/ledger/reports.ts'
import { listStatementEntries, readStatementSummary, type StatementScope } from '../../src/ledger/statement.ts'
import { dateAfter } from '../../src/lib/clock.ts'
import { parseId, type Uuid } from '../../src/lib/ids.ts'
import { startOfDate } from '../../src/policy/calendar.ts'
import { credit, newBeneficiary, unguarded } from '../harness/money.ts'
import { type Person, signIn } from '../harness/people.ts'
import { startService, type TestService } from '../harness/service.ts'

const now = new Date('2026-04-20T10:17:00Z')
const firstDay = '2026-01-25'

let service: TestService
let person: Person
let ownerId: Uuid
let workspaceId: Uuid
let bookings: Awaited<ReturnType<typeof readBookings>>

/** Bookings `from` … `from + count` over three months, with payees and workspaces, by two clocks two minutes apart. */
const book = (from: number, count: number) =>
  unguarded(
    service,
    `with booked as (
       select n, $2::timestamptz + (n * 7919 % 10007) / 10007.0 * ($3::timestamptz - $2::timestamptz) as at, n % 7 as kind, 1 + n * 6151 % 9001 as amount
       from generate_series($5::int, $5::int + $4::int) n),
     ids as (
       select b.*, overlay(gen_random_uuid()::text placing left(first_id_at(at + interval '2 minutes' * (n % 2))::text, 13) from 1)::uuid as id from booked b),
     paid as (
       insert into payments select (jsonb_populate_record(p, jsonb_build_object('id', md5('paid' || i.n)::uuid, 'created_at', i.at, 'idempotency_key', null,
         'request_hash', null, 'beneficiary_id', (select id from beneficiaries order by id offset i.n % 3 limit 1),
         'workspace_id', case when i.n % 5 = 0 then md5('another')::uuid else p.workspace_id end))).*
       from ids i join payments p on p.id = (select id from payments order by id limit 1) where i.kind < 4)
     insert into ledger_transfers (id, amount_minor, available_after_minor, created_at, kind, debit_account_id, credit_account_id, reference_type, reference_id, customer_account_id)
     select id, amount, 0, at, case when kind = 6 then 'pending' else 'direct' end,
       case when kind in (3, 4) then c.clearing else $1 end, case when kind in (3, 4) then $1 else c.clearing end,
       case when kind < 4 then 'payment' when kind = 4 then 'topup' else 'adjustment' end, md5('paid' || n)::uuid, $1
     from ids, (select id as clearing from ledger_accounts where code = 'rail_clearing') c`,
    [ownerId, startOfDate(firstDay, 'UTC'), now, count - 1, from],
  )

/** All bookings of the account in the order of their ids. */
const readBookings = () =>
  service.deps.db.query<{
    id: Uuid
    at: Date
    minor: bigint
    type: string
    payee: Uuid | null
    workspace: Uuid | null
  }>(
    `select t.id, t.created_at as at, case when t.credit_account_id = $1 then t.amount_minor else -t.amount_minor end as minor, t.reference_type as type,
       p.beneficiary_id as payee, p.workspace_id as workspace
     from ledger_transfers t left join payments p on t.reference_type = 'payment' and p.id = t.reference_id
     where t.customer_account_id = $1 and t.kind in ('direct', 'post') order by t.id`,
    [ownerId],
  )

/** A statement's contents, from the bookings themselves. */
const plainly = ({ start, end, workspaceId: workspace }: StatementScope) => {
  const sum = (some: typeof bookings) => some.reduce((total, { minor }) => total + minor, 0n)
  const [before, later] = [bookings.filter(({ at }) => at < start), bookings.filter(({ at }) => at >= start)]
  const all = later.filter(({ at }) => at < end)
  const period = all.filter((row) => workspace === null || row.workspace === workspace)
  const typeOf = ({ type, minor }: (typeof bookings)[number]) =>
    type === 'payment' ? (minor < 0n ? 'payment' : 'payment_return') : type === 'topup' ? 'topup' : 'adjustment'
  const totalOf = (some: typeof bookings) => ({
    entries: some.length,
    inMinor: sum(some.filter(({ minor }) => minor > 0n)),
    outMinor: -sum(some.filter(({ minor }) => minor < 0n)),
  })
  const grouped = (nameOf: (row: (typeof bookings)[number]) => string | null) =>
    [...Map.groupBy(period, nameOf)]
      .filter(([name]) => name !== null)
      .map(([name, some]) => [name, totalOf(some)])
      .sort()
  let balance = sum(before)
  return {
    opening: workspace === null ? balance : null,
    ...totalOf(period),
    byType: grouped(typeOf),
    byPayee: grouped(({ payee }) => payee),
    entries: period.map((row) => {
      balance += row.minor
      return [row.id, row.minor, workspace === null ? balance : null]
    }),
  }
}

const stated = async (of: StatementScope, take: number) => {
  const { db } = service.deps
  const summary = await readStatementSummary(db, of)
  const entries: Awaited<ReturnType<typeof listStatementEntries>> = []
  for (let more = summary.through !== null; more; ) {
    const page = await listStatementEntries(db, of, { after: entries.at(-1)?.id ?? null, take, summary })
    entries.push(...page)
    more = page.length === take
  }
  const { sums } = summary
  if (!sums) throw new Error('sums are pending')
  if (of.workspaceId === null)
    expect(summary.closingMinor).toBe(summary.openingMinor + BigInt(sums.inMinor) - BigInt(sums.outMinor))
  const total = ({ entries: count, inMinor, outMinor }: (typeof sums.byType)[number] | (typeof sums.byPayee)[number]) => ({
    entries: count,
    inMinor: BigInt(inMinor),
    outMinor: BigInt(outMinor),
  })
  return {
    opening: of.workspaceId === null ? summary.openingMinor : null,
    entries: entries.map((each) => [each.id, each.amountMinor, of.workspaceId === null ? each.balanceAfterMinor : null]),
    inMinor: BigInt(sums.inMinor),
    outMinor: BigInt(sums.outMinor),
    byType: sums.byType.map((each) => [each.type, total(each)]).sort(),
    byPayee: sums.byPayee.map((each) => [each.id, total(each)]).sort(),
  }
}

beforeAll(async () => {
  service = await startService()
  service.clock.set(now)
  person = await signIn(service.api)
  ownerId = parseId('account', person.accountId) ?? ''
  await credit(service, person.accountId, 10_000_000n)
  const ids = await Promise.all([1, 2, 3].map((n) => newBeneficiary(person.api, { destination: `25470000100${n}` })))
  const answer = await person.api.post('/v1/payments', { beneficiary_id: ids[0], amount_minor: '1000' })
  workspaceId = parseId('workspace', answer.body.workspace_id) ?? ''
  await bookMore(1, 700)
})
afterAll(() => service.close())

/** The account's totals follow, as in each booking's own transaction. */
const bookMore = async (from: number, count: number) => {
  await book(from, count)
  await service.deps.db.query(
    `update ledger_accounts a set posted_credits_minor = (select sum(amount_minor) from ledger_transfers t where t.kind in ('direct', 'post') and t.credit_account_id = a.id),
       posted_debits_minor = (select coalesce(sum(amount_minor), 0) from ledger_transfers t where t.kind in ('direct', 'post') and t.debit_account_id = a.id),
       pending_debits_minor = 0 where a.id = $1`,
    [ownerId],
  )
  bookings = await readBookings()
}

const countAt = (time: string) => countHours(service.deps.db, new Date(time))
const later = '2026-04-20T10:17:00Z'
const countOf = async (rows: string) =>
  (await service.deps.db.query<{ rows: number }>(`select count(*)::int as rows from ${rows}`))[0]?.rows

const zone = fc.constantFrom('Africa/Nairobi', 'UTC', 'Asia/Kathmandu', 'America/New_York')
const day = fc.integer({ min: -3, max: 90 })
const periodOf = ([timeZone, one, other]: [string, number, number]) => {
  const [from, to] = [Math.min(one, other), Math.max(one, other)].map((days) => dateAfter(firstDay, days)) as [string, string]
  return { timeZone, from, to, start: startOfDate(from, timeZone), end: startOfDate(dateAfter(to, 1), timeZone) }
}

describe.each([
  ['nothing is counted yet', async () => undefined],
  [
    'hours are counted up to a time',
    async () => {
      await countAt('2026-03-17T09:41:00Z')
      expect(await countOf(`hour_totals where hour >= '2026-03-17T09:00:00Z'`)).toBe(0)
      expect(await countOf('hour_totals')).toBeGreaterThan(500)
    },
  ],
  [
    'all hours that ended are counted',
    async () => {
      await countAt(later)
      expect(await countOf(`counted_hours where since <= '2000-01-01' and through = '2026-04-20T10:00:00Z'`)).toBe(1)
    },
  ],
  [
    'older hours are not counted',
    () => service.deps.db.query(`update counted_hours set since = '2026-03-09T05:00:00Z'`).then(() => undefined),
  ],
  [
    'older hours are counted again',
    async () => {
      await countAt(later)
      expect(await countOf(`counted_hours where since <= '2000-01-01'`)).toBe(1)
    },
  ],
  [
    'a clock was set back, and more was booked in hours that had been counted',
    async () => {
      await countAt('2026-01-20T00:00:00Z')
      await bookMore(1_000, 120)
    },
  ],
  ['these hours are counted again', () => countAt(later)],
])('when %s', (_, prepare) => {
  beforeAll(prepare)

  test('a statement is the sum of its bookings, whatever its period, time zone and pages', async () => {
    await fc.assert(
      fc.asyncProperty(fc.tuple(zone, day, day), fc.boolean(), fc.constantFrom(7, 50), async (days, ofWorkspace, take) => {
        const { start, end } = periodOf(days)
        const of = {
          ownerId,
          workspaceId: ofWorkspace ? workspaceId : null,
          start,
          end,
          detailsOf: 'all' as const,
          payeesOf: 'all' as const,
        }
        const { entries, ...expected } = plainly(of)
        const { entries: count, ...totals } = { ...expected, entries: entries.length }
        expect(count).toBe(entries.length)
        expect(await stated(of, take)).toEqual({ ...totals, entries })
      }),
      { numRuns: 25 },
    )
  })

  test('the flow of each day is the sum of its bookings', async () => {
    for (const timeZone of ['Africa/Nairobi', 'Asia/Kathmandu', 'America/New_York']) {
      const days = Array.from({ length: 90 }, (_each, n) => {
        const { start: begins, end: ends, from: date } = periodOf([timeZone, n, n])
        return { date, begins, ends }
      })
      const ends = days.at(-1)?.ends ?? now
      const flow = await readFlow(service.deps.db, ownerId, { starts: days.map(({ begins }) => begins), ends })
      for (const [index, { date, begins, ends }] of days.entries()) {
        const { inMinor, outMinor } = plainly({
          ownerId,
          workspaceId: null,
          start: begins,
          end: ends,
          detailsOf: 'all',
          payeesOf: 'none',
        })
        expect([date, flow[index]?.inMinor, flow[index]?.outMinor]).toEqual([date, inMinor, outMinor])
      }
      const atEnds = await service.deps.db.query<{ minor: bigint }>(
        `select coalesce((select available_after_minor from ledger_transfers where customer_account_id = $1 and created_at < d.ends order by id desc limit 1), 0) as minor
         from unnest($2::timestamptz[]) with ordinality as d(ends, day) order by d.day`,
        [ownerId, days.map((day) => day.ends)],
      )
      expect(flow.map(({ availableMinor }) => availableMinor)).toEqual(atEnds.map(({ minor }) => minor))
    }
  })
})
