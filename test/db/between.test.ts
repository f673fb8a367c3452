import { describe, expect, test, vi } from 'vitest'
import { migrate } from '../../src/db/migrate.ts'
import { connected } from '../harness/connected.ts'
import { credit, newBeneficiary } from '../harness/money.ts'
import { signIn } from '../harness/people.ts'
import { freePort } from '../harness/ports.ts'
import { startService } from '../harness/service.ts'
import { findDebianPostgres, startPair } from './between.ts'

const ask = <Row extends object>(url: string, text: string): Promise<Row[]> =>
  connected(url, async (client) => (await client.query<Row>(text)).rows)

describe('a streaming standby', () => {
  test('that does not answer is reported once a minute for as long as it does not', async () => {
    const nowhere = `postgres://payments@127.0.0.1:${await freePort()}/payments`
    const service = await startService({ env: { DATABASE_READ_URL: nowhere } })
    const person = await signIn(service.api)
    vi.useFakeTimers({ toFake: ['performance'] })
    for (let count = 0; count < 5; count += 1) {
      expect((await person.api.get('/v1/payments')).status).toBe(200)
      vi.advanceTimersByTime(31_000)
    }
    vi.useRealTimers()
    expect(service.log.filter((line) => line.includes('the standby does not answer'))).toHaveLength(3)
    await service.close()
  })

  test('is read for lists only when it has every acknowledged write, and may fail', async ({ skip }) => {
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
    // A paused standby has nothing new, so the primary answers.
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
