import { type Database, statement } from '../db/client.ts'
import type { Statement } from '../db/statement.ts'
import { firstId, type Uuid } from '../lib/ids.ts'
import type { ClaimLimits } from './claiming.ts'

/** `tenant`, `due`: a table's columns, or expressions. The table has an index on both, and one on `due` alone. */
type Queue = { table: string; tenant: string; due: string }

/** Tenants that one query visits from a place on, and oldest rows whose tenants it visits too. */
const tenantsAtOnce = 200

/**
 * Selects rows that are due at $1, except $2, at most $3: the oldest row of each tenant, beginning after tenant $4, then the second
 * oldest ones. Visits the next tenants in the index after $4 and from the beginning, whether due or not, and those of the oldest
 * due rows. So neither a large backlog of one tenant nor many tenants make it slow.
 */
export const dueInTurn = (name: string, { table, tenant, due }: Queue): Statement => {
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

export type DueRow = { id: Uuid; tenant: Uuid }

/** Begins each round after the tenant that was served last. */
export const createTurns = (db: Database, query: Statement) => {
  let last = firstId
  return async ({ now, except, free }: ClaimLimits): Promise<DueRow[]> => {
    const rows = await db.query<DueRow>(query, [now, except, free, last])
    last = rows.at(-1)?.tenant ?? last
    return rows
  }
}
