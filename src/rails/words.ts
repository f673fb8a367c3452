import type { DepositOf, PayoutOf, Provider } from '../lib/rail-names.ts'

/** What the pages say about one way to pay. */
export type PayoutWords = {
  /** How people know it: "M-PESA to a phone". */
  label: string
  icon: 'phone' | 'receipt' | 'bank'
  /** The usual category of a beneficiary that is paid by it. */
  category: 'individual' | 'business'
  /** What it can move, in a few words. */
  reach: string
  /** Whether a destination may be at a bank. */
  bank: boolean
  /** The field of a form for a destination. */
  destination: { label: string; hint: string; placeholder: string; inputMode: 'numeric' | 'text' }
}

/** What the pages say about a provider and its rails: data alone, because they are built with it. */
export type ProviderWords<P extends Provider> = {
  provider: P
  label: string
  payouts: Readonly<Record<PayoutOf<P>, PayoutWords>>
  /** The button that begins a deposit. */
  depositActions: Readonly<Record<DepositOf<P>, string>>
}
