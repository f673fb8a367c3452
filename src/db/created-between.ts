import { type AnyColumn, and, asc, desc, gt, lt, type SQL, sql } from 'drizzle-orm'
import { firstId, lastId } from '../lib/ids.ts'
import { ownedBy } from './list-queries.ts'

/**
 * How far the time that an id begins with may be from the time of its row: one process takes both from one clock, for one transaction. Where
 * the clock is set (in tests, and in a sandbox that is moved to a later day) they are further apart, and the condition on ids is left out.
 */
export const idSlack = `interval '10 minutes'`

/**
 * A list in the order of its ids, which is that of its times. `owner`: the column that begins an index with the ids in this order (`ownedBy`). `unordered`: what reads
 * it does not ask for this order, so the bounds have the owner with the id: with ids alone, the plan may read everybody's rows in the primary key.
 */
export type Timed = { id: AnyColumn; at: AnyColumn; owner: { column: AnyColumn; id: SQL } | undefined; unordered?: boolean }

/**
 * Rows from one side of a time, which is looked for among the ids, in the index in whose order the list is read: without that, a list of old rows reads
 * everything newer first, and the last page of new rows everything older.
 */
const beside = ({ id, at, owner, unordered }: Timed, time: SQL, isAfter: boolean): SQL | undefined => {
  const slack = sql.raw(idSlack)
  const order = isAfter ? desc : asc
  const beyond = isAfter ? sql`< first_id_at(${time} - ${slack})` : sql`>= first_id_at(${time} + ${slack})`
  const isOutside = isAfter ? sql`<= ${time}` : sql`>= ${time}`
  // The id of the nearest row that is surely outside; null if the row is not, or does not exist.
  const nearest = sql`(select case when ${at} ${isOutside} then ${id} end from ${id.table} where ${and(owner && ownedBy(owner.column, owner.id), sql`${id} ${beyond}`)} order by ${owner ? sql`${order(owner.column)}, ` : sql``}${order(id)} limit 1)`
  const bound = sql`coalesce(${nearest}, '${sql.raw(isAfter ? firstId : lastId)}')`
  const compared = isAfter ? sql`>` : sql`<`
  const isBeside =
    owner && unordered ? sql`(${owner.column}, ${id}) ${compared} (${owner.id}, ${bound})` : sql`${id} ${compared} ${bound}`
  return and(isAfter ? gt(at, time) : lt(at, time), isBeside)
}

/** Rows from between two times; either may be missing. */
export const createdBetween = (list: Timed, after: SQL | undefined, before: SQL | undefined): SQL | undefined =>
  and(after && beside(list, after, true), before && beside(list, before, false))
