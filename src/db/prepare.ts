import { is, Placeholder, type SQL, sql } from 'drizzle-orm'
import { makePgArray, QueryBuilder } from 'drizzle-orm/pg-core'
import type { Uuid } from '../lib/ids.ts'
import type { Minor } from '../lib/money.ts'
import { leavesOf, readerOf } from './row-reader.ts'
import { declareStatements, type Lane, type QueryLane, type Statement, statement } from './statement.ts'

// A query is declared once: its name, its parameters, and drizzle's builder for its text and the type of its rows. It is built when it is
// first used and not for each request, which would cost more than Postgres needs to answer it.

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
  date: string
  /** The days, as 2026-01-31. */
  'date[]': readonly string[]
  bytea: Buffer
  boolean: boolean
  int: number
  /** How many rows at most. */
  rows: number
  /** Has no place in the text: it says whether a condition is part of it. */
  flag: boolean
}
type Kind = keyof Kinds
type Optional = `${Exclude<Kind, 'rows'>}?`
type Nullable = `${Exclude<Kind, 'rows' | 'flag'>}|null`

/**
 * The type of each parameter in SQL. One with a question mark may be missing; then its condition is not part of the text. One that may be null
 * is a value to write.
 */
export type Parameters = Readonly<Record<string, Kind | Optional | Nullable>>

type Required<P extends Parameters> = {
  [Name in keyof P as P[Name] extends Optional ? never : Name]: P[Name] extends `${infer K extends Kind}|null`
    ? Kinds[K] | null
    : Kinds[P[Name] & Kind]
}
type Given<P extends Parameters> = {
  [Name in keyof P as P[Name] extends Optional ? Name : never]?:
    | (P[Name] extends `${infer K extends Kind}?` ? Kinds[K] : never)
    | null
    | undefined
}
export type Values<P extends Parameters> = Required<P> & Given<P>

/** Where a value stands in the text: undefined for one that is missing. */
export type Places<P extends Parameters> = {
  [Name in keyof P]: P[Name] extends 'rows' ? Placeholder : P[Name] extends Optional ? SQL | undefined : SQL
}

/** What a builder of drizzle has once the statement is complete. */
export type Complete = { toSQL: () => { sql: string; params: unknown[] } }
type Built = Complete & { readonly _: { readonly result: readonly unknown[]; readonly selectedFields: unknown } }

/** A row as the driver parsed it: in the order of its columns, which may have the same name several times. */
export type Columns = readonly unknown[]
/** The same by the columns' names. */
type Named = Readonly<Record<string, unknown>>

/** One form of a query: that for the parameters that are given. */
export type Form<V, Row> = {
  statement: Statement | string
  values: (values: V) => unknown[]
} & ({ read: (row: Columns) => Row } | { readNamed: (row: Named) => Row })

/** A form that answers many values at once. */
export type JoinedForm<V, Row> = {
  statement: Statement
  /** Of how many values at most. */
  most: number
  values: (list: readonly V[]) => unknown[]
  readNamed: (row: Named) => Row
}

export type Prepared<V, Row> = {
  readonly lane: Lane
  form: (values: V) => Form<V, Row>
  /** Of what is asked for in one turn of the event loop, for values that can be sent as lists. */
  joined?: (values: V) => JoinedForm<V, Row> | undefined
  /** Also what a transaction asks for in one run of code is one statement. */
  joinsInTx?: boolean
}

/** Each form is a prepared statement on every connection that used it: callers can combine filters, and must not make them without end. */
const mostForms = 32

const builder = new QueryBuilder({ casing: 'snake_case' })

/** The kinds that a query may be joined by: a list of each is sent as it is. */
const joinable = new Set(['uuid', 'text', 'date', 'timestamptz', 'rows'])

/** Its name, without whether it may be missing. */
const kindOf = (kind: Parameters[string]): string => kind.replace(/\?$|\|null$/, '')
const typeOf = (kind: Parameters[string]): string => (kind === 'rows' ? 'int' : kindOf(kind))

