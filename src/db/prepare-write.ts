import {
  getTableColumns,
  getTableName,
  type InferInsertModel,
  type InferSelectModel,
  is,
  Param,
  Placeholder,
  sql,
} from 'drizzle-orm'
import { CasingCache } from 'drizzle-orm/casing'
import { drizzle, type NodePgQueryResultHKT } from 'drizzle-orm/node-postgres'
import type { PgColumn, PgDatabase, PgInsertBase, PgTable } from 'drizzle-orm/pg-core'
import { only } from '../lib/only.ts'
import type { Db, Tx } from './client.ts'
import { documentList, documents, plainList, valuesList } from './lists.ts'
import {
  type Complete,
  declareForms,
  type Form,
  type Parameters,
  type Places,
  type Prepared,
  requireNewName,
  type Values,
} from './prepare.ts'
import { leavesOf, readerOf } from './row-reader.ts'
import { declareStatements, type Query, statement } from './statement.ts'

type Writer = Pick<PgDatabase<NodePgQueryResultHKT>, 'insert' | 'update' | 'delete'>

const orm: Writer = drizzle.mock({ casing: 'snake_case' })
const casing = new CasingCache('snake_case')

/** A complete write of drizzle, with the type of the rows that it returns. */
type Written = Complete & { readonly _: { readonly returning: unknown } }
type RowOf<B extends Written> = B['_']['returning'] extends undefined ? never : B['_']['returning']

/** The fields that a write returns: drizzle keeps them in its configuration alone. */
const returnedBy = (built: Complete): object => {
  const config = Reflect.get(built, 'config') as { returningFields?: object }
  return config.returningFields ?? {}
}

/**
 * Declares a write that is no plain one of a row: of several rows, under a condition, or one that returns something. As `prepare`; its rows are
 * what it returns. Nothing of it waits for an answer that nobody needs: `tx.defer(tx.run(…))`.
 */
export const prepareWrite = <const P extends Parameters, B extends Written>(
  name: string,
  parameters: P,
  build: (orm: Writer, at: Places<P>) => B,
): Prepared<Values<P>, RowOf<B>> =>
  declareForms(name, 'pool', parameters, (at) => {
    const built = build(orm, at)
    return { built, fields: returnedBy(built) }
  })

type Row = Readonly<Record<string, unknown>>

/** What drizzle leaves of a value that is not known yet: its place, with the encoder of its column. */
const taker = (param: unknown): ((row: Row) => unknown) => {
  const [place, encoder] = is(param, Param) ? [param.value, param.encoder] : [param, undefined]
  if (!is(place, Placeholder)) return () => param
  const name = String(place.name)
  return (row) => {
    const value = row[name] ?? null
    return value === null || !encoder ? value : (encoder.mapToDriverValue(value) as unknown)
  }
}

const formOf = (name: string, built: Complete): Form<Row, unknown> => {
  const { sql: text, params } = built.toSQL()
  const takers = params.map(taker)
  const read = readerOf(name, leavesOf(returnedBy(built)))
  return {
    statement: statement(name, text),
    values: (row) => takers.map((take) => take(row)),
    read: (rows) => rows.map(read),
  }
}

const nameOf = (column: PgColumn): string => `"${casing.getColumnCasing(column)}"`

/** An insert, built once for the columns that are given and not for each request. */
const declareInsert = (
  name: string,
  table: PgTable,
  finish: (insert: PgInsertBase<PgTable, NodePgQueryResultHKT>) => Complete,
): Prepared<Row, unknown> => {
  requireNewName(name)
  const columns = Object.keys(getTableColumns(table))
  const forms = new Map<string, Form<Row, unknown>>()
  const formFor = (given: readonly string[]): Form<Row, unknown> => {
    const missing = columns.filter((column) => !given.includes(column)).join('-')
    const known = forms.get(missing)
    if (known) return known
    const places = Object.fromEntries(given.map((column) => [column, sql.placeholder(column)]))
    const form = formOf(missing === '' ? name : `${name}-${missing}`, finish(orm.insert(table).values(places)))
    forms.set(missing, form)
    return form
  }
  declareStatements(() => void formFor(columns))
  return { lane: 'pool', form: (row) => formFor(columns.filter((column) => row[column] !== undefined)) }
}

