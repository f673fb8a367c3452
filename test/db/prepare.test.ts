import { globSync } from 'node:fs'
import { basename } from 'node:path'
import { and, eq, getTableName, is, lt, sql } from 'drizzle-orm'
import { drizzle } from 'drizzle-orm/node-postgres'
import { PgTable } from 'drizzle-orm/pg-core'
import { describe, expect, test } from 'vitest'
import { type AtCommitWrite, first, inTx } from '../../src/db/client.ts'
import { prepare } from '../../src/db/prepare.ts'
import { updateRow } from '../../src/db/prepare-write.ts'
import { namedStatements, statement } from '../../src/db/statement.ts'
import { accounts } from '../../src/db/tables/accounts.ts'
import { payments } from '../../src/db/tables/payments.ts'
import { workspaces } from '../../src/db/tables/workspaces.ts'
import { newId, parseId } from '../../src/lib/ids.ts'
import { credit, newBeneficiary } from '../harness/money.ts'
import { signIn } from '../harness/people.ts'
import { sentDuring } from '../harness/sent.ts'
import { openService } from '../harness/service.ts'

const service = await openService()
const orm = drizzle(service.deps.db.pool, { casing: 'snake_case' })
const person = await signIn(service.api)
await credit(service, person.accountId, 1_000_000n)
const paid = await person.api.post('/v1/payments', {
  beneficiary_id: await newBeneficiary(person.api),
  amount_minor: '10000',
  narrative: 'Rent "May"',
  metadata: { order: '7' },
})
const paymentId = String(parseId('payment', String(paid.body.id)))

/** Every declared table, so that a new type of column is compared too. */
const allTables = async (): Promise<PgTable[]> => {
  const files = globSync('src/db/tables/*.ts').map((file) => basename(file, '.ts'))
  const modules = await Promise.all(
    files.map((file) => import(`../../src/db/tables/${file}.ts`) as Promise<Record<string, unknown>>),
  )
  const tables = modules.flatMap((module) => Object.values(module)).filter((value) => is(value, PgTable))
  expect(tables.length).toBeGreaterThan(30)
  return tables
}

const byId = prepare('test.payment', { id: 'uuid' }, (orm, param) => orm.select().from(payments).where(eq(payments.id, param.id)))

const filtered = prepare('test.payments', { currency: 'text?', before: 'uuid?', open: 'flag?', take: 'rows' }, (orm, param) =>
  orm
    .select({ id: payments.id, workspace: workspaces, owner: { status: accounts.status } })
    .from(payments)
    .innerJoin(workspaces, eq(workspaces.id, payments.workspaceId))
    .innerJoin(accounts, eq(accounts.id, workspaces.owningAccountId))
    .where(
      and(
        param.currency && eq(payments.currency, param.currency),
        param.before && lt(payments.id, param.before),
        param.open && eq(payments.status, 'unknown'),
      ),
    )
    .limit(param.take),
)

const named = (name: string) => namedStatements().filter((statement) => statement.name.startsWith(name))

