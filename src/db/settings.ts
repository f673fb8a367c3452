import type pg from 'pg'

type Settings = Readonly<Record<string, string>>

/** What statements mean and what becomes of them: no default of the server, the database or the role may change it. */
const meaning: Settings = {
  default_transaction_isolation: 'read committed',
  default_transaction_read_only: 'off',
  search_path: 'public',
  timezone: 'UTC',
  datestyle: 'ISO, MDY',
  bytea_output: 'hex',
  standard_conforming_strings: 'on',
  array_nulls: 'on',
  // A commit that was not confirmed by its standby says so by a warning.
  client_min_messages: 'notice',
  idle_in_transaction_session_timeout: '30000',
}

/** A pooler's connections do without these: PgBouncer sends half a kilobyte. */
const ofDirect: Settings = {
  // Connections wait for work, and the pool closes those that nobody uses.
  idle_session_timeout: '0',
  default_transaction_deferrable: 'off',
  transform_null_equals: 'off',
  row_security: 'on',
  // A search finds everything.
  gin_fuzzy_search_limit: '0',
  enable_indexscan: 'on',
  enable_indexonlyscan: 'on',
  enable_nestloop: 'on',
  enable_sort: 'on',
}

/**
 * A pool with a longer statement time-out reads whole tables on purpose (verify): it sorts and joins millions of rows in memory, by plans for
 * the actual values.
 */
const longestRequestMs = 60_000
const plansOf = (statementTimeoutMs: number): Settings =>
  statementTimeoutMs > longestRequestMs
    ? {
        plan_cache_mode: 'force_custom_plan',
        work_mem: '131072',
        enable_seqscan: 'on',
        enable_bitmapscan: 'on',
        enable_mergejoin: 'on',
      }
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
        max_parallel_workers_per_gather: '0',
      }

/** The one list of what every connection is set to, each value as `pg_settings` shows it. */
export const settingsOf = (statementTimeoutMs: number): Settings => ({
  ...meaning,
  statement_timeout: String(statementTimeoutMs),
  lock_timeout: String(Math.floor((statementTimeoutMs * 2) / 3)),
  ...plansOf(statementTimeoutMs),
  jit: 'off',
})

const option = ([name, value]: [string, string]): string => `-c ${name}=${value.replace(/[\\ ]/g, '\\$&')}`

/** Work before there is a pool may take its time: a migration builds an index. */
const startSettings: Settings = { ...meaning, statement_timeout: '0', lock_timeout: '0' }

/**
 * How a connection to Postgres is opened. Options of the address come before ours, as `?options=` would otherwise replace them all.
 * `settings`: for a pool those of `settingsOf`.
 */
export const addressed = (
  url: string,
  settings: Settings = startSettings,
): Required<Pick<pg.ClientConfig, 'connectionString' | 'options'>> => {
  const address = new URL(url)
  const given = address.searchParams.get('options')
  address.searchParams.delete('options')
  const ours = Object.entries({ ...ofDirect, ...settings }).map(option)
  return { connectionString: given === null ? url : address.href, options: [...(given ? [given] : []), ...ours].join(' ') }
}
