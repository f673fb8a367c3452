import { is, Placeholder, type SQL, sql } from 'drizzle-orm'
import { makePgArray, QueryBuilder } from 'drizzle-orm/pg-core'
import type { Uuid } from '../lib/ids.ts'
import type { Minor } from '../lib/money.ts'
import { readerOf } from './decode-rows.ts'
import { type Connection, type ConnectionMode, declareStatements, nameStatement, type Statement } from './statement.ts'

// Queries are built once, at their first use, because building one takes longer than Postgres takes to answer it. For example,
//   prepare(name, { id: 'uuid' }, 'coalesced', (orm, { id }) => orm.select(…).from(payees).where(eq(payees.id, id)))
// has the text `select … from "payees" where "id" = $1::uuid`, and for all ids requested in one turn of the event loop
//   select key.n::int as "keyNumber", r.* from unnest($1::uuid[]) with ordinality as key("id", n)
//   cross join lateral (select … from "payees" where "id" = key."id"::uuid offset 0) as r

type Kinds = {
  uuid: Uuid
  text: string
  bigint: Minor
  timestamptz: Date
  jsonb: unknown
  'uuid[]': readonly Uuid[]
  'text[]': readonly string[]
  'int[]': readonly number[]
  'bytea[]': readonly Buffer[]
  /** Format: YYYY-MM-DD. */
  date: string
  'date[]': readonly string[]
  'timestamptz[]': readonly Date[]
  bytea: Buffer
  boolean: boolean
  int: number
  xid8: string | bigint
  /** Maximum number of rows. */
  rows: number
  /** Includes or omits a condition of the query. Never sent as a value. */
  flag: boolean
}
type Kind = keyof Kinds
type Optional = `${Exclude<Kind, 'rows'>}?`
type Nullable = `${Exclude<Kind, 'rows' | 'flag'>}|null`

/** A `?` parameter is optional: without a value, its condition is omitted from the query. A `|null` parameter may write null. */
export type Parameters = Readonly<Record<string, Kind | Optional | Nullable>>

type ValueOf<K> = K extends `${infer Given extends Kind}?`
  ? Kinds[Given] | null | undefined
  : K extends `${infer Given extends Kind}|null`
    ? Kinds[Given] | null
    : Kinds[K & Kind]
export type Values<P extends Parameters> = {
  [Name in keyof P as P[Name] extends Optional ? never : Name]: ValueOf<P[Name]>
} & { [Name in keyof P as P[Name] extends Optional ? Name : never]?: ValueOf<P[Name]> }

export type Placeholders<P extends Parameters> = {
  [Name in keyof P]: P[Name] extends 'rows' ? Placeholder : P[Name] extends Optional ? SQL | undefined : SQL
}

/** A drizzle query builder with a complete query. */
export type CompleteQuery = { toSQL: () => { sql: string; params: unknown[] } }
export type Select = CompleteQuery & { readonly _: { readonly result: readonly unknown[] } }

/** Fields of a query's rows. For a write with `returning`, drizzle exposes them only in its configuration. */
const fieldsOf = (built: CompleteQuery): object => {
  const select = Reflect.get(built, '_') as { selectedFields?: object } | undefined
  const write = Reflect.get(built, 'config') as { returningFields?: object }
  return select?.selectedFields ?? write.returningFields ?? {}
}

export type Variant<V, Row> = {
  statement: Statement | string
  /** Maximum number of value sets per query. */
  maxSets: number
  values: (list: readonly V[]) => unknown[]
  /** Rows are arrays if several columns may have the same name. */
  rowMode?: 'array'
  /** The rows for each set of values. */
  read: (rows: readonly object[], count: number) => Row[][]
}

export type Prepared<V, Row> = {
  readonly connection: Connection
  /** `outside`: requests of one event-loop turn share a query. `in_tx`: requests of one flush also share one in a transaction. */
  readonly coalesces: 'outside' | 'in_tx' | null
  /** `coalesced`: the variant that serves several sets of values at once. */
  variant: (values: V, coalesced: boolean) => Variant<V, Row>
}
export type RowOf<Q> = Q extends Prepared<infer _, infer Row> ? Row : never

