import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { createRailSandbox } from '../../src/dev/sandbox/rail-sandbox.ts'
import { createSandboxTime, createTimerScheduler } from '../../src/dev/sandbox/scheduler.ts'
import { createMovableClock } from '../../src/lib/clock.ts'
import { createManualScheduler } from '../harness/manual-scheduler.ts'
import { attemptOf, startRails, type TestRails } from './harness.ts'

let rails: TestRails
beforeEach(async () => {
  rails = await startRails()
})
afterEach(() => rails.close())

const control = (
  path: string,
  method: 'GET' | 'POST' | 'DELETE' = 'GET',
  payload?: object,
  headers: Record<string, string> = {},
) =>
  rails.sandbox.app.inject({
    method,
    url: `/control/${path}`,
    headers: { host: 'localhost:1', ...headers },
    ...(payload && { payload }),
  })
const rule = async (effect: string, more: object = {}) => {
  expect((await control('rules', 'POST', { effect, ...more })).statusCode).toBe(201)
}
const pay = (destination = '254722000001') => rails.daraja({ timeoutMs: 1_500 }).payout.pay(rails.payout({ destination }))

describe('a rule makes the next request fail, and only as often as it says', () => {
  test.each([
    ['drop', 'lost', 0],
    ['lose_answer', 'lost', 1],
    ['html', 'lost', 0],
    ['error_500', 'lost', 0],
    ['spike_arrest', 'not_sent', 0],
  ])('%s: the submission is %s', async (effect, kind, moved) => {
    await rule(effect)
    expect((await pay()).kind).toBe(kind)
    await rails.scheduler.runAll()
    expect(rails.sandbox.movements()).toHaveLength(moved)
    expect((await pay()).kind).toBe('accepted')
  })

  test('an outage affects the token too, so nothing is sent, and ends when the rule is removed', async () => {
    await rule('outage', { times: null })
    expect((await pay()).kind).toBe('not_sent')
    expect((await pay()).kind).toBe('not_sent')
    await control('rules', 'DELETE')
    expect((await pay()).kind).toBe('accepted')
  })

  test('a rule for one payee does not affect the others', async () => {
    await rule('html', { party: '254722000009', times: null })
    expect((await pay('254722000009')).kind).toBe('lost')
    expect((await pay('254722000008')).kind).toBe('accepted')
  })
})

describe('a rule makes the next outcome be reported wrong', () => {
  const reported = async (effect: string) => {
    await rule(effect)
    const sent = rails.payout()
    const adapter = rails.daraja().payout
    const submission = await adapter.pay(sent)
    const attempt = { ...attemptOf(sent, submission), rail: sent.rail }
    await rails.scheduler.runAll()
    return rails.deliveriesOf(sent.orderId).map(({ kind, body, authentic }) => ({
      authentic,
      evidence: adapter.readDelivery(kind, body, attempt).evidence,
    }))
  }
  const kinds = async (effect: string) => (await reported(effect)).map(({ evidence }) => evidence.kind)

  test('lost, three times, contradicted, late', async () => {
    expect(await kinds('lose_callback')).toEqual([])
    expect(await kinds('duplicate')).toEqual(['succeeded', 'succeeded', 'succeeded'])
    expect(await kinds('contradict')).toEqual(['succeeded', 'failed'])
    expect(await kinds('late')).toEqual(['unknown', 'succeeded'])
  })
  test('a wrong amount, a wrong id, a forgery before the truth', async () => {
    expect(await reported('wrong_amount')).toMatchObject([{ evidence: { kind: 'succeeded', amountMinor: 50_100n } }])
    expect(await reported('wrong_id')).toMatchObject([{ evidence: { kind: 'succeeded' } }])
    expect((await reported('forge')).map(({ authentic }) => authentic)).toEqual([false, true])
  })
  test('two outcomes in the wrong order', async () => {
    await rule('reorder')
    const [first, second] = [rails.payout(), rails.payout()]
    const adapter = rails.daraja().payout
    await adapter.pay(first)
    await adapter.pay(second)
    await rails.scheduler.runAll()
    const order = rails.received().map(({ orderId }) => orderId)
    expect(order).toEqual([second.orderId, first.orderId])
  })
})

