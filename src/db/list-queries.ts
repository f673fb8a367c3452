import { type AnyColumn, and, asc, desc, gt, lt, lte, type Placeholder, type SQL, type SQLWrapper, sql } from 'drizzle-orm'
import type { PgColumn } from 'drizzle-orm/pg-core'
import { firstId, lastId } from '../lib/ids.ts'

type Limited<Query> = { limit: (take: Placeholder) => Query }
export type Selected<Query> = {
  where: (condition: SQL | undefined) => { orderBy: (...columns: SQL[]) => Limited<Query> }
}

/**
 * Matches the rows of one owner without `=`. With `=` and few owners, the planner prefers the primary key and reads every other
 * owner's rows: a list of a quiet workspace would read all later rows of other workspaces.
 */
export const ownedBy = (owner: AnyColumn, id: SQL): SQL => sql`${owner} = any(array[${id}]::uuid[])`

/** Rows of a grant and of all grants below it. */
export const ofLineage = (grantId: AnyColumn, root: SQL): SQL =>
  sql`exists (select from grants g where g.id = ${grantId} and (g.id = ${root} or g.ancestor_ids @> array[${root}]))`

/** Reads one page, newest first. `owner`: the column that `ownedBy` must restrict. Omitted in lists across all tenants. */
export const newestFirst = <Query>(
  query: Selected<Query>,
  { owner, id }: { owner?: PgColumn; id: PgColumn },
  param: { before: SQL | undefined; take: Placeholder },
  ...conditions: (SQL | undefined)[]
): Query =>
  query
    .where(and(...conditions, param.before && lt(id, param.before)))
    .orderBy(...(owner ? [desc(owner)] : []), desc(id))
    .limit(param.take)

/** Reads a page by ids alone. With more columns, the generic plan reads past every mismatch, for example for a rare status. */
export const amongIds = (id: PgColumn, page: SQLWrapper): SQL => sql`${id} = any(array(${page}))`

/** Parameters of a sweep: rows due by `now`, after the last row processed. */
export const dueParameters = { now: 'timestamptz', since: 'text', behind: 'uuid', take: 'rows' } as const

/** A due time as text, which keeps its microseconds, for the position of the next sweep. */
export const dueText = (due: PgColumn): SQL.Aliased<string> => sql<string>`${due}::text`.as('due')

/** Rows in the order of the partial index on the due time, so that a sweep reads only rows that are due. */
export const dueAfter = <Query>(
  query: Selected<Query>,
  { id, due }: { id: PgColumn; due: PgColumn },
  param: { now: SQL; since: SQL; behind: SQL; take: Placeholder },
  ...conditions: SQL[]
): Query =>
  query
    .where(and(...conditions, lte(due, param.now), sql`(${due}, ${id}) > (${param.since}::timestamptz, ${param.behind})`))
    .orderBy(asc(due), asc(id))
    .limit(param.take)

const literal = (text: string): string => text.replace(/[\\%_]/g, '\\$&')

/** A `like` pattern that matches `text` literally. */
export const containing = (text: string): string => `%${literal(text)}%`

export const beginningWith = (text: string): string => `${literal(text)}%`

/**
 * Maximum difference between the time in a row's id and the row's own time, which a process takes from the same clock. If the
 * clock was set (tests, a sandbox) they differ more, and the condition on ids is omitted.
 */
export const idSlack = `interval '10 minutes'`

/**
 * `owner`: the leading column of an index that continues with the ids (`ownedBy`). `unordered`: the reader does not need that
 * order, so the bounds compare owner and id as a pair.
 */
export type Timed = { id: AnyColumn; at: AnyColumn; owner: { column: AnyColumn; id: SQL } | undefined; unordered?: boolean }

/**
 * Rows before or after a time, bounded by id: `time > t and id > (the newest id before t - slack, if its time is before t)`. Without
 * the bound, a list of old rows would read all newer rows first.
 */
const boundByTime = ({ id, at, owner, unordered }: Timed, time: SQL, isAfter: boolean): SQL | undefined => {
  const slack = sql.raw(idSlack)
  const order = isAfter ? desc : asc
  const idOutside = isAfter ? sql`< first_id_at(${time} - ${slack})` : sql`>= first_id_at(${time} + ${slack})`
  const timeOutside = isAfter ? sql`<= ${time}` : sql`>= ${time}`
  // Null if no such row exists, or if its time is inside the range.
  const nearest = sql`(select case when ${at} ${timeOutside} then ${id} end from ${id.table} where ${and(owner && ownedBy(owner.column, owner.id), sql`${id} ${idOutside}`)} order by ${owner ? sql`${order(owner.column)}, ` : sql``}${order(id)} limit 1)`
  const bound = sql`coalesce(${nearest}, '${sql.raw(isAfter ? firstId : lastId)}')`
  const compared = isAfter ? sql`>` : sql`<`
  const idBound =
    owner && unordered ? sql`(${owner.column}, ${id}) ${compared} (${owner.id}, ${bound})` : sql`${id} ${compared} ${bound}`
  return and(isAfter ? gt(at, time) : lt(at, time), idBound)
}

export const createdBetween = (list: Timed, after: SQL | undefined, before: SQL | undefined): SQL | undefined =>
  and(after && boundByTime(list, after, true), before && boundByTime(list, before, false))
