import { isPaid, isUnderWay } from '../../db/transitions.ts'
import type { Uuid } from '../../lib/ids.ts'
import { displayAmount, type Minor } from '../../lib/money.ts'
import type { Booked, StatementLine } from './books.ts'
import { type Offer, offersFor } from './outcome-offers.ts'

const statementDifferences = [
  'amount_differs',
  'not_in_statement',
  'not_in_our_books',
  'ended_otherwise',
  'under_way',
  'listed_twice',
  'outcome_unknown',
] as const
export const differenceKinds = [...statementDifferences, 'balance_differs'] as const

export type Difference = {
  kind: (typeof differenceKinds)[number]
  receipt: string | null
  subject: { kind: 'payment' | 'topup'; id: Uuid } | null
  attemptId: Uuid | null
  bookedMinor: Minor | null
  statedMinor: Minor | null
  reason: string
  action: string
  /** The outcome that the statement shows for a payment that is unknown here: a person accepts it. */
  offer?: Offer['outcome']
}

export type Match = { matched: number; differences: Difference[]; bookedMinor: Minor; statedMinor: Minor }

const isBooked = ({ status }: Booked): boolean => isPaid(status)
const isOpen = ({ status }: Booked): boolean => isUnderWay(status) || status === 'pending' || status === 'expired'

export const amountText = (amount: Minor, currency: string): string => displayAmount(amount < 0n ? -amount : amount, currency)

/** What an offer rests on, and what accepting it does. */
const explainOffer = (outcome: Offer['outcome']): Explanation => {
  switch (outcome) {
    case 'succeeded':
      return {
        reason: 'The statement lists one payment of this sum to this payee that nothing else here explains.',
        action: 'Accept the outcome: the payment has succeeded with this receipt.',
      }
    case 'failed':
      return {
        reason: 'The statement covers the time of this payment, and lists nothing like it.',
        action: 'Accept the outcome: the payment has failed, and its money is given back.',
      }
    default:
      return {
        reason: 'The statement covers the time of this payment, and lists something like it that nothing here explains.',
        action: 'Read the lines of this sum or this payee, then resolve the payment with what they show.',
      }
  }
}

export type Explanation = Pick<Difference, 'reason' | 'action'>

const explain: Readonly<
  Record<
    (typeof statementDifferences)[number],
    (line: StatementLine | null, ours: Booked | null, currency: string) => Explanation
  >
> = {
  amount_differs: (line, ours, currency) => ({
    reason: `The statement shows ${amountText(line?.amountMinor ?? 0n, currency)}, our books ${amountText(ours?.amountMinor ?? 0n, currency)}.`,
    action: 'Ask the provider which is right, then correct our books by an adjustment.',
  }),
  not_in_statement: () => ({
    reason: 'Our books have it as moved, and the statement does not list it.',
    action: 'Ask the provider about the receipt. If the money did not move, correct our books by an adjustment.',
  }),
  not_in_our_books: () => ({
    reason: 'The statement lists it, and nothing here was sent with its receipt or reference.',
    action: 'Find out who moved it at the provider. Until then it stands on the suspense account.',
  }),
  ended_otherwise: (_line, ours) => ({
    reason: `The statement shows that the money moved, and here the ${ours?.kind ?? 'payment'} is ${ours?.status ?? 'ended'}.`,
    action: 'Book it: resolve the late success, or adjust the account.',
  }),
  under_way: (_line, ours) => ({
    reason: `The statement shows the end of a ${ours?.kind ?? 'payment'} that is ${ours?.status ?? 'under way'} here.`,
    action: 'Nothing: the statement is taken as evidence and the end is recorded.',
  }),
  outcome_unknown: () => explainOffer(null),
  listed_twice: () => ({
    reason: 'The statement lists this receipt more than once.',
    action: 'Ask the provider whether the money moved twice.',
  }),
}

const reportActions: Partial<Record<Difference['kind'], string>> = {
  not_in_our_books: 'Find out who moved it at the provider. Nothing was booked: an uploaded statement is only compared.',
  under_way:
    'Nothing was recorded: an uploaded statement is only compared. Resolve the payment, or reconcile the file by the command.',
  outcome_unknown: 'Read the lines of this sum or this payee, then resolve the payment with what they show.',
}

