import { execFileSync } from 'node:child_process'
import { readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { migrationsFolder, readReleases } from '../src/db/migrations.ts'
import { partitionedTables } from '../src/db/tables/partitioned.ts'
import { changedMigrations } from './releases.ts'

// Adds a migration for a change in src/db/tables: `--name verb_noun`. Refuses if a released migration (migrations/releases.json)
// was changed.

const migrationFiles = () => readdirSync(migrationsFolder).filter((name) => name.endsWith('.sql'))
const meta = (file: string) => join(migrationsFolder, 'meta', file)

const drizzleKit = (name: string, ...options: string[]) =>
  execFileSync('drizzle-kit', ['generate', '--name', name, ...options], { stdio: ['ignore', 'ignore', 'inherit'] })

/** Adds `PARTITION BY`, which drizzle lacks. A partitioned table's key is the id alone, so ids are unique in all partitions. */
const divide = (schema: string): string =>
  partitionedTables.reduce(
    (text, table) => text.replace(new RegExp(`(CREATE TABLE "${table}" \\([^;]*?\\n\\));`), '$1 PARTITION BY RANGE ("id");'),
    schema,
  )

const constraint = /ALTER TABLE "(\w+)" ADD CONSTRAINT "(\w+)" (?:CHECK|FOREIGN KEY)[^;]*(?=;)/g

/**
 * Adds checks and references to existing tables as NOT VALID, because validating them would read the table under a lock that
 * stops the service. `validated`: the next migration, which validates them. Null if there are no such constraints.
 */
const inTwoSteps = (migration: string): { added: string; validated: string | null } => {
  const created = new Set([...migration.matchAll(/CREATE TABLE "(\w+)"/g)].map(([, table]) => table))
  const later = [...migration.matchAll(constraint)].filter(([, table]) => !created.has(table))
  const validate = later.map(([, table, name]) => `ALTER TABLE "${table}" VALIDATE CONSTRAINT "${name}";`)
  return {
    added: migration.replace(constraint, (whole: string, table: string) => (created.has(table) ? whole : `${whole} NOT VALID`)),
    validated: later.length === 0 ? null : `-- no transaction\n${validate.join('--> statement-breakpoint\n')}`,
  }
}

/** The new file that drizzle writes, if any. */
const newFile = (write: () => void): string | undefined => {
  const before = new Set(migrationFiles())
  write()
  return migrationFiles().find((file) => !before.has(file))
}

/** Leaves the folder unchanged if the tables match the last migration. */
const addMigration = (name: string | undefined) => {
  const journalBefore = readFileSync(meta('_journal.json'))
  const added = newFile(() => drizzleKit(name ?? 'unnamed'))
  if (added === undefined) {
    console.log('The tables match the last migration.')
    return
  }
  const file = join(migrationsFolder, added)
  if (name === undefined) {
    rmSync(file)
    rmSync(meta(`${added.slice(0, 4)}_snapshot.json`))
    writeFileSync(meta('_journal.json'), journalBefore)
    throw new Error('The tables have changed: add -- --name verb_noun to create a migration.')
  }
  const steps = inTwoSteps(divide(readFileSync(file, 'utf8')))
  writeFileSync(file, steps.added)
  const second = steps.validated === null ? undefined : newFile(() => drizzleKit(`${name}_validated`, '--custom'))
  if (second !== undefined && steps.validated !== null) writeFileSync(join(migrationsFolder, second), steps.validated)
  console.log(
    `Added ${second === undefined ? added : `${added} and ${second}`}: read the SQL. docs/upgrades.md has the rules for migrations, and test/architecture/migrations.test.ts checks them.`,
  )
}

const generate = () => {
  const { values } = parseArgs({ options: { name: { type: 'string' } } })
  const changed = changedMigrations(readReleases())
  if (changed.length > 0) throw new Error(`A released migration is never edited: ${changed.join('; ')}.`)
  addMigration(values.name)
}

try {
  generate()
} catch (error) {
  console.error(error instanceof Error ? error.message : error)
  process.exitCode = 1
}
