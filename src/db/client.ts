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

/** Rows that many places write and nothing of the same transaction reads (events, audit rows): those of a transaction are one statement. */
export type Gathered<Row> = {
  write: (tx: Tx, rows: readonly Row[]) => Promise<unknown>
  /** What proves later that the row, and so its transaction, is still there (`recovery-point.ts`). */
  traceOf?: (row: Row) => string | undefined
}

/**
 * What a writer needs. Statements run in the order in which they are issued; those of one `Promise.all` leave in one system call, the first with
 * the `begin`, the last with the `commit`. So work that reads everything at once and defers its writes takes two round trips.
 */
export type Tx = Db & {
  /** The one instant of this transaction, read at the first access: after the first lock. */
  readonly at: Date
  /** A statement whose answer is not awaited: its failure fails the commit. */
  defer: (query: Promise<unknown>) => void
  /** Written with the commit, all of one kind by one statement. */
  gather: <Row>(kind: Gathered<Row>, rows: readonly Row[]) => void
  /** The answer undoes what was written and gathered since. */
  savepoint: () => Promise<() => Promise<void>>
  /** For wake-ups alone, which may be lost. */
  afterCommit: (task: () => void) => void
  readonly signals: EventEmitter
  /** The accounts that this transaction has locked; only `account-lock.ts` writes it. */
  readonly accountLocks: Map<string, 'exclusive' | 'shared'>
}

export type Database = Db & {
  readonly pool: pg.Pool
  readonly signals: EventEmitter
  /** Reads that are planned for the text that is searched for, and may combine indexes. In a read-only transaction. */
  readonly search: <T>(read: (db: Db) => Promise<T>) => Promise<T>
  transaction: <T>(work: (tx: Tx) => Promise<T>) => Promise<T>
  close: () => Promise<void>
}

/** What commits tell the rest of their process. One may be lost with its process, so nothing rests on it alone. */
export type Signal<Fact> = symbol & { readonly fact?: Fact }

export const signal = <Fact>(name: string): Signal<Fact> => Symbol(name)

/** The next one may lead to another server. */
export const connectionLost = signal<null>('connection lost')

export const tell = <Fact>({ signals }: Pick<Database, 'signals'>, kind: Signal<Fact>, fact: Fact): void =>
  void signals.emit(kind, fact)

export const tellAfterCommit = <Fact>(tx: Tx, kind: Signal<Fact>, fact: Fact): void => tx.afterCommit(() => tell(tx, kind, fact))

export const onSignal = <Fact>(
  { signals }: Pick<Database, 'signals'>,
  kind: Signal<Fact>,
  listener: (fact: Fact) => void,
): void => void signals.on(kind, listener)

/** Runs `work` in one transaction; a serialisation failure or a deadlock runs it whole again, three times at most. */
export const inTx = <T>(db: Database, work: (tx: Tx) => Promise<T>): Promise<T> => db.transaction(work)