/** Each variant is a prepared statement on every connection, and callers can combine filters freely, so the number is limited. */
const maxVariants = 32

const builder = new QueryBuilder({ casing: 'snake_case' })

const typeOf = (kind: Parameters[string] = 'text'): string => (kind === 'rows' ? 'int' : kind.replace(/\?$|\|null$/, ''))

/** Documents are sent as text, and so are arrays within arrays, because Postgres arrays must be rectangular. */
const parameterValue = (type: string, value: unknown, inList: boolean): unknown => {
  if (value === null || value === undefined) return null
  if (type === 'jsonb') return JSON.stringify(value)
  return inList && Array.isArray(value) ? makePgArray(value) : value
}

/** Groups rows by the key number in each row's first column. */
const byKey =
  <Sent, Row>(numberOf: (row: Sent) => unknown, read: (row: Sent) => Row) =>
  (rows: readonly object[], count: number) => {
    const groups = Array.from({ length: count }, (): Row[] => [])
    for (const row of rows as readonly Sent[]) groups[Number(numberOf(row)) - 1]?.push(read(row))
    return groups
  }

/** Runs `text` once for each key in a list. The text refers to the parts of a key as `key.…`. */
const forEachKey = (types: Readonly<Record<string, string>>, text: string): string => {
  const names = Object.keys(types).map((name) => `"${name}"`)
  const lists = Object.values(types).map((type, index) => `$${index + 1}::${type.endsWith('[]') ? 'text' : type}[]`)
  const parts = Object.entries(types).map(
    ([name, type]) => `sent."${name}"${type.endsWith('[]') ? `::${type} as "${name}"` : ''}`,
  )
  const from = `unnest(${lists.join(', ')}) with ordinality`
  const keys = Object.values(types).some((type) => type.endsWith('[]'))
    ? `${from} as sent(${names.join(', ')}, n) cross join lateral (select ${parts.join(', ')}, sent.n offset 0) as key`
    : `${from} as key(${names.join(', ')}, n)`
  return `select key.n::int as "keyNumber", r.* from ${keys} cross join lateral (${text}) as r`
}

/** `build` receives a placeholder for each value. */
export const declareVariants = <P extends Parameters, Row>(
  name: string,
  mode: ConnectionMode,
  parameters: P,
  build: (param: Placeholders<P>) => CompleteQuery,
): Prepared<Values<P>, Row> => {
  type V = Values<P>
  const coalesces = mode === 'coalesced' ? 'outside' : null
  const connection: Connection = mode === 'coalesced' ? 'record' : mode
  const optional = Object.keys(parameters).filter((parameter) => parameters[parameter]?.endsWith('?'))
  const partOf = (values: V, parameter: string): unknown => (values as Record<string, unknown>)[parameter]
  const isGiven = (value: unknown) => value !== undefined && value !== null && value !== false
  const variants = new Map<string, Variant<V, Row>>()

  const makeVariant = (key: string, given: readonly string[], isCoalesced: boolean): Variant<V, Row> => {
    const placeholders = Object.entries(parameters).map(([parameter, kind]) => {
      if (kind === 'rows') return [parameter, sql.placeholder(parameter)]
      if (optional.includes(parameter) && !given.includes(parameter)) return [parameter, undefined]
      if (kind === 'flag?') return [parameter, sql`true`]
      return [parameter, sql`${sql.placeholder(parameter)}::${sql.raw(typeOf(kind))}`]
    })
    const built = build(Object.fromEntries(placeholders) as Placeholders<P>)
    const { sql: written, params } = built.toSQL()
    const named = params.map((param) => (is(param, Placeholder) ? String(param.name) : undefined))
    const bound = [...new Set(named)].flatMap((name) => (name === undefined ? [] : { name, type: typeOf(parameters[name]) }))
    const constants: unknown[] = []
    const ownText = written.replaceAll(/\$(\d+)/g, (_, number: string) => {
      const name = named[Number(number) - 1]
      if (name === undefined) return `$${bound.length + constants.push(params[Number(number) - 1])}`
      return isCoalesced ? `key."${name}"` : `$${bound.findIndex((one) => one.name === name) + 1}`
    })
    // `offset 0` keeps each key's query separate. If it were joined to the list, it could get a plan for many rows.
    const text = isCoalesced
      ? forEachKey(Object.fromEntries(bound.map(({ name, type }) => [name, type])), `${ownText} offset 0`)
      : ownText
    const read = readerOf(name, fieldsOf(built), isCoalesced ? 1 : 0) as (row: object) => Row
    const sent = (list: readonly V[]): unknown[][] =>
      bound.map(({ name, type }) => list.map((values) => parameterValue(type, partOf(values, name), isCoalesced)))
    return {
      statement: variants.size < maxVariants ? nameStatement(key, text, connection) : text,
      maxSets: 128,
      values: (list) => [...(isCoalesced ? sent(list) : sent(list).map(([value]) => value)), ...constants],
      rowMode: 'array',
      read: isCoalesced ? byKey(([key]: readonly unknown[]) => key, read) : (rows) => [rows.map(read)],
    }
  }
  const variantOf = (given: readonly string[], isCoalesced: boolean): Variant<V, Row> => {
    const key = [isCoalesced ? `${name}@turn` : name, ...given].join('+')
    const variant = variants.get(key) ?? makeVariant(key, given, isCoalesced)
    if (variants.size < maxVariants) variants.set(key, variant)
    return variant
  }
  // Makes all variants available to the test of query plans.
  declareStatements(name, () => {
    for (const given of [[], ...optional.map((parameter) => [parameter])])
      for (const isCoalesced of coalesces ? [false, true] : [false]) variantOf(given, isCoalesced)
  })
  return {
    connection,
    coalesces,
    variant: (values, isCoalesced) =>
      variantOf(
        optional.filter((parameter) => isGiven(partOf(values, parameter))),
        isCoalesced,
      ),
  }
}

