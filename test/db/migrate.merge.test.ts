import { execFile } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { cp, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import pg from 'pg'
import { afterAll, afterEach, beforeAll, describe, expect, inject, test } from 'vitest'
import { migrate, migrationsCheck } from '../../src/db/migrate.ts'
import { migrationsFolder, readReleases } from '../../src/db/migrations.ts'
import { grantServiceRole } from '../../src/db/service-role.ts'
import { connected } from '../harness/connected.ts'
import { fund, newBeneficiary } from '../harness/money.ts'
import { signIn } from '../harness/people.ts'
import { createEmptyDatabase, createTestDatabase, type TestDatabase } from '../harness/postgres.ts'
import { compiledOnce, programs } from '../harness/programs.ts'
import { startService } from '../harness/service.ts'
import { killAll, patience, spawnServer } from '../start/process.ts'

let folder: string
const databases: TestDatabase[] = []
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'migrate-'))
})
afterEach(killAll)
afterAll(async () => {
  for (const database of databases) await database.drop()
  await rm(folder, { recursive: true, force: true })
})

const opened = async (create: () => Promise<TestDatabase>): Promise<TestDatabase> => {
  const database = await create()
  databases.push(database)
  return database
}

/** Our migrations, and one more for each text, with names in `further`. */
const withFurther = async (...texts: string[]): Promise<{ migrations: string; further: string[] }> => {
  const copy = await mkdtemp(join(folder, 'migrations-'))
  await cp(migrationsFolder, copy, { recursive: true })
  const journal = join(copy, 'meta', '_journal.json')
  const { entries, ...rest } = JSON.parse(await readFile(journal, 'utf8'))
  const next = entries.length
  const further: string[] = []
  for (const [index, text] of texts.entries()) {
    const tag = `${String(next + index).padStart(4, '0')}_further`
    entries.push({ idx: next + index, version: '7', when: entries.at(-1).when + 1, tag, breakpoints: true })
    further.push(tag)
    await writeFile(join(copy, `${tag}.sql`), text)
  }
  await writeFile(journal, JSON.stringify({ ...rest, entries }))
  return { migrations: copy, further }
}

const rowsOf = (url: string, text: string) => connected(url, async (client) => (await client.query(text)).rows)

describe('a migration beside a long reader', () => {
  test('gives up its place after half a second and tries again, and the service pays on', async () => {
    const service = await startService()
    const person = await signIn(service.api)
    await fund(service, person, 1_000_000n)
    const beneficiary = await newBeneficiary(person.api)
    const { migrations, further } = await withFurther('alter table payments add column further text')
    const reader = new pg.Client({ connectionString: service.database.url, application_name: 'a long reader' })
    await reader.connect()
    await reader.query('begin; lock table payments in access share mode')

    const holders: string[] = []
    const twice = Promise.withResolvers<void>()
    const migrated = migrate(service.database.url, {
      folder: migrations,
      pauseMs: 500,
      onContended: (contended) => {
        holders.push(contended.holders.join())
        if (contended.tries === 2) twice.resolve()
      },
    })
    let paying = true
    void twice.promise.then(() => {
      paying = false
    })
    const statuses: number[] = []
    while (paying) {
      const { status } = await person.api.post('/v1/payments', { beneficiary_id: beneficiary, amount_minor: '1000' })
      statuses.push(status)
    }
    await reader.query('commit')
    await reader.end()

    expect(await migrated).toEqual(further)
    // A request that waited behind the migration until the reader's end would have hit its statement timeout.
    expect(new Set(statuses)).toEqual(new Set([201]))
    expect(holders[0]).toContain('a long reader')
    expect((await person.api.post('/v1/payments', { beneficiary_id: beneficiary, amount_minor: '1000' })).status).toBe(201)
    await service.close()
  })

  test('that stays ends with a sentence that names the reader, and changes nothing', async () => {
    const database = await opened(createTestDatabase)
    const { migrations, further } = await withFurther(
      'create table further ();\n--> statement-breakpoint\nalter table payments add column further text',
    )
    await connected(database.url, async (reader) => {
      await reader.query(`set application_name = 'a long reader'; begin; lock table payments in access share mode`)
      const attempt = migrate(database.url, { folder: migrations, patienceMs: 0 })
      await expect(attempt).rejects.toThrow(/^\d{4}_further was not applied: .*process \d+ \(a long reader\) for \d+ s\./)
    })
    expect(await rowsOf(database.url, `select to_regclass('further') as further`)).toEqual([{ further: null }])
    expect(await migrate(database.url, { folder: migrations })).toEqual(further)
  })
})

