import type { Uuid } from '../../../lib/ids.ts'
import type { Minor } from '../../../lib/money.ts'
import type { AnyRail, Provider } from '../../../lib/rail-names.ts'
import type { Movement } from '../../../rails/rail.ts'

/**
 * `until`: the end of its day, where it states no time. `party`: the other side as printed, masked; `account`: at a paybill; `linked`: the
 * receipt that it undoes or belongs to.
 */
export type StatementLine = Movement & {
  until?: Date
  party?: string
  account?: string
  linked?: string
  isCharge?: true
}

export type Period = { start: Date; end: Date }

/** Its lines are of money that has moved. */
export type Statement = {
  provider: Provider
  lines: readonly StatementLine[]
  /** Movements that are not completed: evidence of nothing, but named. */
  unfinished: readonly StatementLine[]
  heading: { number: string | null; account: string | null; period: { start: Date | undefined; end: Date | undefined } }
  /** Squeezed: what names an id, names it in here. */
  text: string
}

/** Its amount is signed as in a statement. */
export type Booked = {
  kind: 'payment' | 'topup'
  id: Uuid
  rail: AnyRail
  attemptId: Uuid | null
  reference: string | null
  orderId: Uuid | null
  conversation: string | null
  /** Under which any send of it is known to the provider. */
  names: readonly string[]
  /** Of a payment. `until`: at the latest, where writes were lost. */
  sent: { at: Date; until: Date; payeeMask: string; accountReference: string | null } | null
  receipt: string | null
  amountMinor: Minor
  status: string
  at: Date
}

export const squeezed = (text: string): string => text.toUpperCase().replace(/[^0-9A-Z]/g, '')
