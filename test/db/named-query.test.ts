import pg from 'pg'
import { expect, test, vi } from 'vitest'
import { inTx } from '../../src/db/client.ts'
import { statement } from '../../src/db/statement.ts'
import { signIn } from '../harness/people.ts'
import { openService } from '../harness/service.ts'

const service = await openService()
const person = await signIn(service.api)

/** How often this process asks what a statement answers while `work` runs. */
const descriptionsDuring = async (work: () => Promise<unknown>): Promise<number> => {
  const spy = vi.spyOn(pg.Connection.prototype, 'describe')
  try {
    await work()
    return spy.mock.calls.length
  } finally {
    spy.mockRestore()
  }
}

const typed = statement(
  'test.typed',
  `select $1::bigint as amount, null::text as nothing, '2026-01-31 08:00:00+00'::timestamptz as at, array['a', 'b']::text[] as names`,
  'record',
)
const row = (amount: bigint) => ({ amount, nothing: null, at: new Date('2026-01-31T08:00:00Z'), names: ['a', 'b'] })

test('a statement is described once on a connection, and answers the same rows afterwards', async () => {
  const { db } = service.deps
  expect(await descriptionsDuring(async () => expect(await db.query(typed, [1])).toEqual([row(1n)]))).toBe(1)
  const again = await descriptionsDuring(async () => {
    for (const amount of [2, 3]) expect(await db.query(typed, [amount])).toEqual([row(BigInt(amount))])
    const many = await Promise.all([4, 5, 6].map((amount) => db.query(typed, [amount])))
    expect(many).toEqual([[row(4n)], [row(5n)], [row(6n)]])
  })
  expect(again).toBe(0)
})

test('lists are read with quoted, empty and missing items as without', async () => {
  const [read] = await service.deps.db.query(
    statement(
      'test.array_lists',
      `select '{}'::text[] as none, array['a b', 'c']::text[] as plain, array['a,b', '', 'null', '{"\\', null, 'NULLS']::text[] as odd,
         array['00000000-0000-0000-0000-000000000001']::uuid[] as ids, array[null]::uuid[] as missing, '[0:1]={a,b}'::text[] as shifted`,
      'record',
    ),
  )
  expect(read).toEqual({
    none: [],
    plain: ['a b', 'c'],
    odd: ['a,b', '', 'null', '{"\\', null, 'NULLS'],
    ids: ['00000000-0000-0000-0000-000000000001'],
    missing: [null],
    shifted: ['a', 'b'],
  })
})

test('the same request a second time asks for no description', async () => {
  const read = () => person.api.get('/v1/accounts/me')
  for (let times = 0; times < 3; times += 1) await read()
  expect(await descriptionsDuring(async () => expect((await read()).status).toBe(200))).toBe(0)
})

test('statements that are sent before the first description has come are answered too', async () => {
  const early = statement('test.early', 'select $1::int as number', 'record')
  const answers = await Promise.all([1, 2, 3].map((number) => service.deps.db.query(early, [number])))
  expect(answers).toEqual([[{ number: 1 }], [{ number: 2 }], [{ number: 3 }]])
})

test('a statement that fails is described with its next run, and the ones behind it are answered', async () => {
  const divided = statement('test.divided', 'select 6 / $1::int as number', 'record')
  const { db } = service.deps
  const [failed, ...others] = await Promise.allSettled([0, 1, 2].map((by) => db.query(divided, [by])))
  expect(failed).toMatchObject({ status: 'rejected', reason: { code: '22012' } })
  expect(others).toEqual([
    { status: 'fulfilled', value: [{ number: 6 }] },
    { status: 'fulfilled', value: [{ number: 3 }] },
  ])
  await expect(db.query(divided, [0])).rejects.toMatchObject({ code: '22012' })
  expect(await db.query(divided, [3])).toEqual([{ number: 2 }])
})

test('the error of a statement names the place that asked for it', async () => {
  const wrong = statement('test.wrong', 'select 1 / $1::int as number', 'record')
  const askHere = () => service.deps.db.query(wrong, [0])
  const error = await askHere().then(
    () => undefined,
    (reason: unknown) => reason,
  )
  expect(error instanceof Error && error.stack).toContain('named-query.test.ts')
})

test('a statement without rows is described once as well, in a transaction', async () => {
  const touched = statement('test.touched', 'update accounts set updated_at = updated_at where id = $1')
  const touch = () => inTx(service.deps.db, (tx) => tx.query(touched, [crypto.randomUUID()]))
  expect(await touch()).toEqual([])
  expect(await descriptionsDuring(async () => expect(await touch()).toEqual([]))).toBe(0)
})
