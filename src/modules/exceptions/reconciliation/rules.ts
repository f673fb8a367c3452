import { isPaid, isUnderWay } from '../../../db/transitions.ts'
import type { Uuid } from '../../../lib/ids.ts'
import { type Minor, sumOf } from '../../../lib/money.ts'
import { isSameReceipt, receiptKey } from '../../../lib/text.ts'
import {
  actionsOfOffers,
  type differenceKinds,
  type Explanation,
  explain,
  explainPair,
  reportActions,
  type StatementDifference,
} from './explanations.ts'
import { type Book, type Booked, type Offer, offersFor, pairsOf } from './outcome-offers.ts'
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

const isBooked = ({ status }: Booked): boolean => isPaid(status)
const isOpen = ({ status }: Booked): boolean => isUnderWay(status) || status === 'pending' || status === 'expired'

/** Counts lines as matched if a person has named their movements. */
export const withMatched = (result: StatementMatch, lines: readonly StatementLine[]): StatementMatch => {
  const minor = sumOf(lines)
  return {
    ...result,
    matched: result.matched + lines.length,
    bookedMinor: result.bookedMinor + minor,
    statedMinor: result.statedMinor + minor,
  }
}

/**
 * Removes the effects of a difference for an uploaded statement. An uploaded file proves nothing, so no outcome is offered, and
 * the action does not claim that anything was booked.
 */
export const withoutEffect = ({ offer: _, ...difference }: Difference): Difference => ({
  ...difference,
  action: reportActions[difference.kind] ?? difference.action,
})

/** Minimum length of a receipt that cannot be confused with another kind of number. */
const surelyNamed = 8

const size = ({ amountMinor }: { amountMinor: Minor }): Minor => (amountMinor < 0n ? -amountMinor : amountMinor)
const sideOf = ({ amountMinor }: { amountMinor: Minor }): 'in' | 'out' => (amountMinor < 0n ? 'out' : 'in')
const largest = (lines: readonly StatementLine[]): StatementLine | undefined =>
  lines.toSorted((one, other) => Number(size(other) - size(one)))[0]

/** The line that stands for an unexplained transaction. */
const headOf = (all: readonly StatementLine[]): StatementLine | undefined =>
  largest(all.filter((each) => each.isCharge !== true)) ?? largest(all)

/** Whether the line names the receipt of another transaction, which it undoes. */
export const isUndoing = ({ linked, receipt, isCharge }: Pick<StatementLine, 'isCharge' | 'linked' | 'receipt'>): boolean =>
  linked !== undefined && isCharge !== true && !isSameReceipt(linked, receipt)

const indexBy = (booked: readonly Booked[], namesOf: (ours: Booked) => readonly (string | null)[]): Map<string, Booked> =>
  new Map(booked.flatMap((each) => namesOf(each).flatMap((name) => (name === null ? [] : [[name, each] as const]))))

/**
 * Every line and every booked movement matches, is a charge, or belongs to exactly one difference. The differences therefore add
 * up to the difference of the two totals. The booking of a receipt's lines is found by an id in their texts, then by the receipt,
 * then by our reference. A line of the opposite sign undoes its booking. `book`: set for a whole statement, whose omissions also
 * count.
 */
