import pg from 'pg'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { Statement } from '../../src/db/client.ts'
import { addressed, settingsOf } from '../../src/db/settings.ts'
import { createTestClock } from '../harness/clock.ts'
import { createTestDatabase, type TestDatabase } from '../harness/postgres.ts'
import { startService, type TestService } from '../harness/service.ts'
import { growDatabase } from './grown.ts'

const rows = 20_000
const mostBlocks = 2_000

let database: TestDatabase
let client: pg.Client
let service: TestService
beforeAll(async () => {
  database = await createTestDatabase()
  client = new pg.Client(addressed(database.url))
  await client.connect()
  const t = performance.now()
  await growDatabase(client, rows)
  console.log('grown', performance.now() - t)
  await client.end()
  client = new pg.Client(addressed(database.url, settingsOf(60_000)))
  await client.connect()
  service = await startService({ database, clock: createTestClock(new Date()) })
}, 600_000)
afterAll(async () => {
  await client.end()
  await service.close()
  await database.drop()
})

type Sent = { name: string; text: string; values: readonly unknown[] }

/** The statements of a sweep that finds nothing. */
const statementsOf = async (): Promise<Sent[]> => {
  const { db } = service.deps
  const sent: Sent[] = []
  return sent
}

test('x', () => undefined)
