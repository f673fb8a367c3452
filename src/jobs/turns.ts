import { type Database, statement } from '../db/client.ts'
import type { Clock } from '../lib/clock.ts'
import { firstId, type Uuid } from '../lib/ids.ts'
import { writeIsolated } from './claiming.ts'
import type { Capacity, Claimed } from './worker.ts'

/**
 * `tenant`, `due`: a table's columns, or expressions. The table has an index on both, and one on `due` alone. `leaseSeconds`: if
 * the process crashes, a claimed row is due again after this time.
 */
type Queue = { table: string; tenant: string; due: string; leaseSeconds: number }

/** Tenants that one query visits from a place on, and oldest rows whose tenants it visits too. */
const tenantsAtOnce = 200

/**
 * Selects rows that are due at $1, except $2, at most $3: the oldest row of each tenant, beginning after tenant $4, then the second
 * oldest ones. Visits the next tenants in the index after $4 and from the beginning, whether due or not, and those of the oldest
 * due rows. So neither a large backlog of one tenant nor many tenants make it slow.
 */
const dueInTurn = (name: string, { table, tenant, due }: Queue) => {
  const next = (from: string): string =>
    `lateral (select ${tenant} as tenant from ${table} where ${due} is not null and ${tenant} > ${from}.tenant order by ${tenant}, ${due} limit 1) as next`
  return statement(name)`
  with recursive walk as (
     select next.tenant, 1 as n from (select $4::uuid as tenant union select '${firstId}'::uuid) as start cross join ${next('start')}
       where exists (select from ${table} where ${due} <= $1)
     union all
     select next.tenant, walk.n + 1 from walk cross join ${next('walk')} where walk.n < ${tenantsAtOnce}),
   tenants as (
     select tenant from walk
     union select tenant from (
       select ${tenant} as tenant from ${table} where ${due} <= $1 and id <> all($2::uuid[]) order by ${due} limit ${tenantsAtOnce}) as overdue)
  select oldest.id, tenants.tenant from tenants cross join lateral (
     select id, row_number() over (order by ${due}) as place from (
       select id, ${due} from ${table} where ${tenant} = tenants.tenant and ${due} <= $1 and id <> all($2::uuid[])
       order by ${due} limit $3) as overdue) as oldest
   order by oldest.place, tenants.tenant <= $4, tenants.tenant limit $3`
}

/** Rows that another transaction is changing are skipped until the next round. */
export const queueInTurn = (name: string, queue: Queue) => ({
  read: dueInTurn(`${name}.due`, queue),
  lease: statement(`${name}.lease`)`
  update ${queue.table} set ${queue.due} = $1::timestamptz + make_interval(secs => ${queue.leaseSeconds}) where id in (
     select id from ${queue.table} where id = any($2::uuid[]) and ${queue.due} <= $1 for update skip locked) returning id`,
})

export type DueRow = { id: Uuid; tenant: Uuid }

/** Begins each round after the tenant that was served last. */
export const createTurns = (
  { db, clock }: { db: Database; clock: Clock },
  { read, lease }: ReturnType<typeof queueInTurn>,
  work: (row: DueRow) => Promise<void>,
) => {
  let last = firstId
  return async ({ except, free }: Capacity): Promise<Claimed> => {
    const now = clock.now()
    const rows = await db.query<DueRow>(read, [now, except, free, last])
    last = rows.at(-1)?.tenant ?? last
    const failed = new Map<string, unknown>()
    const take = (part: readonly DueRow[]) => db.query<{ id: Uuid }>(lease, [now, part.map(({ id }) => id)])
    const leased = new Set((await writeIsolated(rows, take, ({ id }, error) => failed.set(id, error))).map(({ id }) => id))
    const tasks = rows
      .filter(({ id }) => leased.has(id))
      .map((row) => ({ key: row.id, tenant: row.tenant, run: () => work(row) }))
    return { tasks, more: rows.length === free, failed }
  }
}
