import type pg from 'pg'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { advanceBookingTotals } from '../../src/ledger/booking-totals.ts'
import { readStatementSummary } from '../../src/ledger/statement.ts'
import { firstIdAt, parseId, type Uuid } from '../../src/lib/ids.ts'
import { credit } from '../harness/money.ts'
import { type Person, signIn } from '../harness/people.ts'
import { startService, type TestService } from '../harness/service.ts'

let service: TestService
let person: Person
let accountId: Uuid
let otherId: Uuid
let client: pg.PoolClient

beforeAll(async () => {
  service = await startService()
  person = await signIn(service.api)
  accountId = parseId('account', person.accountId) ?? ''
  const other = await signIn(service.api)
  otherId = parseId('account', other.accountId) ?? ''
  await credit(service, person.accountId, 1_000n)
  await credit(service, other.accountId, 1_000n)
})
afterAll(() => service.close())

beforeEach(async () => {
  client = await service.deps.db.pool.connect()
  return async () => {
    await client.query('rollback')
    client.release()
  }
})

const advance = () => advanceBookingTotals(service.deps.db)
const idSecondsAgo = (seconds: number): Uuid =>
  firstIdAt(new Date(Date.now() - seconds * 1_000)).replace(/.{12}$/, `${Date.now()}`.slice(-12))

type Sender = { query: (text: string, values: unknown[]) => Promise<unknown> }
/** Books 100 with an id of a time, and its total. */
const book = async (id: Uuid, by: Sender = client, account = accountId) => {
  await by.query(
    `insert into ledger_transfers (id, amount_minor, available_after_minor, created_at, kind, debit_account_id, credit_account_id, reference_type, reference_id, customer_account_id)
     select $1, 100, 0, time_of_id($1), 'direct', c.id, $2, 'adjustment', $1, $2 from ledger_accounts c where c.code = 'rail_clearing'`,
    [id, account],
  )
  await by.query('update ledger_accounts set posted_credits_minor = posted_credits_minor + 100 where id = $1', [account])
}

const of = async () => {
  const range = { start: new Date('2000-01-01T00:00:00Z'), end: new Date('2100-01-01T00:00:00Z') }
  const { openingMinor, inMinor } = await readStatementSummary(service.deps.db, {
    ownerId: accountId,
    workspaceId: null,
    payeesOf: 'none',
    ...range,
  })
  return { openingMinor, inMinor }
}
const isCounted = async (id: Uuid): Promise<boolean> => {
  const [row] = await service.deps.db.query<{ counted: boolean }>(
    `select id <= (select through from booking_points) and not exists (select from late_transfers l where l.transfer_id = t.id) as counted
     from ledger_transfers t where id = $1`,
    [id],
  )
  return row?.counted ?? false
}
const stored = async () => {
  const [row] = await service.deps.db.query<{ minor: string }>(
    `select coalesce(sum(came_in_minor), 0)::text as minor from booking_totals where unit = 'month'`,
  )
  return BigInt(row?.minor ?? '0')
}

test('sums do not pass what a transaction that is under way has written', async () => {
  const { inMinor } = await of()
  const [slow, quick] = [idSecondsAgo(120), idSecondsAgo(100)]
  await client.query('begin')
  // As if its statement had taken two minutes: it was not late when it was inserted.
  await client.query('set local session_replication_role = replica')
  await book(slow)
  await book(quick, service.deps.db, otherId)
  await advance()
  await advance()
  expect(await isCounted(quick)).toBe(false)
  await client.query('commit')
  await advance()
  expect([await isCounted(slow), await isCounted(quick)]).toEqual([true, true])
  expect(await of()).toEqual({ openingMinor: 0n, inMinor: inMinor + 100n })
})

test('a transfer that comes behind the point is read at once, and counted once', async () => {
  await book(idSecondsAgo(60))
  await advance()
  const [before, counted] = [await of(), await stored()]
  const late = idSecondsAgo(3_600)
  await book(late)
  expect(await isCounted(late)).toBe(false)
  expect(await of()).toEqual({ openingMinor: 0n, inMinor: before.inMinor + 100n })
  await advance()
  expect(await isCounted(late)).toBe(true)
  await advance()
  expect([await of(), await stored()]).toEqual([{ openingMinor: 0n, inMinor: before.inMinor + 100n }, counted + 100n])
})

test('the point does not move while a late transfer is under way', async () => {
  await advance()
  const before = await of()
  await client.query('begin')
  await client.query("set local test.traced = 'yes'")
  await book(idSecondsAgo(600))
  const advancing = advance()
  const [{ pid } = { pid: 0 }] = (await client.query<{ pid: number }>('select pg_backend_pid() as pid')).rows
  await expect
    .poll(
      async () =>
        (await service.deps.db.query(`select from pg_stat_activity where $1 = any(pg_blocking_pids(pid))`, [pid])).length,
    )
    .toBe(1)
  await client.query('commit')
  await advancing
  expect(await of()).toEqual({ openingMinor: 0n, inMinor: before.inMinor + 100n })
  await advance()
  expect(await of()).toEqual({ openingMinor: 0n, inMinor: before.inMinor + 100n })
})

test('what is younger than the horizon is not late, and waits', async () => {
  const young = idSecondsAgo(1)
  await book(young)
  await advance()
  expect(await isCounted(young)).toBe(false)
  expect(await service.deps.db.query('select from late_transfers')).toEqual([])
})
