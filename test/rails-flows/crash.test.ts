import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pino } from 'pino'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { newId } from '../../src/lib/ids.ts'
import { openSendLog, type SendLogFile } from '../../src/process/send-log.ts'
import { credit } from '../harness/money.ts'
import { type Person, signIn } from '../harness/people.ts'
import { startService, type TestService } from '../harness/service.ts'
import { alerts, balanceOf, initiate, isLedgerSound, movementsTo, ordersTo, pass, pay, paymentOf, topupOf } from './scene.ts'

let first: TestService
let second: TestService | undefined
let person: Person
beforeEach(async () => {
  first = await startService()
  person = await signIn(first.api)
})
afterEach(async () => {
  if (second) expect(await isLedgerSound(second)).toBe(true)
  await second?.close()
  second = undefined
  await first.sandbox.close()
  await first.database.drop()
})

/**
 * The process dies while the provider delays its answer: the intent is committed, the result never is. The successor has the same
 * database, clock, provider and address.
 */
const dieWhileSending = async (party: string, takesEffect: boolean, sendLog?: SendLogFile): Promise<TestService> => {
  first.sandbox.failNext({ kind: 'hang', takesEffect })
  first.deps.jobs.drain().catch(() => undefined)
  const sending = () => first.deps.db.query(`select from rail_attempts where state = 'sending'`)
  await expect.poll(async () => [(await sending()).length, ordersTo(first, party).length]).toEqual([1, takesEffect ? 1 : 0])
  await first.stop()
  second = await startService({
    database: first.database,
    clock: first.clock,
    provider: first,
    env: { OPERATOR_PORT: new URL(first.operatorUrl).port },
    ...(sendLog && { sendLog }),
  })
  person = { ...person, api: second.api.as({ cookie: person.cookie }) }
  return second
}

test("a top-up whose process was killed between intent and answer has one prompt, and is credited on the provider's evidence", async () => {
  const id = await initiate(person, '254722000021')
  const successor = await dieWhileSending('254722000021', true)
  await successor.deps.jobs.sweep()
  await successor.deps.jobs.drain()
  expect((await topupOf(person, id)).status).toBe('pending')
  await pass(successor, 121)
  expect((await topupOf(person, id)).status).toBe('succeeded')
  expect(ordersTo(successor, '254722000021')).toHaveLength(1)
  expect(await balanceOf(person)).toEqual({ available: '150000', held: '0' })
})

test('a payment whose process was killed after it was sent is never sent again: it is unknown, queried and settled', async () => {
  await credit(first, person.accountId, 1_000_000n)
  const id = await pay(person, { payment_rail: 'MPESA_B2C', destination: '254711000001' })
  const successor = await dieWhileSending('254711000001', true)
  await successor.deps.jobs.sweep()
  await successor.deps.jobs.drain()
  expect((await paymentOf(person, id)).status).toBe('processing')
  successor.clock.advance(121)
  await successor.deps.jobs.sweep()
  expect((await paymentOf(person, id)).status).toBe('unknown')
  expect(alerts(successor)).toEqual(['payment_unknown'])
  expect((await balanceOf(person)).held).toBe('150000')
  await successor.settle()
  expect((await paymentOf(person, id)).status).toBe('succeeded')
  expect(ordersTo(successor, '254711000001')).toHaveLength(1)
  expect(movementsTo(successor, '254711000001')).toHaveLength(1)
})

test('a payment whose process was killed before it was sent is not sent by its successor: the outcome is unknown, so a person decides', async () => {
  await credit(first, person.accountId, 1_000_000n)
  const id = await pay(person, { payment_rail: 'MPESA_B2C', destination: '254722000022' })
  const successor = await dieWhileSending('254722000022', false)
  await pass(successor, 121)
  for (let hour = 0; hour < 48; hour += 6) await pass(successor, 21_600)
  expect((await paymentOf(person, id)).status).toBe('unknown')
  expect(ordersTo(successor, '254722000022')).toHaveLength(0)
  expect(await balanceOf(person)).toEqual({ available: '850000', held: '150000' })
})

describe('with a send log, a process that had the right to send and died', () => {
  let folder: string
  let sends: SendLogFile
  const b2b = { payment_rail: 'MPESA_B2B', destination: '400211', account_reference: 'A1' }

  const openOwn = async (): Promise<SendLogFile> => {
    const opened = await openSendLog(folder, 'a0000000-0000-4000-8000-000000000000', {
      clock: first.clock,
      logger: pino({ level: 'silent' }),
    })
    if (!opened) throw new Error('there is no send log')
    return opened
  }
  const files = async () => (await readdir(folder, { recursive: true, withFileTypes: true })).filter((each) => each.isFile())
  const change = async (change: (text: string) => string) => {
    for (const { parentPath, name } of await files()) {
      const file = join(parentPath, name)
      await writeFile(file, change(await readFile(file, 'utf8')))
    }
  }
  const withoutSends = (text: string) => `${text.split('\n')[0]}\n`

  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'sends-'))
    sends = await openOwn()
    await first.stop()
    first = {
      ...first,
      ...(await startService({ database: first.database, clock: first.clock, provider: first, sendLog: sends })),
    }
    person = { ...person, api: first.api.as({ cookie: person.cookie }) }
    await credit(first, person.accountId, 1_000_000n)
  })
  afterEach(async () => {
    sends.close()
    await rm(folder, { recursive: true, force: true })
  })

  test('before it wrote the attempt down, sent nothing: its successor sends it, once', async () => {
    const id = await pay(person, b2b)
    const successor = await dieWhileSending('400211', false, await openOwn())
    await change(withoutSends)
    await pass(successor, 61)
    await successor.settle()
    expect((await paymentOf(person, id)).status).toBe('succeeded')
    expect(ordersTo(successor, '400211')).toHaveLength(1)
    expect(alerts(successor)).toEqual([])
  })

  test('after it wrote the attempt down, may have sent it: the outcome is unknown', async () => {
    const id = await pay(person, b2b)
    const successor = await dieWhileSending('400211', false, await openOwn())
    await pass(successor, 61)
    expect((await paymentOf(person, id)).status).toBe('unknown')
    expect(ordersTo(successor, '400211')).toHaveLength(0)
  })

  test('on a machine that was started again since, or on another one, proves nothing: one interval later it is unknown', async () => {
    const id = await pay(person, b2b)
    const successor = await dieWhileSending('400211', false, await openOwn())
    await change(() => `boot ${newId()}\n`)
    await pass(successor, 61)
    expect((await paymentOf(person, id)).status).toBe('processing')
    await pass(successor, 31)
    expect((await paymentOf(person, id)).status).toBe('unknown')
    expect(ordersTo(successor, '400211')).toHaveLength(0)
  })
})
