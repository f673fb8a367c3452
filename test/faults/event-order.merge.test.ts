import { setImmediate as turn } from 'node:timers/promises'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { connect } from '../../src/db/connect.ts'
import type { Json } from '../harness/client.ts'
import { credit, newBeneficiary } from '../harness/money.ts'
import { type Person, signIn } from '../harness/people.ts'
import { propertySeed } from '../harness/seed.ts'
import { startService, type TestService } from '../harness/service.ts'
import { openStream } from '../harness/stream.ts'
import { findBreaches } from '../harness/verify.ts'
import { createRandom } from './random.ts'
import { report } from './report.ts'
import { isFull } from './world.ts'

/** 10,000 payments in the full suite, a few in an ordinary run. */
const count = Number(process.env.FAULT_PAYMENTS ?? (isFull ? '10000' : '150'))
/** Concurrent requests. */
const atOnce = 250
const patienceMs = isFull ? 3_600_000 : 120_000

let processes: [TestService, TestService]
beforeAll(async () => {
  const env = { RATE_LIMIT_ENABLED: 'false', DATABASE_POOL_SIZE: '8' }
  const first = await startService({ env })
  processes = [first, await startService({ database: first.database, clock: first.clock, env })]
})
afterAll(async () => {
  const [first, second] = processes
  await second.close()
  await first.close()
})

const at = (index: number): TestService => processes[index % 2] ?? processes[0]
const apiAt = (index: number, { cookie }: Person) => at(index).api.as({ cookie })

type Listed = { id: string; type: string; data: Json }
type Payer = Person & { beneficiary: string; newest: string }

const newPayer = async (): Promise<Payer> => {
  const person = await signIn(processes[0].api)
  await credit(processes[0], person.accountId, BigInt(count) * 10_000n)
  const beneficiary = await newBeneficiary(person.api)
  const [newest] = (await person.api.get('/v1/notifications?limit=1')).body.data
  return { ...person, beneficiary, newest: newest.id }
}

/** All events of an account since its first payment, in list order. */
const listed = async (someone: Payer): Promise<Listed[]> => {
  const events: Listed[] = []
  for (let after = someone.newest; ; ) {
    const page: Listed[] = (await someone.api.get(`/v1/notifications?limit=100&after=${after}`)).body.data
    const last = page.at(-1)
    if (!last) return events
    events.push(...page)
    after = last.id
  }
}

/** Reads the stream at either process, disconnects after a few events, and resumes after the last one, until none are left. */
const readByStreams = async (someone: Payer, name: string, total: Promise<number>): Promise<Listed[]> => {
  const random = createRandom(propertySeed, name)
  const events: Listed[] = []
  let needed = Number.POSITIVE_INFINITY
  void total.then((known) => {
    needed = known
  })
  while (events.length < needed) {
    const lastEventId = events.at(-1)?.id ?? someone.newest
    const stream = await openStream(apiAt(random.below(2), someone), { lastEventId, timeoutMs: 1_000 })
    for (let left = 1 + random.below(Math.min(count, 700)); left > 0 && events.length < needed; left -= 1) {
      const next = await stream.next().catch(() => undefined)
      if (!next) break
      events.push({ id: next.id, type: next.type, data: next.data.data })
    }
    stream.close()
  }
  return events
}

const rank: Record<string, number> = {
  'payment.created': 0,
  'payment.processing': 1,
  'payment.unknown': 2,
  'payment.succeeded': 3,
}

/** Events in the wrong order: a payment's statuses go forward, and here the balance only falls. */
const inversions = (events: readonly Listed[]): string[] => {
  const outOfOrder: string[] = []
  const reached = new Map<string, number>()
  let available: bigint | undefined
  for (const { id, type, data } of events) {
    if (type === 'balance.updated') {
      const now = BigInt(data.balance.available_minor)
      if (available !== undefined && now > available) outOfOrder.push(`${id}: a balance of ${now} after one of ${available}`)
      available = now
    }
    const state = rank[type]
    if (state === undefined) continue
    if (state <= (reached.get(data.id) ?? -1)) outOfOrder.push(`${id}: ${type} after a later state of its payment`)
    reached.set(data.id, state)
  }
  return outOfOrder
}

test(
  'with many payments over two processes a stream has the events in the order of their effects, none missing, none twice, and the last balance is the true one',
  async () => {
    const random = createRandom(propertySeed, 'payments')
    const busy = await newPayer()
    const others = [await newPayer(), await newPayer(), await newPayer()]
    const total = Promise.withResolvers<number>()
    const readers = [1, 2, 3, 4].map((reader) => readByStreams(busy, `reader ${reader}`, total.promise))

    const counts = new Map<Payer, number>()
    let sent = 0
    let paying = true
    const payOneAfterAnother = async () => {
      while (sent < count) {
        sent += 1
        // Half of the payments are on one account.
        const payer = [busy, busy, busy, ...others][random.below(6)] ?? busy
        counts.set(payer, (counts.get(payer) ?? 0) + 1)
        const body = { beneficiary_id: payer.beneficiary, amount_minor: '10000' }
        const { status, text } = await apiAt(random.below(2), payer).post('/v1/payments', body)
        expect(status, text).toBe(201)
      }
    }
    // Both processes send and settle while others are created.
    const settling = (async () => {
      for (let round = 0; paying; round += 1) {
        await at(round).settle()
        await turn()
      }
    })()
    await Promise.all(Array.from({ length: Math.min(atOnce, count) }, payOneAfterAnother)).finally(() => {
      paying = false
    })
    await settling
    for (const process of processes) await process.settle()

    for (const payer of [busy, ...others]) {
      const events = await listed(payer)
      expect(inversions(events)).toEqual([])
      expect(new Set(events.map(({ id }) => id)).size).toBe(events.length)
      for (const type of ['payment.created', 'payment.succeeded'])
        expect(events.filter((event) => event.type === type)).toHaveLength(counts.get(payer) ?? 0)
      const lastPublished = events.findLast(({ type }) => type === 'balance.updated')?.data.balance
      expect(lastPublished).toEqual((await payer.api.get('/v1/accounts/me')).body.balance)
      if (payer !== busy) continue
      total.resolve(events.length)
      const ids = events.map(({ id }) => id)
      for (const read of await Promise.all(readers)) expect(read.map(({ id }) => id)).toEqual(ids)
      report('events_read_in_order', ids.length * readers.length)
    }
    report('payments_in_order', count)
    // Checks read whole tables, which takes longer than a request may.
    const { deps, clock, database } = processes[0]
    const patient = connect({ url: database.url, poolSize: 1, clock, logger: deps.logger, statementTimeoutMs: 600_000 })
    const breaches = await findBreaches(processes[0], patient).finally(() => patient.close())
    expect(breaches).toEqual([])
  },
  patienceMs,
)
