import pg from 'pg'
import { inSpan, isTracing } from '../lib/tracing.ts'
import type { Run } from './client.ts'
import { endOfTurn, joinTurn } from './join-turn.ts'
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

/**
 * How declared queries run, given how the statements of each lane are sent. Outside of transactions, joined queries that are asked for in one turn are
 * one statement, and what goes to a shared connection leaves at the end of the turn; in a transaction each statement is sent as it comes.
 */
export const runBy = (senders: Readonly<Record<Lane, Senders>>, isTx: boolean): Run => {
  const joins = new WeakMap<object, unknown>()
  const joinOf = <V, Row>(lane: Lane, form: JoinedForm<V, Row>): ((values: V) => Promise<Row[]>) => {
    const known = joins.get(form) as ((values: V) => Promise<Row[]>) | undefined
    if (known) return known
    const query = async (list: readonly V[]): Promise<Row[][]> => {
      const groups: Row[][] = list.map(() => [])
      for (const row of await senders[lane].query<{ keyNumber: number }>(form.statement, form.values(list)))
        groups[row.keyNumber - 1]?.push(form.readNamed(row))
      return groups
    }
    const made = joinTurn<V, Row[]>({ query, inFlight: 2, maxKeys: form.most, until: isTx ? 'flush' : 'turn' })
    joins.set(form, made)
    return made
  }
  return async ({ lane, form: formOf, joined, joinsInTx = false }, values) => {
    const joinedForm = !isTx || joinsInTx ? joined?.(values) : undefined
    if (joinedForm) return joinOf(lane, joinedForm)(values)
    const form = formOf(values)
    if (!isTx && lane !== 'pool') await endOfTurn()
    const { query, columns } = senders[lane]
    if ('read' in form) return (await columns(form.statement, form.values(values))).map(form.read)
    return (await query<Record<string, unknown>>(form.statement, form.values(values))).map(form.readNamed)
  }
}

/** The same for statements as text, outside of transactions: those without a name take a connection of their own. */
export const queryBy =
  (senders: Readonly<Record<Lane, Senders>>): Query =>
  async (query, values) => {
    const lane = typeof query === 'string' ? 'pool' : query.lane
    if (lane !== 'pool') await endOfTurn()
    return senders[lane].query(query, values)
  }

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
