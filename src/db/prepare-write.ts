import { getTableColumns, getTableName, type InferInsertModel, type InferSelectModel } from 'drizzle-orm'
import { CasingCache } from 'drizzle-orm/casing'
import { drizzle, type NodePgQueryResultHKT } from 'drizzle-orm/node-postgres'
import type { PgColumn, PgDatabase, PgTable } from 'drizzle-orm/pg-core'
import { only } from '../lib/lists.ts'
import type { Db, Tx } from './client.ts'
import { columnsOf } from './columns.ts'
import { type CompleteQuery, declareVariants, type Parameters, type Placeholders, type Prepared, type Values } from './prepare.ts'
import { nameStatement, type Statement } from './statement.ts'

type Writer = Pick<PgDatabase<NodePgQueryResultHKT>, 'insert' | 'update' | 'delete'>

const orm: Writer = drizzle.mock({ casing: 'snake_case' })
const casing = new CasingCache('snake_case')

type Written = CompleteQuery & { readonly _: { readonly returning: unknown } }
type RowOf<B extends Written> = B['_']['returning'] extends undefined ? never : B['_']['returning']

/** Declares a conditional update or delete, which returns the affected rows. */
export const prepareWrite = <const P extends Parameters, B extends Written>(
  name: string,
  parameters: P,
  build: (orm: Writer, param: Placeholders<P>) => B,
): Prepared<Values<P>, RowOf<B>> => declareVariants(name, 'pool', parameters, (param) => build(orm, param))

// Each column is one array parameter, so that one statement writes any number of rows.

type Row = Readonly<Record<string, unknown>>
type Columns = readonly (readonly [key: string, column: PgColumn])[]

/** A value as the driver sends it, such as serialised JSON or packed bytes. */
export class DriverValue {
  readonly value: string | Buffer | null
  constructor(value: string | Buffer | null) {
    this.value = value
  }
}

export type RowToInsert<T extends PgTable> = {
  readonly [Name in keyof InferInsertModel<T>]: InferInsertModel<T>[Name] | DriverValue
}
type Name<T extends PgTable> = keyof InferInsertModel<T> & string
/** A row's id and the columns to write. Its other columns are unchanged. */
type RowChange<T extends PgTable, Column extends Name<T>> = Required<Pick<RowToInsert<T>, Column | ('id' & Name<T>)>>

const nameOf = (column: PgColumn): string => `"${casing.getColumnCasing(column)}"`
const isList = (column: PgColumn): boolean => column.getSQLType().endsWith(']')

const driverValueOf = (value: unknown, column: PgColumn): unknown => {
  if (value instanceof DriverValue) return value.value
  return value === null || value === undefined ? null : column.mapToDriverValue(value)
}

/** Written by hand, because the driver escapes and joins elements one by one: a third of the time of a large insert. */
const arrayElement = (value: unknown): string => {
  if (value === null) return 'NULL'
  if (Buffer.isBuffer(value)) return `\\\\x${value.toString('hex')}`
  const text = String(value)
  return `"${/["\\]/.test(text) ? text.replaceAll(/["\\]/g, '\\$&') : text}"`
}

const unnestRows = (columns: Columns) => {
  const names = columns.map(([, column]) => nameOf(column))
  // unnest flattens nested arrays, so each inner array is sent as text.
  const lists = columns.map(([, column], index) => `unnest($${index + 1}::${isList(column) ? 'text' : column.getSQLType()}[])`)
  return {
    names,
    typed: columns.map(([, column]) => `x.${nameOf(column)}${isList(column) ? `::${column.getSQLType()}` : ''}`),
    from: `rows from (${lists.join(', ')}) as x(${names.join(', ')})`,
    send: (rows: readonly Row[]) =>
      columns.map(([key, column]) => `{${rows.map((row) => arrayElement(driverValueOf(row[key], column))).join(',')}}`),
  }
}

const columnsIn = (table: PgTable, includes: (key: string) => boolean): Columns =>
  Object.entries(getTableColumns(table)).filter(([key]) => includes(key))

/** Null for every nullable column, as a base for the values of a new row. No column of such a table has a default besides. */
export const nullsOf = <T extends PgTable, R = InferSelectModel<T>>(table: T) =>
  Object.fromEntries(columnsIn(table, () => true).flatMap(([key, { notNull }]) => (notNull ? [] : [[key, null]]))) as {
    [Name in keyof R as null extends R[Name] ? Name : never]: null
  }

type Write = { query: Statement; send: (rows: readonly Row[]) => string[] }

const writes = new WeakMap<PgTable, Map<string, Write>>()

const writeOf = (table: PgTable, key: string, generate: () => Write): Write => {
  const known = writes.get(table) ?? new Map<string, Write>()
  writes.set(table, known)
  const write = known.get(key) ?? generate()
  known.set(key, write)
  return write
}

