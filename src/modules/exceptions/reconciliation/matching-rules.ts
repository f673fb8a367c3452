import { isUnderWay } from '../../../db/transitions.ts'
import type { Uuid } from '../../../lib/ids.ts'
import { type Minor, sumOf } from '../../../lib/money.ts'
import { isSameReceipt, receiptKey } from '../../../lib/text.ts'
import { type Booked, type BookingIndex, createBookingIndex, isBooked, sideOf, sizeOf } from './booking-index.ts'
import {
  actionsOfOffers,
  type differenceKinds,
  type Explanation,
  explain,
  explainReceiptFound,
  type StatementDifference,
} from './explanations.ts'
import { type Offer, offersFor, pairsOf, type WholeStatement } from './outcome-offers.ts'
import type { StatementLine } from './statement-rules.ts'

export type Difference = {
  kind: (typeof differenceKinds)[number]
  receipt: string | null
  subject: { kind: 'payment' | 'topup'; id: Uuid } | null
  attemptId: Uuid | null
  bookedMinor: Minor | null
  statedMinor: Minor | null
  reason: string
  action: string
  offer?: Offer['outcome']
}

export type Match = { matched: number; differences: Difference[]; bookedMinor: Minor; statedMinor: Minor }

/** `charges`: the provider's own fees, which are totalled and never matched to payments. */
export type StatementMatch = Match & { charges: { lines: number; minor: Minor } }

/** Whether the line names the receipt of another transaction, which it reverses. */
export const isReversal = ({ linked, receipt, isCharge }: Pick<StatementLine, 'isCharge' | 'linked' | 'receipt'>): boolean =>
  linked !== undefined && isCharge !== true && !isSameReceipt(linked, receipt)

/** Results of a comparison so far. */
const startFindings = (lines: readonly StatementLine[], currency: string) => ({
  lines,
  currency,
  matched: 0,
  differences: [] as Difference[],
  charges: [] as StatementLine[],
  /** The lines of each transaction that names no booking. */
  unexplained: [] as (readonly StatementLine[])[],
  listed: new Map<Booked, StatementLine>(),
  /** Bookings that a line reverses. Their own lines may be in an earlier statement. */
  reversed: new Set<Booked>(),
  /** Booked returns that match a line. */
  returned: new Set<Booked>(),
  /** Lines by the receipt of the transaction that they reverse. */
  reversals: Map.groupBy(lines.filter(isReversal), ({ linked = '' }) => receiptKey(linked)),
  /** Reversals of failed payments, whose two lines cancel out. */
  cancelledOut: new Set<StatementLine>(),
})
type Findings = ReturnType<typeof startFindings>

const addDifference = (
  { currency, differences }: Findings,
  kind: StatementDifference,
  line: StatementLine | null,
  ours: Booked | null,
  more: Pick<Difference, 'offer'> & Partial<Explanation> = {},
): void => {
  const isOther = kind === 'listed_twice' || kind === 'reversed'
  differences.push({
    kind,
    receipt: line?.receipt ?? ours?.receipt ?? null,
    subject: ours && ours.kind !== 'deposit' ? { kind: ours.kind, id: ours.id } : null,
    attemptId: ours?.attemptId ?? null,
    bookedMinor: ours && isBooked(ours) && !isOther ? ours.amountMinor : null,
    statedMinor: line?.amountMinor ?? null,
    ...explain[kind](line, ours, currency),
    ...more,
  })
}

/** A booked return matches one line of its amount. Any other line is a difference. */
const addReversal = (findings: Findings, line: StatementLine, ours: Booked): void => {
  const { reversed, returned } = findings
  reversed.add(ours)
  if (ours.status === 'returned' && ours.amountMinor === -line.amountMinor && !returned.has(ours)) {
    returned.add(ours)
    findings.matched += 1
  } else addDifference(findings, 'reversed', line, ours)
}

/** Classifies the other lines of a transaction, because one receipt also covers the provider's charges. */
const classifyOthers = (findings: Findings, lines: readonly StatementLine[], line: StatementLine, ours: Booked | null): void => {
  for (const other of lines) {
    if (other === line) continue
    if (other.isCharge || sizeOf(other) < sizeOf(line)) findings.charges.push(other)
    else addDifference(findings, 'listed_twice', other, ours)
  }
}

const largest = (lines: readonly StatementLine[]): StatementLine | undefined =>
  lines.toSorted((one, other) => Number(sizeOf(other) - sizeOf(one)))[0]

/** The line with the order's amount, preferably one that names the order. Otherwise the largest one. */
const lineOfOrder = (lines: readonly StatementLine[], ours: Booked): StatementLine | undefined => {
  const names = new Set([ours.orderId, ours.conversation, ours.reference])
  const naming = lines.filter(({ references }) => references.some((reference) => names.has(reference)))
  const hasItsAmount = ({ amountMinor }: StatementLine) => amountMinor === ours.amountMinor
  return naming.find(hasItsAmount) ?? lines.find(hasItsAmount) ?? largest(naming) ?? largest(lines)
}

const isOpen = ({ status }: Booked): boolean => isUnderWay(status) || status === 'pending' || status === 'expired'

const findReversal = (findings: Findings, { receipt, amountMinor }: StatementLine): StatementLine | undefined =>
  findings.reversals
    .get(receiptKey(receipt ?? ''))
    ?.find((each) => each.amountMinor === -amountMinor && !findings.cancelledOut.has(each))

