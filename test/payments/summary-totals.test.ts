import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { inTx, type Tx } from '../../src/db/client.ts'
import { paymentStatuses } from '../../src/db/transitions.ts'
import { countHours } from '../../src/ledger/count-hours.ts'
import { parseId, type Uuid } from '../../src/lib/ids.ts'
import type { PaymentStatus } from '../../src/modules/payments/queries.ts'
import { summarizePayments } from '../../src/modules/payments/summary.ts'
import { startOfDate } from '../../src/policy/calendar.ts'
import { credit, newBeneficiary } from '../harness/money.ts'
import { type Person, signIn } from '../harness/people.ts'
import { startService, type TestService } from '../harness/service.ts'

const now = new Date('2026-04-20T10:17:00Z')
const firstDay = '2026-01-25'

let service: TestService
let person: Person
let id: Uuid
let owningAccountId: Uuid

/**
 * Payments of three months in every status, some in another workspace of the owner. Their holds ended up to three days later, by
 * two processes' clocks two minutes apart.
 */
const makePayments = (tx: Tx, count: number) =>
  tx.query(
    `with made as (
       select n, $2::timestamptz + (n * 7919 % 10007) / 10007.0 * ($3::timestamptz - $2::timestamptz) as at, ($5::text[])[1 + n % cardinality($5::text[])] as status,
         n * 31 % 4321 * interval '1 minute' as later, 1 + n * 6151 % 9001 as amount
       from generate_series(1, $4::int) n),
     ids as (
       select m.*, status = 'scheduled' or (status in ('failed', 'cancelled') and n % 3 = 0) as unheld,
         overlay(gen_random_uuid()::text placing left(first_id_at(at + interval '2 minutes' * (n % 2))::text, 13) from 1)::uuid as id,
         overlay(gen_random_uuid()::text placing left(first_id_at(at + later + interval '2 minutes' * (n % 2))::text, 13) from 1)::uuid as ended_by
       from made m),
     paid as (
       insert into payments select (jsonb_populate_record(p, jsonb_build_object('id', i.id, 'created_at', i.at, 'execute_at', i.at, 'amount_minor', i.amount,
         'status', i.status, 'dispatch_due_at', null, 'hold_transfer_id', case when not i.unheld then i.id end, 'idempotency_key', null, 'request_hash', null,
         'workspace_id', case when i.n % 7 = 0 then md5('another')::uuid else p.workspace_id end))).*
       from ids i join payments p on p.id = (select id from payments order by id limit 1))
     insert into ledger_transfers (id, amount_minor, available_after_minor, created_at, kind, pending_id, debit_account_id, credit_account_id, reference_type, reference_id, customer_account_id)
     select t.id, amount, 0, t.at, t.kind, t.pending_id, $1, c.clearing, 'payment', i.id, $1
     from ids i cross join (select id as clearing from ledger_accounts where code = 'rail_clearing') c
       cross join lateral (values (i.id, i.at, 'pending', null::uuid), (i.ended_by, i.at + i.later, case when i.status in ('succeeded', 'returned') then 'post' else 'void' end, i.id)) as t(id, at, kind, pending_id)
     where not i.unheld and (t.kind = 'pending' or (i.status not in ('pending_approval', 'processing', 'unknown') and i.at + i.later < $3))`,
    [owningAccountId, startOfDate(firstDay, 'UTC'), now, count, [...paymentStatuses]],
  )

/** Payments that end after today are still under way. */
const keepUnended = (tx: Tx) =>
  tx.query(
    `update payments p set status = 'processing' where hold_transfer_id is not null and status not in ('pending_approval', 'processing', 'unknown')
       and not exists (select from ledger_transfers t where t.pending_id = p.hold_transfer_id)`,
  )

