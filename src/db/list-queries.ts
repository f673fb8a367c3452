import { type AnyColumn, and, asc, desc, lt, lte, type Placeholder, type SQL, type SQLWrapper, sql } from 'drizzle-orm'
import type { PgColumn } from 'drizzle-orm/pg-core'

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

/** The same for texts that begin with it. */
export const beginningWith = (text: string): string => `${literal(text)}%`
