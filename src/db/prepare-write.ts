import { getTableColumns, getTableName, type InferInsertModel, type InferSelectModel } from 'drizzle-orm'
import { CasingCache } from 'drizzle-orm/casing'
import { drizzle, type NodePgQueryResultHKT } from 'drizzle-orm/node-postgres'
import type { PgColumn, PgDatabase, PgTable } from 'drizzle-orm/pg-core'
import { only } from '../lib/lists.ts'
import type { Db, Tx } from './client.ts'
import { columnsOf } from './columns.ts'
import { type Complete, declareForms, type Parameters, type Places, type Prepared, type Values } from './prepare.ts'
import { declareStatements, type Query, type Statement, statement } from './statement.ts'

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
 * Declares a change or removal of rows under a condition. As `prepare`; its rows are what it returns. Nothing of it waits for an answer that nobody
 * needs: `tx.defer(tx.run(…))`.
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

// Rows are written by one statement however many they are, generated from the table, with one parameter for each column: a list of its values.

type Row = Readonly<Record<string, unknown>>
type Columns = readonly (readonly [key: string, column: PgColumn])[]

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
type Changed<T extends PgTable, Column extends keyof InferInsertModel<T>> = Required<Pick<RowToInsert<T>, Column>>

const nameOf = (column: PgColumn): string => `"${casing.getColumnCasing(column)}"`
const isList = (column: PgColumn): boolean => column.getSQLType().endsWith(']')

const sentValue = (value: unknown, column: PgColumn): unknown => {
  if (value instanceof Sent) return value.value
  return value === null || value === undefined ? null : column.mapToDriverValue(value)
}

/** Rows `x` of these columns: how a statement reads them, each column's value as of its type, and how rows are sent. */
const rowsOf = (columns: Columns) => {
  const names = columns.map(([, column]) => nameOf(column))
  // A list of lists has no rows: each is sent as its text.
  const lists = columns.map(([, column], at) => `unnest($${at + 1}::${isList(column) ? 'text' : column.getSQLType()}[])`)
  return {
    names,
    typed: columns.map(([, column]) => `x.${nameOf(column)}${isList(column) ? `::${column.getSQLType()}` : ''}`),
    from: `rows from (${lists.join(', ')}) as x(${names.join(', ')})`,
    send: (rows: readonly Row[]) => columns.map(([key, column]) => rows.map((row) => sentValue(row[key], column))),
  }
}

type Insert = { query: Statement; send: (rows: readonly Row[]) => unknown[][] }

/**
 * Declares how any number of rows are inserted. A column that no row has is left to its default. `end`: what follows, for rows whose key is there
 * already (of table `t`), and what is returned.
 */
export const prepareInsertAll = <T extends PgTable, Returned extends object = never>(
  name: string,
  table: T,
  end = '',
): ((query: Query, rows: readonly RowToInsert<T>[]) => Promise<Returned[]>) => {
  const columns: Columns = Object.entries(getTableColumns<PgTable>(table))
  const declared = new Map<string, Insert>()
  const insertOf = (given: Columns): Insert => {
    const missing = columns.flatMap((column) => (given.includes(column) ? [] : column[0])).join('-')
    const known = declared.get(missing)
    if (known) return known
    const { names, typed, from, send } = rowsOf(given)
    const text = `insert into "${getTableName(table)}" as t (${names.join(', ')}) select ${typed.join(', ')} from ${from} ${end}`
    const made = { query: statement(missing === '' ? name : `${name}-${missing}`, text), send }
    declared.set(missing, made)
    return made
  }
  declareStatements(name, () => void insertOf(columns))
  return async (run, rows) => {
    if (rows.length === 0) return []
    const { query, send } = insertOf(columns.filter(([key]) => rows.some((row) => (row as Row)[key] !== undefined)))
    return run<Returned>(query, send(rows as readonly Row[]))
  }
}

const inserts = new WeakMap<PgTable, ReturnType<typeof prepareInsertAll>>()

/** Inserts a row. The work does not wait for it: it is sent in its place, and a failure fails the commit. */
export const insertRow = <T extends PgTable>(tx: Tx, table: T, row: InferInsertModel<T>): void => {
  const insert = inserts.get(table) ?? prepareInsertAll(`insert.${getTableName(table)}`, table as PgTable)
  inserts.set(table, insert)
  tx.defer(insert(tx.query, [row]))
}

