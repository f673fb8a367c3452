import { execFileSync } from 'node:child_process'
import { readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { migrationsFolder } from '../src/db/migrations.ts'
import { dividedTables } from '../src/db/tables/divided.ts'
import { changedMigrations, readReleases } from './releases.ts'

// Writes the migration for a change in src/db/tables.
//
// Before the first release it writes 0000_create_schema again: a change belongs into the schema itself, and 0001 is written by hand and stays.
// The journal's times and the snapshot's ids are fixed, so that the same tables always give the same files. After the first release
// (migrations/releases.json) it adds a migration, `--name verb_noun`, and refuses where a released one was changed.

const schemaTag = '0000_create_schema'
const handWrittenTag = '0001_add_guards'
const firstMigration = Date.UTC(2026, 0, 1)
const snapshotId = '00000000-0000-4000-8000-000000000001'
const noSnapshot = '00000000-0000-0000-0000-000000000000'

const migrationFiles = () => readdirSync(migrationsFolder).filter((name) => name.endsWith('.sql'))
const meta = (file: string) => join(migrationsFolder, 'meta', file)

const drizzleKit = (name: string, ...options: string[]) =>
  execFileSync('drizzle-kit', ['generate', '--name', name, ...options], { stdio: ['ignore', 'ignore', 'inherit'] })

const writeJson = (file: string, value: unknown) => writeFileSync(file, `${JSON.stringify(value, null, 2)}\n`)

const journal = (tags: string[]) => ({
  version: '7',
  dialect: 'postgresql',
  entries: tags.map((tag, idx) => ({ idx, version: '7', when: firstMigration + idx, tag, breakpoints: true })),
})

/** drizzle has no word for it. The key of a divided table is the id alone, so ids stay unique over all periods. */
const divide = (schema: string): string =>
  dividedTables.reduce(
    (text, table) => text.replace(new RegExp(`(CREATE TABLE "${table}" \\([^;]*?\\n\\));`), '$1 PARTITION BY RANGE ("id");'),
    schema,
  )

const rewriteSchema = () => {
  const later = migrationFiles().filter((name) => name > '0002')
  if (later.length > 0) throw new Error(`${later[0]} follows the schema: add -- --name verb_noun.`)
  for (const stale of readdirSync(join(migrationsFolder, 'meta'))) rmSync(meta(stale))
  rmSync(join(migrationsFolder, `${schemaTag}.sql`), { force: true })
  writeJson(meta('_journal.json'), journal([]))
  drizzleKit('create_schema')
  const schema = join(migrationsFolder, `${schemaTag}.sql`)
  const divided = divide(readFileSync(schema, 'utf8'))
  if (divided.match(/PARTITION BY RANGE/g)?.length !== dividedTables.length)
    throw new Error('A divided table is not in the schema that drizzle wrote.')
  writeFileSync(schema, divided)

  const snapshot: object = JSON.parse(readFileSync(meta('0000_snapshot.json'), 'utf8'))
  writeJson(meta('0000_snapshot.json'), { ...snapshot, id: snapshotId, prevId: noSnapshot })
  writeJson(meta('_journal.json'), journal([schemaTag, handWrittenTag]))
  console.log(`Wrote ${schemaTag}. Read its difference; triggers and functions belong into ${handWrittenTag}.`)
}

const constraint = /ALTER TABLE "(\w+)" ADD CONSTRAINT "(\w+)" (?:CHECK|FOREIGN KEY)[^;]*(?=;)/g

/**
 * A check or a reference of a table that exists is added NOT VALID, because it would read the table under a lock that stops the service.
 * `validated`: the migration that follows, or null where no such constraint is added.
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

/** The file that drizzle writes when it is asked for one. */
const newFile = (write: () => void): string | undefined => {
  const before = new Set(migrationFiles())
  write()
  return migrationFiles().find((file) => !before.has(file))
}

/** Leaves the folder as it is where the tables are those of the last migration. */
const addMigration = (name: string | undefined) => {
  const journalBefore = readFileSync(meta('_journal.json'))
  const added = newFile(() => drizzleKit(name ?? 'unnamed'))
  if (added === undefined) {
    console.log('The tables are those of the last migration.')
    return
  }
  const file = join(migrationsFolder, added)
  if (name === undefined) {
    rmSync(file)
    rmSync(meta(`${added.slice(0, 4)}_snapshot.json`))
    writeFileSync(meta('_journal.json'), journalBefore)
    throw new Error('The tables have changed since the release: add -- --name verb_noun for a migration of its own.')
  }
  const steps = inTwoSteps(divide(readFileSync(file, 'utf8')))
  writeFileSync(file, steps.added)
  const second = steps.validated === null ? undefined : newFile(() => drizzleKit(`${name}_validated`, '--custom'))
  if (second !== undefined && steps.validated !== null) writeFileSync(join(migrationsFolder, second), steps.validated)
  console.log(
    `Added ${second === undefined ? added : `${added} and ${second}`}: read the SQL. What a migration may do is in docs/operations.md, and test/architecture/migrations.test.ts checks it.`,
  )
}

const generate = () => {
  const { values } = parseArgs({ options: { name: { type: 'string' } } })
  const releases = readReleases()
  const changed = changedMigrations(releases)
  if (changed.length > 0) throw new Error(`A released migration is never edited: ${changed.join('; ')}.`)
  if (releases.length === 0 && values.name === undefined) rewriteSchema()
  else addMigration(values.name)
}

try {
  generate()
} catch (error) {
  console.error(error instanceof Error ? error.message : error)
  process.exitCode = 1
}
