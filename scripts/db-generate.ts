import { execFileSync } from 'node:child_process'
import { readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { migrationsFolder } from '../src/db/migrations.ts'
import { dividedTables } from '../src/db/tables/divided.ts'

// Writes the migration for a change in src/db/tables.
//
// With `--name verb_noun` it adds a migration, as every change after the first release must. Without a name it writes
// 0000_create_schema again: nothing is released yet, so a change belongs into the schema itself. 0001 is written by hand and stays.
// The journal's times and the snapshot's ids are fixed, so that the same tables always give the same files.

const schemaTag = '0000_create_schema'
const handWrittenTag = '0001_add_guards'
const firstMigration = Date.UTC(2026, 0, 1)
const snapshotId = '00000000-0000-4000-8000-000000000001'
const noSnapshot = '00000000-0000-0000-0000-000000000000'

const meta = (file: string) => join(migrationsFolder, 'meta', file)

const drizzleKit = (name: string) =>
  execFileSync('drizzle-kit', ['generate', '--name', name], { stdio: ['ignore', 'ignore', 'inherit'] })

const writeJson = (file: string, value: unknown) => writeFileSync(file, `${JSON.stringify(value, null, 2)}\n`)

const journal = (tags: string[]) => ({
  version: '7',
  dialect: 'postgresql',
  entries: tags.map((tag, idx) => ({ idx, version: '7', when: firstMigration + idx, tag, breakpoints: true })),
})

/** drizzle has no word for it. The key of a divided table is the id alone, so ids stay unique over all periods. */
const divide = (schema: string): string =>
  dividedTables.reduce((text, table) => {
    const declared = new RegExp(`(CREATE TABLE "${table}" \\([^;]*?\\n\\));`)
    if (!declared.test(text)) throw new Error(`${table} is not in the schema that drizzle wrote.`)
    return text.replace(declared, '$1 PARTITION BY RANGE ("id");')
  }, schema)

const rewriteSchema = () => {
  const later = readdirSync(migrationsFolder).filter((name) => name.endsWith('.sql') && name > '0002')
  if (later.length > 0) throw new Error(`${later[0]} follows the schema, so the schema is released: add -- --name verb_noun.`)
  for (const stale of readdirSync(join(migrationsFolder, 'meta'))) rmSync(meta(stale))
  rmSync(join(migrationsFolder, `${schemaTag}.sql`), { force: true })
  writeJson(meta('_journal.json'), journal([]))
  drizzleKit('create_schema')
  const schema = join(migrationsFolder, `${schemaTag}.sql`)
  writeFileSync(schema, divide(readFileSync(schema, 'utf8')))

  const snapshot: object = JSON.parse(readFileSync(meta('0000_snapshot.json'), 'utf8'))
  writeJson(meta('0000_snapshot.json'), { ...snapshot, id: snapshotId, prevId: noSnapshot })
  writeJson(meta('_journal.json'), journal([schemaTag, handWrittenTag]))
  console.log(`Wrote ${schemaTag}. Read its difference; triggers and functions belong into ${handWrittenTag}.`)
}

const { values } = parseArgs({ options: { name: { type: 'string' } } })
if (values.name === undefined) rewriteSchema()
else drizzleKit(values.name)
