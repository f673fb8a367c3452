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

type Bound = { order: typeof asc; beyond: SQL; isOutside: SQL }

/** The id of the nearest row that is surely outside of the times; null if the row is not, or does not exist. */
const nearest = ({ id, at, owner }: Timed, { order, beyond, isOutside }: Bound): SQL =>
  sql`(select case when ${at} ${isOutside} then ${id} end from ${id.table} where ${and(owner && ownedBy(owner.column, owner.id), sql`${id} ${beyond}`)} order by ${owner ? sql`${order(owner.column)}, ` : sql``}${order(id)} limit 1)`

/** What is on this side of an id. */
const besideId = ({ id, owner, unordered }: Omit<Timed, 'at'>, side: '<' | '>', bound: SQL): SQL => {
  const beside = side === '>' ? sql`>` : sql`<`
  return owner && unordered ? sql`(${owner.column}, ${id}) ${beside} (${owner.id}, ${bound})` : sql`${id} ${beside} ${bound}`
}

/**
 * Rows from between two times; either may be missing. The times are looked for among the ids, in the index in whose order the list is read:
 * without that, a list of old rows reads everything newer first, and the last page of new rows everything older.
 */
export const createdBetween = (list: Timed, after: SQL | undefined, before: SQL | undefined): SQL | undefined => {
  const { at } = list
  const slack = sql.raw(idSlack)
  return and(
    after && gt(at, after),
    after &&
      besideId(
        list,
        '>',
        sql`coalesce(${nearest(list, { order: desc, beyond: sql`< first_id_at(${after} - ${slack})`, isOutside: sql`<= ${after}` })}, '${sql.raw(firstId)}')`,
      ),
    before && lt(at, before),
    before &&
      besideId(
        list,
        '<',
        sql`coalesce(${nearest(list, { order: asc, beyond: sql`>= first_id_at(${before} + ${slack})`, isOutside: sql`>= ${before}` })}, '${sql.raw(lastId)}')`,
      ),
  )
}
