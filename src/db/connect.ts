import { EventEmitter } from 'node:events'
import pg from 'pg'
import type { Logger } from 'pino'
import type { Clock } from '../lib/clock.ts'
import { connectionLost, type Database, emit, statement } from './client.ts'
import { connectionConfig, type PlannedReads, settingsOf } from './connection-settings.ts'
import { translateDatabaseError } from './errors.ts'
import type { Pooler } from './pooler.ts'
import { createRecoveryPoint } from './recovery-point.ts'
import { corkUntilTick, queryBy, runBy, sendBy, type WithConnection } from './send-statement.ts'
import { createTransactions } from './transaction.ts'

const { builtins } = pg.types
const bigintArray = 1016

/** A UTC time with a four-digit year, as Postgres writes it. The driver parses all other times. */
const utcTime = /^(\d{4}-\d\d-\d\d) (\d\d:\d\d:\d\d(?:\.\d+)?)\+00$/
const instant: (text: string) => unknown = (text) => {
  const parts = utcTime.exec(text)
  return parts ? new Date(`${parts[1]}T${parts[2]}Z`) : pg.types.getTypeParser(builtins.TIMESTAMPTZ, 'text')(text)
}

/** Replace the driver's parsers, because money must be exact and a date has no time zone. */
const types = new pg.TypeOverrides()
types.setTypeParser(builtins.INT8, BigInt)
types.setTypeParser(builtins.DATE, String)
types.setTypeParser(builtins.TIMESTAMPTZ, instant)
types.setTypeParser(bigintArray, (text) => text.slice(1, -1).split(',').filter(Boolean).map(BigInt))

export type DatabaseOptions = {
  url: string
  poolSize: number
  logger: Logger
  clock: Clock
  /** Lock waits end after two thirds of this time. An unresponsive connection is destroyed after four thirds. */
  statementTimeoutMs: number
  /** Default: requests. */
  reads?: PlannedReads | undefined
  /** Set for a transaction pooler (PgBouncer), which replaces settings and may not support named prepared statements. */
  pooler?: Pick<Pooler, 'keepsStatements'> | undefined
  /** Called with the time that each caller waited for a connection. */
  onPoolWait?: ((seconds: number) => void) | undefined
}

const searchSettings = statement('search.settings')`
  select set_config('transaction_read_only', 'on', true), set_config('enable_bitmapscan', 'on', true),
   set_config('plan_cache_mode', 'force_custom_plan', true)`

/** Lookups are fast: after this time the database counts as unresponsive, and the driver closes the connection. */
const longestAnswerMs = 5_000

/** A connection that requests share for reads. After a loss, reads in progress fail with 503. Two for lookups were not faster. */
const openShared = (connection: pg.ClientConfig, onLost: (error: Error) => void) => {
  const answerTimeoutMs = Math.min(longestAnswerMs, connection.query_timeout ?? longestAnswerMs)
  let current: Promise<pg.Client> | undefined
  let closed = false
  const open = (): Promise<pg.Client> => {
    const client = new pg.Client({
      ...connection,
      pipeline: true,
      query_timeout: answerTimeoutMs,
      connectionTimeoutMillis: answerTimeoutMs,
    })
    const opened = client.connect().then(() => client)
    const discard = () => {
      if (current === opened) current = undefined
    }
    current = opened
    client.on('error', (error) => {
      discard()
      onLost(error)
      // A socket that reported an error may still be open.
      client.end().catch(() => undefined)
    })
    client.once('end', discard)
    opened.catch(discard)
    return opened
  }
  return {
    use: async <T>(send: (client: pg.Client) => Promise<T>): Promise<T> => {
      // Same message as pg's own pool, so that a closed database always reports the same error.
      if (closed) throw new Error('Cannot use a pool after calling end on the pool')
      const client = await (current ?? open())
      corkUntilTick(client)
      return send(client)
    },
    close: async () => {
      closed = true
      const client = await current?.catch(() => undefined)
      current = undefined
      await client?.end()
    },
  }
}

export const connect = (options: DatabaseOptions): Database => {
  const { pooler, statementTimeoutMs, url } = options
  const keepsStatements = pooler?.keepsStatements ?? true
  const connection: pg.ClientConfig = {
    ...(pooler ? { connectionString: url } : connectionConfig(url, settingsOf(statementTimeoutMs, options.reads))),
    types,
    application_name: 'payments-service',
    connectionTimeoutMillis: statementTimeoutMs,
    // A responsive server cancels the statement earlier, by its own timeout. This timeout covers an unresponsive server.
    query_timeout: Math.ceil((statementTimeoutMs * 4) / 3),
    keepAlive: true,
    keepAliveInitialDelayMillis: 10_000,
  }
  const pool = new pg.Pool({ pipeline: true, ...connection, max: options.poolSize, idleTimeoutMillis: 10_000 })
  const checkOut = (): Promise<pg.PoolClient> => {
    const start = performance.now()
    return pool.connect().finally(() => options.onPoolWait?.((performance.now() - start) / 1000))
  }
  const signals = new EventEmitter()
  // A server that shuts down causes errors on connections that are still open.
  let closing = false
  const onLost = (message: string) => (error: Error) => {
    emit({ signals }, connectionLost, null)
    if (!closing) options.logger.warn({ error: error.message }, message)
  }
  pool.on('error', onLost('an idle database connection was lost'))
  // Without this listener, a backend that dies inside a transaction crashes the process.
  pool.on('connect', (client) => client.on('error', onLost('a database connection was lost')))
  const pooled: WithConnection = async (send) => {
    const client = await checkOut()
    let isBroken = true
    try {
      const answer = await send(client)
      isBroken = false
      return answer
    } finally {
      client.release(isBroken)
    }
  }

  const lookups = openShared(connection, onLost('the connection for lookups was lost'))
  // A page takes Postgres ten times as long as a lookup, so on a shared connection credential lookups would wait for pages.
  const pages = openShared(connection, onLost('the connection for pages was lost'))

  const recoveryPoint = createRecoveryPoint(options.clock)
  const transaction = createTransactions({
    checkOut,
    keepsStatements,
    begin: pooler ? 'begin isolation level read committed read write' : 'begin',
    logger: options.logger,
    clock: options.clock,
    recoveryPoint,
    signals,
  })

  const outsideTx = (use: WithConnection) =>
    sendBy(keepsStatements, (send) =>
      use(send).catch((error: unknown) => {
        throw translateDatabaseError(error)
      }),
    )
  const senders = { record: outsideTx(lookups.use), page: outsideTx(pages.use), pool: outsideTx(pooled) }

  return {
    pool,
    signals,
    query: queryBy(senders),
    run: runBy(senders, false),
    recoveryPoint,
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