describe('a migration beside transactions that read its tables', () => {
  test('ends none of them, although they wait for each other in a circle', async () => {
    const database = await opened(createTestDatabase)
    const { migrations, further } = await withFurther(
      ['accounts', 'grants', 'payments']
        .map((name) => `alter table ${name} add column further text`)
        .join('\n--> statement-breakpoint\n'),
    )
    const open = async () => {
      const client = new pg.Client({ connectionString: database.url })
      await client.connect()
      return client
    }
    const [one, other, watcher] = [await open(), await open(), await open()]
    await one.query('begin; lock table payments in access share mode')
    await other.query('begin; lock table grants in access share mode')
    let hasRead = false
    /** Waits until this many statements wait for a table, no longer than the read, which a failed try lets through. */
    const untilWaiting = (count: number) =>
      expect
        .poll(async () => {
          const { rowCount } = await watcher.query(
            `select from pg_locks where not granted and locktype = 'relation' and database = (select oid from pg_database where datname = current_database())`,
          )
          return hasRead || rowCount === count
        })
        .toBe(true)
    const first = Promise.withResolvers<void>()
    const migrated = migrate(database.url, { folder: migrations, pauseMs: 0, onContended: () => first.resolve() })
    // The migration has the first table, and waits for the second.
    await untilWaiting(1)
    const read = one.query('select from accounts').finally(() => {
      hasRead = true
    })
    await untilWaiting(2)
    // From here it waits for the third table, whose holder waits for the first.
    await other.query('commit')
    await read
    await first.promise
    await one.query('commit')
    expect(await migrated).toEqual(further)
    await Promise.all([one, other, watcher].map((client) => client.end()))
  })
})

