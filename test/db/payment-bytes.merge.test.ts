import { afterAll, beforeAll, expect, test } from 'vitest'
import { credit, newBeneficiary } from '../harness/money.ts'
import { createKey, type Key, signIn } from '../harness/people.ts'
import { startService, type TestService } from '../harness/service.ts'

type Payer = { key: Key; beneficiary: string }

let service: TestService
const payers: Payer[] = []
beforeAll(async () => {
  service = await startService()
  for (let n = 0; n < 8; n += 1) {
    const person = await signIn(service.api)
    await credit(service, person.accountId, 900_000_000n)
    const policy = await person.api.post('/v1/spending-policies', { name: 'Limit', daily_limit_minor: '900000000000' })
    if (policy.status !== 201) throw new Error(policy.text)
    payers.push({ key: await createKey(person), beneficiary: await newBeneficiary(person.api) })
  }
})
afterAll(() => service.close())

let made = 0
const payOnce = async () => {
  made += 1
  const { key, beneficiary } = payers[made % payers.length] as Payer
  const answer = await key.api.post(
    '/v1/payments',
    {
      beneficiary_id: beneficiary,
      amount_minor: String(10_000 + made * 100),
      narrative: `Invoice ${made}`,
      metadata: { invoice: String(made) },
    },
    { key: `order-${String(made).padStart(20, '0')}`, headers: { 'user-agent': 'agent/1.0' } },
  )
  if (answer.status !== 201) throw new Error(answer.text)
}

/** Makes payments, each until its result is booked. */
const pay = async (count: number) => {
  for (let left = count; left > 0; left -= 40) {
    await Promise.all(Array.from({ length: Math.min(40, left) }, payOnce))
    await service.settle()
    service.clock.advance(2)
  }
}

const openTransactions = `select pid from pg_stat_activity
  where datname = current_database() and pid <> pg_backend_pid() and (backend_xmin is not null or backend_xid is not null)`

/** Each table's size, with its indexes and TOAST data. Parts count as their table. */
const sizes = async (): Promise<Map<string, number>> => {
  const { db } = service.deps
  const tables = await db.query<{ name: string }>(
    `select oid::regclass::text as name from pg_class where relkind = 'r' and relnamespace = 'public'::regnamespace`,
  )
  for (const { name } of tables) {
    // A transaction that another connection has open keeps old versions of rows.
    await expect.poll(async () => (await db.query(openTransactions)).length).toBe(0)
    await db.query(`vacuum full ${name}`)
  }
  const rows = await db.query<{ name: string; bytes: string }>(
    `select coalesce(parent.inhparent, c.oid)::regclass::text as name, sum(pg_total_relation_size(c.oid))::text as bytes
     from pg_class c left join pg_inherits parent on parent.inhrelid = c.oid
     where c.relkind = 'r' and c.relnamespace = 'public'::regnamespace group by 1`,
  )
  return new Map(rows.map(({ name, bytes }) => [name, Number(bytes)]))
}

/** Tables whose rows expire after days: events, callback bodies, the request log. */
const temporary = new Set(['events', 'callback_bodies', 'request_log'])

// docs/scaling.md plans with these: the test finds larger payment rows. The goals are 6,000 and 3,500; the second is missed.
test('a payment with its result takes few bytes, and fewer for ever', async () => {
  const count = 800
  await pay(200)
  const before = await sizes()
  await pay(count)
  const after = await sizes()
  const bytes = (isCounted: (table: string) => boolean) => {
    let sum = 0
    for (const [table, size] of after) if (isCounted(table)) sum += size - (before.get(table) ?? 0)
    return sum / count
  }
  const each = [...after.keys()].map((table) => [table, Math.round(bytes((other) => other === table))])
  const shown = `bytes of each table: ${JSON.stringify(Object.fromEntries(each.filter(([, size]) => size !== 0)))}`
  if (process.env.SHOW_BYTES) console.info(shown)
  expect(
    bytes(() => true),
    shown,
  ).toBeLessThan(5_700)
  // A table's last page counts whole, so each table adds up to 10 bytes per payment: 3,799 to 3,809 in all were measured. The index
  // of amounts takes 36, a receipt's claim, which prevents a second credit or booking, 205.
  expect(
    bytes((table) => !temporary.has(table)),
    shown,
  ).toBeLessThan(3_850)
})