beforeAll(async () => {
  service = await startService()
  service.clock.set(now)
  person = await signIn(service.api)
  owningAccountId = parseId('account', person.accountId) ?? ''
  await credit(service, person.accountId, 10_000_000n)
  const beneficiary_id = await newBeneficiary(person.api)
  const { body } = await person.api.post('/v1/payments', { beneficiary_id, amount_minor: '1000' })
  id = parseId('workspace', body.workspace_id) ?? ''
  await inTx(service.deps.db, async (tx) => {
    // A hold and its end are inserted together, so the trigger would not find the hold.
    await tx.query('set local session_replication_role = replica')
    await makePayments(tx, 700)
    await keepUnended(tx)
  })
})
afterAll(() => service.close())

const instant = fc.option(
  fc
    .integer({ min: -2 * 1440, max: 88 * 1440 })
    .map((minutes) => new Date(startOfDate(firstDay, 'UTC').getTime() + minutes * 60_007)),
  { nil: null },
)
type Asked = {
  zone: string
  days: number
  createdAfter: Date | null
  createdBefore: Date | null
  statuses: readonly PaymentStatus[]
}
const asked: fc.Arbitrary<Asked> = fc.record({
  zone: fc.constantFrom('Africa/Nairobi', 'UTC', 'Asia/Kathmandu', 'America/New_York'),
  createdAfter: instant,
  createdBefore: instant,
  statuses: fc.oneof(fc.constant(paymentStatuses), fc.subarray([...paymentStatuses], { minLength: 1 })),
  days: fc.integer({ min: 1, max: 90 }),
})

const summarize = async ({ zone, days, ...search }: Asked, how: 'stored' | 'plain') => {
  const principal = {
    workspace: { id, balanceAccountId: owningAccountId, timeZone: zone, nextTimeZone: null, nextTimeZoneFrom: null },
  }
  const summary = await summarizePayments(
    service.deps,
    principal as unknown as Parameters<typeof summarizePayments>[1],
    // Totals by amount are not stored: with this filter, which every payment matches, each payment is read.
    { ...search, ...(how === 'plain' && { amountMinMinor: 1n }) },
    days,
  )
  return { ...summary, by_status: summary.by_status.toSorted((a, b) => (a.status < b.status ? -1 : 1)) }
}

const changeSome = (from: string, to: string) =>
  service.deps.db.query(
    `update payments set status = $2 where id in (select id from payments where workspace_id = $3 and status = $1 order by id limit 9)`,
    [from, to, id],
  )
const countOf = async (table: string) =>
  (await service.deps.db.query<{ rows: number }>(`select count(*)::int as rows from ${table}`))[0]?.rows

const countAt = (time: Date | string) => countHours(service.deps.db, new Date(time))

describe.each([
  ['nothing is counted yet', async () => undefined],
  ['hours are counted up to a time', () => countAt('2026-03-17T09:41:00Z')],
  ['all hours that ended are counted', () => countAt(now)],
  [
    'older hours are not counted',
    () => service.deps.db.query(`update counted_hours set since = '2026-03-09T05:00:00Z'`).then(() => undefined),
  ],
  [
    'payments end in hours that are counted',
    async () => {
      await countAt(now)
      await changeSome('processing', 'succeeded')
      await changeSome('processing', 'failed')
    },
  ],
  ['some have been returned since they were counted', () => changeSome('succeeded', 'returned')],
])('when %s', (_, prepare) => {
  beforeAll(async () => {
    await prepare()
  })

  test('a summary is that of each payment', async () => {
    await fc.assert(
      fc.asyncProperty(asked, async (query) => {
        expect(await summarize(query, 'stored')).toEqual(await summarize(query, 'plain'))
      }),
      { numRuns: 30 },
    )
  })
})

test('all of them were compared: each status, and what no transfer ended', async () => {
  const every = { zone: 'UTC', days: 90, createdAfter: null, createdBefore: null, statuses: paymentStatuses }
  const { by_status, count } = await summarize(every, 'stored')
  expect(by_status.map(({ status }) => status)).toEqual(paymentStatuses.toSorted())
  expect(count).toBeGreaterThan(500)
  expect(await countOf(`payments where hold_transfer_id is null and status <> 'scheduled'`)).toBeGreaterThan(10)
  expect(await countOf(`hour_totals where type = 'made'`)).toBeGreaterThan(300)
})