/** `text` for each of a list of keys, whose parts it names `key.…`. `columns`: names for those of `text`. */
const forEachKey = (types: Readonly<Record<string, string>>, text: string, columns = ''): string => {
  const names = Object.keys(types).map((name) => `"${name}"`)
  const lists = Object.values(types).map((type, at) => `$${at + 1}::${type.endsWith('[]') ? 'text' : type}[]`)
  const parts = Object.entries(types).map(
    ([name, type]) => `sent."${name}"${type.endsWith('[]') ? `::${type} as "${name}"` : ''}`,
  )
  const from = `unnest(${lists.join(', ')}) with ordinality`
  const keys = Object.values(types).some((type) => type.endsWith('[]'))
    ? `${from} as sent(${names.join(', ')}, n) cross join lateral (select ${parts.join(', ')}, sent.n offset 0) as key`
    : `${from} as key(${names.join(', ')}, n)`
  return `select key.n::int as "keyNumber", r.* from ${keys} cross join lateral (${text}) as r${columns}`
}

const declared = new Set<string>()

/** Of two statements with one name, the second one would fail on every connection that knows the first. */
export const requireNewName = (name: string): void => {
  if (declared.has(name)) throw new Error(`two queries are called ${name}`)
  declared.add(name)
}

/** What `prepare` and `prepareWrite` have in common. `build` gets the places of the values, and answers the statement and the fields of its rows. */
export const declareForms = <P extends Parameters, Row>(
  name: string,
  queryLane: QueryLane,
  parameters: P,
  build: (at: Places<P>) => { built: Complete; fields: object },
): Prepared<Values<P>, Row> => {
  type V = Values<P>
  requireNewName(name)
  const lane: Lane = queryLane === 'joined' ? 'record' : queryLane
  const optional = Object.keys(parameters).filter((parameter) => parameters[parameter]?.endsWith('?'))
  const isThere = (parameter: string, given: readonly string[]) => !optional.includes(parameter) || given.includes(parameter)
  const isGiven = (values: V, parameter: string) =>
    ![undefined, null, false].includes((values as Record<string, undefined>)[parameter])

  const textOf = (given: readonly string[]) => {
    const places = Object.entries(parameters).map(([parameter, kind]) => {
      if (kind === 'rows') return [parameter, sql.placeholder(parameter)]
      if (!isThere(parameter, given)) return [parameter, undefined]
      if (kind === 'flag?') return [parameter, sql`true`]
      return [parameter, sql`${sql.placeholder(parameter)}::${sql.raw(typeOf(kind))}`]
    })
    const { built, fields } = build(Object.fromEntries(places) as Places<P>)
    return { ...built.toSQL(), leaves: leavesOf(fields) }
  }

  const formOf = (given: readonly string[], named: boolean): Form<V, Row> => {
    const { sql: text, params, leaves } = textOf(given)
    const takers = params.map((param) => {
      if (!is(param, Placeholder)) return () => param
      const parameter = String(param.name)
      const isDocument = kindOf(parameters[parameter] ?? 'text') === 'jsonb'
      return (values: V) => {
        const value = (values as Record<string, unknown>)[parameter] ?? null
        return isDocument && value !== null ? JSON.stringify(value) : value
      }
    })
    const read = readerOf(name, leaves)
    return {
      statement: named ? statement([name, ...given].join('+'), text, lane) : text,
      values: (values) => takers.map((take) => take(values)),
      read: (row) => read(row) as Row,
    }
  }

  /** `offset 0` keeps the query of each key apart: joined to the list, it could be read by a plan for many rows. */
  const joinedFormOf = (given: readonly string[]): JoinedForm<V, Row> => {
    const { sql: text, params, leaves } = textOf(given)
    const taken = Object.entries(parameters).filter(([parameter, kind]) => kind !== 'flag?' && isThere(parameter, given))
    const constants: unknown[] = []
    const ofKey = text.replaceAll(/\$(\d+)/g, (_, number: string) => {
      const param = params[Number(number) - 1]
      return is(param, Placeholder) ? `key."${String(param.name)}"` : `$${taken.length + constants.push(param)}`
    })
    const types = Object.fromEntries(taken.map(([parameter, kind]) => [parameter, typeOf(kind)]))
    const columns = leaves.map((_, at) => `c${at}`)
    const read = readerOf(name, leaves)
    return {
      statement: statement(
        [`${name}@turn`, ...given].join('+'),
        forEachKey(types, `${ofKey} offset 0`, `(${columns.join(', ')})`),
        lane,
      ),
      most: 128,
      values: (list) => [
        ...taken.map(([parameter]) => list.map((values) => (values as Record<string, unknown>)[parameter])),
        ...constants,
      ],
      readNamed: (row) => read(columns.map((column) => row[column])) as Row,
    }
  }

  const kept = <Made>(make: (given: readonly string[], isKept: boolean) => Made) => {
    const forms = new Map<string, Made>()
    return (given: readonly string[]): Made => {
      const key = given.join('+')
      const known = forms.get(key)
      if (known !== undefined) return known
      const isKept = forms.size < mostForms
      const form = make(given, isKept)
      if (isKept) forms.set(key, form)
      return form
    }
  }
  /** Whether there are values that tell its answers apart, and all of them can be sent as lists. */
  const isJoinable = (given: readonly string[]): boolean => {
    const kinds = Object.keys(parameters).flatMap((parameter) => (isThere(parameter, given) ? (parameters[parameter] ?? []) : []))
    const sent = kinds.filter((kind) => kind !== 'flag?')
    return sent.length > 0 && sent.every((kind) => joinable.has(kindOf(kind)))
  }
  const formFor = kept(formOf)
  const joinedFormFor = kept((given, isKept) => (isKept && isJoinable(given) ? joinedFormOf(given) : null))
  const givenIn = (values: V) => (optional.length === 0 ? optional : optional.filter((parameter) => isGiven(values, parameter)))
  // Without any filter, and with each alone: what a test of the plans looks at.
  const combinations = [[], ...optional.map((parameter) => [parameter])]
  const joins = queryLane === 'joined'
  declareStatements(() => {
    combinations.forEach(formFor)
    if (joins) combinations.forEach(joinedFormFor)
  })
  return {
    lane,
    form: (values) => formFor(givenIn(values)),
    ...(joins && { joined: (values: V) => joinedFormFor(givenIn(values)) ?? undefined }),
  }
}

