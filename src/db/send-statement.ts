import pg from 'pg'
import { byChunks } from '../lib/lists.ts'
import { inChildSpan } from '../lib/tracing.ts'
import type { Run } from './client.ts'
import { coalesce, endOfTurn } from './coalesce.ts'
import type { Variant } from './prepare.ts'
import type { Connection, Query, Statement } from './statement.ts'

/** The driver's own time format depends on the process's time zone and takes six times as long to produce. */
const encodeTime = (value: unknown): unknown => (value instanceof Date ? value.toISOString() : value)

/** With `rowMode`, each row is an array of column values. */
type Send = <Row extends object>(query: Statement | string, values?: readonly unknown[], rowMode?: 'array') => Promise<Row[]>
export type Senders = Readonly<Record<Connection, Send>>

export type WithConnection = <T>(send: (client: pg.ClientBase) => Promise<T>) => Promise<T>

/** `keepsStatements`: false behind a pooler that loses prepared statements. */
export const sendBy =
  (keepsStatements: boolean, use: WithConnection): Send =>
  <Row extends object>(query: Statement | string, values: readonly unknown[] = [], rowMode?: 'array'): Promise<Row[]> => {
    const { name, text } = typeof query === 'string' ? { name: undefined, text: query } : query
    const config = {
      text,
      values: values.map((value) => (Array.isArray(value) ? value.map(encodeTime) : encodeTime(value))),
      ...(keepsStatements && name !== undefined && { name }),
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
  const execute = async <V, Row>(connection: Connection, variant: Variant<V, Row>, list: readonly V[]): Promise<Row[][]> => {
    const rows = await senders[connection](variant.statement, variant.values(list), variant.rowMode)
    const chunks = await byChunks(rows, (chunk) => variant.read(chunk, list.length))
    return chunks.length === 1 ? (chunks[0] ?? []) : list.map((_, key) => chunks.flatMap((chunk) => chunk[key] ?? []))
  }
  const coalescerOf = <V, Row>(connection: Connection, variant: Variant<V, Row>): ((values: V) => Promise<Row[]>) => {
    const known = coalescers.get(variant) as ((values: V) => Promise<Row[]>) | undefined
    if (known) return known
    const query = (list: readonly V[]) => execute(connection, variant, list)
    const coalescer = coalesce<V, Row[]>({
      query,
      maxInFlight: 2,
      maxKeys: variant.maxSets,
      collectUntil: isTx ? 'next_microtask' : 'end_of_turn',
    })
    coalescers.set(variant, coalescer)
    return coalescer
  }
  return async ({ connection, coalesces, variant: variantOf }, values) => {
    const isCoalesced = isTx ? coalesces === 'in_tx' : coalesces !== null
    const variant = variantOf(values, isCoalesced)
    if (isCoalesced) return coalescerOf(connection, variant)(values)
    if (!isTx && connection !== 'pool') await endOfTurn()
    return (await execute(connection, variant, [values]))[0] ?? []
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
