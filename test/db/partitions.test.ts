import pg from 'pg'
import { beforeEach, describe, expect, test } from 'vitest'
import { inTx } from '../../src/db/client.ts'
import { createPartitions } from '../../src/db/partitions.ts'
import { firstIdAt, formatId, newId, parseId, type Uuid } from '../../src/lib/ids.ts'
import { shellOperator } from '../../src/modules/operators.ts'
import { recordSuspense, resolveSuspense } from '../../src/modules/suspense/service.ts'
import { fund } from '../harness/money.ts'
import { type Person, signIn } from '../harness/people.ts'
import { openService, startService } from '../harness/service.ts'
import { findBreaches } from '../harness/verify.ts'

let person: Person
const service = await openService()
beforeEach(async () => {
  person = await signIn(service.api)
})

const query = <T extends object>(text: string, values: unknown[] = []): Promise<T[]> => service.deps.db.query<T>(text, values)
const partsOf = async (table: string): Promise<string[]> =>
  (
    await query<{ part: string }>(
      'select inhrelid::regclass::text as part from pg_inherits where inhparent = $1::regclass order by 1',
      [table],
    )
  ).map(({ part }) => part)

/** A past period, as a service has them after years. */
const past = (table: string, begins: string, ends: string) =>
  query(`create table ${table}_past partition of ${table} for values from (first_id_at('${begins}')) to (first_id_at('${ends}'))`)
const inPast = (begins: string) => newId().replace(/^.{13}/, firstIdAt(new Date(begins)).slice(0, 13))

const oldEvent = async (): Promise<string> => {
  const id = inPast('2026-01-07T12:00:00Z')
  await query(
    `insert into events (id, type, account_id, data, created_at) values ($1, 'session.created', $2, '{}', '2026-01-07')`,
    [id, parseId('account', person.accountId)],
  )
  return id
}
const isThere = async (table: string, id: string) => (await query(`select from ${table} where id = $1`, [id])).length === 1

describe('tables that are partitioned by period', () => {
  test('have the period that goes on and the next one, and every row lies in its own', async () => {
    await fund(service, person, 100_000n)
    for (const table of ['events', 'audit_log', 'callback_bodies']) {
      const [counted] = await query<{ ahead: number; current: number; rows: number; elsewhere: number }>(
        `select count(*) filter (where begins > now())::int as ahead, count(*) filter (where now() >= begins and now() < ends)::int as current,
           (select count(*)::int from ${table}) as rows, (select count(*)::int from ${table}_default) as elsewhere from periods_of($1::regclass)`,
        [table],
      )
      expect(counted).toMatchObject({ current: 1, elsewhere: 0 })
      expect(counted?.ahead).toBeGreaterThanOrEqual(1)
      expect(counted?.rows).toBeGreaterThan(0)
    }
  })

  test('refuse in every period what they refuse as a whole', async () => {
    const parts = [...(await partsOf('audit_log')), 'audit_log']
    expect(parts.length).toBeGreaterThanOrEqual(4)
    for (const part of parts)
      for (const change of [`update ${part} set action = 'x'`, `delete from ${part}`, `truncate ${part}`])
        await expect(query(change)).rejects.toThrow('is append-only')
    for (const part of await partsOf('events'))
      await expect(query(`update ${part} set type = 'x'`)).rejects.toThrow('is append-only')
    await expect(query(`select drop_periods('audit_log', now())`)).rejects.toThrow('drop_periods does not know audit_log')
  })

  test('keep an id unique over all periods', async () => {
    const [row] = await query<{ id: string }>('select id from audit_log limit 1')
    await expect(
      query(`insert into audit_log (id, at, action) values ($1, now(), 'test.again')`, [row?.id]),
    ).rejects.toMatchObject({ code: '23505' })
  })

  test('are created once by processes that start together, and a period whose rows came first stays in the default part', async () => {
    const id = inPast('2045-03-07T12:00:00Z')
    await query(`insert into events (id, type, account_id, data, created_at) values ($1, 'session.created', $2, '{}', now())`, [
      id,
      newId(),
    ])
    const create = () =>
      query<{ created: number }>(`select create_periods('events', 'month', '2045-04-15', '2045-02-01') as created`)
    const created = (await Promise.all([create(), create(), create()])).map(([row]) => row?.created)
    expect(created.sort()).toEqual([0, 0, 2])
    expect(await partsOf('events')).toEqual(expect.arrayContaining(['events_20450201', 'events_20450401']))
    expect(await partsOf('events')).not.toContain('events_20450301')
    expect(await isThere('events_default', id)).toBe(true)
    await query('drop table events_20450201, events_20450401')
    await query('delete from events where id = $1', [id])
  })

  test('are not waited for: while a dump reads them the next period is tried later, and the service starts and writes', async () => {
    const reader = new pg.Client({ connectionString: service.database.url })
    await reader.connect()
    const before = await partsOf('audit_log')
    const last = before.filter((part) => part !== 'audit_log_default').at(-1)
    await query(`drop table ${last}`)
    try {
      await reader.query('begin; lock table audit_log_default in access share mode')
      await expect(createPartitions(service.deps.db, [{ table: 'audit_log', unit: 'month' }])).rejects.toMatchObject({
        code: 'unavailable',
      })
      const another = await startService({ database: service.database, clock: service.clock })
      expect((await signIn(another.api)).accountId).toMatch(/^acc_/)
      expect(another.log.join('\n')).toContain('new partitions could not be created')
      await another.deps.jobs.stop()
      await reader.query('commit')
      await service.deps.jobs.sweep()
      expect(await partsOf('audit_log')).toEqual(before)
      await another.http.close()
    } finally {
      await reader.end()
    }
  })
})