export const match = (
  lines: readonly StatementLine[],
  booked: readonly Booked[],
  currency: string,
  book?: Book,
): StatementMatch => {
  const byReceipt = indexBy(booked, (ours) =>
    ours.receipt === null ? [] : [receiptKey(ours.receipt), `${receiptKey(ours.receipt)} ${sideOf(ours)}`],
  )
  /** A payment to ourselves has one receipt for the payout and for its deposit. */
  const holderOf = (receipt: string, side: 'in' | 'out'): Booked | undefined =>
    byReceipt.get(`${receiptKey(receipt)} ${side}`) ?? byReceipt.get(receiptKey(receipt))
  const byId = indexBy(booked, ({ orderId, conversation }) => [orderId, conversation])
  const byReference = indexBy(booked, ({ reference }) => [reference])
  const listed = new Map<Booked, StatementLine>()
  /** Bookings that a line undoes. Their own lines may be in an earlier statement. */
  const undone = new Set<Booked>()
  /** Booked returns that match a line. */
  const returned = new Set<Booked>()
  const differences: Difference[] = []
  const charges: StatementLine[] = []
  let matched = 0

  const differ = (
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
  const referred = (some: readonly StatementLine[], named: ReadonlyMap<string, Booked>): Booked | undefined => {
    for (const { receipt, references } of some)
      for (const reference of references) {
        const ours = named.get(reference)
        const isOurs = ours?.receipt === null || receipt === null || isSameReceipt(ours?.receipt ?? null, receipt)
        // If our books have a different receipt, the line is another movement with the same account reference.
        if (ours && !listed.has(ours) && isOurs) return ours
      }
    return undefined
  }
  /** Finds the payment that a line undoes under a receipt of its own: the line names the order and moves its amount back. */
  const undoneBy = ({ references, amountMinor }: StatementLine): readonly Booked[] =>
    references
      .flatMap((reference) => byId.get(reference) ?? byReference.get(reference) ?? [])
      .filter((ours) => ours.kind === 'payment' && isBooked(ours) && ours.amountMinor === -amountMinor)
  /** Whether the line may be an order. A line that reads like a charge may still name one of our payments. */
  const isOrder = (line: StatementLine): boolean =>
    line.isCharge !== true || [byId, byReference].some((named) => referred([line], named)?.amountMinor === line.amountMinor)
  /** Returns the line with the order's amount, preferably one that names the order. Otherwise the largest one. */
  const lineOf = (some: readonly StatementLine[], ours: Booked): StatementLine | undefined => {
    const names = new Set([ours.orderId, ours.conversation, ours.reference])
    const naming = some.filter(({ references }) => references.some((reference) => names.has(reference)))
    const ofAmount = (each: StatementLine) => each.amountMinor === ours.amountMinor
    return naming.find(ofAmount) ?? some.find(ofAmount) ?? largest(naming) ?? largest(some)
  }
  /** A booked return matches one line of its amount. Any other line is a difference. */
  const undo = (line: StatementLine, ours: Booked): void => {
    undone.add(ours)
    if (ours.status === 'returned' && ours.amountMinor === -line.amountMinor && !returned.has(ours)) {
      returned.add(ours)
      matched += 1
    } else differ('reversed', line, ours)
  }
  /** Classifies the other lines of a transaction, because one receipt also covers the provider's charges. */
  const conclude = (all: readonly StatementLine[], line: StatementLine, ours: Booked | null): void => {
    for (const other of all) {
      if (other === line) continue
      if (other.isCharge || size(other) < size(line)) charges.push(other)
      else differ('listed_twice', other, ours)
    }
  }

  /** Finds the booking that a line names. A short word may match a receipt by chance, so the amount must match too. */
  const namedIn = (line: StatementLine): Booked | undefined => {
    const isSure = (word: string, ours: Booked) => word.length >= surelyNamed || size(line) === size(ours)
    const found = (line.words ?? []).flatMap((word) => {
      const ours = holderOf(word, sideOf(line))
      return ours && isSure(word, ours) ? [ours] : []
    })
    const referring = line.references.flatMap((name) => byId.get(name) ?? byReference.get(name) ?? [])
    const [ours, ...others] = new Set([...found, ...referring])
    return others.length === 0 ? ours : undefined
  }
  const ofBank = new Map(lines.flatMap((line) => (line.receipt === null ? [[line, namedIn(line)] as const] : [])))
  const keyOf = (line: StatementLine) => {
    if (line.receipt === null) return ofBank.get(line) ?? line
    const [payout, deposit] = [holderOf(line.receipt, 'out'), holderOf(line.receipt, 'in')]
    return payout === deposit ? receiptKey(line.receipt) : `${receiptKey(line.receipt)} ${sideOf(line)}`
  }
  const transactions = [...Map.groupBy(lines, keyOf).values()]
  const undoing = Map.groupBy(lines.filter(isUndoing), ({ linked = '' }) => receiptKey(linked))
  const evened = new Set<StatementLine>()
  const undoes = (line: StatementLine): StatementLine | undefined =>
    undoing.get(receiptKey(line.receipt ?? ''))?.find((each) => each.amountMinor === -line.amountMinor && !evened.has(each))

  const unexplained: StatementLine[][] = []
  for (const listedLines of transactions) {
    const all = listedLines.filter((line) => !isUndoing(line))
    const some = all.filter(isOrder)
    if (some.length === 0) {
      charges.push(...all)
      continue
    }
    const [one] = some
    const receipt = one?.receipt ?? null
    const byName = one && (receipt === null ? ofBank.get(one) : holderOf(receipt, sideOf(one)))
    const ours = referred(some, byId) ?? byName ?? referred(some, byReference) ?? some.flatMap(undoneBy)[0]
    const line = ours && lineOf(some, ours)
    if (!ours || !line) {
      unexplained.push(all)
      continue
    }
    if (sideOf(line) !== sideOf(ours)) {
      conclude(all, line, ours)
      undo(line, ours)
      continue
    }
    listed.set(ours, line)
    const sameReceipt = all.find(({ amountMinor }) => amountMinor === -line.amountMinor)
    conclude(
      all.filter((each) => each !== sameReceipt),
      line,
      ours,
    )
    const reversal = sameReceipt ?? undoes(line)
    const isEven = !isBooked(ours) && !isOpen(ours) && reversal !== undefined
    if (isBooked(ours) && ours.amountMinor === line.amountMinor) matched += 1
    else if (isBooked(ours)) differ('amount_differs', line, ours)
    else if (isOpen(ours)) differ('under_way', line, ours)
    // The payment failed, and the statement shows that as two lines that cancel out.
    else if (isEven) matched += 2
    else differ('ended_otherwise', line, ours)
    if (isEven) evened.add(reversal)
    else if (sameReceipt) undo(sameReceipt, ours)
  }
  for (const line of [...undoing.values()].flat()) {
    if (evened.has(line)) continue
    const { linked = '' } = line
    const ours =
      holderOf(linked, sideOf(line) === 'in' ? 'out' : 'in') ??
      [...listed].find(([, each]) => isSameReceipt(each.receipt, linked))?.[0]
    if (ours) undo(line, ours)
    else unexplained.push([line])
  }
  const isListed = ({ rail }: Booked): boolean => !book?.rails || book.rails.has(rail)
  const unlisted = booked.filter((ours) => isListed(ours) && !listed.has(ours) && !undone.has(ours))
  const unknown = booked.filter((ours) => ours.status === 'unknown' && !listed.has(ours) && !undone.has(ours))
  const pairs = pairsOf(
    unexplained.flatMap((all) => headOf(all) ?? []),
    unlisted.filter((ours) => isBooked(ours) && ours.receipt === null),
    unknown,
  )
  const paired = new Set(pairs.map(({ line }) => line))
  const shown = { lines, unexplained: unexplained.flat(), paired, listed }
  const offers = book ? offersFor(shown, unknown, book) : new Map<Booked, Offer>()
  const taken = new Set([...paired, ...[...offers.values()].map(({ line }) => line)])
  for (const all of unexplained) {
    const explained = all.find((line) => taken.has(line))
    const line = explained ?? headOf(all)
    if (!line) continue
    conclude(all, line, null)
    if (!explained) differ('not_in_our_books', line, null)
  }
  for (const [ours, { outcome, line, reason }] of offers)
    differ('outcome_unknown', line, ours, { offer: outcome, reason, action: actionsOfOffers[outcome ?? 'none'] })
  for (const { line, ours, isCertain } of pairs) {
    listed.set(ours, line)
    if (isCertain) differ('under_way', line, ours, explainPair(line, ours, currency))
    else matched += 1
  }
  const expected = unlisted.filter((ours) => isBooked(ours) && !ours.isOutside)
  for (const ours of expected) if (!listed.has(ours)) differ('not_in_statement', null, ours)
  const ofBook = new Set([...expected, ...[...listed.keys()].filter(isBooked)])
  const isCharged = new Set(charges)
  return {
    matched,
    differences,
    bookedMinor: sumOf([...ofBook]) - sumOf([...returned]),
    statedMinor: sumOf(lines.filter((line) => !isCharged.has(line))),
    charges: { lines: charges.length, minor: sumOf(charges) },
  }
}
