import { pino } from 'pino'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type Database, inTx, type Tx } from '../../src/db/client.ts'
import { connect } from '../../src/db/connect.ts'
import { sqlState } from '../../src/db/errors.ts'
import { audit } from '../../src/events/audit.ts'
import { newId } from '../../src/lib/ids.ts'
import { createTestClock } from '../harness/clock.ts'
import { createTestDatabase, type TestDatabase } from '../harness/postgres.ts'
import { untraced } from '../harness/trace-guard.ts'

// Every test database has this check. This test proves that it finds violations.

let database: TestDatabase
let db: Database
const id = newId()
beforeAll(async () => {
  database = await createTestDatabase()
  db = connect({
    url: database.url,
    poolSize: 2,
    statementTimeoutMs: 15_000,
    logger: pino({ level: 'silent' }),
    clock: createTestClock(),
  })
  await db.query('insert into accounts (id, created_at, updated_at) values ($1, now(), now())', [id])
})
afterAll(async () => {
  await db.close()
  await database.drop()
})

const stateOf = (work: (tx: Tx) => Promise<unknown>): Promise<string | undefined> =>
  inTx(db, work).then(
    () => 'committed',
    (error: unknown) => sqlState(error),
  )
const freeze = (tx: Tx) => tx.query(`update accounts set status = 'frozen' where id = $1`, [id])
const insert = (tx: Tx) => tx.query('insert into accounts (id, created_at, updated_at) values ($1, $2, $2)', [newId(), tx.at])

test('a transaction that changes permissions and writes neither an event nor an audit row fails', async () => {
  expect([await stateOf(freeze), await stateOf(insert)]).toEqual([untraced, untraced])
  expect(await db.query('select status from accounts')).toEqual([{ status: 'active' }])
})

test('with an audit row before or after the write it commits, and so does a change that needs none', async () => {
  const writeAudit = (tx: Tx) => audit(tx, { accountId: id, origin: null, way: 'test' }, 'admin.account_update')
  expect(await stateOf(async (tx) => [await freeze(tx), await writeAudit(tx)])).toBe('committed')
  expect(await stateOf(async (tx) => [await writeAudit(tx), await insert(tx)])).toBe('committed')
  expect(await stateOf((tx) => tx.query('update accounts set updated_at = now() where id = $1', [id]))).toBe('committed')
})

test('an audit row of an earlier transaction on the same connection counts for nothing', async () => {
  expect(await stateOf(insert)).toBe(untraced)
})