/**
 * Declares how a row is inserted. The work does not wait for it: it is sent in its place, and a failure fails the commit.
 */
export const prepareInsert = <T extends PgTable>(name: string, table: T): ((tx: Tx, row: InferInsertModel<T>) => void) => {
  const insert = declareInsert(name, table, (insert) => insert)
  return (tx, row) => tx.defer(tx.run(insert, row))
}

/** A value as the driver gets it: a document that is a text already, bytes that are packed already. */
export class Sent {
  readonly value: string | Buffer | null
  constructor(value: string | Buffer | null) {
    this.value = value
  }
}

export type RowToInsert<T extends PgTable> = {
  readonly [Name in keyof InferInsertModel<T>]: InferInsertModel<T>[Name] | Sent
}

const isDocument = (column: PgColumn): boolean => column.getSQLType().startsWith('json')
const isList = (column: PgColumn): boolean => column.getSQLType().endsWith(']')

const sentValue = (value: unknown, column: PgColumn): unknown => {
  if (value instanceof Sent) return value.value
  return value === null || value === undefined ? null : column.mapToDriverValue(value)
}

/** A column's values as one parameter, and how the statement reads it. The text of a value that is a list itself: a list of lists has no rows. */
const listOf = (column: PgColumn, place: number): { read: string; encode: (items: readonly unknown[]) => string } => {
  if (isDocument(column)) return { read: documents(place), encode: (items) => documentList(items as (string | null)[]) }
  if (isList(column)) return { read: `unnest($${place}::text[])`, encode: valuesList }
  const type = column.getSQLType()
  const encode = /^(uuid|bigint|integer|date|boolean|xid8)/.test(type)
    ? (items: readonly unknown[]) => plainList(items as (string | null)[])
    : valuesList
  return { read: `unnest($${place}::${type}[])`, encode }
}

/**
 * Declares how any number of rows are inserted by one statement, which has a list for each column; a column that no row has is left to its
 * default.
 */
export const prepareInsertAll = <T extends PgTable>(
  name: string,
  table: T,
): ((query: Query, rows: readonly RowToInsert<T>[]) => Promise<unknown>) => {
  requireNewName(name)
  const columns = Object.entries(getTableColumns<PgTable>(table))
  const makeForm = (given: typeof columns) => {
    const lists = given.map(([key, column], at) => ({ key, column, ...listOf(column, at + 1) }))
    const names = given.map(([, column]) => nameOf(column)).join(', ')
    const values = given.map(([, column]) =>
      isDocument(column) || isList(column) ? `${nameOf(column)}::${column.getSQLType()}` : nameOf(column),
    )
    const missing = columns.flatMap(([key]) => (given.some(([other]) => other === key) ? [] : [key])).join('-')
    const text = `insert into "${getTableName(table)}" (${names}) select ${values.join(', ')} from rows from (${lists.map(({ read }) => read).join(', ')}) as x(${names})`
    return { insert: statement(missing === '' ? name : `${name}-${missing}`, text), lists }
  }
  const forms = new Map<string, ReturnType<typeof makeForm>>()
  const formFor = (rows: readonly Row[]) => {
    const given = columns.filter(([key]) => rows.some((row) => row[key] !== undefined))
    const key = given.map(([column]) => column).join()
    const known = forms.get(key) ?? makeForm(given)
    forms.set(key, known)
    return known
  }
  declareStatements(() => void makeForm(columns))
  return (query, rows) => {
    const { insert, lists } = formFor(rows as readonly Row[])
    const values = lists.map(({ key, column, encode }) => encode(rows.map((row) => sentValue((row as Row)[key], column))))
    return query(insert, values)
  }
}

