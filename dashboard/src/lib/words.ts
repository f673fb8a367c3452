import type { Schemas } from '../../../client/src/route-types.ts'

/** "a", "a and b", "a, b and c" */
export const listWords = (items: readonly string[], last = 'and'): string =>
  items.length < 2 ? (items[0] ?? '') : `${items.slice(0, -1).join(', ')} ${last} ${items.at(-1)}`

export const capitalized = (text: string): string => text.charAt(0).toUpperCase() + text.slice(1)

export const countWords = (count: number, one: string, many = `${one}s`): string =>
  `${count.toLocaleString('en')} ${count === 1 ? one : many}`

/** The name of a batch, or how large it is. */
export const batchTitle = ({ name, items_count: count }: Pick<Schemas['PaymentBatch'], 'name' | 'items_count'>): string =>
  name ?? `List of ${countWords(count, 'payment')}`

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

export type Member = Pick<Schemas['Member'], 'account_id' | 'display_name' | 'email' | 'wallet_address'>

export const memberName = (member: Omit<Member, 'account_id'>): string =>
  member.display_name ?? member.email ?? (member.wallet_address ? shortAddress(member.wallet_address) : 'Member')

/** Who it is, for a reader. Only where all members are known is one who is not among them a former one. */
export const nameAmong = (members: readonly Member[], areAll: boolean, own: string, id: string): string => {
  if (id === own) return 'you'
  const member = members.find((candidate) => candidate.account_id === id)
  if (member) return memberName(member)
  return areAll ? 'a former member' : 'someone'
}

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

/** "1,234.50" of an amount in minor units; a minus is a real minus sign. */
export const majorText = (minor: string): string => {
  const negative = minor.startsWith('-')
  const digits = (negative ? minor.slice(1) : minor).padStart(3, '0')
  const whole = digits.slice(0, -2).replace(/\B(?=(\d{3})+(?!\d))/g, ',')
  return `${negative ? '\u2212' : ''}${whole}.${digits.slice(-2)}`
}

/** "KES 1,234.50", in one line however narrow it is. */
export const moneyText = (minor: string, currency: string): string => `${currency}\u00a0${majorText(minor)}`

/** "KES 15.00 (KES 1,015.00 in total)": the fee of an amount. Null where nothing is charged. */
export const feeWords = (minor: string, fee: string, currency: string): string | null =>
  fee === '0' ? null : `${moneyText(fee, currency)} (${moneyText(sumMinor([minor, fee]), currency)} in total)`

/** For titles and sentences: "KES 23,499", cents only where there are some. */
export const shortMoney = (minor: string, currency: string): string => moneyText(minor, currency).replace(/\.00$/, '')

/** For the axis of a chart: "1.2M", "450k", "900". */
export const roundMoney = (minor: string): string => {
  const major = Number(minor) / 100
  if (major >= 1_000_000) return `${+(major / 1_000_000).toFixed(1)}M`
  return major >= 1000 ? `${+(major / 1000).toFixed(major >= 10_000 ? 0 : 1)}k` : String(Math.round(major))
}

export const sumMinor = (amounts: readonly string[]): string => amounts.reduce((sum, minor) => sum + BigInt(minor), 0n).toString()

export const unreadableAmount = 'Enter an amount such as 1500 or 1,500.50'

/** What a person typed ("1,500", "1500.5") in minor units, or null when it is no amount. */
export const parseMajor = (text: string): string | null => {
  const match = /^(\d{1,15})(?:\.(\d{0,2}))?$/.exec(text.replace(/[,\s\u00a0]/g, ''))
  if (!match?.[1]) return null
  return BigInt(match[1] + (match[2] ?? '').padEnd(2, '0')).toString()
}

/** "12345.5" as it is typed becomes "12,345.5"; what is no amount stays as it is. */
export const groupDigits = (text: string): string => {
  const match = /^(\d[\d,]*)(\.\d{0,2})?$/.exec(text)
  return match?.[1] ? match[1].replaceAll(',', '').replace(/\B(?=(\d{3})+$)/g, ',') + (match[2] ?? '') : text
}

/** An amount as it goes into a field again: "1500", "1500.50". */
export const editableMajor = (minor: string | null | undefined): string =>
  minor == null ? '' : majorText(minor).replaceAll(',', '').replace(/\.00$/, '')

/** How many times an amount is another one: "2.4", and from ten on in whole numbers. */
export const multipleOf = (minor: string, of: string): string => {
  const times = Number(minor) / Number(of)
  return times >= 10 ? Math.round(times).toLocaleString('en') : String(Math.round(times * 10) / 10)
}

export const compareMinor = (a: string, b: string): number => (BigInt(a) < BigInt(b) ? -1 : BigInt(a) > BigInt(b) ? 1 : 0)

/** How much of a limit is used, 0 to 1. */
export const share = (used: string, limit: string): number => {
  const total = BigInt(limit)
  if (total === 0n) return 1
  return Math.min(1, Math.max(0, Number((BigInt(used) * 1000n) / total) / 1000))
}