/**
 * Declares how a row is inserted unless there is one with its key already: answers whether it was inserted. `key`: the columns of one unique
 * index; any when left out.
 */
export const prepareInsertOnce = <T extends PgTable>(
  name: string,
  table: T,
  ...key: PgColumn[]
): ((db: Db, row: InferInsertModel<T>) => Promise<boolean>) => {
  const target = key.length === 0 ? '' : `(${key.map(nameOf).join(', ')})`
  const insert = prepareInsertAll(name, table, `on conflict ${target} do nothing returning true as inserted`)
  return async (db, row) => (await insert(db.query, [row])).length > 0
}

/** Declares how a row is inserted, or changes these columns of the one that has its key: answers the row as it is then. */
export const prepareUpsert = <T extends PgTable, const Column extends keyof InferInsertModel<T> & string>(
  name: string,
  table: T,
  key: PgColumn | PgColumn[],
  replaced: readonly Column[],
): ((db: Db, row: InferInsertModel<T>) => Promise<InferSelectModel<T>>) => {
  const columns = Object.entries(getTableColumns<PgTable>(table)).filter(([key]) => replaced.some((column) => column === key))
  const set = columns.map(([, column]) => `${nameOf(column)} = excluded.${nameOf(column)}`).join(', ')
  const insert = prepareInsertAll<T, InferSelectModel<T>>(
    name,
    table,
    `on conflict (${[key].flat().map(nameOf).join(', ')}) do update set ${set} returning ${columnsOf(table, 't')}`,
  )
  return async (db, row) => only(await insert(db.query, [row]))
}

const declareUpdate = (name: string, table: PgTable, columns: Columns) => {
  const id = getTableColumns<PgTable>(table).id
  if (!id) throw new Error(`${getTableName(table)} has no id`)
  const { names, typed, from, send } = rowsOf([['id', id], ...columns])
  const set = names.flatMap((column, at) => (at === 0 ? [] : `${column} = ${typed[at]}`)).join(', ')
  const update = statement(name, `update "${getTableName(table)}" as t set ${set} from ${from} where t.id = x.id`)
  return (query: Query, rows: readonly Row[]): Promise<unknown> => query(update, send(rows))
}

/** Declares how these columns of any number of rows are changed by one statement, each row by its id. */
export const prepareUpdateAll = <T extends PgTable & { id: unknown }, const Column extends keyof InferInsertModel<T> & string>(
  name: string,
  table: T,
  columns: readonly Column[],
): ((query: Query, rows: readonly Changed<T, Column | ('id' & keyof InferInsertModel<T>)>[]) => Promise<unknown>) => {
  declareStatements(name)
  const all = Object.entries(getTableColumns<PgTable>(table))
  return declareUpdate(
    name,
    table,
    columns.flatMap((column) => all.filter(([key]) => key === column)),
  )
}

const updates = new WeakMap<PgTable, Map<string, ReturnType<typeof declareUpdate>>>()

/**
 * Changes these columns of a row, and answers the row as it is then. The work does not wait for it, as for an insert. Each set of columns is a
 * statement of its own on each connection: what callers can combine is written whole.
 */
export const updateRow = <T extends PgTable & { id: unknown }, R extends { readonly id: string }>(
  tx: Tx,
  table: T,
  row: R,
  changes: Partial<InferInsertModel<T>>,
): R => {
  if ('id' in changes) throw new Error('a change has the changed columns alone, not a whole row')
  const declared = updates.get(table) ?? new Map<string, ReturnType<typeof declareUpdate>>()
  updates.set(table, declared)
  const columns = Object.entries(getTableColumns<PgTable>(table)).filter(([key]) => (changes as Row)[key] !== undefined)
  const set = columns.map(([key]) => key).join('-')
  const update = declared.get(set) ?? declareUpdate(`update.${getTableName(table)}-${set}`, table, columns)
  declared.set(set, update)
  const written = Object.fromEntries(columns.map(([key]) => [key, (changes as Row)[key]]))
  tx.defer(update(tx.query, [{ ...written, id: row.id }]))
  return { ...row, ...written }
}
