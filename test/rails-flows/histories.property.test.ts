import fc from 'fast-check'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { report } from '../faults/report.ts'
import { credit, newBeneficiary } from '../harness/money.ts'
import { type Person, signIn } from '../harness/people.ts'
import { startService, type TestService } from '../harness/service.ts'
import {
  b2cResult,
  balanceOf,
  deliver,
  initiate,
  isLedgerSound,
  lastOrder,
  paymentOf,
  stkCallback,
  topupOf,
  transferCallback,
} from './scene.ts'

let service: TestService
let second: TestService
let person: Person
let beneficiaries: Record<Rail, string>
let serial = 0
beforeAll(async () => {
  service = await startService()
  second = await startService({ database: service.database, clock: service.clock, provider: service })
  person = await signIn(service.api)
  await credit(service, person.accountId, 10_000_000_000n)
  beneficiaries = {
    PESALINK: await newBeneficiary(person.api, { payment_rail: 'PESALINK', destination: '99994999', bank_code: '57' }),
    MPESA_B2C: await newBeneficiary(person.api, { payment_rail: 'MPESA_B2C', destination: '254700004999' }),
  }
})
afterAll(async () => {
  await second.close()
  await service.close()
})

type Rail = 'PESALINK' | 'MPESA_B2C'

/** What a provider may say, in any order and number. */
const utterances = ['success', 'other_receipt', 'other_amount', 'failure', 'returned', 'nothing_certain', 'timeout'] as const
type Utterance = (typeof utterances)[number]
/** What is told together is worked off by two processes at once, so its order is anybody's. */
type History = Utterance[][]
const histories = (said: readonly Utterance[]) =>
  fc.array(fc.array(fc.constantFrom(...said), { minLength: 1, maxLength: 3 }), { minLength: 1, maxLength: 4 })

type State = { status: string; disputed: boolean }

const payment = (state: State, said: Utterance): State => {
  const open = state.status === 'processing' || state.status === 'unknown'
  if (state.disputed) return state
  switch (said) {
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

const topup = (state: State, said: Utterance): State => {
  if (state.disputed) return state
  switch (said) {
    case 'success':
    case 'other_receipt':
      return { ...state, status: 'succeeded' }
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

/** Every state that some order of what was told together leads to. */
const reachable = (
  step: (state: State, said: Utterance) => State,
  from: readonly State[],
  told: readonly Utterance[],
): State[] => {
  const ends = from.flatMap((state) => orders(told).map((order) => order.reduce(step, state)))
  return [...new Map(ends.map((state) => [JSON.stringify(state), state])).values()]
}

const tell = async (bodies: readonly { url: string; body: unknown }[]) => {
  await Promise.all(
    bodies.map(({ url, body }, index) => deliver(index % 2 ? url.replace(service.operatorUrl, second.operatorUrl) : url, body)),
  )
  await Promise.all([service.deps.jobs.drain(), second.deps.jobs.drain()])
}

const urlOf = (order: { resultUrl: string }, said: Utterance) =>
  said === 'timeout' ? order.resultUrl.replace(/result$/, 'timeout') : order.resultUrl

/** How long each property looks for a counterexample: longer than in an ordinary run with HISTORY_SECONDS. */
const seconds = Number(process.env.HISTORY_SECONDS ?? '5')
const timeoutMs = (seconds + 30) * 1000

/** By whole histories: fast-check's own time limit leaves the last one running, into the next property's money. */
const explore = async (property: fc.IAsyncProperty<[History]>): Promise<void> => {
  const end = performance.now() + seconds * 1000
  let histories = 0
  for (; performance.now() < end; histories += 5) await fc.assert(property, { numRuns: 5 })
  report('histories', histories)
}
const cost = { processing: -150_000n, unknown: -150_000n, succeeded: -150_000n, failed: 0n, returned: 0n }
const total = ({ available, held }: { available: string; held: string }) => ({ available: BigInt(available), held: BigInt(held) })

type Order = ReturnType<typeof lastOrder>
const bodies: Record<Rail, (order: Order) => Partial<Record<Utterance, unknown>>> = {
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
    other_receipt: b2cResult(order, { receipt: `OTHER${serial}` }),
    other_amount: b2cResult(order, { amountMinor: 150_100n }),
    failure: b2cResult(order, { code: 1 }),
    nothing_certain: b2cResult(order, { code: 99 }),
    timeout: b2cResult(order, { code: 1 }),
  }),
}
const said: Record<Rail, readonly Utterance[]> = {
  PESALINK: utterances.filter((each) => each !== 'other_receipt'),
  MPESA_B2C: utterances.filter((each) => each !== 'returned'),
}

test.each(['PESALINK', 'MPESA_B2C'] as const)(
  'whatever a payment by %s is told in whatever order, it ends as some order of it allows, and the money follows',
  async (rail) => {
    await explore(
      fc.asyncProperty(histories(said[rail]), async (history: History) => {
        const before = total(await balanceOf(person))
        const made = await person.api.post('/v1/payments', { beneficiary_id: beneficiaries[rail], amount_minor: '150000' })
        await service.settle()
        const order = lastOrder(service)
        serial += 1
        const body = bodies[rail](order)
        let states: State[] = [{ status: 'processing', disputed: false }]
        for (const told of history) {
          await tell(told.map((each) => ({ url: urlOf(order, each), body: body[each] })))
          const { status } = await paymentOf(person, made.body.id)
          states = reachable(payment, states, told).filter((state) => state.status === status)
          expect(states, `${status} after ${JSON.stringify(history)}`).not.toHaveLength(0)
          const after = total(await balanceOf(person))
          expect(after.available - before.available).toBe(cost[status as keyof typeof cost])
          expect(after.held - before.held).toBe(status === 'processing' || status === 'unknown' ? 150_000n : 0n)
        }
      }),
    )
    expect(await isLedgerSound(service)).toBe(true)
  },
  timeoutMs,
)

test(
  'whatever a top-up is told in whatever order, it is credited once or not at all',
  async () => {
    await explore(
      fc.asyncProperty(histories(utterances.filter((each) => each !== 'returned')), async (history: History) => {
        const before = total(await balanceOf(person))
        const id = await initiate(person, '254700004999')
        await service.settle()
        const order = lastOrder(service)
        serial += 1
        const body: Record<Utterance, unknown> = {
          success: stkCallback(order),
          other_receipt: stkCallback(order, { receipt: `OTHER${serial}` }),
          other_amount: stkCallback(order, { amountMinor: 150_100n }),
          failure: stkCallback(order, { code: 1032 }),
          returned: {},
          nothing_certain: stkCallback(order, { code: 99 }),
          timeout: {},
        }
        let states: State[] = [{ status: 'pending', disputed: false }]
        for (const told of history) {
          await tell(told.map((each) => ({ url: urlOf(order, each), body: body[each] })))
          const { status } = await topupOf(person, id)
          states = reachable(topup, states, told).filter((state) => state.status === status)
          expect(states, `${status} after ${JSON.stringify(history)}`).not.toHaveLength(0)
          const after = total(await balanceOf(person))
          expect(after.available - before.available).toBe(status === 'succeeded' ? 150_000n : 0n)
        }
      }),
    )
    expect(await isLedgerSound(service)).toBe(true)
  },
  timeoutMs,
)
