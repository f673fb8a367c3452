import { isPaid, isUnderWay } from '../../../db/transitions.ts'
import type { Uuid } from '../../../lib/ids.ts'
import { displayAmount, type Minor } from '../../../lib/money.ts'
import { isSameReceipt, receiptKey } from '../../../lib/text.ts'
import { nairobiDate } from '../../../rails/fields.ts'
import { type Book, type Booked, type Offer, offersFor } from './outcome-offers.ts'
import type { StatementLine } from './statement-rules.ts'

const statementDifferences = [
  'amount_differs',
  'not_in_statement',
  'not_in_our_books',
  'ended_otherwise',
  'under_way',
  'listed_twice',
  'reversed',
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
  offer?: Offer['outcome']
}

export type Match = { matched: number; differences: Difference[]; bookedMinor: Minor; statedMinor: Minor }

/** `charges`: the provider's own fees, which are totalled and never matched to payments. */
export type StatementMatch = Match & { charges: { lines: number; minor: Minor } }

const isBooked = ({ status }: Booked): boolean => isPaid(status)
const isOpen = ({ status }: Booked): boolean => isUnderWay(status) || status === 'pending' || status === 'expired'

export const amountText = (amount: Minor, currency: string): string => displayAmount(amount < 0n ? -amount : amount, currency)

const actionsOfOffers = {
  succeeded: 'Accept the outcome: the payment has succeeded with this receipt.',
  failed: 'Accept the outcome: the payment has failed, and its money is given back.',
  none: 'Read the lines of this amount, this payee or this payment, then resolve the payment with what they show.',
} as const

const nouns = { payment: 'payment', topup: 'top-up' } as const
const nounOf = (ours: Booked | null): string => nouns[ours?.kind ?? 'payment']

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
  not_in_our_books: (line) => ({
    reason: `The statement lists ${line?.details === undefined ? 'it' : `"${line.details}" of ${nairobiDate(line.at)}`}${line?.linked === undefined ? '' : ` as undoing ${line.linked}`}, and nothing here was sent with its receipt or reference.`,
    action:
      line?.receipt === null
        ? 'Find out who moved it at the bank. Nothing was booked: the line names no receipt.'
        : 'Find out who moved it at the provider. Until then it stands on the suspense account.',
  }),
  ended_otherwise: (_line, ours) => ({
    reason: `The statement shows that the money moved, and here the ${nounOf(ours)} is ${ours?.status ?? 'ended'}.`,
    action: 'Book it: resolve the late success, or adjust the account.',
  }),
  under_way: (line, ours, currency) => ({
    reason:
      line && ours && line.amountMinor !== ours.amountMinor
        ? `The statement shows ${amountText(line.amountMinor, currency)} for a ${nounOf(ours)} of ${amountText(ours.amountMinor, currency)} that is ${ours.status} here.`
        : `The statement shows the end of a ${nounOf(ours)} that is ${ours?.status ?? 'under way'} here.`,
    action: `Nothing, if this is resolved: the statement was taken as evidence. While it is open, nothing was booked for the ${nounOf(ours)}: ask the provider how much moved, then ${ours?.kind === 'topup' ? 'assign what is in suspense' : 'resolve the payment'}.`,
  }),
  outcome_unknown: () => ({
    reason: 'The statement does not show how this payment ended.',
    action: actionsOfOffers.none,
  }),
  reversed: (line, ours) => ({
    reason: `The statement shows that the provider has undone this ${nounOf(ours)}${line?.linked === undefined ? '' : ` (${line.linked})`}.`,
    action:
      ours?.kind === 'payment'
        ? 'Nothing, if this is resolved: the statement was taken as evidence. While it is open, nothing was given back: ask the provider how much came back, then correct the account by an adjustment.'
        : 'Find out why, then correct the account by an adjustment. Until then it stands on the suspense account.',
  }),
  listed_twice: () => ({
    reason: 'The statement lists this receipt more than once.',
    action: 'Ask the provider whether the money moved twice.',
  }),
}

const reportActions: Partial<Record<Difference['kind'], string>> = {
  not_in_our_books: 'Find out who moved it at the provider. Nothing was booked: an uploaded statement is only compared.',
  under_way:
    'Nothing was recorded: an uploaded statement is only compared. Resolve the payment, or reconcile the file by the command.',
  outcome_unknown: actionsOfOffers.none,
  reversed: 'Nothing was recorded: an uploaded statement is only compared. Reconcile the file by the command.',
}

