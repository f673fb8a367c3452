import { setTimeout as wait } from 'node:timers/promises'
import type pg from 'pg'
import { StartupError } from '../lib/errors.ts'
import { sqlState } from './errors.ts'
import { type Migration, migrationsFolder, readMigrations, readReleases } from './migrations.ts'
import { addressed } from './settings.ts'
import { withClient } from './start.ts'

// Advisory lock, under a number that no other lock uses. Processes that start together take turns to apply migrations.
const migrationLock = 7_241_990

/** Less than `deadlock_timeout` (1 s), so that in a deadlock the migration gives up first and no other statement is ended. */
const lockTimeoutMs = 500
const pollMs = 200

export type MigrateOptions = {
  folder?: string
  /** Last migration to apply. Default: all migrations in the folder. */
  last?: string
  /** No process of an earlier release is running, so also remove schema that only earlier releases need. */
  finish?: boolean
  /** How long to wait for another process that migrates, and to retry a migration that cannot get its locks. */
  patienceMs?: number
  /** Pause between two tries, in which the service can work off its queue. */
  pauseMs?: number
  /** `holders`: the database's oldest transactions. */
  onContended?: (contended: { migration: string; tries: number; holders: readonly string[] }) => void
  /** Called once if another process is migrating the database. `holder`: its connection. */
  onTurn?: (holder: string) => void
}

const defaultPatienceMs = 600_000

/**
 * Applies the folder's pending migrations and returns their names. Safe to call from several processes. `url`: of Postgres, not a
 * pooler. A migration without its locks after half a second is undone and retried: a waiting ALTER TABLE blocks everybody else.
 * @throws StartupError for a migration that was edited or skipped, or that could not get its locks in time
 */
