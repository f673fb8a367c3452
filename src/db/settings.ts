/**
 * A pool with a longer statement time-out reads whole tables on purpose (verify): it sorts and joins millions of rows in memory, by plans for
 * the actual values.
 */
const longestRequestMs = 60_000
const plansOf = (statementTimeoutMs: number) =>
  statementTimeoutMs > longestRequestMs
    ? { plan_cache_mode: 'force_custom_plan', work_mem: '128MB' }
    : {
        // A request's statements are lookups by key or over arrays of unknown length: a plan for the actual values is never better, and
        // making one costs as much as running the statement.
        plan_cache_mode: 'force_generic_plan',
        // A plan is kept until the table's statistics change. A plan made while a table was small reads and sorts rows that have since
        // become thousands (measured: 13 ms for a lookup by key). So the plans that pay only on small tables are switched off.
        enable_seqscan: 'off',
        enable_bitmapscan: 'off',
        // Where the ids of a join lay at the beginning of an index, a merge along it seems to end soon; with newer ids it reads all of it.
        enable_mergejoin: 'off',
        // Starting workers takes longer than what a request reads (measured: 8 ms for a page of 20), and they take the processors from others.
        max_parallel_workers_per_gather: 0,
      }

/** What every connection of a pool is opened with. */
export const settingsOf = ({ statementTimeoutMs }: { statementTimeoutMs: number }): string =>
  Object.entries({
    statement_timeout: statementTimeoutMs,
    lock_timeout: Math.floor((statementTimeoutMs * 2) / 3),
    idle_in_transaction_session_timeout: 30_000,
    timezone: 'UTC',
    ...plansOf(statementTimeoutMs),
    jit: 'off',
  })
    .map(([name, value]) => `-c ${name}=${value}`)
    .join(' ')
