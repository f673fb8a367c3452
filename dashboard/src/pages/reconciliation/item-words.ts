import { isDepositRail, providerOf, topupMethods } from '../../../../src/lib/rail-names.ts'
import { providerLabel } from '../../../../src/rails/texts.ts'
import { isProvider, isRail, typeLabel } from '../../lib/rails.ts'
import { moneyText } from '../../lib/words.ts'
import { tRecon } from './texts.ts'
import type { Difference, OpenItem, SuspenseItem } from './unknown.ts'

/** Whether the item is an unreadable callback, without payment or top-up. Only a command on the server shows its content. */
export const isUnread = ({ suspense }: OpenItem): boolean =>
  suspense?.reason === 'unbookable_delivery' && !suspense.payment_id && !suspense.topup_id

export const titleOf = (item: OpenItem): string => {
  const { suspense, difference } = item
  return suspense ? tRecon(isUnread(item) ? 'reason.unread' : `reason.${suspense.reason}`) : (difference?.reason ?? '')
}

/** Title with the provider's receipt, if there is one, because several items may have the same reason. */
export const nameOfItem = (item: OpenItem): string =>
  [titleOf(item), (item.suspense ?? item.difference)?.provider_receipt].filter(Boolean).join(', ')

/** Label of a rail, a top-up method, or a provider. */
export const bookLabel = (book: string): string => {
  if (isProvider(book)) return providerLabel(book)
  const method = topupMethods.find((each) => each === book)
  if (!method || isRail(book)) return typeLabel(book)
  return tRecon(isDepositRail(method) ? 'deposit' : 'prompt', { provider: providerLabel(providerOf(method)) })
}

const suspenseWords = (item: SuspenseItem, currency: string): string =>
  [
    bookLabel(item.rail),
    tRecon(item.direction === 'in' ? 'paid_in' : 'paid_out'),
    item.amount_minor === null ? tRecon('no_amount') : moneyText(item.amount_minor, currency),
    item.provider_receipt,
    item.sender_name && tRecon('from_sender', { name: item.sender_name }),
    item.payment_reference && tRecon('with_reference', { reference: item.payment_reference }),
  ]
    .filter(Boolean)
    .join(', ')

const sides = ({ kind, booked_minor: booked, stated_minor: stated }: Difference, currency: string): string => {
  const isBalance = kind === 'balance_differs'
  const side = (key: 'booked' | 'listed' | 'expected' | 'provider_has', minor: string) =>
    tRecon(key, { amount: moneyText(minor, currency) })
  return [
    booked === null ? tRecon('not_booked') : side(isBalance ? 'expected' : 'booked', booked),
    stated === null ? tRecon('not_listed') : side(isBalance ? 'provider_has' : 'listed', stated),
  ].join(', ')
}

/** Details of the money: amount, direction, and the provider's receipt. */
export const moneyOf = ({ suspense, difference }: OpenItem, currency: string): string => {
  if (suspense) return suspenseWords(suspense, currency)
  return difference ? [sides(difference, currency), difference.provider_receipt].filter(Boolean).join(', ') : ''
}

/** Only incoming money booked in suspense can be assigned to an account. */
export const canBeAssigned = ({ suspense }: OpenItem): boolean => suspense?.direction === 'in' && suspense.booked