describe('a migration', () => {
  test('is applied once by processes that start together', async () => {
    const database = await opened(createTestDatabase)
    const { migrations, further } = await withFurther('create table further ()', 'alter table further add column a int')
    const applied = await Promise.all([1, 2, 3].map(() => migrate(database.url, { folder: migrations })))
    expect(applied.flat().sort()).toEqual(further)
  })

  test('of another process is waited for no longer than asked, and the message names its connection', async () => {
    const database = await opened(createEmptyDatabase)
    await connected(database.url, async (other) => {
      const { rows } = await other.query('select pg_backend_pid() as pid, pg_advisory_lock(7241990)')
      const told: string[] = []
      await expect(migrate(database.url, { patienceMs: 0, onWait: (holder) => told.push(holder) })).rejects.toThrow(
        `another process is migrating this database (process ${rows[0].pid} on the database server`,
      )
      expect(told).toEqual([expect.stringMatching(new RegExp(`^process ${rows[0].pid} .* since 20\\d\\d-`))])
    })
    expect(await migrate(database.url)).not.toEqual([])
  })

  test('that fails leaves those before it, and nothing of itself', async () => {
    const database = await opened(createTestDatabase)
    const { migrations } = await withFurther(
      'create table kept ()',
      'create table lost ();\n--> statement-breakpoint\nselect 1 / 0',
    )
    await expect(migrate(database.url, { folder: migrations })).rejects.toThrow('division by zero')
    expect(
      await rowsOf(database.url, `select to_regclass('kept') is not null as kept, to_regclass('lost') is not null as lost`),
    ).toEqual([{ kept: true, lost: false }])
  })

  test('that an operator cancels is not tried again', async () => {
    const database = await opened(createTestDatabase)
    const { migrations } = await withFurther('select pg_sleep(600)')
    const migrated = expect(migrate(database.url, { folder: migrations, patienceMs: 0 })).rejects.toThrow('due to user request')
    const cancel = `select pg_cancel_backend(pid) from pg_stat_activity where datname = current_database() and query like 'select pg_sleep(600)%'`
    await expect.poll(() => rowsOf(database.url, cancel)).toHaveLength(1)
    await migrated
  })

  test('that was edited after it was applied is refused', async () => {
    const database = await opened(createTestDatabase)
    const { migrations, further } = await withFurther('create table further ()')
    await migrate(database.url, { folder: migrations })
    await writeFile(join(migrations, `${further[0]}.sql`), 'create table edited ()')
    await expect(migrate(database.url, { folder: migrations })).rejects.toThrow(/^1 migrations in .* were edited/)
  })

  test('that takes away what the version before needs waits until the upgrade has ended, except on a new database', async () => {
    const { migrations, further } = await withFurther(
      '-- no transaction\n-- after the upgrade\ndrop index concurrently if exists payments_amount',
      'create table further (id uuid)',
    )
    const indexes = `select from pg_indexes where indexname = 'payments_amount'`
    const upgraded = await opened(createTestDatabase)
    expect(await migrate(upgraded.url, { folder: migrations })).toEqual(further.slice(1))
    expect(await rowsOf(upgraded.url, indexes)).toHaveLength(1)
    expect(await connected(upgraded.url, (client) => migrationsCheck(client, migrations)())).toBe(true)
    expect(await migrate(upgraded.url, { folder: migrations, finish: true })).toEqual(further.slice(0, 1))
    expect(await rowsOf(upgraded.url, indexes)).toHaveLength(0)

    const fresh = await opened(createEmptyDatabase)
    expect(await migrate(fresh.url, { folder: migrations })).toEqual(expect.arrayContaining(further))
    expect(await rowsOf(fresh.url, indexes)).toHaveLength(0)
  })

  test('out of which statements were moved is the released one, for processes of both releases', async () => {
    const release = readReleases().find(({ amended }) => amended)
    const [[tag, { hash }] = ['', { hash: '' }]] = Object.entries(release?.amended ?? {})
    const hashes = [release?.migrations[tag], hash]
    const applied = 'select hash from drizzle.__drizzle_migrations'
    const fresh = await opened(createTestDatabase)
    const rows = await rowsOf(fresh.url, applied)
    expect(rows.map(({ hash }) => hash)).toEqual(expect.arrayContaining(hashes))
    await connected(fresh.url, (client) => client.query('delete from drizzle.__drizzle_migrations where hash = $1', [hashes[1]]))
    expect(await migrate(fresh.url)).toEqual([])
    expect(await connected(fresh.url, (client) => migrationsCheck(client)())).toBe(true)
  })

  test('can build an index without a transaction, and replaces a half-built one', async () => {
    const database = await opened(createTestDatabase)
    const { migrations, further } = await withFurther(
      `create table further (a int)`,
      `-- no transaction\ncreate unique index concurrently if not exists further_a on further (a)`,
    )
    const valid = `select indisvalid from pg_index where indexrelid = to_regclass('further_a')`
    await connected(database.url, (client) => client.query('create table further (a int); insert into further values (1), (1)'))
    await writeFile(join(migrations, `${further[0]}.sql`), 'create table if not exists further (a int)')
    await expect(migrate(database.url, { folder: migrations })).rejects.toThrow('could not create unique index')
    expect(await rowsOf(database.url, valid)).toEqual([{ indisvalid: false }])
    await connected(database.url, (client) => client.query('delete from further'))
    expect(await migrate(database.url, { folder: migrations })).toEqual(further.slice(1))
    expect(await rowsOf(database.url, valid)).toEqual([{ indisvalid: true }])
  })

  test('can build an index on each part of a partitioned table, also after a try that ended in the middle', async () => {
    const database = await opened(createTestDatabase)
    const { migrations, further } = await withFurther(`-- no transaction
create index if not exists events_further on only events (type);
--> statement-breakpoint
-- each part of events without events_further
create index concurrently if not exists "{part}_further" on "{part}" (type);
--> statement-breakpoint
-- each part of events without events_further
alter index events_further attach partition "{part}_further"`)
    // The state after a try: the table has the index, one part has an attached one, and a period created meanwhile has its own.
    await connected(database.url, async (client) => {
      await client.query('create index events_further on only events (type)')
      await client.query('create index events_default_further on events_default (type)')
      await client.query('alter index events_further attach partition events_default_further')
      await client.query(`select create_periods('events', 'week', now() + interval '40 days')`)
    })
    expect(await migrate(database.url, { folder: migrations })).toEqual(further)
    expect(await rowsOf(database.url, `select indisvalid from pg_index where indexrelid = 'events_further'::regclass`)).toEqual([
      { indisvalid: true },
    ])
    const [{ parts, attached }] = await rowsOf(
      database.url,
      `select (select count(*)::int from pg_inherits where inhparent = 'events'::regclass) as parts,
         (select count(*)::int from pg_inherits where inhparent = 'events_further'::regclass) as attached`,
    )
    expect([parts > 3, attached]).toEqual([true, parts])
  })
})