test('the control endpoint is for this machine and for no page of another site; its journal names no person', async () => {
  expect((await control('rules', 'GET', undefined, { host: 'provider.example' })).statusCode).toBe(403)
  expect((await control('rules', 'POST', { effect: 'late' }, { origin: 'https://elsewhere.example' })).statusCode).toBe(403)
  expect((await control('rules', 'POST', { effect: 'explode' })).statusCode).toBe(400)
  await pay()
  await rails.scheduler.runAll()
  const journal = (await control('journal')).body
  expect(JSON.parse(journal).data.map(({ what }: { what: string }) => what)).toEqual(['received', 'sent'])
  expect(journal).not.toContain('254722000001')
  expect(journal).not.toContain('/callbacks/')
  expect((await control('statement.csv')).body).toMatch(/^Receipt No\.,Completion Time/)
})

test('credentials that an earlier version stored stay, and what a newer provider needs is added once', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'sandbox-'))
  const start = () =>
    createRailSandbox({ scheduler: createManualScheduler(), clock: rails.clock, delayMs: 1_000, folder }).options(
      'http://localhost',
    )
  const file = join(folder, 'credentials.json')
  const { MPESA } = start()
  const { apiKey: _, ...stored } = JSON.parse(await readFile(file, 'utf8'))
  await writeFile(file, JSON.stringify(stored))
  const added = start()
  expect(added.MPESA).toEqual(MPESA)
  expect(added.PESALINK.apiKey).toMatch(/^.{24}$/)
  expect(start()).toEqual(added)
  await rm(folder, { recursive: true })
})

test('money, receipts, credentials and orders under way survive a killed process, and its time does not go back', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'sandbox-'))
  const start = () => {
    const scheduler = createManualScheduler()
    return { scheduler, sandbox: createRailSandbox({ scheduler, clock: rails.clock, delayMs: 1_000, folder }) }
  }
  const first = start()
  const url = await first.sandbox.listen()
  const adapter = rails.darajaAt(first.sandbox.options(url).MPESA)
  const [paid, underWay] = [rails.payout({ destination: '254733000001' }), rails.payout({ destination: '254733000002' })]
  await adapter.payout.pay(paid)
  await first.scheduler.runAll()
  const collected = rails.collection({ amountMinor: 50_000n })
  await adapter.collection.collect(collected)
  await first.scheduler.runAll()
  const statement = async (of: string) => (await fetch(`${of}/control/statement.csv`)).text()
  const stated = await statement(url)
  expect(stated).toMatch(/,500\.00,/)
  await adapter.payout.pay(underWay)
  // A kill: nothing is closed in order, and the scheduler's tasks never run.
  await first.sandbox.app.close()

  const second = start()
  const again = await second.sandbox.listen()
  second.sandbox.resume()
  expect(await statement(again)).toBe(stated)
  expect(second.sandbox.options('x').MPESA).toEqual(first.sandbox.options('x').MPESA)
  expect(second.sandbox.movements()).toEqual(first.sandbox.movements())
  await second.scheduler.runAll()
  expect(second.sandbox.movements().map(({ party }) => party)).toEqual(['254733000001', collected.phoneNumber, '254733000002'])
  expect(rails.deliveriesOf(underWay.orderId)).toHaveLength(1)
  await second.sandbox.close()

  const clock = createMovableClock()
  createSandboxTime(clock, createTimerScheduler(), folder).advance(86_400)
  const later = createMovableClock()
  createSandboxTime(later, createTimerScheduler(), folder)
  expect(later.offsetMs()).toBe(86_400_000)
  await rm(folder, { recursive: true })
})