/** Matches the lines of one transaction with the booking that they name. */
const matchTransaction = (findings: Findings, index: BookingIndex, lines: readonly StatementLine[]): void => {
  const { charges, listed } = findings
  const orders = lines.filter((line) => index.isOrder(line, listed))
  if (orders.length === 0) {
    charges.push(...lines)
    return
  }
  const ours = index.findBooking(orders, listed)
  const line = ours && lineOfOrder(orders, ours)
  if (!ours || !line) {
    findings.unexplained.push(lines)
    return
  }
  // A line of the opposite sign reverses its booking.
  if (sideOf(line) !== sideOf(ours)) {
    classifyOthers(findings, lines, line, ours)
    addReversal(findings, line, ours)
    return
  }
  listed.set(ours, line)
  const sameReceipt = lines.find(({ amountMinor }) => amountMinor === -line.amountMinor)
  const others = lines.filter((each) => each !== sameReceipt)
  classifyOthers(findings, others, line, ours)
  const reversal = sameReceipt ?? findReversal(findings, line)
  if (reversal && !isBooked(ours) && !isOpen(ours)) {
    findings.matched += 2
    findings.cancelledOut.add(reversal)
    return
  }
  if (isBooked(ours) && ours.amountMinor === line.amountMinor) findings.matched += 1
  else addDifference(findings, isBooked(ours) ? 'amount_differs' : isOpen(ours) ? 'under_way' : 'ended_otherwise', line, ours)
  if (sameReceipt) addReversal(findings, sameReceipt, ours)
}

/** Follows the other lines, because a reversal may stand before the line that it reverses. */
const matchReversals = (findings: Findings, index: BookingIndex): void => {
  const { reversals, cancelledOut, listed, unexplained } = findings
  for (const line of [...reversals.values()].flat()) {
    if (cancelledOut.has(line)) continue
    const { linked = '' } = line
    const ours =
      index.holderOf(linked, sideOf(line) === 'in' ? 'out' : 'in') ??
      [...listed].find(([, each]) => isSameReceipt(each.receipt, linked))?.[0]
    if (ours) addReversal(findings, line, ours)
    else unexplained.push([line])
  }
}

/** The line that stands for an unexplained transaction. */
const representative = (lines: readonly StatementLine[]): StatementLine | undefined =>
  largest(lines.filter(({ isCharge }) => isCharge !== true)) ?? largest(lines)

/** Pairs unexplained lines with bookings that no line names, and offers outcomes. Returns the bookings that had to be listed. */
const matchRest = (findings: Findings, booked: readonly Booked[], whole?: WholeStatement): Booked[] => {
  const { lines, currency, listed, reversed, unexplained } = findings
  const unnamed = booked.filter((ours) => !listed.has(ours) && !reversed.has(ours))
  const expected = unnamed.filter((ours) => isBooked(ours) && (!whole?.rails || whole.rails.has(ours.rail)))
  const unknown = unnamed.filter(({ status }) => status === 'unknown')
  const unreceipted = expected.filter(({ receipt }) => receipt === null)
  const pairs = pairsOf(
    unexplained.flatMap((transaction) => representative(transaction) ?? []),
    unreceipted,
    unknown,
  )
  const paired = new Set(pairs.map(({ line }) => line))
  const shown = { lines, unexplained: unexplained.flat(), paired, listed }
  const offers = whole ? offersFor(shown, unknown, whole) : new Map<Booked, Offer>()
  const taken = new Set([...paired, ...[...offers.values()].map(({ line }) => line)])
  for (const transaction of unexplained) {
    const explained = transaction.find((line) => taken.has(line))
    const line = explained ?? representative(transaction)
    if (!line) continue
    classifyOthers(findings, transaction, line, null)
    if (!explained) addDifference(findings, 'not_in_our_books', line, null)
  }
  for (const [ours, { outcome, line, reason }] of offers) {
    const action = actionsOfOffers[outcome ?? 'none']
    addDifference(findings, 'outcome_unknown', line, ours, { offer: outcome, reason, action })
  }
  for (const { line, ours, isCertain } of pairs) {
    listed.set(ours, line)
    if (isCertain) addDifference(findings, 'under_way', line, ours, explainReceiptFound(line, ours, currency))
    else findings.matched += 1
  }
  return expected.filter(({ isOutside }) => !isOutside)
}

/**
 * Every line and every booked movement matches, is a charge, or belongs to exactly one difference. The differences therefore add
 * up to the difference of the two totals. `whole`: set for a whole statement, whose omissions also count. `recorded`: further
 * lines, which match, because a person has recorded their movements.
 */
export const match = (
  lines: readonly StatementLine[],
  booked: readonly Booked[],
  currency: string,
  { whole, recorded = [] }: { whole?: WholeStatement | undefined; recorded?: readonly StatementLine[] } = {},
): StatementMatch => {
  const findings = startFindings(lines, currency)
  const index = createBookingIndex(booked)
  for (const transaction of Map.groupBy(lines, index.transactionOf).values()) {
    const own = transaction.filter((line) => !isReversal(line))
    matchTransaction(findings, index, own)
  }
  matchReversals(findings, index)
  const expected = matchRest(findings, booked, whole)
  const { matched, differences, charges, listed, returned } = findings
  for (const ours of expected) if (!listed.has(ours)) addDifference(findings, 'not_in_statement', null, ours)
  const counted = new Set([...expected, ...[...listed.keys()].filter(isBooked)])
  const isCharged = new Set(charges)
  return {
    matched: matched + recorded.length,
    differences,
    bookedMinor: sumOf([...counted, ...recorded]) - sumOf([...returned]),
    statedMinor: sumOf([...lines.filter((line) => !isCharged.has(line)), ...recorded]),
    charges: { lines: charges.length, minor: sumOf(charges) },
  }
}
