import pg from 'pg'
import { inSpan, isTracing } from '../lib/tracing.ts'
import type { Run } from './client.ts'
import { joinTurn } from './join-turn.ts'
import type { Columns, JoinedForm } from './prepare.ts'
import type { Lane, Query, Statement } from './statement.ts'

/** A pool or one of its connections. */
export type Target = Pick<pg.Pool, 'query'>

/**
 * A time in a form that Postgres reads with any settings. The driver's own format depends on the process's time zone and costs six times as
 * much.
 */
const encode = (value: unknown): unknown => (value instanceof Date ? value.toISOString() : value)

const encodeAll = (values: readonly unknown[]): unknown[] =>
  values.map((value) => (Array.isArray(value) ? value.map(encode) : encode(value)))

/** `named`: false behind a pooler that forgets prepared statements between transactions. */
const configOf = (query: Statement | string, values: readonly unknown[], named: boolean): pg.QueryConfig => {
  const sent = encodeAll(values)
  if (typeof query === 'string') return { text: query, values: sent }
  return named ? { name: query.name, text: query.text, values: sent } : { text: query.text, values: sent }
}

/** Sends one statement and returns its rows by their columns, which may have the same name several times: see `prepare.ts`. */
export type SendColumns = (query: Statement | string, values: readonly unknown[]) => Promise<readonly Columns[]>

export type Senders = { query: Query; columns: SendColumns }

/** How statements are sent. `send` finds the connection for each, and runs around it. */
export const sendersBy = (
  named: boolean,
  send: <T>(query: Statement | string, run: (target: Target) => Promise<T>) => Promise<T>,
): Senders => ({
  query: <Row extends object>(query: Statement | string, values: readonly unknown[] = []): Promise<Row[]> =>
    send(query, (target) => target.query<Row>(configOf(query, values, named)).then(({ rows }) => rows)),
  columns: (query, values) =>
    send(query, (target) =>
      target.query<unknown[]>({ ...configOf(query, values, named), rowMode: 'array' }).then(({ rows }) => rows),
    ),
})

/** How a database runs declared queries, given how it sends the statements of each lane. */
export const runBy =
  (senders: Readonly<Record<Lane, SendColumns>>): Run =>
  async (query, values) => {
    const form = query.form(values)
    return form.read(await senders[query.lane](form.statement, form.values(values)))
  }

/** The same outside of transactions: queries of the lane `joined` that are asked for in one turn are one statement. */
export const runJoined = (senders: Readonly<Record<Lane, SendColumns>>): Run => {
  const alone = runBy(senders)
  const turns = new WeakMap<object, unknown>()
  const turnOf = <V, Row>(form: JoinedForm<V, Row>): ((values: V) => Promise<Row[]>) => {
    const known = turns.get(form) as ((values: V) => Promise<Row[]>) | undefined
    if (known) return known
    const made = joinTurn<V, Row[]>({
      query: async (list) => form.read(await senders.record(form.statement, form.values(list)), list.length),
      inFlight: 2,
      maxKeys: 128,
    })
    turns.set(form, made)
    return made
  }
  return async (query, values) => {
    const form = query.joined?.(values)
    return form ? turnOf(form)(values) : alone(query, values)
  }
}

/** The same for statements as text: those without a name take a connection of their own. */
export const queryBy =
  (senders: Readonly<Record<Lane, Query>>): Query =>
  (query, values) =>
    senders[typeof query === 'string' ? 'pool' : query.lane](query, values)

/**
 * Holds back what is written to this connection until the running code has finished, so that all its statements leave in one system call: a
 * transaction's `begin` with its first statements, its last statements with the `commit`.
 */
export const corkUntilTick = (client: pg.ClientBase): void => {
  // A pool's clients have this type too, although its declared type does not say so.
  if (!(client instanceof pg.Client)) throw new Error('a connection is not of the driver')
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
