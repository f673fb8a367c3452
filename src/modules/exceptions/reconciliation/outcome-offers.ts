import type { Minor } from '../../../lib/money.ts'
import type { AnyRail } from '../../../lib/rail-names.ts'
import type { Booked, Listed } from './booking-index.ts'
import { type Statement, type StatementLine, squeezed } from './statement-rules.ts'

/** `succeeded`: exactly one line matches. `failed`: a provably complete statement does not list it. Null: a person decides. */
export type Offer = { outcome: 'succeeded' | 'failed' | null; line: StatementLine | null; reason: string }

/** A statement whose omissions count. `rails`: those that use the statement's account. Null if the account is not known. */
export type WholeStatement = Pick<Statement, 'heading' | 'text' | 'unfinished'> & { rails: ReadonlySet<AnyRail> | null }

/** Providers may list a payment late. A statement that continues this long after a payment would list it. */
const closedAfterMs = 3 * 3_600_000
const clocksDifferMs = 600_000

/** Compares the last visible digits. Undefined if fewer than two are visible. A mask has a paybill's account after the number. */
const isSamePayee = (printed: string | undefined, payeeMask: string): boolean | undefined => {
  const shown = /\d+$/.exec(/[\d*]*\d/.exec(printed ?? '')?.[0] ?? '')?.[0] ?? ''
  const ours = /^\**([^*/]*)/.exec(payeeMask)?.[1] ?? ''
  const length = Math.min(shown.length, ours.length)
  return length < 2 ? undefined : shown.slice(-length) === ours.slice(-length)
}

type Sent = Booked & { sent: NonNullable<Booked['sent']> }
const isSent = (ours: Booked): ours is Sent => ours.sent !== null

const latestTime = ({ at, until = at }: StatementLine): number => until.getTime()

const isAfterSending = (line: StatementLine, { sent }: Sent): boolean => latestTime(line) >= sent.at.getTime() - clocksDifferMs

const hasItsAmountAndAccount = (line: StatementLine, ours: Sent): boolean => {
  const { accountReference } = ours.sent
  const isSameAccount = !accountReference || !line.account || squeezed(line.account) === squeezed(accountReference)
  return isAfterSending(line, ours) && line.amountMinor === ours.amountMinor && isSameAccount
}

const matchesPayment = (line: StatementLine, ours: Sent): boolean =>
  hasItsAmountAndAccount(line, ours) && isSamePayee(line.party, ours.sent.payeeMask) === true

/**
 * Whether the line may be the movement of a booking without a receipt. The payee may be missing, as in the list of incoming
 * payments. A line that names any account or reference is not a prompt's: it would name the prompt's own.
 */
const mayBeMovementOf = (line: StatementLine, ours: Sent): boolean =>
  hasItsAmountAndAccount(line, ours) &&
  isSamePayee(line.party, ours.sent.payeeMask) !== false &&
  (ours.status === 'unknown' || line.at.getTime() <= ours.at.getTime() + clocksDifferMs) &&
  (ours.kind === 'payment' || line.references.length === 0)

const byAmount = <T extends { amountMinor: Minor }>(some: readonly T[]): Map<Minor, T[]> =>
  Map.groupBy(some, ({ amountMinor }) => amountMinor)
const byTime = (one: { at: Date }, other: { at: Date }): number => one.at.getTime() - other.at.getTime()

type Pair = { line: StatementLine; ours: Booked; isCertain: boolean }

/**
 * Pairs unexplained lines with bookings that succeeded without a receipt, which the provider lists under one. Such a line must
 * not go to suspense: its money is booked. Amounts add up for any pairing, so the earliest booking gets the earliest line.
 * `isCertain`: the line can be no other booking's, and the booking has no other line.
 */
