import type { Uuid } from '../../../lib/ids.ts'
import type { Minor } from '../../../lib/money.ts'
import type { AnyRail, Provider } from '../../../lib/rail-names.ts'
import type { Movement } from '../../../rails/rail.ts'

/**
 * A line of a provider's statement. `until`: the end of its day, where it states no time. `party`: the other side as it is printed, masked;
 * `account`: the one at a paybill; `linked`: the receipt that it undoes or belongs to; `isCharge`: its details call it a charge.
 */
export type StatementLine = Movement & {
  until?: Date
  party?: string
  account?: string
  linked?: string
  isCharge?: true
}

export type Period = { start: Date; end: Date }

/** A statement as it was read. Its lines are of money that has moved. */
export type Statement = {
  provider: Provider
  lines: readonly StatementLine[]
  /** Lines of movements that have not been completed, or not yet: no evidence, but of something. */
  unfinished: readonly StatementLine[]
  /** The organisation's number and account that the heading names, and the period that it states. */
  heading: { number: string | null; account: string | null; period: { start: Date | undefined; end: Date | undefined } }
  /** All of it, in capitals and without anything between letters and digits: what names an id, names it in here. */
  text: string
}

/** Our record of one payment or top-up that was sent: its amount is signed as in a statement. */
export type Booked = {
  kind: 'payment' | 'topup'
  id: Uuid
  rail: AnyRail
  attemptId: Uuid | null
  reference: string | null
  /** The other name under which the provider got it. */
  orderId: Uuid | null
  /** The provider's own name of it. */
  conversation: string | null
  /** Every name under which any send of it is known to the provider. */
  names: readonly string[]
  /** Of a payment: when it was sent (`until`: at the latest, where writes were lost), and to whom. */
  sent: { at: Date; until: Date; payeeMask: string; accountReference: string | null } | null
  receipt: string | null
  amountMinor: Minor
  status: string
  at: Date
}

/** A text or a name, as they are compared with each other. */
export const squeezed = (text: string): string => text.toUpperCase().replace(/[^0-9A-Z]/g, '')
