import { setTimeout as wait } from 'node:timers/promises'
import type pg from 'pg'
import { StartupError } from '../lib/errors.ts'
import { sqlState } from './errors.ts'
import type { Migration } from './migrations.ts'

/** Less than `deadlock_timeout` (1 s), so that in a deadlock the migration gives up first and no other statement is ended. */
const lockTimeoutMs = 500
export const defaultPatienceMs = 600_000

export type RetryOptions = {
  /** How long to wait for another process that migrates, and to retry a migration that cannot get its locks. */
  patienceMs?: number
  /** Pause between two tries, in which the service can work off its queue. */
  pauseMs?: number
  /** `holders`: the database's oldest transactions. */
  onContended?: (contended: { migration: string; tries: number; holders: readonly string[] }) => void
}

class LocksNotFree extends Error {}

export const applyWithRetry = async (
  client: pg.Client,
  migration: Migration,
  { patienceMs = defaultPatienceMs, pauseMs = 10_000, onContended }: RetryOptions,
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
