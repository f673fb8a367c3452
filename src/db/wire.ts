import pg from 'pg'
import { inSpan, isTracing } from '../lib/tracing.ts'
import type { Run } from './client.ts'
import { joinTurn } from './join-turn.ts'
import { JoiningConnection } from './joined-answers.ts'
import { runNamed, runNamedObjects, type Target } from './named-query.ts'
import type { JoinedForm } from './prepare.ts'
import type { Lane, Query, Statement } from './statement.ts'
import { type RawRows, unread } from './types.ts'

type Config = { text: string; values: unknown[] }
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

/** As many keys as one statement has at most: pages are up to a hundred rows each. */
const mostJoined = 128
const mostPages = 16

/** The same outside of transactions: queries of the lane `joined` that are asked for in one turn are one statement. */
export const runJoined = (senders: Readonly<Record<Lane, SendRows>>): Run => {
  const alone = runBy(senders)
  const turns = new WeakMap<object, unknown>()
  const turnOf = <V, Row>(form: JoinedForm<V, Row>): ((values: V) => Promise<readonly Row[]>) => {
    const known = turns.get(form) as ((values: V) => Promise<readonly Row[]>) | undefined
    if (known) return known
    const made = joinTurn<V, readonly Row[]>({
      query: async (list) => form.read(await senders[form.statement.lane](form.statement, form.values(list)), list.length),
      inFlight: 2,
      maxKeys: form.statement.lane === 'page' ? mostPages : mostJoined,
      identify: form.identify,
    })
    turns.set(form, made)
    return made
  }
  return async (query, values) => {
    const form = query.joined?.(values)
    return form ? [...(await turnOf(form)(values))] : alone(query, values)
  }
}

/** The same for statements as text: those without a name take a connection of their own. */
export const queryBy =
  (senders: Readonly<Record<Lane, Query>>): Query =>
  (query, values) =>
    senders[typeof query === 'string' ? 'pool' : query.lane](query, values)

const isNamed = (query: Statement | string, named: boolean): query is Statement => named && typeof query !== 'string'

const plainConfig = (query: Statement | string, values: readonly unknown[]): Config => ({
  text: typeof query === 'string' ? query : query.text,
  values: encodeAll(values),
})

/** One statement, as objects. `named`: false behind a pooler that forgets prepared statements between transactions. */
export const sendObjects = async <Row extends object>(
  target: Target,
  query: Statement | string,
  values: readonly unknown[],
  named: boolean,
): Promise<Row[]> => {
  if (isNamed(query, named)) return runNamedObjects<Row>(target, query, encodeAll(values))
  return (await target.query<Row>(plainConfig(query, values))).rows
}

/** The same for rows as arrays of texts, in the order of their columns: see `prepare.ts`. */
export const sendRaw = async (
  target: Target,
  query: Statement | string,
  values: readonly unknown[],
  named: boolean,
): Promise<RawRows> => {
  if (isNamed(query, named)) return runNamed(target, query, encodeAll(values))
  const config: RowsConfig = { ...plainConfig(query, values), rowMode: 'array', types: unread }
  const { rows, fields } = await target.query<(string | null)[]>(config)
  return { rows: rows.map((row) => ({ fields: row })), types: fields.map(({ dataTypeID }) => dataTypeID) }
}

const tasks = new WeakMap<pg.Client, (() => void)[]>()

/**
 * Holds back what is written to this connection until the running code has finished, so that all its statements leave in one system call: a
 * transaction's `begin` with its first statements, its last statements with the `commit`. `task`: runs before, and what it writes leaves too.
 */
export const corkUntilTick = (client: pg.ClientBase, task?: () => void): void => {
  // A pool's clients have this type too, although its declared type does not say so.
  if (!(client instanceof pg.Client)) throw new Error('a connection is not of the driver')
  if (task) tasks.set(client, [...(tasks.get(client) ?? []), task])
  const { connection } = client
  const { stream } = connection
  if (stream.writableCorked > 0) return
  stream.cork()
  process.nextTick(() => {
    const due = tasks.get(client) ?? []
    tasks.delete(client)
    for (const each of due) each()
    if (connection instanceof JoiningConnection) connection.answerJoined()
    stream.uncork()
  })
}

/** The same for the statements of a transaction, which are answered together as well. */
export const joinUntilTick = (client: pg.ClientBase, task?: () => void): void => {
  corkUntilTick(client, task)
  if (client instanceof pg.Client && client.connection instanceof JoiningConnection) client.connection.joinAnswers()
}

/** A span for each statement, by its name and without its bound values. Without tracing this is the query itself. */
export const traced = <T>(query: Statement | string, run: () => Promise<T>): Promise<T> => {
  if (!isTracing()) return run()
  const name = typeof query === 'string' ? 'statement' : query.name
  return inSpan(name, { 'db.system.name': 'postgresql', 'db.query.summary': name }, run)
}
