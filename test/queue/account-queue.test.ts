import fc from 'fast-check'
import { pino } from 'pino'
import { describe, expect, test } from 'vitest'
import { Refusal } from '../../src/lib/errors.ts'
import { newId, type Uuid } from '../../src/lib/ids.ts'
import {
  type AccountQueueOptions,
  contended,
  createAccountQueue,
  maxInGroup,
  type Outcome,
} from '../../src/queue/account-queue.ts'

type Entry = { account: Uuid; n: number }
type Batch = {
  entries: readonly Entry[]
  wait: boolean
  end: (outcomes?: readonly Outcome<number>[]) => Promise<void>
  fail: (error: Error) => Promise<void>
}

const turn = () => new Promise<void>((resolve) => setImmediate(resolve))
const [one, other, third] = [newId(), newId(), newId()]

/** A queue whose batches end on the test's command. */
const scene = (options: Partial<AccountQueueOptions<Entry, number>> = {}) => {
  const batches: Batch[] = []
  const queue = createAccountQueue<Entry, number>({
    name: 'test',
    logger: pino({ level: 'silent' }),
    maxShared: 1,
    maxWaiting: 1,
    work: (entries, wait) => {
      const { promise, resolve, reject } = Promise.withResolvers<readonly Outcome<number>[]>()
      const after = async (happens: () => void) => {
        happens()
        await turn()
        await turn()
      }
      batches.push({
        entries,
        wait,
        end: (outcomes = entries.map(({ n }) => n)) => after(() => resolve(outcomes)),
        fail: (error) => after(() => reject(error)),
      })
      return promise
    },
    ...options,
  })
  const submit = (account: Uuid, n: number, alone = false) => queue.submit(account, { account, n }, { alone })
  const numbers = () => batches.map(({ entries }) => entries.map(({ n }) => n))
  const last = (): Batch => {
    const batch = batches.at(-1)
    if (!batch) throw new Error('no batch was begun')
    return batch
  }
  return { queue, submit, batches, numbers, last }
}

/** Passes over the account until the queue waits for it. Returns the number of times. */
const passOver = async ({ batches, last }: ReturnType<typeof scene>): Promise<number> => {
  for (let passed = 0; passed < 100; passed += 1) {
    if (last().wait) return passed
    const { entries, end } = last()
    const before = batches.length
    await end(entries.map(({ account, n }) => (account === one ? contended : n)))
    if (batches.length === before) return passed
  }
  return 100
}