describe('a declared query', () => {
  test('answers the rows that the ORM does: times, money, days, JSON and texts', async () => {
    const [row] = await orm.select().from(payments).where(eq(payments.id, paymentId))
    expect(row?.countedDay).toMatch(/^\d{4}-\d{2}-\d{2}$/)
    expect(await first(service.deps.db, byId, { id: paymentId })).toEqual(row)
  })

  test('reads every table as the ORM does', async () => {
    await service.deps.db.query('update identities set chain_id = 137')
    for (const table of await allTables()) {
      const name = getTableName(table)
      const query = prepare(`test.table_${name}`, {}, (orm) => orm.select().from(table).limit(3))
      expect(await service.deps.db.run(query, {})).toEqual(await orm.select().from(table).limit(3))
    }
  })

  test('groups the fields of a joined table, and leaves out the conditions whose value is missing', async () => {
    const { db } = service.deps
    const [row] = await db.run(filtered, { take: 1 })
    expect(row).toMatchObject({
      id: paymentId,
      workspace: { owningAccountId: String(parseId('account', person.accountId)) },
      owner: { status: 'active' },
    })
    expect(await db.run(filtered, { take: 1, currency: 'KES', open: false })).toHaveLength(1)
    expect(await db.run(filtered, { take: 1, currency: 'KES', open: true })).toHaveLength(0)
    expect(await db.run(filtered, { take: 1, currency: null, before: paymentId })).toHaveLength(0)
    const names = named('test.payments').map(({ name }) => name)
    expect(names.sort()).toEqual(['', '+before', '+currency', '+currency+open', '+open'].map((given) => `test.payments${given}`))
  })

  test('sees what its transaction wrote, and nobody else does', async () => {
    const { db } = service.deps
    const rolledBack = inTx(db, async (tx) => {
      await tx.query('update payments set narrative = $2 where id = $1', [paymentId, 'changed'])
      expect((await first(tx, byId, { id: paymentId }))?.narrative).toBe('changed')
      expect((await first(db, byId, { id: paymentId }))?.narrative).toBe('Rent "May"')
      throw new Error('undone')
    })
    await expect(rolledBack).rejects.toThrow('undone')
  })

  test('of a page has another connection than lookups, and both are shared by all requests', async () => {
    const { db } = service.deps
    const pidOf = (connection: 'record' | 'page') => {
      const query = prepare(`test.pid_${connection}`, {}, connection, (orm) =>
        orm.select({ pid: sql<number>`pg_backend_pid()` }).from(payments),
      )
      return async () => (await first(db, query, {}))?.pid
    }
    const [ofRecords, ofPages] = [pidOf('record'), pidOf('page')]
    const [record, page, again, another] = await Promise.all([ofRecords(), ofPages(), ofRecords(), ofPages()])
    expect([again, another]).toEqual([record, page])
    expect(page).not.toBe(record)
  })

  test('of lookups by id is one statement for all that is asked in one turn, each with its own rows', async () => {
    const { db } = service.deps
    const joined = prepare('test.joined', { id: 'uuid', narrative: 'text?' }, 'coalesced', (query, at) =>
      query
        .select({ id: payments.id })
        .from(payments)
        .where(and(eq(payments.id, at.id), at.narrative && eq(payments.narrative, at.narrative))),
    )
    let read: readonly unknown[] = []
    const { statements } = await sentDuring(async () => {
      read = await Promise.all([paymentId, newId(), paymentId].map((id) => db.run(joined, { id })))
    })
    // The service's own timers may write in between at any moment.
    const ours = statements.flatMap(({ name }) => (name?.startsWith('test.') ? name : []))
    expect(ours).toEqual(['test.joined@turn'])
    expect(read).toEqual([[{ id: paymentId }], [], [{ id: paymentId }]])
    expect(await db.run(joined, { id: paymentId, narrative: 'another' })).toEqual([])
  })

  test('has a name of its own, and keeps no more than 32 forms of its text', async () => {
    expect(() => prepare('test.payment', {}, (orm) => orm.select().from(payments))).toThrow('two queries are called test.payment')
    const many = prepare('test.forms', { a: 'flag?', b: 'flag?', c: 'flag?', d: 'flag?', e: 'flag?', f: 'flag?' }, (orm, param) =>
      orm
        .select({ id: payments.id })
        .from(payments)
        .where(and(...Object.values(param))),
    )
    for (let number = 0; number < 64; number += 1) {
      const values = Object.fromEntries(['a', 'b', 'c', 'd', 'e', 'f'].map((name, bit) => [name, (number & (1 << bit)) > 0]))
      expect(await service.deps.db.run(many, values)).toHaveLength(1)
    }
    expect(named('test.forms')).toHaveLength(32)
  })

  test('whose fields are not those of its rows fails instead of mixing them up', async () => {
    const joined = prepare('test.mixed', {}, (orm) =>
      orm.select().from(payments).innerJoin(workspaces, eq(workspaces.id, payments.workspaceId)),
    )
    await expect(service.deps.db.run(joined, {})).rejects.toThrow('test.mixed answers')
  })

  test('has a name that Postgres keeps whole, however many columns or filters it has', () => {
    const lengths = namedStatements().map(({ name }) => name.length)
    expect(Math.max(...lengths)).toBeLessThanOrEqual(63)
    const [one, other] = ['a', 'b'].map((end) => statement(`test.${'long'.repeat(20)}${end}`)`select 1`.name)
    expect(one).not.toBe(other)
  })

  test('is looked at by the test of the plans, alone and with each filter', () => {
    const names = namedStatements().map(({ name }) => name)
    for (const name of ['payments.list', 'payments.list+statuses', 'payments.list+metadata', 'payments.by_id'])
      expect(names).toContain(name)
  })
})

test('a change of a field without a column does not compile, and throws instead of being dropped', async () => {
  const change = { displayName: 'Amina', referenceUrl: 'https://example.com' }
  const write = inTx(service.deps.db, async (tx) => {
    // @ts-expect-error: `referenceUrl` is no column of accounts.
    updateRow(tx, accounts, { id: newId() }, change)
  })
  await expect(write).rejects.toThrow('referenceUrl')
})

test('rows that come while a transaction writes its rows fail it instead of being lost', async () => {
  const { db } = service.deps
  const written: AtCommitWrite<number> = {
    write: (tx, rows) => {
      if (rows.length < 128) tx.writeAtCommit(written, [0])
      return tx.query('select')
    },
  }
  const rename = (tx: Pick<typeof db, 'query'>, name: string) =>
    tx.query('update accounts set display_name = $1 where id = $2', [name, parseId('account', person.accountId)])
  const failed = inTx(db, async (tx) => {
    await rename(tx, 'Half a change')
    tx.writeAtCommit(
      written,
      Array.from({ length: 129 }, (_, index) => index),
    )
  })
  await expect(failed).rejects.toThrow('rows were added at the end')
  expect(await db.query('select from accounts where display_name = $1', ['Half a change'])).toEqual([])
})

test('a transaction whose task after the commit fails is committed: its caller does not repeat it, and the other tasks run', async () => {
  const { db } = service.deps
  const others: string[] = []
  const done = inTx(db, async (tx) => {
    await tx.query('create table committed (id int)')
    tx.afterCommit(() => {
      throw new Error('a task failed')
    })
    tx.afterCommit(() => void others.push('ran'))
    return 'done'
  })
  expect(await done).toBe('done')
  expect(others).toEqual(['ran'])
  expect(await db.query('select from committed')).toEqual([])
  expect(service.log.some((line) => line.includes('a task after a commit failed'))).toBe(true)
})