type Build<P extends Parameters, B extends Select> = (orm: QueryBuilder, param: Placeholders<P>) => B

/**
 * Declares a query, by default on the connection `record`. Fields may be nested two levels deep, and a joined table must list all
 * of its fields. With `coalesced`, parameters are ids and texts, and all requests of one turn share one query, because most of a
 * lookup's cost is per query, not per row.
 */
export function prepare<const P extends Parameters, B extends Select>(
  ...query: [name: string, parameters: P, build: Build<P, B>]
): Prepared<Values<P>, B['_']['result'][number]>
export function prepare<const P extends Parameters, B extends Select>(
  ...query: [name: string, parameters: P, mode: ConnectionMode, build: Build<P, B>]
): Prepared<Values<P>, B['_']['result'][number]>
export function prepare<P extends Parameters, B extends Select>(
  name: string,
  parameters: P,
  ...[first, second]: [Build<P, B>] | [ConnectionMode, Build<P, B>]
): Prepared<Values<P>, unknown> {
  const [connection, build] = typeof first === 'function' ? (['record', first] as const) : [first, second]
  return declareVariants(name, connection, parameters, (param) => build(builder, param))
}

export type KeyTypes = Readonly<Record<string, Exclude<Kind, 'rows' | 'flag'>>>
type Key<T extends KeyTypes> = { readonly [Name in keyof T]: Kinds[T[Name]] | null }

/**
 * Declares an SQL query that runs for all keys requested in one turn. The text refers to the parts of a key as `key.…`. The query
 * must read a limited number of rows, because all requests of the turn wait for the slowest key.
 */
export const prepareText =
  <Row extends object>() =>
  <const T extends KeyTypes>(
    name: string,
    types: T,
    text: string,
    connection: Connection,
    { maxSets = 16, inTx = false }: { maxSets?: number; inTx?: boolean } = {},
  ): Prepared<Key<T>, Row> => {
    declareStatements(name)
    const variant: Variant<Key<T>, Row> = {
      statement: nameStatement(name, forEachKey(types, text), connection),
      maxSets,
      values: (list) => Object.entries(types).map(([part, type]) => list.map((key) => parameterValue(type, key[part], true))),
      read: byKey(
        ({ keyNumber }: { keyNumber: number }) => keyNumber,
        ({ keyNumber: _, ...row }) => row as Row,
      ),
    }
    return { connection, coalesces: inTx ? 'in_tx' : 'outside', variant: () => variant }
  }
