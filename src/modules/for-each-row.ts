import { type GetColumnData, getTableName, type SQL } from 'drizzle-orm'
import type { PgColumn } from 'drizzle-orm/pg-core'
import type { Logger } from 'pino'
import type { Database } from '../db/client.ts'
import { describeError } from '../db/errors.ts'
import { dueAfter, dueParameters, dueText } from '../db/list-queries.ts'
import { prepare } from '../db/prepare.ts'
import type { Clock } from '../lib/clock.ts'
import type { Uuid } from '../lib/ids.ts'
import type { Alerts } from './alerts.ts'

type Isolated = { logger: Logger; alerts: Alerts }
/** The dependencies of a sweep. */
export type SweepDeps = Isolated & { db: Database; clock: Clock }

/** Processes rows, `atOnce` at a time. A failed row is reported and does not stop the rows of this or any other tenant. */
export const forEachRow = async <Row extends { id: Uuid }>(
  { logger, alerts }: Isolated,
  sweep: string,
  rows: readonly Row[],
  work: (row: Row) => Promise<unknown>,
  { atOnce = 1 }: { atOnce?: number } = {},
): Promise<void> => {
  const isolated = async (row: Row): Promise<void> => {
    try {
      await work(row)
    } catch (error) {
      logger.error({ sweep, id: row.id, ...describeError(error) }, 'a sweep failed for one row and continued')
      alerts.raise('sweep_failing', { subject: sweep, id: row.id })
    }
  }
  for (let from = 0; from < rows.length; from += atOnce) await Promise.all(rows.slice(from, from + atOnce).map(isolated))
}

/** The last row that a sweep has read, in the order of due times. `since` is text, because a Date would lose microseconds. */
export type SweepPosition = { since: string; behind: Uuid }

export const startPosition: SweepPosition = { since: '-infinity', behind: '00000000-0000-0000-0000-000000000000' }

/**
 * Processes all due rows and returns their number. `read` returns at most `batch` rows after a position, in the order of the
 * index on due times (`dueAfter`). Rows that fail stay due and do not prevent later rows from being read.
 */
export const sweepRows = async <Row extends { id: Uuid; due: string }>(
  deps: Isolated,
  { sweep, batch, atOnce = 1 }: { sweep: string; batch: number; atOnce?: number | undefined },
  read: (position: SweepPosition, batch: number) => Promise<readonly Row[]>,
  work: (row: Row) => Promise<unknown>,
): Promise<number> => {
  let position = startPosition
  let count = 0
  for (let full = true; full; ) {
    const rows = await read(position, batch)
    await forEachRow(deps, sweep, rows, work, { atOnce })
    const last = rows.at(-1)
    if (last) position = { since: last.due, behind: last.id }
    count += rows.length
    full = rows.length === batch
  }
  return count
}

type Fields = Readonly<Record<string, PgColumn | SQL>>
type Values<F extends Fields> = {
  [Name in keyof F]: F[Name] extends PgColumn ? GetColumnData<F[Name]> : F[Name] extends SQL<infer Value> ? Value : never
}

type DueRows<F extends Fields> = {
  id: PgColumn
  /** The due time. A partial index on it covers the rows of `where`. */
  due: PgColumn
  where: readonly SQL[]
  /** Columns that `work` receives in addition to the id. */
  fields?: F
  batch?: number
  atOnce?: number
}

/** Declares a sweep over due rows. `work` has to check under its locks whether its row is still due. */
export const sweepOf = <D extends SweepDeps, F extends Fields = Record<never, never>>(
  sweep: string,
  { id, due, where, fields, batch = 100, atOnce }: DueRows<F>,
  work: (deps: D, row: { id: Uuid } & Values<F>) => Promise<unknown>,
): ((deps: D) => Promise<number>) => {
  const read = prepare(`${sweep}.${getTableName(id.table)}`, dueParameters, 'pool', (orm, param) =>
    dueAfter(orm.select({ ...fields, id, due: dueText(due) }).from(id.table), { id, due }, param, ...where),
  )
  type Row = { id: Uuid; due: string } & Values<F>
  return (deps) => {
    const now = deps.clock.now()
    return sweepRows(
      deps,
      { sweep, batch, atOnce },
      async (position, take) => (await deps.db.run(read, { now, ...position, take })) as Row[],
      (row) => work(deps, row),
    )
  }
}

/** Acts once on each id, in sorted order, so that two concurrent requests lock the same rows in the same order. */
export const eachById = async <Done>(ids: readonly Uuid[], act: (id: Uuid) => Promise<Done>): Promise<Done[]> => {
  const done: Done[] = []
  for (const id of [...new Set(ids)].sort()) done.push(await act(id))
  return done
}