export const pairsOf = (lines: readonly StatementLine[], unreceipted: readonly Booked[], unknown: readonly Booked[]): Pair[] => {
  const named = byAmount(lines.filter(({ receipt, linked }) => receipt !== null && linked === undefined))
  const unproven = byAmount(unknown.filter(isSent))
  return [...byAmount(unreceipted.filter(isSent))].flatMap(([amountMinor, booked]) => {
    const listed = (named.get(amountMinor) ?? []).toSorted(byTime)
    const rivals = [...booked, ...(unproven.get(amountMinor) ?? [])]
    const free = new Set(booked.toSorted(byTime))
    return listed.flatMap((line) => {
      const ours = [...free].find((each) => mayBeMovementOf(line, each))
      if (!ours) return []
      free.delete(ours)
      const isOnly = listed.filter((each) => mayBeMovementOf(each, ours)).length === 1
      return [{ line, ours, isCertain: isOnly && rivals.filter((each) => mayBeMovementOf(line, each)).length === 1 }]
    })
  })
}

const resembles = (line: StatementLine, ours: Sent): boolean =>
  isAfterSending(line, ours) && (line.amountMinor === ours.amountMinor || isSamePayee(line.party, ours.sent.payeeMask) === true)

/** Whether the text contains one of the payment's names. Shorter names could match by chance and are ignored. */
const isNamedIn = (text: string, { names }: Booked): boolean =>
  names.map(squeezed).some((name) => name.length >= 10 && text.includes(name))

const hasNeighbours = ({ rail, sent }: Sent, listed: Listed): boolean => {
  const others = [...listed].flatMap(([ours, line]) => (ours.kind === 'payment' && ours.rail === rail ? [line] : []))
  return others.some((line) => latestTime(line) <= sent.at.getTime()) && others.some((line) => line.at > sent.until)
}

/** Whether the lines begin before the payment and continue long enough after it, and the heading agrees. */
const coversTime = ({ sent: { at, until } }: Sent, lines: readonly StatementLine[], { heading }: WholeStatement): boolean => {
  const closedAt = until.getTime() + closedAfterMs
  const { start, end } = heading.period
  const begins = start ? start <= at : lines.some((line) => latestTime(line) <= at.getTime())
  return begins && lines.some((line) => line.at.getTime() >= closedAt) && (!end || end.getTime() >= closedAt)
}

const unsure = (reason: string): Offer => ({ outcome: null, line: null, reason })

type MatchedLines = {
  lines: readonly StatementLine[]
  unexplained: readonly StatementLine[]
  paired: ReadonlySet<StatementLine>
  listed: Listed
}

/** Offers outcomes for unknown payments. Payments from other accounts, or sent at times that are not covered, get none. */
export const offersFor = (
  { lines, unexplained, paired, listed }: MatchedLines,
  unknown: readonly Booked[],
  statement: WholeStatement,
): Map<Booked, Offer> => {
  const { rails } = statement
  if (rails === null) return new Map()
  const sent = unknown.filter(isSent).filter(({ rail }) => rails.has(rail))
  const offerFor = (ours: Sent): Offer | null => {
    const [line, ...others] = unexplained.filter((each) => !paired.has(each) && matchesPayment(each, ours))
    const isNamed = isNamedIn(statement.text, ours)
    if (line && !isNamed && others.length === 0 && sent.filter((each) => matchesPayment(line, each)).length === 1)
      return {
        outcome: 'succeeded',
        line,
        reason: 'The statement lists one payment of this amount to this payee that nothing else here explains.',
      }
    if (isNamed)
      return unsure('The statement names this payment in a line that does not show how it ended, so it is not said to be unpaid.')
    if (!coversTime(ours, lines, statement)) return null
    if ([...unexplained, ...statement.unfinished].some((each) => resembles(each, ours)))
      return unsure('The statement covers the time of this payment, and lists something like it that nothing here explains.')
    if (!hasNeighbours(ours, listed))
      return unsure(
        'The statement covers the time of this payment and does not list it, but it does not list another payment of this kind both before and after it either: it may not be complete.',
      )
    return {
      outcome: 'failed',
      line: null,
      reason: 'The statement is of the account that pays this, lists what was paid before and after it, and nothing like it.',
    }
  }
  const offers = new Map<Booked, Offer>()
  for (const ours of sent) {
    const offer = offerFor(ours)
    if (offer) offers.set(ours, offer)
  }
  return offers
}
