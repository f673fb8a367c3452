import { drizzle, type NodePgDatabase } from 'drizzle-orm/node-postgres'
import pg from 'pg'
import type { Logger } from 'pino'
import { isOutcomeUnknown, isRetryable, translateDatabaseError } from './errors.ts'
import { tables } from './tables.ts'

/** A statement with a name is parsed and planned once a connection: hot paths have names, and the name is its text's only owner. */
export type Statement = { name: string; text: string }
export const statement = (name: string, text: string): Statement => ({ name, text })

type Orm = NodePgDatabase<typeof tables>

/** What a reader needs; a transaction fits as well. */
export type Db = {
  readonly orm: Orm
  query: <Row extends object>(statement: Statement | string, values?: readonly unknown[]) => Promise<Row[]>
}

declare const inTransaction: unique symbol
/**
 * What a writer needs. Statements of one transaction run in the order in which they were asked for, so those that don't need each
 * other's answers are asked for together (`Promise.all`) and travel together. `defer` is for a last one that nobody waits for: its
 * failure fails the commit. `afterCommit` is for wake-ups: what must happen belongs into the transaction.
 */
export type Tx = Db & {
  readonly [inTransaction]: true
  defer: (query: Promise<unknown>) => void
  afterCommit: (task: () => void) => void
}

export type Database = Db & {
  readonly pool: pg.Pool
  transaction: <T>(work: (tx: Tx) => Promise<T>) => Promise<T>
  close: () => Promise<void>
}

const types: pg.CustomTypesConfig = {
  getTypeParser: ((oid: number, format?: 'text' | 'binary') => {
    if (oid === pg.types.builtins.INT8 && format !== 'binary') return BigInt
    if (oid === 1016 && format !== 'binary') return (text: string) => text.slice(1, -1).split(',').filter(Boolean).map(BigInt)
    return format === 'binary' ? pg.types.getTypeParser(oid, 'binary') : pg.types.getTypeParser(oid, 'text')
  }) as pg.CustomTypesConfig['getTypeParser'],
}

const maxAttempts = 3

const queryVia =
  (client: pg.Pool | pg.PoolClient) =>
  async <Row extends object>(query: Statement | string, values: readonly unknown[] = []): Promise<Row[]> => {
    const result = await client.query<Row>(
      typeof query === 'string' ? { text: query, values: [...values] } : { ...query, values: [...values] },
    )
    return result.rows
  }

export type DatabaseOptions = {
  url: string
  poolSize: number
  logger: Logger
  statementTimeoutMs?: number
  lockTimeoutMs?: number
}

export const connect = (options: DatabaseOptions): Database => {
  const pool = new pg.Pool({
    // Statements are sent as they come, not one answer apart; see Tx.
    pipeline: true,
    connectionString: options.url,
    max: options.poolSize,
    types,
    application_name: 'payments-service',
    connectionTimeoutMillis: 15_000,
    options: `-c statement_timeout=${options.statementTimeoutMs ?? 15_000} -c lock_timeout=${options.lockTimeoutMs ?? 10_000} -c idle_in_transaction_session_timeout=30000 -c timezone=UTC`,
  })
  // The pool ends before its connections have said goodbye: what a server that stops right after us does to them is no news.
  let closing = false
  const lost = (message: string) => (error: Error) => {
    if (!closing) options.logger.warn({ error: error.message }, message)
  }
  pool.on('error', lost('an idle database connection was lost'))
  // Without a listener of its own, a backend that dies inside a transaction takes the whole process down.
  pool.on('connect', (client) => client.on('error', lost('a database connection was lost')))

  const ormOf = new WeakMap<pg.PoolClient, Orm>()
  const clientOrm = (client: pg.PoolClient): Orm => {
    const known = ormOf.get(client)
    if (known) return known
    const orm = drizzle(client, { schema: tables, casing: 'snake_case' })
    ormOf.set(client, orm)
    return orm
  }

  const attempt = async <T>(work: (tx: Tx) => Promise<T>): Promise<T> => {
    const client = await pool.connect().catch((error: unknown) => {
      throw translateDatabaseError(error)
    })
    const afterCommit: (() => void)[] = []
    const deferred: Promise<unknown>[] = []
    let broken: Error | undefined
    try {
      // Not waited for: it travels with the first statement, which fails when it fails.
      const begun = client.query('begin')
      begun.catch(() => undefined)
      deferred.push(begun)
      const tx = {
        orm: clientOrm(client),
        query: queryVia(client),
        defer: (query: Promise<unknown>) => {
          query.catch(() => undefined)
          deferred.push(query)
        },
        afterCommit: (task: () => void) => void afterCommit.push(task),
      } as unknown as Tx
      const result = await work(tx)
      const committed = client.query('commit').catch((error: unknown) => {
        broken = error instanceof Error ? error : new Error(String(error))
        throw isOutcomeUnknown(error) ? translateDatabaseError(error) : error
      })
      const [commit] = await Promise.all([committed, ...deferred])
      // After an error that somebody swallowed, COMMIT succeeds as a ROLLBACK: never take that for a commit.
      if (commit.command !== 'COMMIT') throw new Error('the transaction was rolled back at its commit')
      for (const task of afterCommit) task()
      return result
    } catch (error) {
      if (!broken) {
        await client.query('rollback').catch((failure: Error) => {
          options.logger.warn({ error: describe(error) }, 'a transaction failed, and so did its rollback')
          broken = failure
        })
      }
      throw error
    } finally {
      client.release(broken)
    }
  }

  const transaction = async <T>(work: (tx: Tx) => Promise<T>): Promise<T> => {
    for (let count = 1; ; count += 1) {
      try {
        return await attempt(work)
      } catch (error) {
        if (count >= maxAttempts || !isRetryable(error)) throw translateDatabaseError(error)
        options.logger.debug({ error: describe(error), count }, 'retrying a transaction')
      }
    }
  }

  return {
    pool,
    orm: drizzle(pool, { schema: tables, casing: 'snake_case' }),
    query: (query, values) =>
      queryVia(pool)<never>(query, values).catch((error: unknown) => {
        throw translateDatabaseError(error)
      }),
    transaction,
    close: () => {
      closing = true
      return pool.end()
    },
  }
}

/** Runs `work` in one transaction; a serialisation failure or a deadlock runs it whole again, three times at most. */
export const inTx = <T>(db: Database, work: (tx: Tx) => Promise<T>): Promise<T> => db.transaction(work)

const describe = (error: unknown) => (error instanceof Error ? error.name : 'unknown')
