import fc from 'fast-check'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { Order as SandboxOrder } from '../../src/dev/sandbox/book.ts'
import { parseId } from '../../src/lib/ids.ts'
import { report } from '../faults/report.ts'
import { isFull } from '../faults/world.ts'
import { credit, newBeneficiary } from '../harness/money.ts'
import { type Person, signIn } from '../harness/people.ts'
import { propertySeed } from '../harness/seed.ts'
import { startService, type TestService } from '../harness/service.ts'
import {
  b2cResult,
  balanceOf,
  deliver,
  initiate,
  isLedgerSound,
  paymentOf,
  stkCallback,
  topupOf,
  transferCallback,
} from './scene.ts'

const fee = [{ up_to_minor: null, fee_minor: '2500' }]

let service: TestService
let second: TestService
type Party = { person: Person; beneficiaries: Record<Rail, string> }
let parties: Party[]
beforeAll(async () => {
  // Thousands of prompts go to one phone while the clock stands still.
  const env = { RATE_LIMIT_ENABLED: 'false', FEES: JSON.stringify({ PESALINK: fee, MPESA_B2C: fee }) }
  service = await startService({ env })
  second = await startService({ database: service.database, clock: service.clock, provider: service, env })
  const party = async (): Promise<Party> => {
    const person = await signIn(service.api)
    await credit(service, person.accountId, 10_000_000_000n)
    const beneficiaries = {
      PESALINK: await newBeneficiary(person.api, { payment_rail: 'PESALINK', destination: '99994999', bank_code: '57' }),
      MPESA_B2C: await newBeneficiary(person.api, { payment_rail: 'MPESA_B2C', destination: '254700004999' }),
    }
    return { person, beneficiaries }
  }
  parties = await Promise.all(Array.from({ length: sideBySide }, party))
})
afterAll(async () => {
  await second.close()
  await service.close()
})

type Rail = 'PESALINK' | 'MPESA_B2C'

/** The provider's possible reports, in any order and number. */
const reports = ['success', 'other_receipt', 'other_amount', 'failure', 'returned', 'nothing_certain', 'timeout'] as const
type Report = (typeof reports)[number]
/** Two processes handle the reports of one list at once, so their order is open. */
type History = Report[][]
const histories = (reported: readonly Report[]) =>
  fc.array(fc.array(fc.constantFrom(...reported), { minLength: 1, maxLength: 3 }), { minLength: 1, maxLength: 4 })

type State = { status: string; disputed: boolean }

const payment = (state: State, reported: Report): State => {
  const open = state.status === 'processing' || state.status === 'unknown'
  if (state.disputed) return state
  switch (reported) {
    case 'success':
    case 'other_receipt':
      return open ? { ...state, status: 'succeeded' } : state
    case 'other_amount':
      return open ? { status: 'unknown', disputed: true } : state
    case 'failure':
      return open ? { ...state, status: 'failed' } : state
    case 'returned':
      return open || state.status === 'succeeded' ? { ...state, status: 'returned' } : state
    default:
      return state.status === 'processing' ? { ...state, status: 'unknown' } : state
  }
}

/** Money under another receipt is another payment of the prompt, and settles even a disputed one: queries name no amount. */
const topup = (state: State, reported: Report): State => {
  if (state.disputed && reported !== 'other_receipt') return state
  switch (reported) {
    case 'success':
    case 'other_receipt':
      return { status: 'succeeded', disputed: false }
    case 'other_amount':
      return state.status === 'succeeded' ? state : { ...state, disputed: true }
    case 'failure':
      return state.status === 'pending' ? { ...state, status: 'failed' } : state
    default:
      return state
  }
}

const orders = <Item>(items: readonly Item[]): Item[][] =>
  items.length <= 1
    ? [[...items]]
    : items.flatMap((item, index) => orders(items.filter((_, other) => other !== index)).map((rest) => [item, ...rest]))

