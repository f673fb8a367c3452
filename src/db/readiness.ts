import { setTimeout as wait } from 'node:timers/promises'
import type { Database } from './client.ts'
import { migrationsCheck } from './migrate.ts'
import { statement } from './statement.ts'

const writable = statement('ready.writable')`select not current_setting('transaction_read_only')::boolean as writable`
/** A commit that is flushed to disk but leaves no row. It fails on a standby or with a full disk. */
const write = statement('ready.write')`select pg_logical_emit_message(true, 'payments-service', 'ready')`

/** The caller must get an answer before its own timeout. */
const deadlineMs = 2_000
/** Minimum time between two writes by one process, however often readiness is checked. */
const writeEveryMs = 1_000

/** Whether the database responds in time, has this release's migrations and accepts writes. Concurrent callers share a check. */
export const createReadiness = (db: Database): (() => Promise<boolean>) => {
  const isMigrated = migrationsCheck(db.pool)
  let checking: Promise<boolean> | undefined
  let wroteAt = Number.NEGATIVE_INFINITY

  const check = async (): Promise<boolean> => {
    const [row] = await db.query<{ writable: boolean }>(writable)
    if (!row?.writable || !(await isMigrated())) return false
    if (performance.now() - wroteAt >= writeEveryMs) {
      await db.query(write)
      wroteAt = performance.now()
    }
    return true
  }
  return () => {
    checking ??= Promise.race([check(), wait(deadlineMs, false, { ref: false })]).finally(() => {
      checking = undefined
    })
    return checking
  }
}
