import pg from 'pg'
import { inSpan, isTracing } from '../lib/tracing.ts'
import type { Run } from './client.ts'
import type { Lane, Query, Statement } from './statement.ts'
import { type RawRow, type RawRows, unread } from './types.ts'

type Config = { text: string; values: unknown[]; name?: string }
type RowsConfig = Config & { rowMode: 'array'; types: pg.CustomTypesConfig }

/**
 * A time in a form that Postgres reads with any settings. The driver's own format depends on the process's time zone and costs six times as
 * much.
 */
const encode = (value: unknown): unknown => (value instanceof Date ? value.toISOString() : value)

const encodeAll = (values: readonly unknown[]): unknown[] =>
  values.map((value) => (Array.isArray(value) ? value.map(encode) : encode(value)))

/** Sends one statement and returns its rows as they come. */
export type SendRows = (query: Statement | string, values: readonly unknown[]) => Promise<RawRows>

/** How a database runs declared queries, given how it sends the statements of each lane. */
export const runBy =
  (senders: Readonly<Record<Lane, SendRows>>): Run =>
  async (query, values) => {
    const form = query.form(values)
    return form.read(await senders[query.lane](form.statement, form.values(values)))
  }

/** The same for statements as text: those without a name take a connection of their own. */
export const queryBy =
  (senders: Readonly<Record<Lane, Query>>): Query =>
  (query, values) =>
    senders[typeof query === 'string' ? 'pool' : query.lane](query, values)

/** `named`: false behind a pooler that forgets prepared statements between transactions. */
export const queryConfig = (query: Statement | string, values: readonly unknown[], named: boolean): Config => {
  if (typeof query === 'string') return { text: query, values: encodeAll(values) }
  return named
    ? { name: query.name, text: query.text, values: encodeAll(values) }
    : { text: query.text, values: encodeAll(values) }
}

/** For rows as arrays of texts, in the order of their columns: see `prepare.ts`. */
export const rowsConfig = (query: Statement | string, values: readonly unknown[], named: boolean): RowsConfig =>
  Object.assign(queryConfig(query, values, named), { rowMode: 'array' as const, types: unread })

export const rawRows = ({ rows, fields }: pg.QueryArrayResult): RawRows => ({
  rows: rows as RawRow[],
  types: fields.map(({ dataTypeID }) => dataTypeID),
})

/**
 * Holds back what is written to this connection until the running code has finished, so that all its statements leave in one system call: a
 * transaction's `begin` with its first statements, its last statements with the `commit`.
 */
export const corkUntilTick = (client: pg.ClientBase): void => {
  // A pool's clients have this type too, although its declared type does not say so.
  if (!(client instanceof pg.Client)) return
  const { stream } = client.connection
  if (stream.writableCorked > 0) return
  stream.cork()
  process.nextTick(() => stream.uncork())
}

/** A span for each statement, by its name and without its bound values. Without tracing this is the query itself. */
export const traced = <T>(query: Statement | string, run: () => Promise<T>): Promise<T> => {
  if (!isTracing()) return run()
  const name = typeof query === 'string' ? 'statement' : query.name
  return inSpan(name, { 'db.system.name': 'postgresql', 'db.query.summary': name }, run)
}
