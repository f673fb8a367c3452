import pg from 'pg'
import type { Logger } from 'pino'
import type { Clock } from '../lib/clock.ts'
import { type Database, statement } from './client.ts'
import { DatabaseClient } from './database-client.ts'
import { translateDatabaseError } from './errors.ts'
import { createLookups } from './lookups.ts'
import { createNaming, nameQueries } from './name-queries.ts'
import type { Pooler } from './pooler.ts'
import { createRemembered } from './remembered.ts'
import { settingsOf } from './settings.ts'
import { leaveSilentServer } from './silent-server.ts'
import type { Query, Statement } from './statement.ts'
import { createTransactions } from './transaction.ts'
import { types } from './types.ts'
import { queryBy, runJoined, type SendRows, sendObjects, sendRaw, traced } from './wire.ts'

type Done = Parameters<pg.Pool['connect']>[0]

/** Reports how long each caller waited for a connection, whether it got one or not. */
const watchPoolWait = (pool: pg.Pool, onWait: (seconds: number) => void): void => {
  const connect = pool.connect.bind(pool)
  const timed = (done?: Done): Promise<pg.PoolClient> | undefined => {
    const start = performance.now()
    const note = () => onWait((performance.now() - start) / 1000)
    if (done) {
      connect((...answer) => {
        note()
        done(...answer)
      })
      return undefined
    }
    const client = connect()
    client.then(note, note)
    return client
  }
  // The pool's own `query` takes its connections by this as well.
  pool.connect = timed as pg.Pool['connect']
}

const queryPool =
  (pool: pg.Pool, named: boolean): Query =>
  async <Row extends object>(query: Statement | string, values: readonly unknown[] = []): Promise<Row[]> => {
    try {
      return await traced(query, () => sendObjects<Row>(pool, query, values, named))
    } catch (error) {
      throw translateDatabaseError(error)
    }
  }

const poolRows =
  (pool: pg.Pool, named: boolean): SendRows =>
  async (query, values) => {
    try {
      return await traced(query, () => sendRaw(pool, query, values, named))
    } catch (error) {
      throw translateDatabaseError(error)
    }
  }

export type DatabaseOptions = {
  url: string
  poolSize: number
  logger: Logger
  clock: Clock
  /** A lock is waited for two thirds as long; a connection without an answer for a third longer is destroyed. */
  statementTimeoutMs: number
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
    Client: DatabaseClient,
    max: options.poolSize,
  })
  if (options.onPoolWait) watchPoolWait(pool, options.onPoolWait)
  // The pool ends before its connections are closed: an error that the server's own shutdown causes on them is expected.
  let closing = false
  const lostListeners: (() => void)[] = []
  const lost = (message: string) => (error: Error) => {
    for (const listener of lostListeners) listener()
    if (!closing) options.logger.warn({ error: error.message }, message)
  }
  pool.on('error', lost('an idle database connection was lost'))
  // Without a listener of its own, a backend that dies inside a transaction takes the whole process down.
  pool.on('connect', (client) => client.on('error', lost('a database connection was lost')))
  const nameOf = createNaming()
  if (named) pool.on('connect', (client) => nameQueries(client, nameOf))

  // A page takes Postgres ten times as long as a lookup: on the same connection, credentials would wait for it.
  const pages = createLookups({ connection, named, lost: lost('the connection for pages was lost') })
  const lookups = createLookups({ connection, named, lost: lost('the connection for lookups was lost'), silent: pages.leave })
  leaveSilentServer(pool, [lookups, pages])

  const remembered = createRemembered(options.clock)
  const transaction = createTransactions({
    pool,
    named,
    direct: options.pooler === undefined,
    logger: options.logger,
    clock: options.clock,
    remembered,
  })

  return {
    pool,
    query: queryBy({ record: lookups.query, page: pages.query, pool: queryPool(pool, named) }),
    run: runJoined({ record: lookups.rows, page: pages.rows, pool: poolRows(pool, named) }),
    remembered,
    onLost: (listener) => void lostListeners.push(listener),
    lookup: lookups.query,
    transaction,
    search: (read) =>
      transaction(async (tx) => {
        tx.defer(tx.query(searchSettings))
        return read(tx)
      }),
    close: async () => {
      closing = true
      await Promise.all([lookups.close(), pages.close()])
      await pool.end()
    },
  }
}
