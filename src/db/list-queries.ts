import { type AnyColumn, and, asc, desc, gt, lt, lte, type Placeholder, type SQL, type SQLWrapper, sql } from 'drizzle-orm'
import type { PgColumn } from 'drizzle-orm/pg-core'
import { firstId, lastId } from '../lib/ids.ts'

type Limited<Query> = { limit: (take: Placeholder) => Query }
export type Selected<Query> = {
  where: (condition: SQL | undefined) => { orderBy: (...columns: SQL[]) => Limited<Query> }
}

/**
 * The rows of one owner, without an equality: with one, where a database has few owners, reading the primary key past everybody else's rows seems
 * cheaper to the planner, and the list of a workspace that wrote nothing for long reads all that others wrote since.
 */
export const ownedBy = (owner: AnyColumn, id: SQL): SQL => sql`${owner} = any(array[${id}]::uuid[])`

/** The rows of a grant, and of the grants below it. */
export const ofLineage = (grantId: AnyColumn, root: SQL): SQL =>
  sql`exists (select from grants g where g.id = ${grantId} and (g.id = ${root} or g.ancestor_ids @> array[${root}]))`

/** A page, newest first. `owner`: of `ownedBy`, which is then one of the conditions; none in the lists of all tenants. */
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

/** A page that is found by its ids alone: with the other columns, the generic plan reads past all that does not match, for a status that few have. */
export const amongIds = (id: PgColumn, page: SQLWrapper): SQL => sql`${id} = any(array(${page}))`

/** What a sweep is read with: what is due by then, behind the row that it has processed. */
export const duePlaces = { now: 'timestamptz', since: 'text', behind: 'uuid', take: 'rows' } as const

/** A due time as text, with its microseconds, for the place behind it. */
export const dueText = (due: PgColumn): SQL.Aliased<string> => sql<string>`${due}::text`.as('due')

/** In the order of the partial index on its time: so a sweep reads nothing that is not due. */
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

/** A pattern of `like`; the text is taken literally. */
export const containing = (text: string): string => `%${literal(text)}%`

export const beginningWith = (text: string): string => `${literal(text)}%`

/**
 * How far an id's time may be from its row's: one process takes both from one clock. Where the clock is set (tests, a sandbox) they are further
 * apart, and the condition on ids is left out.
 */
export const idSlack = `interval '10 minutes'`

/**
 * `owner`: the column that begins an index with the ids behind it (`ownedBy`). `unordered`: its reader does not ask for that order, so the bounds have
 * the owner with the id.
 */
export type Timed = { id: AnyColumn; at: AnyColumn; owner: { column: AnyColumn; id: SQL } | undefined; unordered?: boolean }

/** Rows from one side of a time, looked for among the ids: without that, a list of old rows reads everything newer first, and the other way round. */
const beside = ({ id, at, owner, unordered }: Timed, time: SQL, isAfter: boolean): SQL | undefined => {
  const slack = sql.raw(idSlack)
  const order = isAfter ? desc : asc
  const beyond = isAfter ? sql`< first_id_at(${time} - ${slack})` : sql`>= first_id_at(${time} + ${slack})`
  const isOutside = isAfter ? sql`<= ${time}` : sql`>= ${time}`
  // Null if that row is not surely outside, or does not exist.
  const nearest = sql`(select case when ${at} ${isOutside} then ${id} end from ${id.table} where ${and(owner && ownedBy(owner.column, owner.id), sql`${id} ${beyond}`)} order by ${owner ? sql`${order(owner.column)}, ` : sql``}${order(id)} limit 1)`
  const bound = sql`coalesce(${nearest}, '${sql.raw(isAfter ? firstId : lastId)}')`
  const compared = isAfter ? sql`>` : sql`<`
  const isBeside =
    owner && unordered ? sql`(${owner.column}, ${id}) ${compared} (${owner.id}, ${bound})` : sql`${id} ${compared} ${bound}`
  return and(isAfter ? gt(at, time) : lt(at, time), isBeside)
}

export const createdBetween = (list: Timed, after: SQL | undefined, before: SQL | undefined): SQL | undefined =>
  and(after && beside(list, after, true), before && beside(list, before, false))
