import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { afterAll, describe, expect, test } from 'vitest'
import { migrate } from '../../src/db/migrate.ts'
import { readMigrations, readReleases } from '../../src/db/migrations.ts'
import { version } from '../../src/lib/version.ts'
import { connected } from '../harness/connected.ts'
import { createEmptyDatabase, type TestDatabase } from '../harness/postgres.ts'
import { aboutDump, describeSchema, dumpDatabase, packDump, restoreDump, tables } from './dump.ts'
import { type About, fillDatabase, goesOn } from './story.ts'

const folder = fileURLToPath(new URL('dumps', import.meta.url))
const dumpOf = (release: string) => `${folder}/v${release}.sql.gz`
const maxBytes = 1024 ** 2

const databases: TestDatabase[] = []
afterAll(async () => {
  for (const database of databases) await database.drop()
})
const opened = async (): Promise<TestDatabase> => {
  const database = await createEmptyDatabase()
  databases.push(database)
  return database
}

const rowsOf = (url: string): Promise<Record<string, string>> =>
  connected(url, async (client) => {
    const counted: Record<string, string> = {}
    for (const { text } of (await client.query<{ text: string }>(tables)).rows) {
      const { rows } = await client.query<{ hash: string }>(
        `select count(*) || ' ' || coalesce(md5(string_agg(t::text, ',' order by t::text)), '') as hash from ${text} t`,
      )
      counted[text] = rows[0]?.hash ?? ''
    }
    return counted
  })

/** Tables that a story with one process and an emulated provider leaves empty, with the reason. */
const empty: Readonly<Record<string, string>> = {
  stream_places: 'a place ends with its stream',
  send_logs: 'a process without a folder for data registers none',
  rail_pause_periods: 'no version writes it',
  write_losses: 'writes are lost by a failover or a restore alone',
}

test('a database of today with rows in every table is dumped and restored to the byte, and its work goes on', {
  timeout: 240_000,
}, async () => {
  const source = await opened()
  await migrate(source.url)
  const about = await fillDatabase(source, version)
  const packed = packDump(await dumpDatabase(source.url, about))
  expect(packed.length).toBeLessThan(maxBytes)
  const rows = await rowsOf(source.url)
  const withoutRows = Object.keys(rows).filter((table) => rows[table]?.startsWith('0 '))
  expect(withoutRows.toSorted()).toEqual(Object.keys(empty).toSorted())

  const restored = await opened()
  await restoreDump(restored.url, packed, { last: readMigrations().at(-1)?.tag ?? '' })
  expect(await rowsOf(restored.url)).toEqual(rows)
  expect(await describeSchema(restored.url)).toBe(await describeSchema(source.url))
  await goesOn(restored, aboutDump<About>(packed))
  // npm run release writes it after all checks above.
  if (process.env.RELEASE_DUMP !== version) return
  mkdirSync(folder, { recursive: true })
  writeFileSync(dumpOf(version), packed)
})

describe.each(readReleases())('version $version', ({ version: release, last }) => {
  test('a database of it is upgraded, keeps every promise, answers as it did, and pays', { timeout: 240_000 }, async () => {
    const file = dumpOf(release)
    expect(existsSync(file), `${file} is missing: npm run release makes it`).toBe(true)
    const packed = readFileSync(file)
    expect(packed.length).toBeLessThan(maxBytes)
    const about = aboutDump<About>(packed)
    expect(about.version).toBe(release)
    const database = await opened()
    await restoreDump(database.url, packed, { last })
    await migrate(database.url)
    const fresh = await opened()
    await migrate(fresh.url)
    expect(await describeSchema(database.url)).toBe(await describeSchema(fresh.url))
    await goesOn(database, about)
  })
})