/** A difference that only says what differs: it offers no outcome, and promises nothing that is done about it. */
export const withoutEffect = ({ offer: _, ...difference }: Difference): Difference => ({
  ...difference,
  action: reportActions[difference.kind] ?? difference.action,
})

const sum = (amounts: Iterable<Minor>): Minor => {
  let total = 0n
  for (const amount of amounts) total += amount
  return total
}

/**
 * Compares a statement with our books. Every line and every booked movement is either matched or part of exactly one difference, so
 * that the differences add up to what the two sums differ by. A line is looked for by an id in its texts (the order's, then the provider's
 * own), by its receipt, by our reference. `period`: of a whole statement, which also shows what it does not list.
 */
export const match = (
  lines: readonly StatementLine[],
  booked: readonly Booked[],
  currency: string,
  period?: { start: Date; end: Date },
): Match => {
  const byReceipt = new Map(booked.flatMap((each) => (each.receipt === null ? [] : [[each.receipt, each] as const])))
  const byName = (namesOf: (ours: Booked) => readonly (string | null)[]) =>
    new Map(booked.flatMap((each) => namesOf(each).flatMap((name) => (name === null ? [] : [[name, each] as const]))))
  const byId = byName(({ orderId, conversation }) => [orderId, conversation])
  const byReference = byName(({ reference }) => [reference])
  const matchedBookings = new Set<Booked>()
  const seen = new Set<string>()
  const differences: Difference[] = []
  let matched = 0

  const differ = (
    kind: (typeof statementDifferences)[number],
    line: StatementLine | null,
    ours: Booked | null,
    more: Pick<Difference, 'offer'> & Partial<Explanation> = {},
  ): void => {
    differences.push({
      kind,
      receipt: line?.receipt ?? ours?.receipt ?? null,
      subject: ours && { kind: ours.kind, id: ours.id },
      attemptId: ours?.attemptId ?? null,
      bookedMinor: ours && isBooked(ours) && kind !== 'listed_twice' ? ours.amountMinor : null,
      statedMinor: line?.amountMinor ?? null,
      ...explain[kind](line, ours, currency),
      ...more,
    })
  }
  const unexplained: StatementLine[] = []
  const referred = (line: StatementLine, named: ReadonlyMap<string, Booked>): Booked | undefined => {
    for (const reference of line.references) {
      const ours = named.get(reference)
      // A different receipt in our books belongs to another movement with the same account reference.
      if (ours && !matchedBookings.has(ours) && (ours.receipt === null || ours.receipt === line.receipt)) return ours
    }
    return undefined
  }

  for (const line of lines) {
    if (seen.has(line.receipt)) {
      differ('listed_twice', line, byReceipt.get(line.receipt) ?? null)
      continue
    }
    seen.add(line.receipt)
    const ours = referred(line, byId) ?? byReceipt.get(line.receipt) ?? referred(line, byReference)
    if (!ours) {
      unexplained.push(line)
      continue
    }
    matchedBookings.add(ours)
    if (isBooked(ours) && ours.amountMinor === line.amountMinor) matched += 1
    else if (isBooked(ours)) differ('amount_differs', line, ours)
    else differ(isOpen(ours) ? 'under_way' : 'ended_otherwise', line, ours)
  }
  const unknown = booked.filter((ours) => ours.status === 'unknown' && !matchedBookings.has(ours))
  const offers = period ? offersFor(unexplained, unknown, period) : new Map<Booked, Offer>()
  const offered = new Set([...offers.values()].map(({ line }) => line))
  for (const line of unexplained) if (!offered.has(line)) differ('not_in_our_books', line, null)
  for (const [ours, { outcome, line }] of offers)
    differ('outcome_unknown', line, ours, { offer: outcome, ...explainOffer(outcome) })
  for (const ours of booked) if (isBooked(ours) && !matchedBookings.has(ours)) differ('not_in_statement', null, ours)
  return {
    matched,
    differences,
    bookedMinor: sum(booked.filter(isBooked).map(({ amountMinor }) => amountMinor)),
    statedMinor: sum(lines.map(({ amountMinor }) => amountMinor)),
  }
}
