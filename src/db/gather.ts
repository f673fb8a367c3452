import type { Query } from './statement.ts'

/**
 * A kind of rows that many places write and nothing of the same transaction reads: events, audit rows. Requests that share a transaction, and the
 * steps of one request, share their statement.
 */
export type Gathered<Row> = {
  write: (query: Query, rows: readonly Row[]) => Promise<unknown>
  /** What proves later that the row, and so its transaction, is still there: see `mark.ts`. */
  traceOf?: (row: Row) => string | undefined
}

/** What a transaction has gathered until its commit. */
export const createGathering = (query: Query) => {
  const gathered = new Map<Gathered<never>, never[]>()
  return {
    gather: <Row>(kind: Gathered<Row>, rows: readonly Row[]): void => {
      const known: Row[] | undefined = gathered.get(kind)
      if (known) known.push(...rows)
      else if (rows.length > 0) gathered.set(kind, [...rows] as never[])
    },
    /** One statement for each kind, in the order in which the kinds came. */
    write: (): Promise<unknown>[] => [...gathered].map(([kind, rows]) => kind.write(query, rows)),
    trace: (): string | undefined => {
      for (const [kind, rows] of gathered)
        for (const row of rows) {
          const trace = kind.traceOf?.(row)
          if (trace !== undefined) return trace
        }
      return undefined
    },
    savepoint: async (): Promise<() => Promise<void>> => {
      const before = new Map([...gathered].map(([kind, rows]) => [kind, rows.length]))
      await query('savepoint undoable')
      return async () => {
        for (const [kind, rows] of gathered) {
          rows.length = before.get(kind) ?? 0
          if (rows.length === 0) gathered.delete(kind)
        }
        await query('rollback to savepoint undoable')
      }
    },
  }
}
