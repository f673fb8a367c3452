import { describe, expect, test } from 'vitest'
import { migrate } from '../../src/db/migrate.ts'
import { detectPooler } from '../../src/db/pooler.ts'
import { connected } from '../harness/connected.ts'
import { credit, fund, newBeneficiary } from '../harness/money.ts'
import { signIn } from '../harness/people.ts'
import { createTestDatabase } from '../harness/postgres.ts'
import { startService } from '../harness/service.ts'
import { openStream } from '../harness/stream.ts'
import { findDebianPostgres, findPgbouncer, startPair, startPgbouncer } from './between.ts'

const ask = <Row extends object>(url: string, text: string): Promise<Row[]> =>
  connected(url, async (client) => (await client.query<Row>(text)).rows)

describe('a streaming standby', () => {
  test('is read for lists only when it has every acknowledged write, and may fail', { timeout: 120_000 }, async ({ skip }) => {
    const binaries = await findDebianPostgres()
    if (binaries === undefined) return skip("Debian's PostgreSQL is not installed: nothing was tried with a standby")
    const pair = await startPair(binaries)
    await migrate(pair.primary.url)
    const database = { url: pair.primary.url, drop: async () => undefined }
    const service = await startService({ database, env: { DATABASE_READ_URL: pair.standby.url } })
    const person = await signIn(service.api)
    await credit(service, person.accountId, 1_000_000n)
    const beneficiary = await newBeneficiary(person.api)
    const pay = () => person.api.post('/v1/payments', { beneficiary_id: beneficiary, amount_minor: '1000' })
    const paid = async () => (await person.api.get('/v1/payments?limit=100')).body.data.length
    for (let count = 1; count <= 20; count += 1) {
      expect((await pay()).status).toBe(201)
      expect(await paid()).toBe(count)
    }
    const readers = await ask<{ query: string }>(
      pair.standby.url,
      `select query from pg_stat_activity where application_name = 'payments-service' and query like '%from "payments"%'`,
    )
    expect(readers.length).toBeGreaterThan(0)
    // A standby that is paused has nothing new: the primary answers.
    await ask(pair.standby.url, 'select pg_wal_replay_pause()')
    expect((await pay()).status).toBe(201)
    expect(await paid()).toBe(21)
    await pair.standby.stop()
    expect((await pay()).status).toBe(201)
    expect(await paid()).toBe(22)
    await service.close()
    await pair.primary.stop()
    await pair.remove()
  })
})

describe('a transaction pooler', () => {
  test('is detected, and payments, streams and revocations work through it', { timeout: 120_000 }, async ({ skip }) => {
    const program = findPgbouncer()
    if (program === undefined) return skip('PgBouncer is not installed: nothing was tried with a pooler')
    const database = await createTestDatabase()
    expect(await detectPooler(database.url)).toBeUndefined()
    const bouncer = await startPgbouncer(program, database.url)
    const pooler = await detectPooler(bouncer.url)
    expect(pooler).toMatchObject({ statementTimeout: true })
    const service = await startService({ database, through: { url: bouncer.url, ...(pooler && { pooler }) } })
    const person = await signIn(service.api)
    await fund(service, person, 100_000n)
    const stream = await openStream(person.api)
    const beneficiary = await newBeneficiary(person.api)
    const answers = await Promise.all(
      Array.from({ length: 40 }, () => person.api.post('/v1/payments', { beneficiary_id: beneficiary, amount_minor: '1000' })),
    )
    expect(answers.map(({ status }) => status)).toEqual(answers.map(() => 201))
    await service.settle()
    await stream.next('payment.succeeded')
    stream.close()
    const { body } = await person.api.get('/v1/payments?status=succeeded&limit=100')
    expect(body.data).toHaveLength(40)
    await person.api.post('/v1/auth/logout')
    expect((await person.api.get('/v1/accounts/me')).body.error).toBe('session_revoked')
    await service.close()
    await bouncer.stop()
    await database.drop()
  })
})