/** Every state that some order of the simultaneous reports leads to. */
const reachable = (
  step: (state: State, reported: Report) => State,
  from: readonly State[],
  reports: readonly Report[],
): State[] => {
  const ends = from.flatMap((state) => orders(reports).map((order) => order.reduce(step, state)))
  return [...new Map(ends.map((state) => [JSON.stringify(state), state])).values()]
}

const deliverAll = async (bodies: readonly { url: string; body: unknown }[]) => {
  await Promise.all(
    bodies.map(({ url, body }, index) => deliver(index % 2 ? url.replace(service.operatorUrl, second.operatorUrl) : url, body)),
  )
  await Promise.all([service.deps.jobs.drain(), second.deps.jobs.drain()])
}

const urlOf = (order: { resultUrl: string }, reported: Report) =>
  reported === 'timeout' ? order.resultUrl.replace(/result$/, 'timeout') : order.resultUrl

/**
 * The number of histories per property. They run side by side, each with its own account. They share steps, because a step of a
 * few histories costs little more than one of a single history. A failure is shrunk to the shortest history that fails alone.
 */
const historyCount = Number(process.env.HISTORIES ?? '15')
const sideBySide = 10
const timeoutMs = 180_000 + historyCount * 3_000

const explore = async (reported: readonly Report[], run: (histories: readonly History[]) => Promise<void>): Promise<void> => {
  const several = fc.array(histories(reported), { minLength: 1, maxLength: sideBySide, size: 'max' })
  let tried = 0
  const property = fc.asyncProperty(several, async (chosen) => {
    await run(chosen)
    tried += chosen.length
  })
  for (let round = 0; tried < historyCount; round += 1) {
    const before = tried
    await fc.assert(property, { numRuns: isFull ? 10 : 3, seed: propertySeed * 1_000 + round })
    report('histories', tried - before)
  }
}

/** One step of all histories: the current reports for each, by its index. */
const steps = function* (histories: readonly History[]): Generator<{ index: number; reports: Report[] }[]> {
  for (let step = 0; histories.some((history) => history.length > step); step += 1)
    yield histories.flatMap((history, index) => {
      const reports = history[step]
      return reports === undefined ? [] : [{ index, reports }]
    })
}

const heldMinor = 152_500n
const cost = { processing: -heldMinor, unknown: -heldMinor, succeeded: -heldMinor, failed: 0n, returned: -2_500n }
const total = ({ available, held }: { available: string; held: string }) => ({ available: BigInt(available), held: BigInt(held) })

type Order = Readonly<SandboxOrder> & { resultUrl: string }
const otherReceipt = ({ receipt }: Order): string => [...receipt].reverse().join('')
const partyOf = (index: number): Party => {
  const party = parties[index]
  if (!party) throw new Error('there are fewer accounts than histories')
  return party
}
const bodies: Record<Rail, (order: Order) => Partial<Record<Report, unknown>>> = {
  PESALINK: (order) => ({
    success: transferCallback(order),
    other_amount: transferCallback(order, { amountMinor: 150_100n }),
    failure: transferCallback(order, { state: 'Failed', code: 1 }),
    returned: transferCallback(order, { state: 'Returned' }),
    nothing_certain: transferCallback(order, { state: 'Failed', code: 400_105 }),
    timeout: {},
  }),
  MPESA_B2C: (order) => ({
    success: b2cResult(order),
    other_receipt: b2cResult(order, { receipt: otherReceipt(order) }),
    other_amount: b2cResult(order, { amountMinor: 150_100n }),
    failure: b2cResult(order, { code: 1 }),
    nothing_certain: b2cResult(order, { code: 99 }),
    timeout: b2cResult(order, { code: 1 }),
  }),
}
const reported: Record<Rail, readonly Report[]> = {
  PESALINK: reports.filter((each) => each !== 'other_receipt'),
  MPESA_B2C: reports.filter((each) => each !== 'returned'),
}

