import { type Database, statement } from '../db/client.ts'
import type { Statement } from '../db/statement.ts'
import { firstId, type Uuid } from '../lib/ids.ts'
import type { Wanted } from './worker.ts'

/** `tenant`, `due`: a table's columns, or expressions. The table has an index on both, and one on `due` alone. */
type Queue = { table: string; tenant: string; due: string }

/**
 * Selects rows that are due at $1, except $2, at most $3: the oldest row of each tenant, beginning after tenant $4, then the second
 * oldest ones. Visits each tenant in the index, so a large backlog of one tenant costs nothing.
 */
export const dueInTurn = (name: string, { table, tenant, due }: Queue): Statement =>
  statement(name)`
  with recursive tenants as (
     (select ${tenant} as tenant from ${table} where ${due} is not null and exists (select from ${table} where ${due} <= $1)
        order by ${tenant}, ${due} limit 1)
     union all
     select (select ${tenant} from ${table} where ${due} is not null and ${tenant} > tenants.tenant order by ${tenant}, ${due} limit 1)
     from tenants where tenants.tenant is not null)
  select oldest.id, tenants.tenant from tenants cross join lateral (
     select id, row_number() over (order by ${due}) as place from (
       select id, ${due} from ${table} where ${tenant} = tenants.tenant and ${due} <= $1 and id <> all($2::uuid[])
       order by ${due} limit $3) as overdue) as oldest
   order by oldest.place, tenants.tenant <= $4, tenants.tenant limit $3`

export type DueRow = { id: Uuid; tenant: Uuid }

/** Begins each round after the tenant that was served last. */
export const createTurns = (db: Database, query: Statement) => {
  let last = firstId
  return async ({ now, except, free }: Wanted): Promise<DueRow[]> => {
    const rows = await db.query<DueRow>(query, [now, except, free, last])
    last = rows.at(-1)?.tenant ?? last
    return rows
  }
}
