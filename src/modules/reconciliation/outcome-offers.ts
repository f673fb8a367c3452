import type { Booked, StatementLine } from './books.ts'

/**
 * What a statement shows about a payment whose outcome is unknown, and that it does not name. `succeeded`: one line alone can be it. `failed`:
 * the statement covers its time, and nothing in it is like it. Null: something is like it, and a person reads.
 */
export type Offer = { outcome: 'succeeded' | 'failed' | null; line: StatementLine | null }

/** A statement is complete about a payment when it goes on for this long after the payment was sent: a provider may be late. */
const closedAfterMs = 3 * 3_600_000
/** The provider's clock and ours. */
const clocksDifferMs = 600_000

/**
 * Compares what a statement and our mask both show of a number; undefined when one of them shows too little. The account at a paybill stands
 * behind the mask.
 */
const isSamePayee = (printed: string | undefined, payeeMask: string): boolean | undefined => {
  const shown = /\d+$/.exec(/[\d*]*\d/.exec(printed ?? '')?.[0] ?? '')?.[0] ?? ''
  const ours = /^\**([^*/]*)/.exec(payeeMask)?.[1] ?? ''
  const length = Math.min(shown.length, ours.length)
  return length < 2 ? undefined : shown.slice(-length) === ours.slice(-length)
}

const squeezed = (text: string): string => text.replace(/\s/g, '').toUpperCase()

type Sent = Booked & { sent: NonNullable<Booked['sent']> }

const isInTime = (line: StatementLine, { sent }: Sent): boolean => line.at.getTime() >= sent.at.getTime() - clocksDifferMs

/** The same sum to the same payee, and at a paybill for the same account. */
const mayBe = (line: StatementLine, ours: Sent): boolean => {
  const { payeeMask, accountReference } = ours.sent
  const isSameAccount = !accountReference || !line.account || squeezed(line.account) === squeezed(accountReference)
  return (
    isInTime(line, ours) && line.amountMinor === ours.amountMinor && isSamePayee(line.party, payeeMask) === true && isSameAccount
  )
}

const isLike = (line: StatementLine, ours: Sent): boolean =>
  isInTime(line, ours) && (line.amountMinor === ours.amountMinor || isSamePayee(line.party, ours.sent.payeeMask) === true)

const isSent = (ours: Booked): ours is Sent => ours.sent !== null

/** For each payment of unknown outcome that the statement does not name, against the lines that nothing in our books explains. */
export const offersFor = (
  unexplained: readonly StatementLine[],
  unknown: readonly Booked[],
  period: { start: Date; end: Date },
): Map<Booked, Offer> => {
  const sent = unknown.filter(isSent)
  const isClosed = ({ sent: { at, until } }: Sent) =>
    period.start <= at && period.end.getTime() >= until.getTime() + closedAfterMs
  return new Map(
    sent.flatMap((ours): [Booked, Offer][] => {
      const [line, ...others] = unexplained.filter((each) => mayBe(each, ours))
      if (line && others.length === 0 && sent.filter((each) => mayBe(line, each)).length === 1)
        return [[ours, { outcome: 'succeeded', line }]]
      if (!isClosed(ours)) return []
      const isAlone = !unexplained.some((each) => isLike(each, ours))
      return [[ours, { outcome: isAlone ? 'failed' : null, line: null }]]
    }),
  )
}
