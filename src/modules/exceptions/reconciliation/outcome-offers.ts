import type { Uuid } from '../../../lib/ids.ts'
import type { Minor } from '../../../lib/money.ts'
import type { AnyRail } from '../../../lib/rail-names.ts'
import { type Statement, type StatementLine, squeezed } from './statement-rules.ts'

/** A payment or top-up from our books. `amountMinor` is negative for money that went out, as in a statement. */
export type Booked = {
  /** `deposit`: money in suspense that belongs to no top-up. */
  kind: 'payment' | 'topup' | 'deposit'
  id: Uuid
  rail: AnyRail
  attemptId: Uuid | null
  reference: string | null
  orderId: Uuid | null
  conversation: string | null
  names: readonly string[]
  /** The sending. `until`: the latest possible time, if the exact time was lost. A prompt's account is our reference. */
  sent: { at: Date; until: Date; payeeMask: string; accountReference: string | null } | null
  receipt: string | null
  amountMinor: Minor
  status: string
  at: Date
  /** Whether it is outside the statement's period, so that a missing line is no difference. */
  isOutside?: true
}

/** `succeeded`: exactly one line matches. `failed`: a provably complete statement does not list it. Null: a person decides. */
export type Offer = { outcome: 'succeeded' | 'failed' | null; line: StatementLine | null; reason: string }

/** `rails`: the rails that use the statement's account. Null if the account is not known. */
export type Book = Pick<Statement, 'heading' | 'text' | 'unfinished'> & { rails: ReadonlySet<AnyRail> | null }

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

const latest = ({ at, until = at }: StatementLine): number => until.getTime()

const isInTime = (line: StatementLine, { sent }: Sent): boolean => latest(line) >= sent.at.getTime() - clocksDifferMs

const isAlike = (line: StatementLine, ours: Sent): boolean => {
  const { accountReference } = ours.sent
  const isSameAccount = !accountReference || !line.account || squeezed(line.account) === squeezed(accountReference)
  return isInTime(line, ours) && line.amountMinor === ours.amountMinor && isSameAccount
}

const mayBe = (line: StatementLine, ours: Sent): boolean =>
  isAlike(line, ours) && isSamePayee(line.party, ours.sent.payeeMask) === true

/**
 * Whether the line may be the movement of a booking without a receipt. The payee may be missing, as in the list of incoming
 * payments. A line that names any account or reference is not a prompt's: it would name the prompt's own.
 */
const mayPair = (line: StatementLine, ours: Sent): boolean =>
  isAlike(line, ours) &&
  isSamePayee(line.party, ours.sent.payeeMask) !== false &&
  (ours.status === 'unknown' || line.at.getTime() <= ours.at.getTime() + clocksDifferMs) &&
  (ours.kind === 'payment' || line.references.length === 0)

const byAmount = <T extends { amountMinor: Minor }>(some: readonly T[]): Map<Minor, T[]> =>
  Map.groupBy(some, ({ amountMinor }) => amountMinor)
const earliest = (one: { at: Date }, other: { at: Date }): number => one.at.getTime() - other.at.getTime()

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
    const listed = (named.get(amountMinor) ?? []).toSorted(earliest)
    const rivals = [...booked, ...(unproven.get(amountMinor) ?? [])]
    const free = new Set(booked.toSorted(earliest))
    return listed.flatMap((line) => {
      const ours = [...free].find((each) => mayPair(line, each))
      if (!ours) return []
      free.delete(ours)
      const isOnly = listed.filter((each) => mayPair(each, ours)).length === 1
      return [{ line, ours, isCertain: isOnly && rivals.filter((each) => mayPair(line, each)).length === 1 }]
    })
  })
}

const isLike = (line: StatementLine, ours: Sent): boolean =>
  isInTime(line, ours) && (line.amountMinor === ours.amountMinor || isSamePayee(line.party, ours.sent.payeeMask) === true)

const isSent = (ours: Booked): ours is Sent => ours.sent !== null

/** Whether the text contains one of the payment's names. Shorter names could match by chance and are ignored. */
const isNamedIn = (text: string, { names }: Booked): boolean =>
  names.map(squeezed).some((name) => name.length >= 10 && text.includes(name))

export type Listed = ReadonlyMap<Booked, StatementLine>

const hasNeighbours = ({ rail, sent }: Sent, listed: Listed): boolean => {
  const others = [...listed].flatMap(([ours, line]) => (ours.kind === 'payment' && ours.rail === rail ? [line] : []))
  return others.some((line) => latest(line) <= sent.at.getTime()) && others.some((line) => line.at > sent.until)
}

/** Whether the lines begin before the payment and continue long enough after it, and the heading agrees. */
const isClosed = ({ sent: { at, until } }: Sent, lines: readonly StatementLine[], { heading }: Book): boolean => {
  const closed = until.getTime() + closedAfterMs
  const { start, end } = heading.period
  const begins = start ? start <= at : lines.some((line) => latest(line) <= at.getTime())
  return begins && lines.some((line) => line.at.getTime() >= closed) && (!end || end.getTime() >= closed)
}

const person = (reason: string): Offer => ({ outcome: null, line: null, reason })

type Shown = {
  lines: readonly StatementLine[]
  unexplained: readonly StatementLine[]
  paired: ReadonlySet<StatementLine>
  listed: Listed
}

/** Offers outcomes for unknown payments. Payments from other accounts, or sent at times that are not covered, get none. */
export const offersFor = (
  { lines, unexplained, paired, listed }: Shown,
  unknown: readonly Booked[],
  book: Book,
): Map<Booked, Offer> => {
  const { rails } = book
  if (rails === null) return new Map()
  const sent = unknown.filter(isSent).filter(({ rail }) => rails.has(rail))
  const offerFor = (ours: Sent): Offer | null => {
    const [line, ...others] = unexplained.filter((each) => !paired.has(each) && mayBe(each, ours))
    const isNamed = isNamedIn(book.text, ours)
    if (line && !isNamed && others.length === 0 && sent.filter((each) => mayBe(line, each)).length === 1)
      return {
        outcome: 'succeeded',
        line,
        reason: 'The statement lists one payment of this amount to this payee that nothing else here explains.',
      }
    if (isNamed)
      return person('The statement names this payment in a line that does not show how it ended, so it is not said to be unpaid.')
    if (!isClosed(ours, lines, book)) return null
    if ([...unexplained, ...book.unfinished].some((each) => isLike(each, ours)))
      return person('The statement covers the time of this payment, and lists something like it that nothing here explains.')
    if (!hasNeighbours(ours, listed))
      return person(
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
