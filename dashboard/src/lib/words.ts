import type { Schemas } from '../api/queries.ts'

/** "a", "a and b", "a, b and c" */
export const listWords = (items: readonly string[], last = 'and'): string =>
  items.length < 2 ? (items[0] ?? '') : `${items.slice(0, -1).join(', ')} ${last} ${items.at(-1)}`

export const capitalized = (text: string): string => text.charAt(0).toUpperCase() + text.slice(1)

export const countWords = (count: number, one: string, many = `${one}s`): string => `${count} ${count === 1 ? one : many}`

/** Items in their order, those with one key together where the first of them stands. Null: it stands alone. */
export const together = <Item>(items: readonly Item[], keyOf: (item: Item) => string | null): [Item, ...Item[]][] => {
  const groups = new Map<unknown, [Item, ...Item[]]>()
  for (const item of items) {
    const key = keyOf(item) ?? item
    const group = groups.get(key)
    if (group) group.push(item)
    else groups.set(key, [item])
  }
  return [...groups.values()]
}

export type PaymentStatus = Schemas['Payment']['status']

// The API's own type: a payment status that is new there fails the type check until it has its words here.
const paymentStatusWords: Readonly<Record<PaymentStatus, string>> = {
  scheduled: 'Scheduled',
  pending_approval: 'Needs approval',
  processing: 'Processing',
  succeeded: 'Succeeded',
  failed: 'Failed',
  unknown: 'Checking',
  rejected: 'Rejected',
  cancelled: 'Cancelled',
  expired: 'Expired',
  returned: 'Returned',
}

export const isPaymentStatus = (text: string): text is PaymentStatus => Object.hasOwn(paymentStatusWords, text)

/** In the order in which the filter lists them. */
export const paymentStatuses: readonly PaymentStatus[] = Object.keys(paymentStatusWords).filter(isPaymentStatus)

const otherWords: Readonly<Record<string, string>> = { exhausted: 'Used up', admin: 'Administrator' }

export const statusText = (status: string): string =>
  isPaymentStatus(status)
    ? paymentStatusWords[status]
    : (otherWords[status] ?? status.charAt(0).toUpperCase() + status.slice(1).replaceAll('_', ' '))

/** "1 needs approval", "2 need approval", "3 being checked". */
export const statusCount = (count: number, status: PaymentStatus): string => {
  if (status === 'pending_approval') return countWords(count, 'needs approval', 'need approval')
  return `${count} ${status === 'unknown' ? 'being checked' : statusText(status).toLowerCase()}`
}

/** 0x1234…abcd */
export const shortAddress = (address: string): string =>
  address.length > 14 ? `${address.slice(address.lastIndexOf(':') + 1).slice(0, 6)}…${address.slice(-4)}` : address

/** A provider's identifier of a person: enough to recognise it, not to copy it. */
export const maskSubject = (subject: string): string =>
  subject.length > 8 ? `${subject.slice(0, 3)}…${subject.slice(-3)}` : subject

export const initials = (name: string): string =>
  name
    .split(/\s+/)
    .slice(0, 2)
    .map((word) => word.charAt(0).toUpperCase())
    .join('')

type InitiatedBy = Schemas['PaymentSummary']['initiated_by']

/** Who requested a payment: a person by name, or a key or agent and its owner. */
export const requesterWords = ({ label, account_id: account }: InitiatedBy, people: (id: string) => string): string => {
  const person = people(account)
  if (label === null) return person
  return person === 'you' ? `${label}, your agent` : `${label}, ${person}’s agent`
}

/** Who made something: a person by name, or a key or an agent. */
export const makerText = ({ account_id: account, grant_id: grantId, label }: Schemas['Maker'], people: (id: string) => string) =>
  grantId === null ? capitalized(people(account)) : `${label ?? 'A key or an agent'} (key or agent)`
