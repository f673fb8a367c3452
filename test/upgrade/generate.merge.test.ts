import { spawnSync } from 'node:child_process'
import { cpSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { readMigrations } from '../../src/db/migrations.ts'
import { migrationComplaints } from '../architecture/migration-rules.ts'
import { compiledOnce } from '../harness/programs.ts'

const root = fileURLToPath(new URL('../..', import.meta.url))

/** A copy of the files that `npm run db:generate` reads and writes. */
let project: string
const at = (...parts: string[]) => join(project, ...parts)
beforeAll(() => {
  project = mkdtempSync(join(tmpdir(), 'generate-'))
  for (const part of [
    'src',
    'texts',
    'migrations',
    'scripts/db-generate.ts',
    'scripts/releases.ts',
    'drizzle.config.ts',
    'package.json',
  ])
    cpSync(join(root, part), at(part), { recursive: true })
  symlinkSync(join(root, 'node_modules'), at('node_modules'))
})
afterAll(() => rmSync(project, { recursive: true, force: true }))

const generate = (...args: string[]) => {
  const path = `${dirname(process.execPath)}:${at('node_modules/.bin')}:${process.env.PATH}`
  const env = { ...process.env, ...compiledOnce, PATH: path }
  return spawnSync(process.execPath, ['scripts/db-generate.ts', ...args], { cwd: project, encoding: 'utf8', env })
}
const migrations = () => readdirSync(at('migrations')).filter((name) => name.endsWith('.sql'))
const contents = () => new Map(migrations().map((name) => [name, readFileSync(at('migrations', name), 'utf8')]))
const addColumn = () => {
  const file = at('src/db/tables/rails.ts')
  const text = readFileSync(file, 'utf8')
  const changed = text.replace(/(pgTable\(\s*'rail_pauses',\s*\{)/, '$1\n    further: text(),')
  expect(changed).not.toBe(text)
  writeFileSync(file, changed)
}

describe('npm run db:generate', () => {
  test('adds a migration under a name, and touches no released one', () => {
    const released = readMigrations(at('migrations'))
    const hashes = Object.fromEntries(released.map(({ tag, hash }) => [tag, hash]))
    writeFileSync(
      at('migrations/releases.json'),
      JSON.stringify([{ version: '0.2.0', last: released.at(-1)?.tag, migrations: hashes }]),
    )
    const before = contents()
    expect(generate()).toMatchObject({ status: 0, stdout: expect.stringContaining('match the last migration') })
    expect(contents()).toEqual(before)

    addColumn()
    mkdirSync(at('kept'), { recursive: true })
    cpSync(at('migrations'), at('kept'), { recursive: true })
    expect(generate()).toMatchObject({ status: 1, stderr: expect.stringContaining('--name verb_noun') })
    expect(contents()).toEqual(before)
    expect(readdirSync(at('migrations/meta')).toSorted()).toEqual(readdirSync(at('kept/meta')).toSorted())

    expect(generate('--name', 'add_further')).toMatchObject({ status: 0, stdout: expect.stringContaining('_add_further.sql') })
    const after = contents()
    const added = [...after].filter(([name]) => !before.has(name))
    expect(added.map(([, text]) => text.trim())).toEqual(['ALTER TABLE "rail_pauses" ADD COLUMN "further" text;'])
    for (const [name, text] of before) expect([name, after.get(name)]).toEqual([name, text])
    // The new migration is the last in the journal's order.
    const times = readMigrations(at('migrations')).map((migration) => migration.at)
    expect(times).toEqual(times.toSorted((one, other) => one - other))
  })

  test('adds a check of a table that exists without reading the table, and validates it in the next migration', () => {
    const list = at('src/lib/rail-names.ts')
    const row = "  SACCO: { provider: 'MPESA', pays: true, topUp: null, accounts: false },\n"
    writeFileSync(list, readFileSync(list, 'utf8').replace('const rails = {\n', `const rails = {\n${row}`))
    const before = contents()
    expect(generate('--name', 'add_sacco')).toMatchObject({ status: 0 })
    const added = [...contents()].filter(([name]) => !before.has(name))
    expect(added.map(([name]) => name.slice(5))).toEqual(['add_sacco.sql', 'add_sacco_validated.sql'])
    const [first = '', second = ''] = added.map(([, text]) => text)
    expect(first).toMatch(/ADD CONSTRAINT "beneficiaries_rail_check" CHECK \(.*'SACCO'.*\) NOT VALID;/)
    expect(second).toBe('-- no transaction\nALTER TABLE "beneficiaries" VALIDATE CONSTRAINT "beneficiaries_rail_check";')
    const declared = new Set(['beneficiaries'])
    expect(migrationComplaints(readMigrations(at('migrations')), [], () => declared)).toEqual([])
    expect(generate()).toMatchObject({ status: 0, stdout: expect.stringContaining('match the last migration') })
  })

  test('refuses where a released migration was changed or is gone', () => {
    const [first = ''] = migrations()
    const text = readFileSync(at('migrations', first), 'utf8')
    writeFileSync(at('migrations', first), `${text}\n`)
    expect(generate('--name', 'add_more')).toMatchObject({
      status: 1,
      stderr: expect.stringContaining('was changed after 0.2.0'),
    })
    writeFileSync(at('migrations', first), text)
    expect(generate()).toMatchObject({ status: 0 })
  })
})
