import type pg from 'pg'
import { StartupError } from '../lib/errors.ts'

type Settings = Readonly<Record<string, string>>

/** Settings that no default of the server, database or role may change. */
const semanticSettings: Settings = {
  default_transaction_isolation: 'read committed',
  default_transaction_read_only: 'off',
  search_path: 'public',
  timezone: 'UTC',
  datestyle: 'ISO, MDY',
  bytea_output: 'hex',
  standard_conforming_strings: 'on',
  array_nulls: 'on',
  // If a standby did not confirm a commit, Postgres reports it as a warning.
  client_min_messages: 'notice',
  idle_in_transaction_session_timeout: '30000',
}

/** Only for direct connections, because PgBouncer sends at most half a kilobyte of settings. */
const directSettings: Settings = {
  // The pool itself closes idle connections.
  idle_session_timeout: '0',
  default_transaction_deferrable: 'off',
  transform_null_equals: 'off',
  row_security: 'on',
  // Searches must find all matches.
  gin_fuzzy_search_limit: '0',
  enable_indexscan: 'on',
  enable_indexonlyscan: 'on',
  enable_nestloop: 'on',
  enable_sort: 'on',
}

/** `whole_tables`: commands and `verify`, which sort and join in memory with plans for actual values. */
export type PlannedReads = 'requests' | 'whole_tables'
const plansOf = (reads: PlannedReads): Settings =>
  reads === 'whole_tables'
    ? {
        plan_cache_mode: 'force_custom_plan',
        work_mem: '131072',
        enable_seqscan: 'on',
        enable_bitmapscan: 'on',
        enable_mergejoin: 'on',
      }
    : {
        // For lookups by key or array, a plan for the actual values was better in no measured query, and takes as long as the query itself.
        plan_cache_mode: 'force_generic_plan',
        // A plan cached while the table was small scans and sorts thousands of rows later (measured: 13 ms for a lookup by key).
        enable_seqscan: 'off',
        enable_bitmapscan: 'off',
        // If the ids of a join are at the beginning of an index, the planner expects a merge join to end early.
        enable_mergejoin: 'off',
        // Starting parallel workers takes longer than a request's reads (measured: 8 ms for a page of 20).
        max_parallel_workers_per_gather: '0',
      }

/** Settings of every connection, with each value in the form that `pg_settings` shows. */
export const settingsOf = (statementTimeoutMs: number, reads: PlannedReads = 'requests'): Settings => ({
  ...semanticSettings,
  statement_timeout: String(statementTimeoutMs),
  lock_timeout: String(Math.floor((statementTimeoutMs * 2) / 3)),
  ...plansOf(reads),
  jit: 'off',
})

const ownSettings = Object.keys({ ...directSettings, ...settingsOf(0) })

/** Refuses options in the URL that our settings would silently replace. */
const refuseOwnSettings = (options: string): void => {
  const named = [...options.matchAll(/(?:-c\s*|--)([\w.-]+)\s*=/g)].map(([, name = '']) =>
    name.replaceAll('-', '_').toLowerCase(),
  )
  const both = ownSettings.filter((name) => named.includes(name))
  if (both.length > 0)
    throw new StartupError(
      `The options of the database address set ${both.join(', ')}, which the service sets itself: remove them from DATABASE_URL, DATABASE_DIRECT_URL and DATABASE_READ_URL.`,
    )
}

const option = ([name, value]: [string, string]): string => `-c ${name}=${value.replace(/[\\ ]/g, '\\$&')}`

/** For work before the pool exists, which may be slow: a migration may build an index. */
const startSettings: Settings = { ...semanticSettings, statement_timeout: '0', lock_timeout: '0' }

/**
 * Adds our settings to the URL's own options, because `?options=` would replace ours. `settings`: `settingsOf` for a pool.
 * @throws StartupError for an option that is one of ours
 */
export const connectionConfig = (
  url: string,
  settings: Settings = startSettings,
): Required<Pick<pg.ClientConfig, 'connectionString' | 'options'>> => {
  const address = new URL(url)
  const given = address.searchParams.get('options')
  address.searchParams.delete('options')
  refuseOwnSettings(given ?? '')
  const ours = Object.entries({ ...directSettings, ...settings }).map(option)
  return { connectionString: given === null ? url : address.href, options: [...(given ? [given] : []), ...ours].join(' ') }
}
