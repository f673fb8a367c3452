import type { EventEmitter } from 'node:events'
import type pg from 'pg'
import type { Mark } from './mark.ts'
import type { Prepared } from './prepare.ts'
import type { Query } from './statement.ts'

export { type Statement, statement } from './statement.ts'

/** What a reader needs; a transaction can be passed too. */
export type Db = {
  query: Query
  /** A declared query, with its values. */
  run: Run
  readonly mark: Mark
}

export type Run = <V, Row>(query: Prepared<V, Row>, values: V) => Promise<Row[]>

/** Of a query that answers one row at most. */
export const first = async <V, Row>(db: Db, query: Prepared<V, Row>, values: V): Promise<Row | undefined> =>
  (await db.run(query, values))[0]

/**
 * A kind of rows that many places write and nothing of the same transaction reads: events, audit rows. Requests that share a transaction, and the
 * steps of one request, share their statement.
 */
export type Gathered<Row> = {
  write: (tx: Tx, rows: readonly Row[]) => Promise<unknown>
  /** What proves later that the row, and so its transaction, is still there: see `mark.ts`. */
  traceOf?: (row: Row) => string | undefined
}

/**
 * What a writer needs. Statements of one transaction run in the order in which they are issued. Statements that do not need each other's
 * answers are issued together (`Promise.all`) and leave in one system call: the first ones with the `begin`, the last ones with the
 * `commit`. `defer` is for a last statement whose answer is not awaited: its failure fails the commit. So a transaction that reads
 * everything at once and defers its writes takes two round trips. `afterCommit` is for wake-ups only: what must not be lost is written in
 * the transaction.
 */
export type Tx = Db & {
  /** The one instant of this transaction: the clock is read at the first access, which comes after the first lock. */
  readonly at: Date
  defer: (query: Promise<unknown>) => void
  /** Rows that no statement of this transaction reads: all of one kind, whatever made them, are one statement, sent with the commit. */
  gather: <Row>(kind: Gathered<Row>, rows: readonly Row[]) => void
  /** Begins what can be undone: the answer undoes what was written and gathered since. */
  savepoint: () => Promise<() => Promise<void>>
  afterCommit: (task: () => void) => void
  readonly signals: EventEmitter
  /** The accounts that this transaction has locked; only `account-lock.ts` writes it. */
  readonly accountLocks: Map<string, 'exclusive' | 'shared'>
}

export type Database = Db & {
  readonly pool: pg.Pool
  readonly signals: EventEmitter
  /**
   * Reads whose best plan depends on the text that is searched for: each statement is planned for its own values and may combine indexes,
   * which the connections' settings switch off for everything else. Runs in a read-only transaction.
   */
  readonly search: <T>(read: (db: Db) => Promise<T>) => Promise<T>
  transaction: <T>(work: (tx: Tx) => Promise<T>) => Promise<T>
  close: () => Promise<void>
}

/**
 * What commits tell the rest of their process: that there are events, or work, or something for a person to look at. A signal may be lost with its
 * process, so nothing rests on it alone: what must happen is written in the transaction.
 */
export type Signal<Fact> = symbol & { readonly fact?: Fact }

export const signal = <Fact>(name: string): Signal<Fact> => Symbol(name)

/** The next one may lead to another server. */
export const connectionLost = signal<null>('connection lost')

export const tell = <Fact>({ signals }: Pick<Database, 'signals'>, kind: Signal<Fact>, fact: Fact): void =>
  void signals.emit(kind, fact)

/** Once: not by an attempt that is run again. */
export const tellAfterCommit = <Fact>(tx: Tx, kind: Signal<Fact>, fact: Fact): void => tx.afterCommit(() => tell(tx, kind, fact))

export const onSignal = <Fact>(
  { signals }: Pick<Database, 'signals'>,
  kind: Signal<Fact>,
  listener: (fact: Fact) => void,
): void => void signals.on(kind, listener)

/** Runs `work` in one transaction; a serialisation failure or a deadlock runs it whole again, three times at most. */
export const inTx = <T>(db: Database, work: (tx: Tx) => Promise<T>): Promise<T> => db.transaction(work)
