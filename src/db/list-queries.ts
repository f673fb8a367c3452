import { type AnyColumn, and, asc, desc, gt, lt, lte, type Placeholder, type SQL, type SQLWrapper, sql } from 'drizzle-orm'
import type { PgColumn } from 'drizzle-orm/pg-core'
import { firstId, lastId } from '../lib/ids.ts'

/** The places of a page's parameters: older than this row, and how many. */
type PagePlaces = { before: SQL | undefined; take: Placeholder }

type Limited<Query> = { limit: (take: Placeholder) => Query }
type Selected<Query> = {
  where: (condition: SQL | undefined) => { orderBy: (...columns: SQL[]) => Limited<Query> }
}

/**
 * Rows of one owner, whose column is the first of an index that has the ids behind it. Not by an equality: with one, the primary key has the rows in
 * the order of the page too, and where a database has few owners, reading along it past everybody else's rows seems cheaper to the planner. The list
 * of a workspace that wrote nothing for long then reads all that others wrote since.
 */
export const ownedBy = (owner: AnyColumn, id: SQL): SQL => sql`${owner} = any(array[${id}]::uuid[])`

/**
 * A page of the rows that the conditions leave: newest first, as every list of the API. `owner`: of `ownedBy`, which is then one of the conditions;
 * none in the lists of all tenants.
 */
export const newestFirst = <Query>(
  query: Selected<Query>,
  { owner, id }: { owner?: PgColumn; id: PgColumn },
  at: PagePlaces,
  ...conditions: (SQL | undefined)[]
): Query =>
  query
    .where(and(...conditions, at.before && lt(id, at.before)))
    .orderBy(...(owner ? [desc(owner)] : []), desc(id))
    .limit(at.take)

/**
 * The rows of a page that is found by its ids alone, in an index that has them behind all that is asked for. With the other columns, where one
 * tenant has most of the rows, the generic plan reads past what does not match: all of it, for a status that few have.
 */
export const amongIds = (id: PgColumn, page: SQLWrapper): SQL => sql`${id} = any(array(${page}))`

/** What a sweep is read with: what is due by then, behind the row that it has processed. */
export const duePlaces = { now: 'timestamptz', since: 'text', behind: 'uuid', take: 'rows' } as const

/** With its microseconds, for the place behind it. */
export const dueText = (due: PgColumn): SQL.Aliased<string> => sql<string>`${due}::text`.as('due')

/** What a sweep reads next, in the order of the partial index on its time: so it reads nothing that is not due, however much waits. */
export const dueBehind = <Query>(
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

/** The pattern of `like` for texts that contain this one, which is taken literally. */
export const containing = (text: string): string => `%${literal(text)}%`

export const beginningWith = (text: string): string => `${literal(text)}%`

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

export const createdBetween = (list: Timed, after: SQL | undefined, before: SQL | undefined): SQL | undefined =>
  and(after && beside(list, after, true), before && beside(list, before, false))
