import { providerLabel } from '../../../../src/rails/texts.ts'
import { isProvider, typeLabel } from '../../lib/rails.ts'
import { moneyText } from '../../lib/words.ts'
import type { Difference, OpenItem, SuspenseItem } from './unknown.ts'

const reasons: Readonly<Record<SuspenseItem['reason'], string>> = {
  superseded_attempt: 'A replaced attempt moved money',
  amount_mismatch: 'The provider reports another amount',
  unreadable_amount: 'Money came back, and the provider’s amount cannot be read',
  receipt_taken: 'The receipt already belongs to something else',
  contradiction: 'The provider contradicts what is recorded as final',
  unbookable_delivery: 'A callback failed repeatedly and was set aside',
  not_in_our_books: 'The statement lists it, and the books do not',
  unknown_reference: 'A deposit under a reference that is not ours',
  account_closed: 'A deposit for a closed account',
}

export const titleOf = ({ suspense, difference }: OpenItem): string => {
  if (!suspense) return difference?.reason ?? ''
  const isUnread = suspense.reason === 'unbookable_delivery' && !suspense.payment_id && !suspense.topup_id
  return isUnread
    ? `A notice could not be read: npm run admin -- suspense show ${suspense.id} prints it`
    : reasons[suspense.reason]
}

/** With the provider's receipt, where there is one: several may have the same reason. */
export const nameOfItem = (item: OpenItem): string =>
  [titleOf(item), (item.suspense ?? item.difference)?.provider_receipt].filter(Boolean).join(', ')

const suspenseWords = (item: SuspenseItem, currency: string): string =>
  [
    isProvider(item.rail) ? providerLabel(item.rail) : typeLabel(item.rail),
    item.direction === 'in' ? 'paid in' : 'paid out',
    item.amount_minor === null ? 'amount not known' : moneyText(item.amount_minor, currency),
    item.provider_receipt,
    item.sender_name && `from ${item.sender_name}`,
    item.payment_reference && `reference ${item.payment_reference}`,
  ]
    .filter(Boolean)
    .join(', ')

const sides = ({ booked_minor: booked, stated_minor: stated }: Difference, currency: string): string =>
  [
    booked === null ? 'not booked' : `booked ${moneyText(booked, currency)}`,
    stated === null ? 'not in the statement' : `statement ${moneyText(stated, currency)}`,
  ].join(', ')

/** Which money it is: how much, which way, and the receipt by which the provider finds it. */
export const moneyOf = ({ suspense, difference }: OpenItem, currency: string): string => {
  if (suspense) return suspenseWords(suspense, currency)
  return difference ? [sides(difference, currency), difference.provider_receipt].filter(Boolean).join(', ') : ''
}

/** Only money that came in and is booked on the suspense account can be given to an account. */
export const canBeAssigned = ({ suspense }: OpenItem): boolean => suspense?.direction === 'in' && suspense.booked