describe('a role that serves beside the role that owns', () => {
  test('runs the service, and cannot change a table, the ledger or the audit log', async () => {
    const database = await opened(createTestDatabase)
    const role = `serves_${randomBytes(6).toString('hex')}`
    const { adminUrl } = inject('testServer')
    await connected(adminUrl, (admin) => admin.query(`create role ${role} login password 'serves'`))
    try {
      await grantServiceRole(database.url, role)
      await grantServiceRole(database.url, role)
      const url = new URL(database.url)
      url.username = role
      url.password = 'serves'
      const served: TestDatabase = { url: url.href, drop: async () => undefined }
      expect(await migrate(served.url)).toEqual([])
      const service = await startService({ database: served })
      expect((await service.api.get('/readyz')).status).toBe(200)
      const person = await signIn(service.api)
      await fund(service, person, 100_000n)
      const beneficiary = await newBeneficiary(person.api)
      const paid = await person.api.post('/v1/payments', { beneficiary_id: beneficiary, amount_minor: '1000' })
      await service.settle()
      expect((await person.api.get(`/v1/payments/${paid.body.id}`)).body.status).toBe('succeeded')
      expect((await person.api.get('/v1/notifications')).body.data.length).toBeGreaterThan(3)
      // The owner's functions create and drop the periods of partitioned tables.
      expect(
        await rowsOf(served.url, `select create_periods('events', 'week', now() + interval '90 days') > 5 as created`),
      ).toEqual([{ created: true }])
      expect(await rowsOf(served.url, `select count(*)::int as dropped from drop_periods('events', now())`)).toEqual([
        { dropped: 0 },
      ])
      for (const refused of [
        'alter table payments add column further text',
        'drop table events_default',
        'alter table ledger_transfers disable trigger all',
        'update ledger_transfers set amount_minor = 1',
        'delete from audit_log',
        'truncate events',
        'create table further ()',
        'insert into drizzle.__drizzle_migrations (hash) values (1)',
      ])
        await expect(rowsOf(served.url, refused)).rejects.toThrow(/permission denied|must be owner/)
      await service.close()
    } finally {
      await connected(database.url, (client) => client.query(`drop owned by ${role}`))
      await connected(adminUrl, (admin) => admin.query(`drop role ${role}`))
    }
  })

  test('must exist', async () => {
    const database = await opened(createTestDatabase)
    await expect(grantServiceRole(database.url, 'nobody"here')).rejects.toThrow('Role nobody"here does not exist')
  })
})

describe('MIGRATE=off', patience, () => {
  test('refuses to start on a database of another release, until the command has migrated it', async () => {
    const database = await opened(createEmptyDatabase)
    const env = { DATABASE_URL: database.url, DATA_DIR: folder, MIGRATE: 'off' }
    const refused = spawnServer(env)
    expect(await refused.ended).toEqual({ code: 1, signal: null })
    expect(refused.stderr()).toMatch(/ belongs to another release, and MIGRATE is off: run npm run admin -- migrate\.\n$/)
    expect(await rowsOf(database.url, `select count(*)::int as tables from pg_tables where schemaname = 'public'`)).toEqual([
      { tables: 0 },
    ])

    const admin = (...args: string[]) =>
      promisify(execFile)(process.execPath, [programs.admin, ...args], {
        env: { PATH: process.env.PATH, ...compiledOnce, ...env },
      })
    const { applied } = JSON.parse((await admin('migrate')).stdout)
    expect(applied).toContain('0000_create_schema')
    expect(JSON.parse((await admin('migrate')).stdout)).toEqual({ applied: [] })
    // Statements have their totals before the release's first process starts.
    expect(
      await rowsOf(
        database.url,
        `select since = '2000-01-01Z' as all_older, through > now() - interval '76 minutes' as up_to_now from counted_hours`,
      ),
    ).toEqual([{ all_older: true, up_to_now: true }])
    await expect(admin('migrate', '--minutes', 'many')).rejects.toThrow('--minutes must be a whole number')

    const { url } = await spawnServer(env).ready()
    expect((await fetch(`${url}/readyz`)).status).toBe(200)
  })
})
