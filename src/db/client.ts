import type { EventEmitter } from 'node:events'
import type pg from 'pg'
import type { Prepared } from './prepare.ts'
import type { RecoveryPoint } from './recovery-point.ts'
import type { Query } from './statement.ts'

export { type Statement, statement } from './statement.ts'

export type Db = {
  query: Query
  run: Run
  readonly recoveryPoint: RecoveryPoint
}

export type Run = <V, Row>(query: Prepared<V, Row>, values: V) => Promise<Row[]>

export const first = async <V, Row>(db: Db, query: Prepared<V, Row>, values: V): Promise<Row | undefined> =>
  (await db.run(query, values))[0]

/** A kind of row that many functions write and that no transaction reads back, such as events and audit rows. */
export type AtCommitWrite<Row> = {
  write: (tx: Tx, rows: readonly Row[]) => Promise<unknown>
  /** Identifies the row, to prove later that its transaction was not lost (`recovery-point.ts`). */
  traceOf?: (row: Row) => string | undefined
}

/**
 * The interface for writers. Statements run in the order of issue. One `Promise.all` is one system call: its first statement
 * carries the `begin`, its last the `commit`. With one set of reads and deferred writes, a transaction takes two round trips.
 */
export type Tx = Db & {
  /** The single instant of this transaction. Read at first access, which must follow the first lock. */
  readonly at: Date
  /** Sends a statement without awaiting its result. If the statement fails, the commit fails. */
  defer: (query: Promise<unknown>) => void
  /** Writes the rows at commit, with one statement for up to 128 rows of a kind. */
  writeAtCommit: <Row>(kind: AtCommitWrite<Row>, rows: readonly Row[]) => void
  /** Returns a function that undoes everything written or collected since. */
  savepoint: () => Promise<() => Promise<void>>
  /** Only for wake-up signals, which may be lost. */
  afterCommit: (task: () => void) => void
  readonly signals: EventEmitter
  /** Accounts that this transaction has locked. Only `account-lock.ts` changes this map. */
  readonly accountLocks: Map<string, 'exclusive' | 'shared'>
}

export type Database = Db & {
  readonly pool: pg.Pool
  readonly signals: EventEmitter
  /** Read-only queries planned for the actual search text, so that Postgres can combine indexes. */
  readonly search: <T>(read: (db: Db) => Promise<T>) => Promise<T>
  transaction: <T>(work: (tx: Tx) => Promise<T>) => Promise<T>
  close: () => Promise<void>
}

/** A fact that a commit announces within its process. Delivery is not guaranteed, so nothing may rely on the signal alone. */
export type Signal<Fact> = symbol & { readonly fact?: Fact }

export const signal = <Fact>(name: string): Signal<Fact> => Symbol(name)

/** Sent when a connection is lost, because the next one may reach another server. */
export const connectionLost = signal<null>('connection lost')

export const emit = <Fact>({ signals }: Pick<Database, 'signals'>, kind: Signal<Fact>, fact: Fact): void =>
  void signals.emit(kind, fact)

export const emitAfterCommit = <Fact>(tx: Tx, kind: Signal<Fact>, fact: Fact): void => tx.afterCommit(() => emit(tx, kind, fact))

export const onSignal = <Fact>(
  { signals }: Pick<Database, 'signals'>,
  kind: Signal<Fact>,
  listener: (fact: Fact) => void,
): void => void signals.on(kind, listener)

/** Runs `work` in one transaction. Retries serialisation failures and deadlocks, with at most three attempts in total. */
export const inTx = <T>(db: Database, work: (tx: Tx) => Promise<T>): Promise<T> => db.transaction(work)
