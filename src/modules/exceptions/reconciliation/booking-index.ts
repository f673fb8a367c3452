import { isPaid } from '../../../db/transitions.ts'
import type { Uuid } from '../../../lib/ids.ts'
import type { Minor } from '../../../lib/money.ts'
import type { AnyRail } from '../../../lib/rail-names.ts'
import { isSameReceipt, receiptKey } from '../../../lib/text.ts'
import type { StatementLine } from './statement-rules.ts'

/** A payment or top-up from our books. `amountMinor` is negative for money that went out, as in a statement. */
export type Booked = {
  /** `deposit`: money in suspense that belongs to no top-up. */
  kind: 'payment' | 'topup' | 'deposit'
  id: Uuid
  rail: AnyRail
  attemptId: Uuid | null
  reference: string | null
  orderId: Uuid | null
  /** The provider's own id of the order. */
  conversation: string | null
  /** All names under which a statement may list an unknown payment. */
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

type Amount = { amountMinor: Minor }

export const isBooked = ({ status }: Booked): boolean => isPaid(status)
export const sizeOf = ({ amountMinor }: Amount): Minor => (amountMinor < 0n ? -amountMinor : amountMinor)
export const sideOf = ({ amountMinor }: Amount): 'in' | 'out' => (amountMinor < 0n ? 'out' : 'in')

/** The line of each booking that the statement lists. */
export type Listed = ReadonlyMap<Booked, StatementLine>

/** Minimum length of a receipt that cannot be confused with another kind of number. */
const unmistakableLength = 8

/** Finds the bookings that lines name by receipt, order, conversation or reference. */
export const createBookingIndex = (booked: readonly Booked[]) => {
  const indexBy = (namesOf: (ours: Booked) => readonly (string | null)[]): ReadonlyMap<string, Booked> =>
    new Map(booked.flatMap((ours) => namesOf(ours).flatMap((name) => (name === null ? [] : [[name, ours] as const]))))
  const byReceipt = indexBy((ours) =>
    ours.receipt === null ? [] : [receiptKey(ours.receipt), `${receiptKey(ours.receipt)} ${sideOf(ours)}`],
  )
  const byOrder = indexBy(({ orderId, conversation }) => [orderId, conversation])
  const byReference = indexBy(({ reference }) => [reference])

  /** The booking that holds the receipt, in this direction if there is one. */
  const holderOf = (receipt: string, side: 'in' | 'out'): Booked | undefined =>
    byReceipt.get(`${receiptKey(receipt)} ${side}`) ?? byReceipt.get(receiptKey(receipt))

  const namedBy = ({ references }: StatementLine): Booked[] =>
    references.flatMap((name) => byOrder.get(name) ?? byReference.get(name) ?? [])

  /** The booking that a bank's line names. A short word may match a receipt by chance, so the amount must match too. */
  const bookingOfBankLine = (line: StatementLine): Booked | undefined => {
    const byWords = (line.words ?? []).flatMap((word) => {
      const ours = holderOf(word, sideOf(line))
      return ours && (word.length >= unmistakableLength || sizeOf(line) === sizeOf(ours)) ? [ours] : []
    })
    const [ours, ...others] = new Set([...byWords, ...namedBy(line)])
    return others.length === 0 ? ours : undefined
  }

  const firstUnlistedBooking = (
    bookingsByName: ReadonlyMap<string, Booked>,
    lines: readonly StatementLine[],
    listed: Listed,
  ): Booked | undefined => {
    for (const { receipt, references } of lines)
      for (const reference of references) {
        const ours = bookingsByName.get(reference)
        if (!ours || listed.has(ours)) continue
        // If our books have a different receipt, the line is another movement with the same account reference.
        if (ours.receipt === null || receipt === null || isSameReceipt(ours.receipt, receipt)) return ours
      }
    return undefined
  }

  /** The payment that a line reverses under a receipt of its own: the line names the order and moves its amount back. */
  const reversedBy = (line: StatementLine): Booked[] =>
    namedBy(line).filter((ours) => ours.kind === 'payment' && isBooked(ours) && ours.amountMinor === -line.amountMinor)

  return {
    holderOf,
    /** The lines of a receipt are one transaction, except a payment to ourselves: its payout and its deposit are two. */
    transactionOf: (line: StatementLine): string | Booked | StatementLine => {
      if (line.receipt === null) return bookingOfBankLine(line) ?? line
      const isOneBooking = holderOf(line.receipt, 'out') === holderOf(line.receipt, 'in')
      return isOneBooking ? receiptKey(line.receipt) : `${receiptKey(line.receipt)} ${sideOf(line)}`
    },
    /** Whether the line may be an order. A line that reads like a charge may still name one of our payments. */
    isOrder: (line: StatementLine, listed: Listed): boolean =>
      line.isCharge !== true ||
      [byOrder, byReference].some((named) => firstUnlistedBooking(named, [line], listed)?.amountMinor === line.amountMinor),
    /** Finds the booking by an id in the lines' texts, then by the receipt, our reference, or the order that they reverse. */
    findBooking: (lines: readonly StatementLine[], listed: Listed): Booked | undefined => {
      const [first] = lines
      const byName = first && (first.receipt === null ? bookingOfBankLine(first) : holderOf(first.receipt, sideOf(first)))
      return (
        firstUnlistedBooking(byOrder, lines, listed) ??
        byName ??
        firstUnlistedBooking(byReference, lines, listed) ??
        lines.flatMap(reversedBy)[0]
      )
    },
  }
}

export type BookingIndex = ReturnType<typeof createBookingIndex>
