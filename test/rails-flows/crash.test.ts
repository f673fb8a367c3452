import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import { type Person, signIn } from '../harness/people.ts'
import { startService, type TestService } from '../harness/service.ts'
import { balanceOf, initiate, isLedgerSound, ordersTo, pass, topupOf } from './scene.ts'

let first: TestService
let second: TestService
let person: Person
let afterTheCrash: Person
beforeAll(async () => {
  first = await startService()
  person = await signIn(first.api)
})
afterAll(async () => {
  await second.close()
  await first.sandbox.close()
  await first.database.drop()
})

/** The process dies while the provider holds back its answer: the intent is committed, what came of it is not. */
const dieWhileSending = async (party: string, takesEffect: boolean): Promise<void> => {
  first.sandbox.failNext({ kind: 'hang', takesEffect })
  const dying = first.deps.jobs.drain()
  dying.catch(() => undefined)
  await vi.waitFor(async () => {
    const [row] = await first.deps.db.query<{ recorded: bigint }>(
      `select count(*) as recorded from rail_attempts where state = 'recorded'`,
    )
    expect(row?.recorded).toBe(1n)
    expect(ordersTo(first, party)).toHaveLength(takesEffect ? 1 : 0)
  })
}

test('a process that is killed between intent and answer sends nothing twice: its successor waits for evidence', async () => {
  const id = await initiate(person, '254722000021')
  await dieWhileSending('254722000021', true)
  await first.stop()
  second = await startService({
    database: first.database,
    clock: first.clock,
    provider: first,
    env: { OPERATOR_PORT: new URL(first.operatorUrl).port },
  })
  afterTheCrash = { ...person, api: second.api.as({ cookie: person.cookie }) }
  await second.deps.jobs.sweep()
  await second.deps.jobs.drain()
  expect((await topupOf(afterTheCrash, id)).status).toBe('pending')
  await pass(second, 121)
  expect((await topupOf(afterTheCrash, id)).status).toBe('succeeded')
  expect(ordersTo(second, '254722000021')).toHaveLength(1)
  expect(await balanceOf(afterTheCrash)).toEqual({ available: '150000', held: '0' })
  expect(await isLedgerSound(second)).toBe(true)
})