/** The provider's order for each record, found by its reference. */
const orderOf = async (subjectId: string, kind: 'payment' | 'topup'): Promise<Order> => {
  const rows = await service.deps.db.query<{ id: string; reference: string; request: string | null }>(
    'select id::text, reference, provider_request as request from rail_attempts where subject_id = $1',
    [parseId(kind, subjectId)],
  )
  const names = rows.flatMap(({ id, reference, request }) => [id, reference, request])
  const order = service.sandbox.orders().findLast(({ key, reference }) => names.includes(key) || names.includes(reference))
  if (!order?.resultUrl) throw new Error('the provider was not asked for anything')
  return { ...order, resultUrl: order.resultUrl }
}

test.each(['PESALINK', 'MPESA_B2C'] as const)(
  'any reports about a payment by %s in any order settle it as some order of them allows, and the money follows',
  async (rail) => {
    await explore(reported[rail], async (chosen) => {
      const running = await Promise.all(
        chosen.map(async (_, index) => {
          const { person, beneficiaries } = partyOf(index)
          const before = total(await balanceOf(person))
          const made = await person.api.post('/v1/payments', { beneficiary_id: beneficiaries[rail], amount_minor: '150000' })
          return { person, before, id: String(made.body.id), states: [{ status: 'processing', disputed: false }] as State[] }
        }),
      )
      await service.settle()
      const urls = await Promise.all(running.map(({ id }) => orderOf(id, 'payment')))
      for (const step of steps(chosen)) {
        await deliverAll(
          step.flatMap(({ index, reports }) => {
            const order = urls[index]
            const body = order ? bodies[rail](order) : {}
            return order ? reports.map((each) => ({ url: urlOf(order, each), body: body[each] })) : []
          }),
        )
        await Promise.all(
          step.map(async ({ index, reports }) => {
            const one = running[index]
            if (!one) return
            const { status } = await paymentOf(one.person, one.id)
            one.states = reachable(payment, one.states, reports).filter((state) => state.status === status)
            expect(one.states, `${status} after ${JSON.stringify(chosen[index])}`).not.toHaveLength(0)
            const after = total(await balanceOf(one.person))
            expect(after.available - one.before.available).toBe(cost[status as keyof typeof cost])
            expect(after.held - one.before.held).toBe(status === 'processing' || status === 'unknown' ? heldMinor : 0n)
          }),
        )
      }
    })
    expect(await isLedgerSound(service)).toBe(true)
  },
  timeoutMs,
)

test(
  'any reports about a top-up in any order credit it once or not at all',
  async () => {
    const sayable = reports.filter((each) => each !== 'returned')
    await explore(sayable, async (chosen) => {
      const running = await Promise.all(
        chosen.map(async (_, index) => {
          const { person } = partyOf(index)
          const before = total(await balanceOf(person))
          const id = await initiate(person, '254700004999')
          return { person, before, id, states: [{ status: 'pending', disputed: false }] as State[] }
        }),
      )
      await service.settle()
      const orders = await Promise.all(running.map(({ id }) => orderOf(id, 'topup')))
      for (const step of steps(chosen)) {
        await deliverAll(
          step.flatMap(({ index, reports }) => {
            const order = orders[index]
            if (!order) return []
            const body: Record<Report, unknown> = {
              success: stkCallback(order),
              other_receipt: stkCallback(order, { receipt: otherReceipt(order) }),
              other_amount: stkCallback(order, { amountMinor: 150_100n }),
              failure: stkCallback(order, { code: 1032 }),
              returned: {},
              nothing_certain: stkCallback(order, { code: 99 }),
              timeout: {},
            }
            return reports.map((each) => ({ url: urlOf(order, each), body: body[each] }))
          }),
        )
        await Promise.all(
          step.map(async ({ index, reports }) => {
            const one = running[index]
            if (!one) return
            const { status } = await topupOf(one.person, one.id)
            one.states = reachable(topup, one.states, reports).filter((state) => state.status === status)
            expect(one.states, `${status} after ${JSON.stringify(chosen[index])}`).not.toHaveLength(0)
            const after = total(await balanceOf(one.person))
            expect(after.available - one.before.available).toBe(status === 'succeeded' ? 150_000n : 0n)
          }),
        )
      }
    })
    expect(await isLedgerSound(service)).toBe(true)
  },
  timeoutMs,
)
