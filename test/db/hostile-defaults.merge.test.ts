import { pino } from 'pino'
import { describe, expect, test } from 'vitest'
import { inTx } from '../../src/db/client.ts'
import { settingsOf } from '../../src/db/connection-settings.ts'
import { migrate } from '../../src/db/migrate.ts'
import { probeServer } from '../../src/db/pooler.ts'
import { warnOfUnsafeSettings } from '../../src/db/server-warnings.ts'
import { connected } from '../harness/connected.ts'
import { credit, newBeneficiary } from '../harness/money.ts'
import { signIn } from '../harness/people.ts'
import { createEmptyDatabase, type TestDatabase } from '../harness/postgres.ts'
import { startService } from '../harness/service.ts'
import { openStream } from '../harness/stream.ts'
import { findPgbouncer, startPgbouncer } from './between.ts'

/** Each of these settings changed an answer, a result or a plan, or ended connections. */
const hostile: Readonly<Record<string, string>> = {
  default_transaction_isolation: 'serializable',
  default_transaction_read_only: 'on',
  default_transaction_deferrable: 'on',
  search_path: 'nowhere',
  timezone: 'Pacific/Apia',
  datestyle: 'SQL, DMY',
  intervalstyle: 'sql_standard',
  bytea_output: 'escape',
  standard_conforming_strings: 'off',
  transform_null_equals: 'on',
  array_nulls: 'off',
  gin_fuzzy_search_limit: '1',
  client_min_messages: 'error',
  idle_session_timeout: '1000',
  idle_in_transaction_session_timeout: '1',
  statement_timeout: '500',
  lock_timeout: '1',
  enable_indexscan: 'off',
  enable_indexonlyscan: 'off',
  enable_nestloop: 'off',
  enable_sort: 'off',
  plan_cache_mode: 'force_custom_plan',
  jit: 'on',
  // A client cannot set these, or must leave them to the operator.
  synchronous_commit: 'off',
}

const openHostile = async (): Promise<TestDatabase> => {
  const database = await createEmptyDatabase()
  const name = new URL(database.url).pathname.slice(1)
  await connected(database.url, async (client) => {
    for (const [setting, value] of Object.entries(hostile))
      await client.query(`alter database ${name} set ${setting} = '${value}'`)
  })
  await migrate(database.url)
  return database
}

const payAll = async (database: TestDatabase, through?: NonNullable<Parameters<typeof startService>[0]>['through']) => {
  const service = await startService({ database, ...(through && { through }) })
  try {
    const person = await signIn(service.api)
    await credit(service, person.accountId, 100_000_000n)
    const stream = await openStream(person.api)
    const payees = [await newBeneficiary(person.api), await newBeneficiary(person.api, { destination: '254722000702' })]
    const paid = await Promise.all(
      Array.from({ length: 50 }, (_, index) =>
        person.api.post('/v1/payments', { beneficiary_id: payees[index % 2], amount_minor: '1000' }, { key: `payment ${index}` }),
      ),
    )
    await service.settle()
    await stream.next('payment.succeeded')
    stream.close()
    const { body } = await person.api.get('/v1/payments?limit=100')
    const byPayee = await person.api.get(`/v1/payments?limit=100&beneficiary_id=${payees[0]}`)
    const warnings: string[] = []
    await warnOfUnsafeSettings(service.deps.db, pino({}, { write: (line) => void warnings.push(JSON.parse(line).setting) }))
    return {
      answers: paid.map(({ status }) => status),
      statuses: (body.data as { status: string }[]).map(({ status }) => status),
      ofPayee: byPayee.body.data.length,
      warnings,
    }
  } finally {
    await service.close()
  }
}
const whole = { answers: Array(50).fill(201), statuses: Array(50).fill('succeeded'), ofPayee: 25 }

describe('a database whose defaults are others', () => {
  test('does not reach in: 50 payments at once are accepted and paid, none is unknown, and what the service cannot set is warned of', async () => {
    const database = await openHostile()
    const result = await payAll(database)
    expect(result).toMatchObject(whole)
    expect(result.warnings).toContain('synchronous_commit = off')
    await database.drop()
  })

  test('a synchronous_commit by which a failover may lose an acknowledged payment is warned of', async () => {
    const service = await startService()
    const warned = async (value: string) => {
      const settings: string[] = []
      const logger = pino({}, { write: (line) => void settings.push(JSON.parse(line).setting) })
      await inTx(service.deps.db, async (tx) => {
        await tx.query(`set local synchronous_commit = ${value}`)
        await warnOfUnsafeSettings(tx, logger)
      })
      return settings.includes(`synchronous_commit = ${value}`)
    }
    const values = ['off', 'local', 'remote_write', 'on', 'remote_apply']
    const warnings: boolean[] = []
    for (const value of values) warnings.push(await warned(value))
    expect(warnings).toEqual([true, true, true, false, false])
    await service.close()
  })

  test('nor through PgBouncer, whose connections get the same list; without it, a start names what is missing', async ({
    skip,
  }) => {
    const program = findPgbouncer()
    if (program === undefined) return skip('PgBouncer is not installed')
    const database = await openHostile()
    const bouncer = await startPgbouncer(program, database.url)
    const bare = await startPgbouncer(program, database.url, { prepared: false })
    const settings = settingsOf(7_000)
    const { pooler } = await probeServer(bouncer.url, settings)
    expect(pooler?.differingSettings).toEqual([])
    const without = await probeServer(bare.url, settings)
    expect(without.pooler?.differingSettings).toEqual(
      expect.arrayContaining(['default_transaction_isolation', 'search_path', 'statement_timeout', 'timezone']),
    )
    expect(await payAll(database, { url: bouncer.url, ...(pooler && { pooler }) })).toMatchObject(whole)
    await bouncer.stop()
    await bare.stop()
    await database.drop()
  })

  test('an address with options of its own keeps them, beside ours', async () => {
    const database = await openHostile()
    const url = `${database.url}?options=${encodeURIComponent('-c geqo=off')}`
    const service = await startService({ database: { ...database, url } })
    const rows = await service.deps.db.query(`select current_setting('geqo') as geqo, current_setting('timezone') as zone`)
    expect(rows).toEqual([{ geqo: 'off', zone: 'UTC' }])
    await service.close()
    await database.drop()
  })
})
