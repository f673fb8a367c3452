import { getTableColumns, type InferInsertModel, is, Param, Placeholder, sql } from 'drizzle-orm'
import { drizzle } from 'drizzle-orm/node-postgres'
import type { PgTable } from 'drizzle-orm/pg-core'
import type { Tx } from './client.ts'
import { declareStatements, type Statement, statement } from './statement.ts'

const orm = drizzle.mock({ casing: 'snake_case' })

type Prepared = { statement: Statement; values: (row: Readonly<Record<string, unknown>>) => unknown[] }

/** What drizzle leaves of a value that is not known yet: its place, with the encoder of its column. */
const taker = (param: unknown): ((row: Readonly<Record<string, unknown>>) => unknown) => {
  const [place, encoder] = is(param, Param) ? [param.value, param.encoder] : [param, undefined]
  if (!is(place, Placeholder)) return () => param
  const name = String(place.name)
  return (row) => {
    const value = row[name] ?? null
    return value === null || !encoder ? value : (encoder.mapToDriverValue(value) as unknown)
  }
}

const prepared = (name: string, built: { toSQL: () => { sql: string; params: unknown[] } }): Prepared => {
  const { sql: text, params } = built.toSQL()
  const takers = params.map(taker)
  return { statement: statement(name, text), values: (row) => takers.map((take) => take(row)) }
}

const declared = new Set<string>()
const declare = (name: string, build: () => void): void => {
  if (declared.has(name)) throw new Error(`two writes are called ${name}`)
  declared.add(name)
  declareStatements(build)
}

/**
 * Declares how a row is inserted: built once for the columns that are given, not for each request. The work does not wait for it: it is sent in
 * its place, and a failure fails the commit.
 */
export const prepareInsert = <T extends PgTable>(name: string, table: T): ((tx: Tx, row: InferInsertModel<T>) => void) => {
  const untyped: PgTable = table
  const columns = Object.keys(getTableColumns(table))
  const forms = new Map<string, Prepared>()
  const formFor = (given: readonly string[]): Prepared => {
    const missing = columns.filter((column) => !given.includes(column)).join('-')
    const known = forms.get(missing)
    if (known) return known
    const places = Object.fromEntries(given.map((column) => [column, sql.placeholder(column)]))
    const form = prepared(missing === '' ? name : `${name}-${missing}`, orm.insert(untyped).values(places))
    forms.set(missing, form)
    return form
  }
  declare(name, () => void formFor(columns))
  return (tx, row) => {
    const values: Readonly<Record<string, unknown>> = row
    const form = formFor(columns.filter((column) => values[column] !== undefined))
    tx.defer(tx.query(form.statement, form.values(values)))
  }
}

/** The same for the change of columns of the row with an id. */
export const prepareUpdate = <T extends PgTable & { id: unknown }, const Column extends keyof InferInsertModel<T> & string>(
  name: string,
  table: T,
  columns: readonly Column[],
): ((tx: Tx, id: string, changes: Required<Pick<InferInsertModel<T>, Column>>) => void) => {
  let form: Prepared | undefined
  const formed = (): Prepared => {
    if (form) return form
    const untyped: PgTable = table
    // An expression each: what drizzle takes for a column's new value.
    const places = Object.fromEntries(
      columns.map((column) => [column, sql`${sql.param(sql.placeholder(column), getTableColumns(table)[column])}`]),
    )
    form = prepared(
      name,
      orm
        .update(untyped)
        .set(places)
        .where(sql`${table.id} = ${sql.placeholder('id')}`),
    )
    return form
  }
  declare(name, () => void formed())
  return (tx, id, changes) => {
    const { statement: update, values } = formed()
    tx.defer(tx.query(update, values({ ...changes, id })))
  }
}