/**
 * Declares a query: `build` gets drizzle's builder and the places of the values. Fields are at most two levels deep, and a table that is
 * joined has all of its fields named. It runs by `db.run`, in the transaction that it is given or, outside of one, on the connection of its
 * lane. On the lane `joined`, whose parameters are ids and texts, what requests ask for in one turn of the event loop is one statement: what a
 * lookup costs is mostly the statement, not its rows.
 */
export const prepare = <const P extends Parameters, B extends Built>(
  name: string,
  parameters: P,
  build: (orm: QueryBuilder, at: Places<P>) => B,
  lane: QueryLane = 'record',
): Prepared<Values<P>, B['_']['result'][number]> =>
  declareForms(name, lane, parameters, (at) => {
    const built = build(builder, at)
    return { built, fields: built._.selectedFields as object }
  })

type SqlType = 'uuid' | 'date' | 'timestamptz' | 'text' | 'int' | 'bigint' | 'xid8' | 'uuid[]' | 'text[]'
type Key<T> = { readonly [Name in keyof T]: string | number | bigint | Date | null | readonly string[] }

/** A list is sent as its text: a list of lists of several lengths is no array. */
const sentAs = (part: unknown): unknown => (Array.isArray(part) ? makePgArray(part) : part)

/**
 * Declares a query that is text, for each of the keys that are asked for in one turn of the event loop: the text names the parts of its key `key.…`, and
 * reads a bounded number of rows, because what is asked together waits for the slowest of it.
 */
export const prepareText = <Row extends object, const T extends Readonly<Record<string, SqlType>>>(
  name: string,
  types: T,
  text: string,
  lane: Lane,
  { most = 16, inTx = false }: { most?: number; inTx?: boolean } = {},
): Prepared<Key<T>, Row> => {
  requireNewName(name)
  const joined: JoinedForm<Key<T>, Row> = {
    statement: statement(name, forEachKey(types, text), lane),
    most,
    values: (list) => Object.keys(types).map((part) => list.map((key) => sentAs(key[part] ?? null))),
    readNamed: ({ keyNumber: _, ...row }) => row as Row,
  }
  const form: Form<Key<T>, Row> = { ...joined, values: (key) => joined.values([key]) }
  return { lane, form: () => form, joined: () => joined, joinsInTx: inTx }
}
