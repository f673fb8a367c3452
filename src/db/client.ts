import { drizzle, type NodePgDatabase } from 'drizzle-orm/node-postgres'
import pg from 'pg'
import type { Logger } from 'pino'
import type { Clock } from '../lib/clock.ts'
import { CommitThenThrow } from '../lib/errors.ts'
import { inSpan, isTracing } from '../lib/tracing.ts'
import { isOutcomeUnknown, isRetryable, sqlState, translateDatabaseError } from './errors.ts'
import { createLookups } from './lookups.ts'
import { createNaming, nameQueries } from './name-queries.ts'
import { watchPoolWait } from './pool-wait.ts'
import type { Pooler } from './pooler.ts'
import { settingsOf } from './settings.ts'
import { type Query, type Statement, statement } from './statement.ts'
import { tables } from './tables.ts'
import { corkUntilTick, queryConfig } from './wire.ts'

export { type Statement, statement } from './statement.ts'

type Orm = NodePgDatabase<typeof tables>

/** What a reader needs; a transaction can be passed too. */
export type Db = {
  readonly orm: Orm
  query: Query
}

/**
 * Reads whose best plan depends on the text that is searched for: each statement is planned for its own values and may combine indexes,
 * which the connections' settings switch off for everything else. Runs in a read-only transaction.
 */
export type Search = <T>(read: (db: Db) => Promise<T>) => Promise<T>

const inTransaction = Symbol('inTransaction')

/**
 * What a writer needs. Statements of one transaction run in the order in which they are issued. Statements that do not need each other's
 * answers are issued together (`Promise.all`) and leave in one system call: the first ones with the `begin`, the last ones with the
 * `commit`. `defer` is for a last statement whose answer is not awaited: its failure fails the commit. So a transaction that reads
 * everything at once and defers its writes takes two round trips. `afterCommit` is for wake-ups only: what must not be lost is written in
 * the transaction.
 */
export type Tx = Db & {
  readonly [inTransaction]: true
  /** The one instant of this transaction: the clock is read at the first access, which comes after the first lock. */
  readonly at: Date
  defer: (query: Promise<unknown>) => void
  afterCommit: (task: () => void) => void
  /** The accounts that this transaction has locked; only `account-lock.ts` writes it. */
  readonly accountLocks: Map<string, 'exclusive' | 'shared'>
}

