import { isPaid, isUnderWay } from '../../db/transitions.ts'
import type { Uuid } from '../../lib/ids.ts'
import { displayAmount, type Minor } from '../../lib/money.ts'
import type { Movement } from '../../rails/rail.ts'

/** A line of a provider's statement. */
export type StatementLine = Movement

/** Our record of one payment or top-up that was sent: its amount is signed as in a statement. */
export type Booked = {
  kind: 'payment' | 'topup'
  id: Uuid
  attemptId: Uuid | null
  reference: string | null
  /** The other name under which the provider got it. */
  orderId: Uuid | null
  receipt: string | null
  amountMinor: Minor
  status: string
  at: Date
}

const statementDifferences = [
  'amount_differs',
  'not_in_statement',
  'not_in_our_books',
  'ended_otherwise',
  'under_way',
  'listed_twice',
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
}

export type Match = { matched: number; differences: Difference[]; bookedMinor: Minor; statedMinor: Minor }

const isBooked = ({ status }: Booked): boolean => isPaid(status)
const isOpen = ({ status }: Booked): boolean => isUnderWay(status) || status === 'pending' || status === 'expired'

export const amountText = (amount: Minor, currency: string): string => displayAmount(amount < 0n ? -amount : amount, currency)

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
  listed_twice: () => ({
    reason: 'The statement lists this receipt more than once.',
    action: 'Ask the provider whether the money moved twice.',
  }),
}

const sum = (amounts: Iterable<Minor>): Minor => {
  let total = 0n
  for (const amount of amounts) total += amount
  return total
}

/**
 * Compares a statement with our books. Every line and every booked movement is either matched or part of exactly one difference, so
 * that the differences add up to what the two sums differ by.
 */
export const match = (lines: readonly StatementLine[], booked: readonly Booked[], currency: string): Match => {
  const byReceipt = new Map(booked.flatMap((each) => (each.receipt === null ? [] : [[each.receipt, each] as const])))
  const namesOf = ({ orderId, reference }: Booked) => [orderId, reference].filter((name) => name !== null)
  const byReference = new Map(booked.flatMap((each) => namesOf(each).map((name) => [name, each] as const)))
  const matchedBookings = new Set<Booked>()
  const seen = new Set<string>()
  const differences: Difference[] = []
  let matched = 0

  const differ = (kind: (typeof statementDifferences)[number], line: StatementLine | null, ours: Booked | null): void => {
    differences.push({
      kind,
      receipt: line?.receipt ?? ours?.receipt ?? null,
      subject: ours && { kind: ours.kind, id: ours.id },
      attemptId: ours?.attemptId ?? null,
      bookedMinor: ours && isBooked(ours) && kind !== 'listed_twice' ? ours.amountMinor : null,
      statedMinor: line?.amountMinor ?? null,
      ...explain[kind](line, ours, currency),
    })
  }
  const referred = (line: StatementLine): Booked | undefined => {
    for (const reference of line.references) {
      const ours = byReference.get(reference)
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
    const ours = byReceipt.get(line.receipt) ?? referred(line)
    if (!ours) {
      differ('not_in_our_books', line, null)
      continue
    }
    matchedBookings.add(ours)
    if (isBooked(ours) && ours.amountMinor === line.amountMinor) matched += 1
    else if (isBooked(ours)) differ('amount_differs', line, ours)
    else differ(isOpen(ours) ? 'under_way' : 'ended_otherwise', line, ours)
  }
  for (const ours of booked) if (isBooked(ours) && !matchedBookings.has(ours)) differ('not_in_statement', null, ours)
  return {
    matched,
    differences,
    bookedMinor: sum(booked.filter(isBooked).map(({ amountMinor }) => amountMinor)),
    statedMinor: sum(lines.map(({ amountMinor }) => amountMinor)),
  }
}