/** Counts lines as matched if a person has named their movements. */
export const withMatched = (result: StatementMatch, lines: readonly StatementLine[]): StatementMatch => {
  const minor = sum(lines.map(({ amountMinor }) => amountMinor))
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

const sum = (amounts: Iterable<Minor>): Minor => {
  let total = 0n
  for (const amount of amounts) total += amount
  return total
}

/** Minimum length of a receipt that cannot be confused with another kind of number. */
const surelyNamed = 8

const size = ({ amountMinor }: { amountMinor: Minor }): Minor => (amountMinor < 0n ? -amountMinor : amountMinor)
const largest = (lines: readonly StatementLine[]): StatementLine | undefined =>
  lines.toSorted((one, other) => Number(size(other) - size(one)))[0]

const indexBy = (booked: readonly Booked[], namesOf: (ours: Booked) => readonly (string | null)[]): Map<string, Booked> =>
  new Map(booked.flatMap((each) => namesOf(each).flatMap((name) => (name === null ? [] : [[name, each] as const]))))

/**
 * Every line and every booked movement matches, is a charge, or belongs to exactly one difference. The differences therefore add
 * up to the difference of the two totals. The booking of a receipt's lines is found by an id in their texts, then by the receipt,
 * then by our reference. `book`: set for a whole statement, whose omissions also count.
 */
export const match = (
  lines: readonly StatementLine[],
  booked: readonly Booked[],
  currency: string,
  book?: Book,
): StatementMatch => {
  const byReceipt = indexBy(booked, ({ receipt }) => [receipt && receiptKey(receipt)])
  const byId = indexBy(booked, ({ orderId, conversation }) => [orderId, conversation])
  const byReference = indexBy(booked, ({ reference }) => [reference])
  const listed = new Map<Booked, StatementLine>()
  const differences: Difference[] = []
  const charges: StatementLine[] = []
  let matched = 0

  const differ = (
    kind: (typeof statementDifferences)[number],
    line: StatementLine | null,
    ours: Booked | null,
    more: Pick<Difference, 'offer'> & Partial<Explanation> = {},
  ): void => {
    const isOther = kind === 'listed_twice' || kind === 'reversed'
    differences.push({
      kind,
      receipt: line?.receipt ?? ours?.receipt ?? null,
      subject: ours && { kind: ours.kind, id: ours.id },
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
  /** Whether the line may be an order. A line that reads like a charge may still name one of our payments. */
  const isOrder = (line: StatementLine): boolean =>
    line.isCharge !== true || [byId, byReference].some((named) => referred([line], named)?.amountMinor === line.amountMinor)
  /** Returns the line that names the order, otherwise the line with its amount, otherwise the largest. */
  const lineOf = (some: readonly StatementLine[], ours: Booked): StatementLine | undefined => {
    const names = new Set([ours.orderId, ours.conversation, ours.reference])
    const naming = some.filter(({ references }) => references.some((reference) => names.has(reference)))
    const ofAmount = (each: StatementLine) => each.amountMinor === ours.amountMinor
    return naming.find(ofAmount) ?? largest(naming) ?? some.find(ofAmount) ?? largest(some)
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
      const ours = byReceipt.get(receiptKey(word))
      return ours && isSure(word, ours) ? [ours] : []
    })
    const referring = line.references.flatMap((name) => byId.get(name) ?? byReference.get(name) ?? [])
    const [ours, ...others] = new Set([...found, ...referring])
    return others.length === 0 ? ours : undefined
  }
  const ofBank = new Map(lines.flatMap((line) => (line.receipt === null ? [[line, namedIn(line)] as const] : [])))
  const keyOf = (line: StatementLine) => (line.receipt === null ? (ofBank.get(line) ?? line) : receiptKey(line.receipt))
  const transactions = [...Map.groupBy(lines, keyOf).values()]
  const undoing = Map.groupBy(
    lines.filter(({ linked, receipt, isCharge }) => linked && !isCharge && !isSameReceipt(linked, receipt)),
    ({ linked = '' }) => receiptKey(linked),
  )
  const isUndoing = (line: StatementLine): boolean => undoing.get(receiptKey(line.linked ?? ''))?.includes(line) ?? false
  const undone = new Set<StatementLine>()
  const undoes = (line: StatementLine): StatementLine | undefined =>
    undoing.get(receiptKey(line.receipt ?? ''))?.find((each) => each.amountMinor === -line.amountMinor && !undone.has(each))

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
    const byName = receipt === null ? one && ofBank.get(one) : byReceipt.get(receiptKey(receipt))
    const ours = referred(some, byId) ?? byName ?? referred(some, byReference)
    const line = ours && lineOf(some, ours)
    if (!ours || !line) {
      unexplained.push(all)
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
    // The payment failed or was returned, and the statement shows that as two lines that cancel out.
    else if (isEven) matched += 2
    else differ('ended_otherwise', line, ours)
    if (isEven) undone.add(reversal)
    else if (sameReceipt) differ('reversed', sameReceipt, ours)
  }
  for (const line of [...undoing.values()].flat()) {
    const receipt = receiptKey(line.linked ?? '')
    const ours = byReceipt.get(receipt) ?? [...listed].find(([, each]) => isSameReceipt(each.receipt, receipt))?.[0]
    if (undone.has(line)) continue
    if (ours?.status === 'returned' && ours.amountMinor === -line.amountMinor) matched += 1
    else if (ours) differ('reversed', line, ours)
    else unexplained.push([line])
  }
  const unknown = booked.filter((ours) => ours.status === 'unknown' && !listed.has(ours))
  const shown = { lines, unexplained: unexplained.flat(), listed }
  const offers = book ? offersFor(shown, unknown, book) : new Map<Booked, Offer>()
  const offered = new Set([...offers.values()].map(({ line }) => line))
  for (const all of unexplained) {
    const taken = all.find((line) => offered.has(line))
    const line = taken ?? largest(all.filter((each) => each.isCharge !== true)) ?? largest(all)
    if (!line) continue
    conclude(all, line, null)
    if (!taken) differ('not_in_our_books', line, null)
  }
  for (const [ours, { outcome, line, reason }] of offers)
    differ('outcome_unknown', line, ours, { offer: outcome, reason, action: actionsOfOffers[outcome ?? 'none'] })
  const isListed = ({ rail }: Booked): boolean => !book?.rails || book.rails.has(rail)
  const missing = booked.filter((ours) => isBooked(ours) && isListed(ours) && !listed.has(ours))
  for (const ours of missing) differ('not_in_statement', null, ours)
  const ofBook = booked.filter((ours) => isBooked(ours) && (isListed(ours) || listed.has(ours)))
  const isCharged = new Set(charges)
  return {
    matched,
    differences,
    bookedMinor: sum(ofBook.map(({ amountMinor }) => amountMinor)),
    statedMinor: sum(lines.filter((line) => !isCharged.has(line)).map(({ amountMinor }) => amountMinor)),
    charges: { lines: charges.length, minor: sum(charges.map(({ amountMinor }) => amountMinor)) },
  }
}
