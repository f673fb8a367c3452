import pg from 'pg'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { connectionConfig, settingsOf } from '../../src/db/connection-settings.ts'
import { namedStatements } from '../../src/db/statement.ts'
import { createTestClock } from '../harness/clock.ts'
import { createTestDatabase, type TestDatabase } from '../harness/postgres.ts'
import { type Sent, sentDuring } from '../harness/sent.ts'
import { startService, type TestService } from '../harness/service.ts'
import { growDatabase } from './grown.ts'

/** A sweep that reads waiting rows one by one exceeds the bound already with these. More: `GROWN_ROWS=100000`. */
const rows = Number(process.env.GROWN_ROWS ?? '5000')
const maxBlocks = 2_000
/** Sweeps that read everything. Few policy changes wait: a person requested each, and it waits a day. */
const readsAllThatWaits = new Map([
  ['policies.complete.spending_policies', 2 * rows],
  // Once an hour, for each ended send log.
  ['send_logs.prune', 2 * rows],
])

let database: TestDatabase
let client: pg.Client
let service: TestService
beforeAll(async () => {
  database = await createTestDatabase()
  client = new pg.Client(connectionConfig(database.url))
  await client.connect()
  await growDatabase(client, rows)
  await client.end()
  client = new pg.Client(connectionConfig(database.url, settingsOf(60_000)))
  await client.connect()
  service = await startService({ database, clock: createTestClock(new Date()) })
}, 3_600_000)
afterAll(async () => {
  await client.end()
  await service.close()
  await database.drop()
})

type Statement = Sent['statements'][number]
type Plan = { 'Shared Hit Blocks': number; 'Shared Read Blocks': number }

const literal = (value: unknown): string => {
  if (value === null || value === undefined) return 'null'
  if (Buffer.isBuffer(value)) return pg.escapeLiteral(`\\x${value.toString('hex')}`)
  if (Array.isArray(value))
    return pg.escapeLiteral(
      `{${value.map((item) => (item === null ? 'NULL' : JSON.stringify(typeof item === 'bigint' ? String(item) : item))).join(',')}}`,
    )
  return pg.escapeLiteral(value instanceof Date ? value.toISOString() : String(value))
}

/** The blocks that a statement touches with the service's plan. Its effects are undone. */
const blocksOf = async ({ text, values }: Statement): Promise<number> => {
  await client.query('begin')
  try {
    await client.query(`prepare looked_at as ${text}`)
    const given = values.length === 0 ? '' : `(${values.map(literal).join(', ')})`
    const { rows } = await client.query(`explain (analyze, buffers, format json) execute looked_at ${given}`)
    const plan: Plan = rows[0]['QUERY PLAN'][0].Plan
    return plan['Shared Hit Blocks'] + plan['Shared Read Blocks']
  } finally {
    await client.query('rollback')
    await client.query('deallocate all')
  }
}

const isExplained = ({ text }: Statement) => /^\s*(select|with|update|delete|insert)\b/i.test(text)

test('no sweep of a grown database touches more blocks than its bound, when much waits and little is due', async () => {
  // The first run does the work that became due by filling the tables.
  await service.deps.jobs.sweep().catch(() => undefined)
  const { statements } = await sentDuring(() => service.deps.jobs.sweep())
  const different = [...new Map(statements.filter(isExplained).map((one) => [one.text, one])).values()]
  expect(different.length).toBeGreaterThan(40)
  const touched: [string, number][] = []
  // The rails work, so this statement was not sent.
  const waiting = namedStatements().find(({ name }) => name === 'payments.waiting_for_rail')
  const zero = '00000000-0000-0000-0000-000000000000'
  if (!waiting) throw new Error('there is no such statement')
  different.push({ ...waiting, values: ['{MPESA_B2C}', service.clock.now(), '-infinity', zero, 100] })
  for (const one of different) touched.push([one.name ?? one.text.slice(0, 60), await blocksOf(one)])
  const table = touched.sort(([, one], [, other]) => other - one)
  if (process.env.GROWN_ROWS) console.table(table)
  expect(table.filter(([name, blocks]) => blocks > Math.max(maxBlocks, readsAllThatWaits.get(name) ?? 0))).toEqual([])
}, 600_000)

test('the bound is passed by what reads past all that waits', async () => {
  const text = `select id from grants where revoked_at is null and expires_at + interval '0' <= now() and id > $1 order by id limit 100`
  expect(await blocksOf({ name: undefined, text, values: ['00000000-0000-0000-0000-000000000000'] })).toBeGreaterThan(maxBlocks)
})
