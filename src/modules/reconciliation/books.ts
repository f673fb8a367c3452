import type { Uuid } from '../../lib/ids.ts'
import type { Minor } from '../../lib/money.ts'
import type { Movement } from '../../rails/rail.ts'

/** A line of a provider's statement. `party`: the other side as it is printed, masked; `account`: the one at a paybill. */
export type StatementLine = Movement & { party?: string; account?: string }

/** Our record of one payment or top-up that was sent: its amount is signed as in a statement. */
export type Booked = {
  kind: 'payment' | 'topup'
  id: Uuid
  attemptId: Uuid | null
  reference: string | null
  /** The other name under which the provider got it. */
  orderId: Uuid | null
  /** The provider's own name of it. */
  conversation: string | null
  /** Of a payment: when it was sent (`until`: at the latest, where writes were lost), and to whom. */
  sent: { at: Date; until: Date; payeeMask: string; accountReference: string | null } | null
  receipt: string | null
  amountMinor: Minor
  status: string
  at: Date
}