export type Database = Db & {
  readonly pool: pg.Pool
  /** Fast reads by an index, outside transactions, on a connection that many requests share: a slow statement delays all later ones. */
  readonly lookup: Query
  readonly search: Search
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

type Outcome<T> = { result: T } | { verdict: Error }

const keepVerdict = (error: unknown): { verdict: Error } => {
  if (error instanceof CommitThenThrow) return { verdict: error.error }
  throw error
}

/** A span for each statement, by its name and without its bound values. Without tracing this is the query itself. */
const traced = <T>(query: Statement | string, run: () => Promise<T>): Promise<T> => {
  if (!isTracing()) return run()
  const name = typeof query === 'string' ? 'statement' : query.name
  return inSpan(name, { 'db.system.name': 'postgresql', 'db.query.summary': name }, run)
}

const queryPool =
  (pool: pg.Pool, named: boolean): Query =>
  async <Row extends object>(query: Statement | string, values: readonly unknown[] = []): Promise<Row[]> => {
    try {
      return (await traced(query, () => pool.query<Row>(queryConfig(query, values, named)))).rows
    } catch (error) {
      throw translateDatabaseError(error)
    }
  }

const queryClient =
  (client: pg.PoolClient, named: boolean, isOver: () => boolean, failed: (error: unknown) => void): Query =>
  async <Row extends object>(query: Statement | string, values: readonly unknown[] = []): Promise<Row[]> => {
    // After the commit the connection may already serve another caller.
    if (isOver()) throw new Error('a statement came after the end of its transaction')
    corkUntilTick(client)
    try {
      return (await traced(query, () => client.query<Row>(queryConfig(query, values, named)))).rows
    } catch (error) {
      failed(error)
      throw error
    }
  }

export type DatabaseOptions = {
  url: string
  poolSize: number
  logger: Logger
  clock: Clock
  /** A lock is waited for two thirds as long; a connection without an answer for a third longer is destroyed. */
  statementTimeoutMs: number
  lockTimeoutMs?: number
  /** Behind a transaction pooler (PgBouncer): its settings replace ours, and statements have names only if it keeps prepared ones. */
  pooler?: Pick<Pooler, 'keepsStatements'>
  /** Called with how long each caller waited for a connection. */
  onPoolWait?: (seconds: number) => void
}

/** A server that answers cancels the statement first, by its own time-out. After this time the connection is destroyed. */
const answerTimeoutMs = (statementTimeoutMs: number): number => Math.ceil((statementTimeoutMs * 4) / 3)

const searchSettings = statement(
  'search.settings',
  `select set_config('transaction_read_only', 'on', true), set_config('enable_bitmapscan', 'on', true),
   set_config('plan_cache_mode', 'force_custom_plan', true)`,
)

export const connect = (options: DatabaseOptions): Database => {
  const named = options.pooler?.keepsStatements ?? true
  const connection: pg.ClientConfig = {
    connectionString: options.url,
    types,
    application_name: 'payments-service',
    connectionTimeoutMillis: options.statementTimeoutMs,
    query_timeout: answerTimeoutMs(options.statementTimeoutMs),
    keepAlive: true,
    keepAliveInitialDelayMillis: 10_000,
    ...(!options.pooler && { options: settingsOf(options) }),
  }
  const pool = new pg.Pool({
    // Statements are sent without waiting for the answers before them; see Tx.
    pipeline: true,
    ...connection,
    max: options.poolSize,
  })
  if (options.onPoolWait) watchPoolWait(pool, options.onPoolWait)
  // The pool ends before its connections are closed: an error that the server's own shutdown causes on them is expected.
  let closing = false
  const lost = (message: string) => (error: Error) => {
    if (!closing) options.logger.warn({ error: error.message }, message)
  }
  pool.on('error', lost('an idle database connection was lost'))
  // Without a listener of its own, a backend that dies inside a transaction takes the whole process down.
  pool.on('connect', (client) => client.on('error', lost('a database connection was lost')))
  const nameOf = createNaming()
  if (named) pool.on('connect', (client) => nameQueries(client, nameOf))

  const lookups = createLookups({ connection, named, lost: lost('the connection for lookups was lost') })

  const ormOf = new WeakMap<pg.PoolClient, Orm>()
  const clientOrm = (client: pg.PoolClient): Orm => {
    const known = ormOf.get(client)
    if (known) return known
    const orm = drizzle(client, { schema: tables, casing: 'snake_case' })
    ormOf.set(client, orm)
    return orm
  }

  const attempt = async <T>(work: (tx: Tx) => Promise<T>): Promise<Outcome<T>> => {
    const client = await pool.connect().catch((error: unknown) => {
      throw translateDatabaseError(error)
    })
    const afterCommit: (() => void)[] = []
    const deferred: Promise<unknown>[] = []
    let broken: Error | undefined
    let at: Date | undefined
    let cause: unknown
    let over = false
    try {
      // Not awaited: it is sent with the first statement, which fails when it fails.
      corkUntilTick(client)
      const begun = client.query('begin')
      begun.catch(() => undefined)
      deferred.push(begun)
      const tx: Tx = {
        [inTransaction]: true,
        get at() {
          at ??= options.clock.now()
          return at
        },
        orm: clientOrm(client),
        query: queryClient(
          client,
          named,
          () => over,
          (error) => {
            cause ??= error
          },
        ),
        defer: (query: Promise<unknown>) => {
          query.catch(() => undefined)
          deferred.push(query)
        },
        afterCommit: (task: () => void) => void afterCommit.push(task),
        accountLocks: new Map(),
      }
      const outcome = await work(tx).then((result) => ({ result }), keepVerdict)
      over = true
      corkUntilTick(client)
      const committed = client.query('commit').catch((error: unknown) => {
        broken = error instanceof Error ? error : new Error(String(error))
        throw isOutcomeUnknown(error) ? translateDatabaseError(error) : error
      })
      const [commit] = await Promise.all([committed, ...deferred])
      // After an error that was caught, COMMIT succeeds as a ROLLBACK: it must not count as a commit.
      if (commit.command !== 'COMMIT') throw new Error('the transaction was rolled back at its commit')
      for (const task of afterCommit) task()
      return outcome
    } catch (error) {
      over = true
      if (!broken) {
        await client.query('rollback').catch((failure: Error) => {
          options.logger.warn({ error: describe(error) }, 'a transaction failed, and so did its rollback')
          broken = failure
        })
      }
      // Statements that were sent after a failed one fail because of it: the first error tells the reason and whether to retry.
      throw sqlState(error) === '25P02' ? (cause ?? error) : error
    } finally {
      client.release(broken)
    }
  }

  const attemptUntilDone = async <T>(work: (tx: Tx) => Promise<T>): Promise<Outcome<T>> => {
    for (let count = 1; ; count += 1) {
      try {
        return await attempt(work)
      } catch (error) {
        if (count >= maxAttempts || !isRetryable(error)) throw translateDatabaseError(error)
        options.logger.debug({ error: describe(error), count }, 'retrying a transaction')
      }
    }
  }

  const transaction = async <T>(work: (tx: Tx) => Promise<T>): Promise<T> => {
    const outcome = await attemptUntilDone(work)
    if ('verdict' in outcome) throw outcome.verdict
    return outcome.result
  }

  return {
    pool,
    orm: drizzle(pool, { schema: tables, casing: 'snake_case' }),
    query: queryPool(pool, named),
    lookup: lookups.query,
    transaction,
    search: (read) =>
      transaction(async (tx) => {
        tx.defer(tx.query(searchSettings))
        return read(tx)
      }),
    close: async () => {
      closing = true
      await lookups.close()
      await pool.end()
    },
  }
}

/** Runs `work` in one transaction; a serialisation failure or a deadlock runs it whole again, three times at most. */
export const inTx = <T>(db: Database, work: (tx: Tx) => Promise<T>): Promise<T> => db.transaction(work)

const describe = (error: unknown) => (error instanceof Error ? error.name : 'unknown')
