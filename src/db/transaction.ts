import type { EventEmitter } from 'node:events'
import type pg from 'pg'
import type { Logger } from 'pino'
import type { Clock } from '../lib/clock.ts'
import { CommitThenThrow, unavailable } from '../lib/errors.ts'
import { byChunks } from '../lib/lists.ts'
import type { AtCommitWrite, Database, Tx } from './client.ts'
import { isReadOnly, isRetryable, isUnavailable, sqlState, translateDatabaseError } from './errors.ts'
import type { RecoveryPoint } from './recovery-point.ts'
import { corkUntilTick, runBy, sendBy } from './send-statement.ts'

const maxAttempts = 3

type Outcome<T> = { result: T } | { verdict: Error }

const keepVerdict = (error: unknown): { verdict: Error } => {
  if (error instanceof CommitThenThrow) return { verdict: error.error }
  throw error
}

const describe = (error: unknown) => (error instanceof Error ? error.name : 'unknown')

export type TransactionOptions = {
  checkOut: () => Promise<pg.PoolClient>
  /** Whether connections support prepared statements. */
  named: boolean
  /** The `begin` statement. Behind a pooler, whose connections may have other defaults, it sets isolation and access mode. */
  begin: string
  logger: Logger
  clock: Clock
  recoveryPoint: RecoveryPoint
  signals: EventEmitter
}

export const createTransactions = (options: TransactionOptions): Database['transaction'] => {
  const { checkOut, named } = options
  const attempt = async <T>(work: (tx: Tx) => Promise<T>): Promise<Outcome<T>> => {
    const client = await checkOut()
    // A set, so that a task registered by several steps runs once.
    const afterCommit = new Set<() => void>()
    const deferred: Promise<unknown>[] = []
    let broken: Error | undefined
    let at: Date | undefined
    let cause: unknown
    let over = false
    /** True once the rows to write at commit are being sent. */
    let ending = false
    try {
      const failed = (error: unknown) => {
        cause ??= error
      }
      const defer = (query: Promise<unknown>) => {
        query.catch(failed)
        deferred.push(query)
      }
      corkUntilTick(client)
      defer(client.query(options.begin))
      const query = sendBy(named, async (send) => {
        // After the commit, the connection may already serve another caller.
        if (over) throw new Error('a statement came after the end of its transaction')
        corkUntilTick(client)
        try {
          return await send(client)
        } catch (error) {
          failed(error)
          throw error
        }
      })
      const atCommit = new Map<AtCommitWrite<never>, never[]>()
      const tx: Tx = {
        get at() {
          at ??= options.clock.now()
          return at
        },
        query,
        run: runBy({ record: query, page: query, pool: query }, true),
        defer,
        writeAtCommit: <Row>(kind: AtCommitWrite<Row>, rows: readonly Row[]): void => {
          if (ending || over) throw new Error('rows were added at the end of their transaction: they would be lost')
          const known: Row[] | undefined = atCommit.get(kind)
          if (known) known.push(...rows)
          else if (rows.length > 0) atCommit.set(kind, [...rows] as never[])
        },
        savepoint: async () => {
          const before = new Map([...atCommit].map(([kind, rows]) => [kind, rows.length]))
          const tasksBefore = new Set(afterCommit)
          await query('savepoint undoable')
          return async () => {
            for (const [kind, rows] of atCommit) rows.length = before.get(kind) ?? 0
            for (const task of afterCommit) if (!tasksBefore.has(task)) afterCommit.delete(task)
            await query('rollback to savepoint undoable')
          }
        },
        recoveryPoint: options.recoveryPoint,
        afterCommit: (task: () => void) => void afterCommit.add(task),
        signals: options.signals,
        accountLocks: new Map(),
      }
      const reached = options.recoveryPoint.reached()
      const outcome = await work(tx).then((result) => ({ result }), keepVerdict)
      ending = true
      for (const [kind, rows] of atCommit) await byChunks(rows, (chunk) => defer(kind.write(tx, chunk)))
      over = true
      corkUntilTick(client)
      const committed = client.query('commit').catch((error: unknown) => {
        // A statement that times out breaks the connection before the commit, so the statement's error is reported.
        broken = [cause, error].find((one) => one instanceof Error) ?? new Error(String(error))
        throw isUnavailable(error) ? translateDatabaseError(error) : error
      })
      // If the wait for the synchronous standby is cancelled, the commit ends with a warning, and a failover may lose it.
      let isDoubtful = false
      const warn = ({ code }: { code?: string | undefined }) => {
        isDoubtful ||= code?.startsWith('01') === true || code?.startsWith('57') === true
      }
      client.on('notice', warn)
      const [commit] = await Promise.all([committed, ...deferred]).finally(() => client.off('notice', warn))
      if (isDoubtful) {
        broken = new Error('the commit was not confirmed by its standby')
        throw unavailable({ shortage: 'database', cause: broken })
      }
      // After a failed statement, Postgres answers COMMIT with ROLLBACK.
      if (commit.command !== 'COMMIT') throw new Error('the transaction was rolled back at its commit')
      const [trace] = [...atCommit].flatMap(([kind, rows]) => rows.flatMap((row) => kind.traceOf?.(row) ?? []))
      if (trace !== undefined) options.recoveryPoint.track('audit', [trace], reached)
      for (const task of afterCommit) task()
      return outcome
    } catch (error) {
      over = true
      if (!broken) {
        await client.query('rollback').catch((failure: Error) => {
          options.logger.warn({ error: describe(error) }, 'a transaction failed, and so did its rollback')
          // The first error broke the connection, and the rollback merely finds it broken.
          broken = cause instanceof Error ? cause : failure
        })
      }
      // The next connection may reach a server that accepts writes.
      if (isReadOnly(error) || isReadOnly(cause)) broken ??= new Error('the server is read-only')
      // Statements sent after a failed one fail with 25P02. Only the first error shows the cause and whether a retry can help.
      throw sqlState(error) === '25P02' ? (cause ?? error) : error
    } finally {
      client.release(broken)
    }
  }

  return async <T>(work: (tx: Tx) => Promise<T>): Promise<T> => {
    for (let count = 1; ; count += 1) {
      const outcome = await attempt(work).catch((error: unknown) => {
        if (count >= maxAttempts || !isRetryable(error)) throw translateDatabaseError(error)
        options.logger.debug({ error: describe(error), count }, 'retrying a transaction')
        return undefined
      })
      if (!outcome) continue
      if ('verdict' in outcome) throw outcome.verdict
      return outcome.result
    }
  }
}
