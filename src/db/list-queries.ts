import { type AnyColumn, and, asc, desc, gt, lt, lte, type Placeholder, type SQL, type SQLWrapper, sql } from 'drizzle-orm'
import type { PgColumn } from 'drizzle-orm/pg-core'
import { firstId, lastId } from '../lib/ids.ts'

type Limited<Query> = { limit: (take: Placeholder) => Query }
export type Selected<Query> = {
  where: (condition: SQL | undefined) => { orderBy: (...columns: SQL[]) => Limited<Query> }
}

/**
 * The rows of one owner, without an equality. With an equality and few owners, the planner prefers the primary key and reads
 * everybody else's rows. A quiet workspace's list would read all later rows of others.
 */
export const ownedBy = (owner: AnyColumn, id: SQL): SQL => sql`${owner} = any(array[${id}]::uuid[])`

/** The rows of a grant, and of the grants below it. */
export const ofLineage = (grantId: AnyColumn, root: SQL): SQL =>
  sql`exists (select from grants g where g.id = ${grantId} and (g.id = ${root} or g.ancestor_ids @> array[${root}]))`

/** A page, newest first. `owner`: the column of `ownedBy`, which must be a condition; omitted in lists of all tenants. */
export const newestFirst = <Query>(
  query: Selected<Query>,
  { owner, id }: { owner?: PgColumn; id: PgColumn },
  at: { before: SQL | undefined; take: Placeholder },
  ...conditions: (SQL | undefined)[]
): Query =>
  query
    .where(and(...conditions, at.before && lt(id, at.before)))
    .orderBy(...(owner ? [desc(owner)] : []), desc(id))
    .limit(at.take)

/** A page found by ids alone. With other columns, the generic plan reads past every mismatch (for a status few rows have). */
export const amongIds = (id: PgColumn, page: SQLWrapper): SQL => sql`${id} = any(array(${page}))`

/** Parameters of a sweep: rows due by `now`, after the last processed row. */
export const dueParameters = { now: 'timestamptz', since: 'text', behind: 'uuid', take: 'rows' } as const

/** A due time as text, with its microseconds, for the next sweep's position. */
export const dueText = (due: PgColumn): SQL.Aliased<string> => sql<string>`${due}::text`.as('due')

/** Rows in the order of the partial index on the due time, so that a sweep reads no row that is not due. */
export const dueAfter = <Query>(
  query: Selected<Query>,
  { id, due }: { id: PgColumn; due: PgColumn },
  at: { now: SQL; since: SQL; behind: SQL; take: Placeholder },
  ...conditions: SQL[]
): Query =>
  query
    .where(and(...conditions, lte(due, at.now), sql`(${due}, ${id}) > (${at.since}::timestamptz, ${at.behind})`))
    .orderBy(asc(due), asc(id))
    .limit(at.take)

const literal = (text: string): string => text.replace(/[\\%_]/g, '\\$&')

/** A `like` pattern that matches the text literally. */
export const containing = (text: string): string => `%${literal(text)}%`

export const beginningWith = (text: string): string => `${literal(text)}%`

/**
 * The maximum difference between an id's time and its row's time: one process takes both from one clock. If the clock is set
 * (tests, a sandbox) they differ more, and the condition on ids is omitted.
 */
export const idSlack = `interval '10 minutes'`

/**
 * `owner`: the leading column of an index with the ids behind it (`ownedBy`). `unordered`: the reader does not need that order,
 * so the bounds pair the owner with the id.
 */
export type Timed = { id: AnyColumn; at: AnyColumn; owner: { column: AnyColumn; id: SQL } | undefined; unordered?: boolean }

/** Rows on one side of a time, found by their ids: otherwise a list of old rows reads everything newer first, and vice versa. */
const beside = ({ id, at, owner, unordered }: Timed, time: SQL, isAfter: boolean): SQL | undefined => {
  const slack = sql.raw(idSlack)
  const order = isAfter ? desc : asc
  const beyond = isAfter ? sql`< first_id_at(${time} - ${slack})` : sql`>= first_id_at(${time} + ${slack})`
  const isOutside = isAfter ? sql`<= ${time}` : sql`>= ${time}`
  // Null if that row may be inside, or does not exist.
  const nearest = sql`(select case when ${at} ${isOutside} then ${id} end from ${id.table} where ${and(owner && ownedBy(owner.column, owner.id), sql`${id} ${beyond}`)} order by ${owner ? sql`${order(owner.column)}, ` : sql``}${order(id)} limit 1)`
  const bound = sql`coalesce(${nearest}, '${sql.raw(isAfter ? firstId : lastId)}')`
  const compared = isAfter ? sql`>` : sql`<`
  const isBeside =
    owner && unordered ? sql`(${owner.column}, ${id}) ${compared} (${owner.id}, ${bound})` : sql`${id} ${compared} ${bound}`
  return and(isAfter ? gt(at, time) : lt(at, time), isBeside)
}

export const createdBetween = (list: Timed, after: SQL | undefined, before: SQL | undefined): SQL | undefined =>
  and(after && beside(list, after, true), before && beside(list, before, false))
