import pg from 'pg'
import { byChunks } from '../lib/lists.ts'
import { inChildSpan } from '../lib/tracing.ts'
import type { Run } from './client.ts'
import { coalesce, endOfTurn } from './coalesce.ts'
import type { Form } from './prepare.ts'
import type { Connection, Query, Statement } from './statement.ts'

/** The driver's own time format depends on the process's time zone and takes six times as long to produce. */
const encode = (value: unknown): unknown => (value instanceof Date ? value.toISOString() : value)

/** With `rowMode`, each row is an array of column values. */
type Send = <Row extends object>(query: Statement | string, values?: readonly unknown[], rowMode?: 'array') => Promise<Row[]>
export type Senders = Readonly<Record<Connection, Send>>

/** Obtains a connection and calls `send` with it. */
export type Use = <T>(send: (client: pg.ClientBase) => Promise<T>) => Promise<T>

/** `named`: false behind a pooler that loses prepared statements. */
export const sendBy =
  (named: boolean, use: Use): Send =>
  <Row extends object>(query: Statement | string, values: readonly unknown[] = [], rowMode?: 'array'): Promise<Row[]> => {
    const { name, text } = typeof query === 'string' ? { name: undefined, text: query } : query
    const config = {
      text,
      values: values.map((value) => (Array.isArray(value) ? value.map(encode) : encode(value))),
      ...(named && name !== undefined && { name }),
      ...(rowMode && { rowMode }),
    }
    // One span per statement, with its name but without its bound values.
    const span = name ?? 'statement'
    const send = async (client: pg.ClientBase): Promise<Row[]> => (await client.query<Row>(config)).rows
    return use((client) => inChildSpan(span, { 'db.system.name': 'postgresql', 'db.query.summary': span }, () => send(client)))
  }

/** Outside transactions, queries on shared connections are sent at the end of the turn. In a transaction, immediately. */
export const runBy = (senders: Senders, isTx: boolean): Run => {
  const coalescers = new WeakMap<object, unknown>()
  const ask = async <V, Row>(connection: Connection, form: Form<V, Row>, list: readonly V[]): Promise<Row[][]> => {
    const rows = await senders[connection](form.statement, form.values(list), form.rowMode)
    const chunks = await byChunks(rows, (chunk) => form.read(chunk, list.length))
    return chunks.length === 1 ? (chunks[0] ?? []) : list.map((_, key) => chunks.flatMap((chunk) => chunk[key] ?? []))
  }
  const coalescerOf = <V, Row>(connection: Connection, form: Form<V, Row>): ((values: V) => Promise<Row[]>) => {
    const known = coalescers.get(form) as ((values: V) => Promise<Row[]>) | undefined
    if (known) return known
    const query = (list: readonly V[]) => ask(connection, form, list)
    const made = coalesce<V, Row[]>({ query, inFlight: 2, maxKeys: form.maxSets, until: isTx ? 'flush' : 'turn' })
    coalescers.set(form, made)
    return made
  }
  return async ({ connection, coalesces, form: formOf }, values) => {
    const isCoalesced = isTx ? coalesces === 'in_tx' : coalesces !== null
    const form = formOf(values, isCoalesced)
    if (isCoalesced) return coalescerOf(connection, form)(values)
    if (!isTx && connection !== 'pool') await endOfTurn()
    return (await ask(connection, form, [values]))[0] ?? []
  }
}

/** SQL queries outside transactions. A query without a name gets a connection from the pool. */
export const queryBy =
  (senders: Senders): Query =>
  async (query, values) => {
    const connection = typeof query === 'string' ? 'pool' : query.connection
    if (connection !== 'pool') await endOfTurn()
    return senders[connection](query, values)
  }

/** Sends all statements of one run of code in a single system call: the first with `begin`, the last with `commit`. */
export const corkUntilTick = (client: pg.ClientBase): void => {
  // Pool clients are also instances of this class, despite their declared type.
  if (!(client instanceof pg.Client)) throw new Error('a connection is not of the driver')
  const { stream } = client.connection
  if (stream.writableCorked > 0) return
  stream.cork()
  process.nextTick(() => stream.uncork())
}