/** Declares how these columns of any number of rows are changed by one statement, each row by its id. */
export const prepareUpdateAll = <T extends PgTable & { id: unknown }, const Column extends keyof InferInsertModel<T> & string>(
  name: string,
  table: T,
  columns: readonly Column[],
): ((
  query: Query,
  rows: readonly Pick<Required<RowToInsert<T>>, Column | ('id' & keyof InferInsertModel<T>)>[],
) => Promise<unknown>) => {
  requireNewName(name)
  const all = getTableColumns<PgTable>(table)
  const lists = ['id', ...columns].flatMap((key, at) =>
    all[key] ? [{ key, column: all[key], ...listOf(all[key], at + 1) }] : [],
  )
  const set = lists.slice(1).map(({ column }) => `${nameOf(column)} = x.${nameOf(column)}`)
  const update = statement(
    name,
    `update "${getTableName(table)}" t set ${set.join(', ')} from rows from (${lists.map(({ read }) => read).join(', ')})
     as x(${lists.map(({ column }) => nameOf(column)).join(', ')}) where t.id = x.id`,
  )
  return (query, rows) =>
    query(
      update,
      lists.map(({ key, column, encode }) => encode(rows.map((row) => sentValue((row as Row)[key], column)))),
    )
}

/** The same outside of a transaction. */
export const prepareLoneInsert = <T extends PgTable>(
  name: string,
  table: T,
): ((db: Db, row: InferInsertModel<T>) => Promise<unknown>) => {
  const insert = declareInsert(name, table, (insert) => insert)
  return (db, row) => db.run(insert, row)
}

/**
 * Declares how a row is inserted unless there is one with its key already: answers whether it was inserted. `key`: the columns of one unique
 * index; any when left out.
 */
export const prepareInsertOnce = <T extends PgTable>(
  name: string,
  table: T,
  key?: PgColumn | PgColumn[],
): ((db: Db, row: InferInsertModel<T>) => Promise<boolean>) => {
  const insert = declareInsert(name, table, (insert) =>
    insert.onConflictDoNothing(key && { target: key }).returning({ inserted: sql<boolean>`true` }),
  )
  return async (db, row) => (await db.run(insert, row)).length > 0
}

/** Declares how a row is inserted, or changes these columns of the one that has its key: answers the row as it is then. */
export const prepareUpsert = <T extends PgTable, const Column extends keyof InferInsertModel<T> & string>(
  name: string,
  table: T,
  key: PgColumn | PgColumn[],
  replaced: readonly Column[],
): ((db: Db, row: InferInsertModel<T>) => Promise<InferSelectModel<T>>) => {
  const columns = getTableColumns<PgTable>(table)
  const set = Object.fromEntries(
    replaced.flatMap((name) => {
      const column = columns[name]
      return column ? [[name, sql`excluded.${sql.identifier(casing.getColumnCasing(column))}`]] : []
    }),
  )
  const insert = declareInsert(name, table, (insert) => insert.onConflictDoUpdate({ target: key, set }).returning())
  return async (db, row) => only(await db.run(insert, row)) as InferSelectModel<T>
}

/** Declares how columns of the row with an id are changed. The work does not wait for it, as for an insert. */
export const prepareUpdate = <T extends PgTable & { id: unknown }, const Column extends keyof InferInsertModel<T> & string>(
  name: string,
  table: T,
  columns: readonly Column[],
): ((tx: Tx, id: string, changes: Required<Pick<InferInsertModel<T>, Column>>) => void) => {
  requireNewName(name)
  let form: Form<Row, unknown> | undefined
  const formed = (): Form<Row, unknown> => {
    if (form) return form
    const untyped: PgTable = table
    // An expression each: what drizzle takes for a column's new value.
    const places = Object.fromEntries(
      columns.map((column) => [column, sql`${sql.param(sql.placeholder(column), getTableColumns(table)[column])}`]),
    )
    form = formOf(
      name,
      orm
        .update(untyped)
        .set(places)
        .where(sql`${table.id} = ${sql.placeholder('id')}`),
    )
    return form
  }
  const update: Prepared<Row, unknown> = { lane: 'pool', form: formed }
  declareStatements(() => void formed())
  return (tx, id, changes) => tx.defer(tx.run(update, { ...changes, id }))
}