export const migrate = async (url: string, options: MigrateOptions = {}): Promise<string[]> => {
  const expected = upTo(readMigrations(options.folder), options.last)
  return withClient({ ...addressed(url), application_name: 'migrate' }, async (client) => {
    await takeTurn(client, options)
    const pending = await pendingOf(client, expected, options)
    // A role that cannot create schemas must still be able to find that no migration is pending.
    if (pending.length > 0)
      await client.query(
        `create schema if not exists drizzle;
         create table if not exists drizzle.__drizzle_migrations (id serial primary key, hash text not null, created_at bigint)`,
      )
    for (const migration of pending) await untilLocked(client, migration, options)
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
const takeTurn = async (client: pg.Client, { patienceMs = defaultPatienceMs, onTurn }: MigrateOptions) => {
  const giveUpAt = performance.now() + patienceMs
  for (let tries = 1; ; tries += 1) {
    const { rows } = await client.query<{ taken: boolean }>('select pg_try_advisory_lock($1) as taken', [migrationLock])
    if (rows[0]?.taken) return
    if (tries === 1) onTurn?.(await holderOfTurn(client))
    if (performance.now() > giveUpAt)
      throw new StartupError(
        `No migration was applied: another process is migrating this database (${await holderOfTurn(client)}). Run it again when that process has finished.`,
      )
    await wait(pollMs)
  }
}

const holderOfTurn = async (client: pg.Client): Promise<string> => {
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

class LocksNotFree extends Error {}

const untilLocked = async (
  client: pg.Client,
  migration: Migration,
  { patienceMs = defaultPatienceMs, pauseMs = 10_000, onContended }: MigrateOptions,
) => {
  const giveUpAt = performance.now() + patienceMs
  for (let tries = 1; ; tries += 1) {
    try {
      await (migration.inTransaction ? applyInTransaction(client, migration) : applyInSteps(client, migration))
      return
    } catch (error) {
      // 55P03: lock timeout. 40P01: deadlock.
      if (!(error instanceof LocksNotFree) && !['55P03', '40P01'].includes(sqlState(error) ?? '')) throw error
      const holders = await oldTransactions(client)
      if (performance.now() + pauseMs > giveUpAt)
        throw new StartupError(
          `${migration.tag} was not applied: it did not get its locks in ${tries} tries of ${lockTimeoutMs / 1000} s. Oldest transactions: ${holders.join('; ') || 'none visible to this role'}. It changed nothing; run it again when they have ended.`,
          { cause: error },
        )
      onContended?.({ migration: migration.tag, tries, holders })
      await wait(pauseMs)
    }
  }
}

const applyInTransaction = async (client: pg.Client, migration: Migration) => {
  await client.query('begin')
  try {
    await client.query(`set local lock_timeout = ${lockTimeoutMs}`)
    await lockTables(client, migration)
    for (const statement of migration.statements) await client.query(statement)
    await record(client, migration)
    await client.query('commit')
  } catch (error) {
    await client.query('rollback').catch(() => undefined)
    throw error
  }
}

const namedTable = /\b(?:alter\s+table(?:\s+if\s+exists)?(?:\s+only)?|references|on)\s+(?:"?public"?\.)?"?(\w+)/gi

/** Locks all existing tables of the migration within one lock's timeout. One by one, each lock could wait that long. */
const lockTables = async (client: pg.Client, { statements }: Migration) => {
  const named = statements.flatMap((statement) => [...statement.matchAll(namedTable)].map(([, name = '']) => name))
  const { rows } = await client.query<{ name: string }>(
    `select quote_ident(relname) as name from pg_class
     where relname = any($1) and relnamespace = 'public'::regnamespace and relkind in ('r', 'p') order by oid`,
    [named],
  )
  if (rows.length === 0) return
  await client.query(`set local statement_timeout = ${lockTimeoutMs}`)
  await client.query(`lock table ${rows.map(({ name }) => name).join(', ')} in access exclusive mode`).catch((cause: unknown) => {
    // Caught only here, because in the migration's own statements 57014 means that an operator cancelled the migration.
    throw sqlState(cause) === '57014' ? new LocksNotFree('the locks were not free in time', { cause }) : cause
  })
  await client.query('set local statement_timeout to default')
}

/** For statements that PostgreSQL rejects in a transaction. A retry runs all statements again, so each must be idempotent. */
const applyInSteps = async (client: pg.Client, migration: Migration) => {
  for (const written of migration.statements)
    for (const statement of await forEachPart(client, written)) {
      // CONCURRENTLY takes a lock that blocks no one, then waits for older transactions to end.
      const blocksNobody = /\bconcurrently\b/i.test(statement)
      await client.query(`set lock_timeout = ${blocksNobody ? 0 : lockTimeoutMs}`)
      await dropInvalid(client, statement)
      await client.query(statement)
    }
  await client.query('reset lock_timeout')
  await record(client, migration)
}

const eachPart = /^\s*-- each part of (\w+) without (\w+)$/m

/** After `-- each part of <table> without <index>`, runs the statement for each partition (`{part}`) that lacks the index. */
const forEachPart = async (client: pg.Client, statement: string): Promise<readonly string[]> => {
  const [, table, index] = eachPart.exec(statement) ?? []
  if (table === undefined) return [statement]
  const { rows } = await client.query<{ part: string }>(
    `select c.relname as part from pg_inherits i join pg_class c on c.oid = i.inhrelid
     where i.inhparent = $1::regclass and not exists (
       select from pg_inherits a join pg_index x on x.indexrelid = a.inhrelid where a.inhparent = $2::regclass and x.indrelid = c.oid)
     order by c.relname`,
    [table, index],
  )
  return rows.map(({ part }) => statement.replaceAll('{part}', part))
}

const newIndex = /\bcreate\s+(?:unique\s+)?index\s+concurrently\s+if\s+not\s+exists\s+"?([a-z0-9_]+)"?/i

/** A failed CREATE INDEX CONCURRENTLY leaves an invalid index, which IF NOT EXISTS would accept. */
const dropInvalid = async (client: pg.Client, statement: string) => {
  const name = newIndex.exec(statement)?.[1]
  if (name === undefined) return
  const { rows } = await client.query('select from pg_index where indexrelid = to_regclass($1) and not indisvalid', [name])
  if (rows.length > 0) await client.query(`drop index concurrently if exists ${client.escapeIdentifier(name)}`)
}

/** Recorded under both hashes, because processes of the release that brought the migration check for its original hash. */
const record = (client: pg.Client, { hash, releasedHash = hash, at }: Migration) =>
  client.query('insert into drizzle.__drizzle_migrations (hash, created_at) select distinct unnest($1::text[]), $2::bigint', [
    [hash, releasedHash],
    at,
  ])

const oldTransactions = async (client: pg.Client): Promise<string[]> => {
  const { rows } = await client.query<{ holder: string }>(
    `select format('process %s (%s) for %s s', pid, coalesce(nullif(application_name, ''), 'no name'), extract(epoch from now() - xact_start)::int) as holder
     from pg_stat_activity
     where datname = current_database() and pid <> pg_backend_pid() and xact_start < now() - $1 * interval '1 millisecond'
     order by xact_start limit 3`,
    [lockTimeoutMs],
  )
  return rows.map(({ holder }) => holder)
}