describe('a period whose retention is over', () => {
  test('of events is dropped as a whole, and no event of it is read from then on', async () => {
    await past('events', '2026-01-05', '2026-01-12')
    const id = await oldEvent()
    expect((await person.api.get(`/v1/notifications?after=${formatId('event', id)}`)).body.error).toBe('invalid_cursor')
    expect((await person.api.get('/v1/notifications')).body.data.map((event: { id: string }) => event.id)).not.toContain(
      formatId('event', id),
    )
    const recent = (await query<{ id: string }>('select id from events')).map((row) => row.id).filter((each) => each !== id)
    await service.deps.jobs.sweep()
    expect(await partsOf('events')).not.toContain('events_past')
    expect(await query(`select from pg_class where relname = 'events_past'`)).toEqual([])
    for (const each of recent) expect(await isThere('events', each)).toBe(true)
  })

  test('is only detached where an operator archives: the rows are in a table of their own', async () => {
    await past('events', '2026-01-05', '2026-01-12')
    const id = await oldEvent()
    const archiving = await startService({
      database: service.database,
      clock: service.clock,
      env: { EXPIRED_PERIODS: 'detach' },
    })
    await archiving.deps.jobs.sweep()
    expect(await isThere('events', id)).toBe(false)
    expect(await isThere('events_past', id)).toBe(true)
    expect(archiving.log.join('\n')).toContain('"periods":["events_past"],"detached":true')
    await archiving.deps.jobs.stop()
    await archiving.http.close()
    await query('drop table events_past')
  })

  test('of delivered bodies leaves where a retention is set, not before all of it is processed and read, and what was booked stays booked', async () => {
    await past('callback_bodies', '2026-01-01', '2026-02-01')
    await fund(service, person, 100_000n)
    // A January delivery: the row keeps its result, and its body is in that month.
    const id = inPast('2026-01-20T12:00:00Z')
    const [given] = await query<{ id: string }>(
      `select d.id from callback_deliveries d join rail_attempts a on a.id = d.attempt_id join topups t on t.id = a.subject_id
       where t.account_id = $1`,
      [parseId('account', person.accountId)],
    )
    await query(
      `insert into callback_deliveries select (jsonb_populate_record(d, jsonb_build_object('id', $2::text, 'processed_at', null, 'received_at', '2026-01-20'))).* from callback_deliveries d where d.id = $1`,
      [given?.id, id],
    )
    await query(`insert into callback_bodies select $2::uuid, body_ciphertext, body_key_id from callback_bodies where id = $1`, [
      given?.id,
      id,
    ])
    const other = await startService({
      database: service.database,
      clock: service.clock,
      env: { DELIVERY_BODY_RETENTION_DAYS: '90' },
    })
    // The body is sealed for another delivery, so this one cannot be processed, and its month must wait.
    await other.deps.jobs.sweep()
    expect(await isThere('callback_bodies', id)).toBe(true)
    await query('update callback_deliveries set processed_at = received_at where id = $1', [id])
    await service.deps.jobs.sweep()
    expect(await isThere('callback_bodies', id)).toBe(true)
    const unread = { rail: 'MPESA_PAYBILL', direction: 'in', reason: 'unbookable_delivery', deliveryId: id, book: false } as const
    const item = await inTx(service.deps.db, (tx) => recordSuspense(tx, unread))
    await other.deps.jobs.sweep()
    expect(await isThere('callback_bodies', id)).toBe(true)
    const resolved = { outcome: 'explained', note: 'read' } as const
    await inTx(service.deps.db, (tx) => resolveSuspense(tx, service.deps.config, shellOperator('jane'), item as Uuid, resolved))
    await other.deps.jobs.sweep()
    expect(await isThere('callback_bodies', id)).toBe(false)
    expect(await isThere('callback_bodies', given?.id ?? '')).toBe(true)
    expect(await isThere('callback_deliveries', id)).toBe(true)
    expect(await findBreaches(service)).toEqual([])
    await other.deps.jobs.stop()
    await other.http.close()
  })
})