/** Inserts rows. A column that no row sets gets its default. `suffix`: SQL after the rows; `x` are the rows and `t` the table. */
export const insertRows = async <T extends PgTable, Returned extends object = never>(
  { query }: Pick<Db, 'query'>,
  table: T,
  rows: readonly RowToInsert<T>[],
  suffix = '',
): Promise<Returned[]> => {
  if (rows.length === 0) return []
  const columns = columnsIn(table, (key) => rows.some((row) => (row as Row)[key] !== undefined))
  const insert = writeOf(table, `${columns.map(([key]) => key).join('-')} ${suffix}`, () => {
    const { names, typed, from, send } = unnestRows(columns)
    const text = `insert into "${getTableName(table)}" as t (${names.join(', ')}) select ${typed.join(', ')} from ${from} ${suffix}`
    const missing = columnsIn(table, (key) => !columns.some(([given]) => given === key))
      // The database always sets the transaction id itself.
      .filter(([, column]) => column.getSQLType() !== 'xid8')
      .map(([key]) => `-${key}`)
    const name = `${getTableName(table)}.insert${missing.join('')}${suffix && ` ${suffix}`}`
    return { query: nameStatement(name, text, 'pool'), send }
  })
  return query<Returned>(insert.query, insert.send(rows as readonly Row[]))
}

/** Inserts without awaiting the result. If the insert fails, the commit fails. */
export const insertRow = <T extends PgTable>(tx: Tx, table: T, row: InferInsertModel<T>): void =>
  tx.defer(insertRows(tx, table, [row]))

/** Inserts a row unless its key exists, and returns whether it did. `key`: columns of a unique index. Default: any index. */
export const insertOnce = async <T extends PgTable>(
  db: Db,
  table: T,
  row: InferInsertModel<T>,
  ...key: PgColumn[]
): Promise<boolean> => {
  const target = key.length === 0 ? '' : `(${key.map(nameOf).join(', ')})`
  return (await insertRows(db, table, [row], `on conflict ${target} do nothing returning true as inserted`)).length > 0
}

export const upsertRow = async <T extends PgTable>(
  db: Db,
  table: T,
  row: InferInsertModel<T>,
  { key, replaced }: { key: readonly PgColumn[]; replaced: readonly Name<T>[] },
): Promise<InferSelectModel<T>> => {
  const set = columnsIn(table, (column) => replaced.some((each) => each === column))
    .map(([, column]) => `${nameOf(column)} = excluded.${nameOf(column)}`)
    .join(', ')
  const end = `on conflict (${key.map(nameOf).join(', ')}) do update set ${set} returning ${columnsOf(table, 't')}`
  return only(await insertRows<T, InferSelectModel<T>>(db, table, [row], end))
}

export const updateRows = async <T extends PgTable & { id: PgColumn }, const Column extends Name<T>>(
  tx: Tx,
  table: T,
  names: readonly Column[],
  rows: readonly RowChange<T, Column>[],
): Promise<void> => {
  if (rows.length === 0) return
  const update = writeOf(table, names.join('-'), () => {
    const columns = columnsIn(table, (key) => names.some((name) => name === key))
    const { names: columnNames, typed, from, send } = unnestRows([['id', table.id], ...columns])
    const set = columnNames.flatMap((column, index) => (index === 0 ? [] : `${column} = ${typed[index]}`)).join(', ')
    const text = `update "${getTableName(table)}" as t set ${set} from ${from} where t.id = x.id`
    return { query: nameStatement(`${getTableName(table)}.update-${names.join('-')}`, text, 'pool'), send }
  })
  await tx.query(update.query, update.send(rows as readonly Row[]))
}

/** Does not await the result. Each set of columns is a separate statement: if callers can combine columns freely, write all. */
export const updateRow = <
  T extends PgTable & { id: PgColumn },
  R extends { readonly id: string },
  C extends Partial<InferInsertModel<T>>,
>(
  tx: Tx,
  table: T,
  row: R,
  changes: C & { [Key in Exclude<keyof C, keyof InferInsertModel<T>>]: never },
): R => {
  const changed: Row = changes
  const columns = columnsIn(table, (key) => changed[key] !== undefined).map(([key]) => key) as Name<T>[]
  if ('id' in changed || columns.length < Object.values(changed).filter((value) => value !== undefined).length)
    throw new Error(`a change of ${getTableName(table)} has only changed columns: ${Object.keys(changed).join(', ')}`)
  const written = Object.fromEntries(columns.map((key) => [key, changed[key]]))
  tx.defer(updateRows(tx, table, columns, [{ ...(written as RowChange<T, Name<T>>), id: row.id }]))
  return { ...row, ...written }
}
