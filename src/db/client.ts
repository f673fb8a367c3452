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

/** Rows that many places write and the same transaction never reads (events, audit rows). */
export type AtCommitWrite<Row> = {
  write: (tx: Tx, rows: readonly Row[]) => Promise<unknown>
  /** Later evidence that the row, and so its transaction, still exists (`recovery-point.ts`). */
  traceOf?: (row: Row) => string | undefined
}

/**
 * The interface for writers. Statements run in order of issue. One `Promise.all` is one system call: the first carries the
 * `begin`, the last the `commit`. Work that reads everything at once and defers its writes takes two round trips.
 */
export type Tx = Db & {
  /** The one instant of this transaction, read at first access: after the first lock. */
  readonly at: Date
  /** Sends a statement without awaiting its answer. Its failure fails the commit. */
  defer: (query: Promise<unknown>) => void
  /** Writes the rows with the commit, one statement for up to 128 rows of a kind. */
  writeAtCommit: <Row>(kind: AtCommitWrite<Row>, rows: readonly Row[]) => void
  /** Returns a function that undoes everything written and gathered since. */
  savepoint: () => Promise<() => Promise<void>>
  /** Only for wake-ups, which may be lost. */
  afterCommit: (task: () => void) => void
  readonly signals: EventEmitter
  /** The accounts that this transaction has locked; only `account-lock.ts` writes it. */
  readonly accountLocks: Map<string, 'exclusive' | 'shared'>
}

export type Database = Db & {
  readonly pool: pg.Pool
  readonly signals: EventEmitter
  /** Reads planned for the actual search text, which may combine indexes. In a read-only transaction. */
  readonly search: <T>(read: (db: Db) => Promise<T>) => Promise<T>
  transaction: <T>(work: (tx: Tx) => Promise<T>) => Promise<T>
  close: () => Promise<void>
}

/** A fact that a commit tells the rest of its process. It may be lost with the process: nothing depends on it alone. */
export type Signal<Fact> = symbol & { readonly fact?: Fact }

export const signal = <Fact>(name: string): Signal<Fact> => Symbol(name)

/** Sent when a connection is lost: the next one may reach another server. */
export const connectionLost = signal<null>('connection lost')

export const emit = <Fact>({ signals }: Pick<Database, 'signals'>, kind: Signal<Fact>, fact: Fact): void =>
  void signals.emit(kind, fact)

export const emitAfterCommit = <Fact>(tx: Tx, kind: Signal<Fact>, fact: Fact): void => tx.afterCommit(() => emit(tx, kind, fact))

export const onSignal = <Fact>(
  { signals }: Pick<Database, 'signals'>,
  kind: Signal<Fact>,
  listener: (fact: Fact) => void,
): void => void signals.on(kind, listener)

/** Runs `work` in one transaction. After a serialisation failure or a deadlock runs it again, three times at most. */
export const inTx = <T>(db: Database, work: (tx: Tx) => Promise<T>): Promise<T> => db.transaction(work)
