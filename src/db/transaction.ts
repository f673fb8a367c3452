import type { EventEmitter } from 'node:events'
import type pg from 'pg'
import type { Logger } from 'pino'
import type { Clock } from '../lib/clock.ts'
import { CommitThenThrow, unavailable } from '../lib/errors.ts'
import { byChunks } from '../lib/lists.ts'
import type { AtCommitWrite, Database, Tx } from './client.ts'
import { describeError, isReadOnly, isRetryable, isUnavailable, sqlState, translateDatabaseError } from './errors.ts'
import type { RecoveryPoint } from './recovery-point.ts'
import { corkUntilTick, runBy, sendBy } from './send-statement.ts'

const maxAttempts = 3

type Outcome<T> = { result: T } | { verdict: Error }

const asVerdict = (error: unknown): { verdict: Error } => {
  if (error instanceof CommitThenThrow) return { verdict: error.error }
  throw error
}

const describe = (error: unknown) => (error instanceof Error ? error.name : 'unknown')

export type TransactionOptions = {
  checkOut: () => Promise<pg.PoolClient>
  /** Whether connections support prepared statements. */
  keepsStatements: boolean
  /** The `begin` statement. Behind a pooler, whose connections may have other defaults, it sets isolation and access mode. */
  begin: string
  logger: Logger
  clock: Clock
  recoveryPoint: RecoveryPoint
  signals: EventEmitter
}

/** `open` → `ending`: the rows to write at commit are being sent → `over`: the connection may already serve another caller. */
type State = 'open' | 'ending' | 'over'

/** The interface for `work` in one attempt, and what it collects for the commit. */
const createTx = (client: pg.PoolClient, { keepsStatements, clock, recoveryPoint, signals }: TransactionOptions) => {
  // A set, so that a task registered by several steps runs once.
  const afterCommit = new Set<() => void>()
  const atCommit = new Map<AtCommitWrite<never>, never[]>()
  const deferred: Promise<unknown>[] = []
  let state: State = 'open'
  let at: Date | undefined
  let firstError: unknown
  const rememberError = (error: unknown) => {
    firstError ??= error
  }
  const defer = (query: Promise<unknown>) => {
    query.catch(rememberError)
    deferred.push(query)
  }
  const query = sendBy(keepsStatements, async (send) => {
    if (state === 'over') throw new Error('a statement came after the end of its transaction')
    corkUntilTick(client)
    try {
      return await send(client)
    } catch (error) {
      rememberError(error)
      throw error
    }
  })
  const tx: Tx = {
    get at() {
      at ??= clock.now()
      return at
    },
    query,
    run: runBy({ record: query, page: query, pool: query }, true),
    defer,
    writeAtCommit: <Row>(kind: AtCommitWrite<Row>, rows: readonly Row[]): void => {
      if (state !== 'open') throw new Error('rows were added at the end of their transaction: they would be lost')
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
    recoveryPoint,
    afterCommit: (task: () => void) => void afterCommit.add(task),
    signals,
    accountLocks: new Map(),
  }
  return {
    tx,
    afterCommit,
    deferred,
    /** Sends the collected rows, as the last statements before the commit. */
    writeCollected: async (): Promise<void> => {
      state = 'ending'
      for (const [kind, rows] of atCommit) await byChunks(rows, (chunk) => defer(kind.write(tx, chunk)))
      state = 'over'
    },
    end: () => {
      state = 'over'
    },
    /** Shows the cause of a failure: statements sent after a failed one fail because of it. */
    firstError: (): unknown => firstError,
    /** Identifies one of the collected rows, if any. */
    collectedTrace: (): string | undefined =>
      [...atCommit].flatMap(([kind, rows]) => rows.flatMap((row) => kind.traceOf?.(row) ?? []))[0],
  }
}

export const createTransactions = (options: TransactionOptions): Database['transaction'] => {
  /** A failed task must not make the committed transaction look failed, because its caller would repeat it. */
  const runAll = (afterCommit: Iterable<() => void>): void => {
    for (const task of afterCommit)
      try {
        task()
      } catch (error) {
        options.logger.error(describeError(error), 'a task after a commit failed')
      }
  }
  const attempt = async <T>(work: (tx: Tx) => Promise<T>): Promise<Outcome<T>> => {
    const client = await options.checkOut()
    const { tx, afterCommit, deferred, writeCollected, end, firstError, collectedTrace } = createTx(client, options)
    let connectionError: Error | undefined
    try {
      corkUntilTick(client)
      tx.defer(client.query(options.begin))
      const reached = options.recoveryPoint.reached()
      const outcome = await work(tx).then((result) => ({ result }), asVerdict)
      await writeCollected()
      corkUntilTick(client)
      const committed = client.query('commit').catch((error: unknown) => {
        // A statement that times out breaks the connection before the commit, so the statement's error is reported.
        connectionError = [firstError(), error].find((one) => one instanceof Error) ?? new Error(String(error))
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
        connectionError = new Error('the commit was not confirmed by its standby')
        throw unavailable({ shortage: 'database', cause: connectionError })
      }
      // After a failed statement, Postgres answers COMMIT with ROLLBACK.
      if (commit.command !== 'COMMIT') throw new Error('the transaction was rolled back at its commit')
      const trace = collectedTrace()
      if (trace !== undefined) options.recoveryPoint.track('audit', [trace], reached)
      runAll(afterCommit)
      return outcome
    } catch (error) {
      end()
      if (!connectionError) {
        await client.query('rollback').catch((failure: Error) => {
          options.logger.warn({ error: describe(error) }, 'a transaction failed, and so did its rollback')
          // The first error broke the connection, and the rollback merely finds it broken.
          const cause = firstError()
          connectionError = cause instanceof Error ? cause : failure
        })
      }
      // The next connection may reach a server that accepts writes.
      if (isReadOnly(error) || isReadOnly(firstError())) connectionError ??= new Error('the server is read-only')
      // Statements sent after a failed one fail with 25P02. Only the first error shows the cause and whether a retry can help.
      throw sqlState(error) === '25P02' ? (firstError() ?? error) : error
    } finally {
      client.release(connectionError)
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
