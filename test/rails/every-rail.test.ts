import fc from 'fast-check'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { loadConfig } from '../../src/config.ts'
import type { Fault } from '../../src/dev/sandbox/gateway.ts'
import { providerOf, type RailName, railNames } from '../../src/lib/rail-names.ts'
import { adapters } from '../../src/rails/all/adapters.ts'
import { payouts } from '../../src/rails/definitions.ts'
import type {
  AdapterDeps,
  ConnectedProvider,
  Evidence,
  PayoutAdapter,
  PayoutInstruction,
  Submission,
} from '../../src/rails/rail.ts'
import { payoutWords } from '../../src/rails/texts.ts'
import { payoutAttempt, startRails, type TestRails } from './harness.ts'

// The demands of `rail.ts` on every paying rail, against its own emulator. A new rail in the list is tested at once.

let rails: TestRails
beforeAll(async () => {
  rails = await startRails()
})
afterAll(() => rails.close())
beforeEach(() => rails.scheduler.runAll())

const settings = loadConfig({})

type AnyAdapter = { create: (options: unknown, deps: AdapterDeps) => ConnectedProvider }

const adapterOf = (rail: RailName, baseUrl = rails.baseUrl): PayoutAdapter => {
  const provider = providerOf(rail)
  const known: Readonly<Record<string, AnyAdapter>> = adapters as never
  const adapter = known[provider]?.create(rails.sandbox.options(baseUrl)[provider], { clock: rails.clock }).payout[rail]
  if (!adapter) throw new Error(`${provider} has no adapter for ${rail}`)
  return adapter
}

/** A payment to the destination in the form's example. */
const payTo = (rail: RailName, fields: Partial<PayoutInstruction> = {}): PayoutInstruction => {
  const { readDestination, banks, limits } = payouts[rail]
  const read = readDestination(payoutWords[rail].destination.placeholder, banks(settings)?.[0]?.code ?? null)
  if ('problem' in read) throw new Error(`the form's example for ${rail} is refused: ${read.problem.message}`)
  return rails.payout({ rail, ...read, amountMinor: limits.minMinor, ...fields })
}

const ordersOf = ({ destination }: PayoutInstruction) => rails.sandbox.orders().filter(({ party }) => party === destination)

/** The evidence of the last delivery about an order. */
const delivered = (adapter: PayoutAdapter, sent: PayoutInstruction, submission: Submission): Evidence | undefined => {
  const last = rails.deliveriesOf(sent.orderId).at(-1)
  return last && adapter.readDelivery(last.kind, last.body, payoutAttempt(sent, submission)).evidence
}

const page = (status: number, takesEffect = false): Fault => ({
  kind: 'answer',
  takesEffect,
  status,
  body: '<html></html>',
  contentType: 'text/html',
})

/** Faults that leave open whether the order arrived. */
const losses: readonly Fault[] = [
  { kind: 'reset', takesEffect: true },
  { kind: 'reset', takesEffect: false },
  page(502),
  page(500, true),
  page(404),
  page(200),
  { kind: 'answer', takesEffect: false, status: 500, body: {} },
  { kind: 'answer', takesEffect: true, status: 200, body: {} },
  { kind: 'answer', takesEffect: true, status: 302, body: {}, location: '/elsewhere' },
]

describe.each(railNames)('%s', (rail) => {
  test('an accepted order moves its money once, and its delivery and a query prove it', async () => {
    const adapter = adapterOf(rail)
    const sent = payTo(rail)
    const submission = await adapter.pay(sent)
    expect(submission).toMatchObject({ kind: 'accepted' })
    await rails.scheduler.runAll()
    const proof = { kind: 'succeeded', receipt: expect.stringMatching(/./), amountMinor: sent.amountMinor }
    expect(delivered(adapter, sent, submission)).toMatchObject(proof)
    const asked = await adapter.query(payoutAttempt(sent, submission))
    await rails.scheduler.runAll()
    expect(asked.kind === 'pending' ? delivered(adapter, sent, submission) : asked).toMatchObject(proof)
    expect(ordersOf(sent).filter(({ state }) => state === 'moved')).toHaveLength(1)
  })

  test.each(losses)(
    'an answer that says nothing of the order is lost, never a refusal: $kind $status $takesEffect',
    async (fault) => {
      const adapter = adapterOf(rail)
      await adapter.ready()
      rails.sandbox.failNext(fault)
      expect(await adapter.pay(payTo(rail))).toMatchObject({ kind: 'lost' })
    },
  )

  test('without permission, without a listener and without a token nothing is sent', async () => {
    const adapter = adapterOf(rail)
    const before = rails.sandbox.orders().length
    const permission = { withinMs: 5_000, take: async () => false }
    expect(await adapter.pay(payTo(rail, { permission }))).toMatchObject({ kind: 'not_sent', code: 'not_permitted' })
    expect(await adapterOf(rail, 'http://127.0.0.1:1').pay(payTo(rail))).toMatchObject({ kind: 'not_sent' })
    expect(rails.sandbox.orders()).toHaveLength(before)
  })

  test('the same order again is paid again or refused as a duplicate, as its definition says', async () => {
    const adapter = adapterOf(rail)
    const sent = payTo(rail)
    const before = ordersOf(sent).length
    await adapter.pay(sent)
    const again = await adapter.pay(sent)
    const paysAgain = payouts[rail].repeat === 'pays_again'
    expect(again).toMatchObject(paysAgain ? { kind: 'accepted' } : { kind: 'lost', duplicate: true })
    expect(ordersOf(sent).length - before).toBe(paysAgain ? 2 : 1)
  })

  test('no text that anybody could deliver proves anything', () => {
    const adapter = adapterOf(rail)
    const attempt = payoutAttempt(payTo(rail), { kind: 'lost', message: '' })
    fc.assert(
      fc.property(fc.constantFrom('result' as const, 'timeout' as const), fc.jsonValue(), (kind, body) => {
        expect(['pending', 'unknown']).toContain(adapter.readDelivery(kind, body, attempt).evidence.kind)
      }),
    )
  })
})
