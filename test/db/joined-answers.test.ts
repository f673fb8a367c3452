import pg from 'pg'
import { expect, test, vi } from 'vitest'
import { inTx, type Tx } from '../../src/db/client.ts'
import { statement } from '../../src/db/statement.ts'
import { openService } from '../harness/service.ts'

const service = await openService()
const { db } = service.deps
await db.query('create table test_notes (number int primary key check (number < 100))')

const note = statement('test.note', 'insert into test_notes (number) values ($1)')
const read = statement('test.notes', 'select number from test_notes where number = any($1::int[]) order by number')
const other = statement('test.other', 'select $1::int * 2 as double')
const parted = statement('test.parted', 'select 6 / $1::int as part', 'record')
const numbers = async (...all: number[]) =>
  (await db.query<{ number: number }>(read, [`{${all.join(',')}}`])).map(({ number }) => number)

/** How often a transaction asks the server for its answers. The service's own work goes on beside it, on other connections. */
const syncsDuring = async (work: (tx: Tx) => Promise<unknown>): Promise<number> => {
  const asked: unknown[] = []
  const send = pg.Connection.prototype.sync
  const spy = vi.spyOn(pg.Connection.prototype, 'sync').mockImplementation(function (this: pg.Connection) {
    asked.push(this.stream)
    send.call(this)
  })
  try {
    let own: unknown
    await inTx(db, async (tx) => {
      const before = asked.length
      await work(tx)
      own = asked[before]
    })
    return asked.filter((stream) => stream === own).length
  } finally {
    spy.mockRestore()
  }
}

test('the statements of a transaction that leave together are answered together', async () => {
  const syncs = await syncsDuring(async (tx) => {
    const found = await Promise.all([tx.query(other, [1]), tx.query(read, ['{}']), tx.query(other, [3])])
    expect(found).toEqual([[{ double: 2 }], [], [{ double: 6 }]])
    tx.defer(tx.query(note, [1]))
    tx.defer(tx.query(note, [2]))
  })
  expect(syncs).toBe(2)
  expect(await numbers(1, 2)).toEqual([1, 2])
})

test('after a statement that fails, those behind it fail too, nothing is kept, and the connection serves on', async () => {
  const outcomes: PromiseSettledResult<unknown>[] = []
  const failing = inTx(db, async (tx) => {
    outcomes.push(
      ...(await Promise.allSettled([tx.query(note, [11]), tx.query(note, [100]), tx.query(other, [4]), tx.query(note, [12])])),
    )
  })
  await expect(failing).rejects.toThrow('rolled back')
  const aborted = { status: 'rejected', reason: { code: '25P02' } }
  expect(outcomes).toMatchObject([{ status: 'fulfilled' }, { status: 'rejected', reason: { code: '23514' } }, aborted, aborted])
  expect(await numbers(11, 12, 100)).toEqual([])
  expect(await inTx(db, (tx) => tx.query(other, [5]))).toEqual([{ double: 10 }])
})

test('a deferred write that fails fails the commit with its own error', async () => {
  const failing = inTx(db, async (tx) => {
    tx.defer(tx.query(note, [21]))
    tx.defer(tx.query(note, [100]))
    tx.defer(tx.query(note, [22]))
  })
  await expect(failing).rejects.toMatchObject({ code: '23514' })
  expect(await numbers(21, 22)).toEqual([])
})

test('a statement that was never prepared, because one before it failed, is prepared with its next run', async () => {
  const late = statement('test.late', 'select $1::int + 1 as next')
  await inTx(db, (tx) => Promise.allSettled([tx.query(note, [100]), tx.query(late, [1])])).catch(() => undefined)
  for (let times = 0; times < 3; times += 1) expect(await inTx(db, (tx) => tx.query(late, [1]))).toEqual([{ next: 2 }])
})

test('statements outside of transactions have an answer of their own: one that fails fails no other', async () => {
  const settled = await Promise.allSettled([1, 0, 2].map((by) => db.query(parted, [by])))
  expect(settled.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled'])
})
