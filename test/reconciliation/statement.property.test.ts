import fc from 'fast-check'
import { expect, test } from 'vitest'
import { createBook } from '../../src/dev/sandbox/book.ts'
import { statementCsv } from '../../src/dev/sandbox/control.ts'
import { chargeOf } from '../../src/dev/sandbox/daraja/tariff.ts'
import { scenarioFor } from '../../src/dev/sandbox/scenario.ts'
import { memoryStore } from '../../src/dev/sandbox/store.ts'
import type { AnyRail } from '../../src/lib/rail-names.ts'
import type { Booked } from '../../src/modules/exceptions/reconciliation/booking-index.ts'
import { match } from '../../src/modules/exceptions/reconciliation/matching-rules.ts'
import { readStatement } from '../harness/read-statement.ts'

const providers = { MPESA: ['MPESA_STK', 'MPESA_B2C', 'MPESA_B2B'], PESALINK: ['PESALINK'] } as const
const at = new Date('2026-03-04T09:00:00.000Z')

/** The changes made to a line of the emulator's statement. */
type Change = 'keep' | 'remove' | 'alter' | 'repeat'
type Order = { rail: AnyRail; shillings: number; change: Change; receiptKnown: boolean }
type Case = { provider: 'MPESA' | 'PESALINK'; orders: Order[]; added: number[] }

const cases: fc.Arbitrary<Case> = fc.constantFrom<'MPESA' | 'PESALINK'>('MPESA', 'PESALINK').chain((provider) =>
  fc.record({
    provider: fc.constant(provider),
    orders: fc.array(
      fc.record({
        rail: fc.constantFrom<AnyRail>(...providers[provider]),
        shillings: fc.integer({ min: 10, max: 250_000 }),
        change: fc.constantFrom<Change>('keep', 'keep', 'keep', 'remove', 'alter', 'repeat'),
        receiptKnown: fc.boolean(),
      }),
      { maxLength: 25 },
    ),
    added: fc.array(fc.integer({ min: 1, max: 99_999 }), { maxLength: 4 }),
  }),
)

const signOf = (rail: AnyRail): bigint => (rail === 'MPESA_STK' ? 1n : -1n)

const simulate = ({ provider, orders, added }: Case) => {
  const book = createBook({ now: () => at }, memoryStore())
  const taken = orders.map(({ rail, shillings }, index) => {
    const reference = String(500_000_000_000 + index)
    const order = book.open({
      rail,
      key: rail === 'PESALINK' ? reference : `0192f0c4-5b1e-8cc3-9a53-${String(index).padStart(12, '0')}`,
      conversation: `conversation-${index}`,
      reference,
      amountMinor: BigInt(shillings) * 100n,
      account: '174379',
      party: '254722000001',
      scenario: scenarioFor('254722000001'),
      code: '0',
      resultUrl: null,
      timeoutUrl: null,
    })
    book.settle(order)
    return { order, reference }
  })
  const booked: Booked[] = taken.map(({ order, reference }, index) => ({
    kind: order.rail === 'MPESA_STK' ? 'topup' : 'payment',
    rail: order.rail,
    names: [],
    id: `subject-${index}`,
    attemptId: `attempt-${index}`,
    orderId: order.key,
    reference,
    conversation: order.conversation,
    sent: null,
    receipt: orders[index]?.receiptKnown ? order.receipt : null,
    amountMinor: signOf(order.rail) * order.amountMinor,
    status: 'succeeded',
    at,
  }))
  const [header = '', ...lines] = statementCsv(book.movements(), provider).trimEnd().split('\n')
  const changed = lines.flatMap((line) => {
    const index = taken.findIndex(({ order }) => line.split(',').includes(order.receipt) && !/charge/i.test(line))
    const order = taken[index]?.order
    // A charge stays, even under the receipt of a removed payment.
    if (!order) return [line]
    const amount = `${order.amountMinor / 100n}.00`
    switch (orders[index]?.change) {
      case 'remove':
        return []
      case 'alter':
        return [line.replace(amount, `${order.amountMinor / 100n + 1n}.00`)]
      case 'repeat':
        return [line, line]
      default:
        return [line]
    }
  })
  const columns = header.split(',').length
  const strangers = added.map((shillings, index) => {
    const cells = Array.from({ length: columns }, () => '')
    const place = provider === 'MPESA' ? { receipt: 0, time: 1, status: 3, out: 5 } : { receipt: 6, time: 1, status: 3, out: 5 }
    cells[place.receipt] = `STRANGER${index}`
    cells[place.time] = '2026-03-04 12:00:00'
    cells[place.status] = provider === 'MPESA' ? 'Completed' : 'Success'
    cells[place.out] = provider === 'MPESA' ? `-${shillings}.00` : `${shillings}.00`
    return cells.join(',')
  })
  return { booked, text: ['Organisation: a test', '', header, ...changed, ...strangers, ''].join('\r\n') }
}

