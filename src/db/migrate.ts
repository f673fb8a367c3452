import { setTimeout as wait } from 'node:timers/promises'
import type pg from 'pg'
import { StartupError } from '../lib/errors.ts'
import { applyWithRetry, defaultPatienceMs, type RetryOptions } from './apply-migration.ts'
import { connectionConfig } from './connection-settings.ts'
import { type Migration, migrationsFolder, readMigrations, readReleases } from './migrations.ts'
import { withClient } from './start.ts'

// Advisory lock, under a number that no other lock uses. Processes that start together take turns to apply migrations.
const migrationLock = 7_241_990

const pollMs = 200

export type MigrateOptions = RetryOptions & {
  folder?: string
  /** Last migration to apply. Default: all migrations in the folder. */
  last?: string
  /** No process of an earlier release is running, so also remove schema that only earlier releases need. */
  finish?: boolean
  /** Called once if another process is migrating the database. `holder`: its connection. */
  onWait?: (holder: string) => void
}

/**
 * Applies the folder's pending migrations and returns their names. Safe to call from several processes. `url`: of Postgres, not a
 * pooler. A migration without its locks after half a second is undone and retried: a waiting ALTER TABLE blocks everybody else.
 * @throws StartupError for a migration that was edited or skipped, or that could not get its locks in time
 */
export const migrate = async (url: string, options: MigrateOptions = {}): Promise<string[]> => {
  const expected = upTo(readMigrations(options.folder), options.last)
  return withClient({ ...connectionConfig(url), application_name: 'migrate' }, async (client) => {
    await acquireMigrationLock(client, options)
    const pending = await pendingOf(client, expected, options)
    // A role that cannot create schemas must still be able to find that no migration is pending.
    if (pending.length > 0)
      await client.query(
        `create schema if not exists drizzle;
         create table if not exists drizzle.__drizzle_migrations (id serial primary key, hash text not null, created_at bigint)`,
      )
    for (const migration of pending) await applyWithRetry(client, migration, options)
    return pending.map(({ tag }) => tag)
  })
}

const upTo = (migrations: readonly Migration[], last: string | undefined): readonly Migration[] => {
  if (last === undefined) return migrations
  const index = migrations.findIndex(({ tag }) => tag === last)
  if (index === -1) throw new Error(`there is no migration ${last}`)
  return migrations.slice(0, index + 1)
}

export const migrationsCheck = (pool: Pick<pg.Pool, 'query'>, folder = migrationsFolder): (() => Promise<boolean>) => {
  // Read once, because the folder may change while a newer release is installed beside this one.
  const expected = readMigrations(folder)
  return async () => {
    const applied = await appliedIn(pool)
    return expected.every((migration) => migration.afterUpgrade || isIn(applied, migration))
  }
}

/** Polls, because a session waiting inside a statement has a snapshot, which would block CREATE INDEX CONCURRENTLY. */
const acquireMigrationLock = async (client: pg.Client, { patienceMs = defaultPatienceMs, onWait }: MigrateOptions) => {
  const giveUpAt = performance.now() + patienceMs
  for (let tries = 1; ; tries += 1) {
    const { rows } = await client.query<{ taken: boolean }>('select pg_try_advisory_lock($1) as taken', [migrationLock])
    if (rows[0]?.taken) return
    if (tries === 1) onWait?.(await migrationLockHolder(client))
    if (performance.now() > giveUpAt)
      throw new StartupError(
        `No migration was applied: another process is migrating this database (${await migrationLockHolder(client)}). Run it again when that process has finished.`,
      )
    await wait(pollMs)
  }
}

const migrationLockHolder = async (client: pg.Client): Promise<string> => {
  const { rows } = await client.query<{ holder: string }>(
    `select format('process %s on the database server, connected since %s', a.pid, to_char(a.backend_start at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS"Z"')) as holder
     from pg_locks l join pg_stat_activity a on a.pid = l.pid
     where l.locktype = 'advisory' and l.granted and (l.classid, l.objid, l.objsubid) = (0, $1, 1) and a.datname = current_database()`,
    [migrationLock],
  )
  return rows[0]?.holder ?? 'it has just ended'
}

/** The hash of each applied migration, with its time in the journal. */
const appliedIn = async (db: Pick<pg.Client | pg.Pool, 'query'>): Promise<Map<string, bigint>> => {
  const journal = await db.query<{ known: boolean }>(`select to_regclass('drizzle.__drizzle_migrations') is not null as known`)
  if (!journal.rows[0]?.known) return new Map()
  const { rows } = await db.query<{ hash: string; at: string }>(
    'select hash, created_at::text as at from drizzle.__drizzle_migrations',
  )
  return new Map(rows.map(({ hash, at }) => [hash, BigInt(at)]))
}

const isIn = (applied: ReadonlyMap<string, bigint>, { hash, releasedHash }: Migration): boolean =>
  applied.has(hash) || (releasedHash !== undefined && applied.has(releasedHash))

/** Migrations that remove schema of an earlier release run with the next release, on `finish`, or in a new database. */
const pendingOf = async (
  client: pg.Client,
  expected: readonly Migration[],
  { folder = migrationsFolder, finish = false }: MigrateOptions,
): Promise<Migration[]> => {
  const applied = await appliedIn(client)
  await refuseForeign(client, applied, expected)
  const newest = [...applied.values()].reduce((latest, at) => (at > latest ? at : latest), -1n)
  const earlier = new Set(
    readReleases(folder)
      .slice(0, -1)
      .flatMap(({ migrations }) => Object.keys(migrations)),
  )
  const stays = ({ afterUpgrade, tag }: Migration) => afterUpgrade && !finish && applied.size > 0 && !earlier.has(tag)
  const pending = expected.filter((migration) => !isIn(applied, migration) && !stays(migration))
  const late = pending.filter(({ at, afterUpgrade }) => BigInt(at) <= newest && !afterUpgrade)
  if (late.length === 0) return pending
  throw new StartupError(
    `${late.length} migrations in ${folder} were not applied: they were edited after their release, or are older than the newest applied one.`,
  )
}

const otherTables = `select c.relname as name from pg_class c where c.relnamespace = 'public'::regnamespace and c.relkind in ('r', 'p')
  and not exists (select from pg_depend d where d.objid = c.oid and d.deptype = 'e') order by c.relname limit 4`

/** Refuses a database with another program's tables or migrations, because ours would mix with them or fail halfway. */
const refuseForeign = async (client: pg.Client, applied: Map<string, bigint>, [first]: readonly Migration[]) => {
  if (!first || isIn(applied, first)) return
  const { rows } = await client.query<{ name: string }>(otherTables)
  const what = rows.map(({ name }) => name).join(', ') || 'applied migrations'
  if (rows.length > 0 || applied.size > 0)
    throw new StartupError(
      `The database belongs to another program (${what}): create a separate database for this service and set DATABASE_URL.`,
    )
}
