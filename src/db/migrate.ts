import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { type MigrationMeta, readMigrationFiles } from 'drizzle-orm/migrator'
import { drizzle } from 'drizzle-orm/node-postgres'
import { migrate as applyMigrations } from 'drizzle-orm/node-postgres/migrator'
import pg from 'pg'
import { StartupError } from '../lib/startup-error.ts'

export const migrationsFolder = fileURLToPath(new URL('../../migrations', import.meta.url))

// A number that no other lock uses: processes that start together apply the migrations one after another.
const migrationLock = 7_241_990

/** Brings the database at `url` up to date with the folder. Safe to call from several processes at once. */
export const migrate = async (url: string, folder = migrationsFolder): Promise<void> => {
  const expected = readJournal(folder)
  if (expected.length === 0) return
  const client = new pg.Client({ connectionString: url, application_name: 'migrate', connectionTimeoutMillis: 5_000 })
  // The connection was lost between two statements: the next statement reports it.
  client.on('error', () => undefined)
  await client.connect()
  try {
    await client.query('SELECT pg_advisory_lock($1)', [migrationLock])
    await applyMigrations(drizzle(client), { migrationsFolder: folder })
    // drizzle compares only the newest timestamp: it silently skips a migration that was merged with an older one.
    const missing = await missingFrom(client, expected)
    if (missing > 0) {
      throw new StartupError(
        `${missing} migrations in ${folder} were not applied: they were edited after they landed, or are older than the newest applied one.`,
      )
    }
  } finally {
    await client.end()
  }
}

/**
 * Whether every migration has been applied, unchanged: readiness asks this. The folder is read once: a running process needs the migrations
 * of its own release, not those of a newer release that is being installed beside it.
 */
export const migrationsCheck = (pool: pg.Pool, folder = migrationsFolder): (() => Promise<boolean>) => {
  const expected = readJournal(folder)
  return async () => expected.length === 0 || (await missingFrom(pool, expected)) === 0
}

const readJournal = (folder: string): MigrationMeta[] =>
  existsSync(join(folder, 'meta', '_journal.json')) ? readMigrationFiles({ migrationsFolder: folder }) : []

const missingFrom = async (db: pg.Pool | pg.Client, expected: MigrationMeta[]) => {
  const known = await db.query<{ known: boolean }>(`SELECT to_regclass('drizzle.__drizzle_migrations') IS NOT NULL AS known`)
  if (!known.rows[0]?.known) return expected.length
  const { rows } = await db.query<{ hash: string }>('SELECT hash FROM drizzle.__drizzle_migrations')
  const applied = new Set(rows.map((row) => row.hash))
  return expected.filter((migration) => !applied.has(migration.hash)).length
}