describe('a queue of accounts', () => {
  test('does one entry at once, and together those that came while it was under way', async () => {
    const { submit, numbers, last } = scene()
    const first = submit(one, 1)
    await turn()
    const later = [submit(one, 2), submit(other, 3), submit(one, 4)]
    await last().end()
    expect(await first).toBe(1)
    expect(numbers()).toEqual([[1], [3, 2, 4]])
    await last().end()
    expect(await Promise.all(later)).toEqual([2, 3, 4])
  })

  test('gives each account its turn: a busy one fills only the places that the others leave free', async () => {
    const { submit, batches, last } = scene()
    for (let n = 0; n < 200; n += 1) void submit(one, n)
    for (let n = 0; n < 3; n += 1) void submit(other, 1_000 + n)
    await turn()
    const shares = () => [one, other].map((account) => last().entries.filter((entry) => entry.account === account).length)
    expect(shares()).toEqual([maxInGroup - 3, 3])
    // An account with leftover entries is behind a later account.
    void submit(third, 2_000)
    await last().end()
    expect(batches[1]?.entries[0]?.account).toBe(third)
  })

  test('serves more accounts than a batch has places for in turn', async () => {
    const { submit, batches, last } = scene()
    const accounts = Array.from({ length: maxInGroup + 10 }, newId)
    for (const account of accounts) for (let n = 0; n < 2; n += 1) void submit(account, n)
    await turn()
    await last().end()
    const served = new Set(batches.flatMap(({ entries }) => entries.map(({ account }) => account)))
    expect(served).toEqual(new Set(accounts))
  })

  test('begins a second batch only for as many entries as are under way, and no third', async () => {
    const { submit, numbers } = scene({ maxShared: 2 })
    const accounts = Array.from({ length: 6 }, newId)
    for (const [n, account] of accounts.slice(0, 2).entries()) void submit(account, n)
    await turn()
    void submit(accounts[2] as Uuid, 2)
    await turn()
    expect(numbers()).toEqual([[0, 1]])
    void submit(accounts[3] as Uuid, 3)
    await turn()
    expect(numbers()).toEqual([
      [0, 1],
      [2, 3],
    ])
    for (const [n, account] of accounts.entries()) void submit(account, 10 + n)
    await turn()
    expect(numbers()).toHaveLength(2)
  })

  test('passes over an account that is held, and after eight times waits for it apart from the others', async () => {
    const held = scene()
    const busy = held.submit(one, 1)
    await turn()
    expect(await passOver(held)).toBe(8)
    expect([held.last().wait, held.queue.contended()]).toEqual([true, [one]])
    const free = held.submit(other, 2)
    await turn()
    await held.last().end()
    expect(await free).toBe(2)
    await held.batches.at(-2)?.end()
    expect(await busy).toBe(1)
    expect(held.queue.contended()).toEqual([])
  })

  test('counts again from nothing after an account was free once', async () => {
    const held = scene()
    void held.submit(one, 1)
    await turn()
    for (let passed = 0; passed < 7; passed += 1) await held.last().end([contended])
    void held.submit(one, 2)
    await held.last().end()
    expect(held.last().wait).toBe(false)
    expect(await passOver(held)).toBe(8)
  })

  test('waits for few accounts at the same time', async () => {
    const { submit, batches, last } = scene()
    for (const [n, account] of [one, other].entries()) void submit(account, n)
    await turn()
    for (let passed = 0; passed < 8; passed += 1) await last().end(last().entries.map(() => contended))
    expect(batches.filter(({ wait }) => wait).map(({ entries }) => entries.length)).toEqual([1])
    await last().end()
    expect(batches.filter(({ wait }) => wait)).toHaveLength(2)
  })

  test('does a batch that failed again in halves, until only the entry that caused it fails', async () => {
    const { submit, batches } = scene({
      work: async (entries) => {
        batches.push({ entries } as Batch)
        if (entries.some(({ n }) => n === 4)) throw new TypeError('poison')
        return entries.map(({ n }) => n)
      },
    })
    const results = await Promise.allSettled(Array.from({ length: 9 }, (_, n) => submit(one, n)))
    expect(results.map((result) => (result.status === 'fulfilled' ? result.value : result.reason.message))).toEqual([
      0,
      1,
      2,
      3,
      'poison',
      5,
      6,
      7,
      8,
    ])
    expect(batches.map(({ entries }) => entries.length)).toEqual([9, 4, 5, 2, 1, 1, 3])
  })

  test('never repeats a batch whose outcome may be unknown: all of its entries fail, and the queue continues', async () => {
    const { submit, batches, last } = scene()
    const results = Promise.allSettled([submit(one, 1), submit(other, 2)])
    await turn()
    await last().fail(new Refusal('unavailable'))
    expect((await results).map(({ status }) => status)).toEqual(['rejected', 'rejected'])
    expect(batches).toHaveLength(1)
    const next = submit(one, 3)
    await turn()
    await last().end()
    expect(await next).toBe(3)
  })

  test('does an entry that goes alone in a batch of its own', async () => {
    const { submit, batches } = scene()
    void submit(one, 1)
    void submit(one, 2, true)
    void submit(one, 3)
    await turn()
    expect(batches.map(({ entries, wait }) => [entries.map(({ n }) => n), wait])).toEqual([
      [[1, 3], false],
      [[2], true],
    ])
  })

  test('refuses what it could not do in time', async () => {
    const { submit, last } = scene({ maxQueued: 2 })
    const first = [submit(one, 1), submit(one, 2)]
    await expect(submit(other, 3)).rejects.toMatchObject({ code: 'unavailable', headers: { 'retry-after': '1' } })
    await turn()
    await last().end()
    expect(await Promise.all(first)).toEqual([1, 2])
  })

  test('is ready again when a shared batch has ended', async () => {
    const { queue, submit, last } = scene()
    await queue.ready()
    void submit(one, 1)
    await turn()
    let ready = false
    const waiting = queue.ready().then(() => {
      ready = true
    })
    await turn()
    expect(ready).toBe(false)
    await last().end()
    await waiting
    expect(ready).toBe(true)
  })

  test('whatever is held and whatever fails: each entry ends once, never in two batches of one account, and in their order while nothing fails', async () => {
    const accounts = [one, other, third]
    const act = (poison: fc.Arbitrary<boolean>) => fc.array(fc.record({ account: fc.nat(2), poison }), { maxLength: 150 })
    await fc.assert(
      fc.asyncProperty(fc.oneof(act(fc.boolean()), act(fc.constant(false))), fc.infiniteStream(fc.nat(9)), async (acts, held) => {
        const under = new Set<Uuid>()
        const order: Entry[] = []
        const { submit } = scene({
          maxShared: 2,
          work: async (entries, wait) => {
            const own = new Set(entries.map(({ account }) => account))
            for (const account of own) {
              expect(under.has(account)).toBe(false)
              under.add(account)
            }
            await turn()
            for (const account of own) under.delete(account)
            const busy = new Set(wait ? [] : [...own].filter(() => (held.next().value ?? 0) < 4))
            const done = entries.filter(({ account }) => !busy.has(account))
            if (done.some(({ n }) => acts[n]?.poison)) {
              if (entries.length === 1) order.push(...done)
              throw new TypeError('poison')
            }
            order.push(...done)
            return entries.map(({ account, n }) => (busy.has(account) ? contended : n))
          },
        })
        const results = await Promise.allSettled(acts.map(({ account }, n) => submit(accounts[account] as Uuid, n)))
        expect(results.map(({ status }) => status)).toEqual(acts.map(({ poison }) => (poison ? 'rejected' : 'fulfilled')))
        expect(new Set(order.map(({ n }) => n)).size).toBe(acts.length)
        if (acts.some(({ poison }) => poison)) return
        for (const account of accounts) {
          const own = order.filter((entry) => entry.account === account).map(({ n }) => n)
          expect(own).toEqual(acts.flatMap((each, n) => (accounts[each.account] === account ? [n] : [])))
        }
      }),
      { numRuns: 60 },
    )
  })
})