test("any statement made from the provider's journal, with rows removed, altered, repeated and added, is explained completely", () => {
  fc.assert(
    fc.property(cases, (books) => {
      const { booked, text } = simulate(books)
      const read = readStatement(text)
      if ('problem' in read) {
        expect(books.orders.every(({ change }) => change === 'remove') && books.added.length === 0).toBe(true)
        return
      }
      const result = match(read.lines, booked, 'KES')
      const count = (change: Change) => books.orders.filter((order) => order.change === change).length
      const kinds = (kind: string) => result.differences.filter((difference) => difference.kind === kind).length
      // Each change is one difference of its kind. No other difference exists.
      expect({
        matched: result.matched,
        removed: kinds('not_in_statement'),
        altered: kinds('amount_differs'),
        repeated: kinds('listed_twice'),
        added: kinds('not_in_our_books'),
        all: result.differences.length,
      }).toEqual({
        matched: count('keep') + count('repeat'),
        removed: count('remove'),
        altered: count('alter'),
        repeated: count('repeat'),
        added: books.added.length,
        all: books.orders.length - count('keep') + books.added.length,
      })
      // The differences add up to the difference of the two totals.
      const explained = result.differences.reduce(
        (sum, { statedMinor, bookedMinor }) => sum + (statedMinor ?? 0n) - (bookedMinor ?? 0n),
        0n,
      )
      expect(result.statedMinor - result.bookedMinor).toBe(explained)
      const charged = books.orders
        .map(({ rail, shillings }) => ({ rail, payer: null, amountMinor: BigInt(shillings) * 100n }))
        .map((moved) => (books.provider === 'MPESA' ? chargeOf(moved) : 3_500n))
        .filter((charge) => charge > 0n)
      expect(result.charges).toEqual({ lines: charged.length, minor: charged.reduce((sum, charge) => sum - charge, 0n) })
      for (const { reason, action } of result.differences)
        expect([reason, action]).toEqual([expect.stringMatching(/\.$/), expect.stringMatching(/\.$/)])
    }),
    { numRuns: 500 },
  )
})

test.each([
  ['no columns', 'a,b,c\n1,2,3\n'],
  [
    'an amount that is none',
    'Receipt No.,Completion Time,Transaction Status,Paid In,Withdrawn\nR1,2026-03-04 12:00:00,Completed,ten,\n',
  ],
  ['a time that is none', 'Receipt No.,Completion Time,Transaction Status,Paid In,Withdrawn\nR1,yesterday,Completed,10.00,\n'],
])('a file with %s is refused whole, because half a statement would show false differences', (_name, text) => {
  expect(readStatement(text)).toEqual({ problem: expect.any(String) })
})

test("a portal's export is read with its preamble, quotes, thousands separators, day-first dates, and without failed lines", () => {
  const text = `\uFEFFOrganization Name,"Payments, Ltd"\n\nReceipt No.,Completion Time,Details,Transaction Status,Paid In,Withdrawn,A/C No.
TCK1,04-03-2026 12:00:00,"Pay Bill from 254***001 ""x""",Completed,"1,500.00",,500000000001
TCK2,04-03-2026 12:01:00,Business Payment,Failed,,-20.00,
TCK3,04-03-2026 12:02:00,Business Payment 500000000002,Completed,,"-2,000.50",\n`
  expect(readStatement(text)).toMatchObject({
    provider: 'MPESA',
    unfinished: [{ receipt: 'TCK2', amountMinor: -2_000n }],
    lines: [
      {
        receipt: 'TCK1',
        at: new Date('2026-03-04T09:00:00Z'),
        amountMinor: 150_000n,
        references: ['500000000001'],
        account: '500000000001',
      },
      { receipt: 'TCK3', at: new Date('2026-03-04T09:02:00Z'), amountMinor: -200_050n, references: ['500000000002'] },
    ],
  })
})
