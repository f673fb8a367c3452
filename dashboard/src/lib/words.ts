import type { Schemas } from '../../../client/src/route-types.ts'
import { readNonNegative } from '../../../src/lib/money.ts'
import { isKey, type Key, locale, t } from './language.ts'

/** "a", "a and b", "a, b and c" */
export const listWords = (items: readonly string[], last: 'and' | 'or' = 'and'): string =>
  new Intl.ListFormat(locale, { type: last === 'and' ? 'conjunction' : 'disjunction' }).format(items)

export const capitalized = (text: string): string => text.charAt(0).toUpperCase() + text.slice(1)

/** Name of a batch, else its number of payments. */
export const batchTitle = ({ name, items_count: count }: Pick<Schemas['PaymentBatch'], 'name' | 'items_count'>): string =>
  name ?? t('list_of', { payments: t('payments', { count }) })

/** Groups items by key, at the place of each group's first item. An item whose key is null forms its own group. */
export const groupByKey = <Item>(items: readonly Item[], keyOf: (item: Item) => string | null): [Item, ...Item[]][] => {
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

/** Keyed by the API's own type: a new payment status does not compile without a tone and a text in `texts/`. */
export const paymentTones = {
  scheduled: 'info',
  pending_approval: 'warn',
  processing: 'info',
  succeeded: 'good',
  failed: 'bad',
  unknown: 'warn',
  rejected: 'bad',
  cancelled: 'plain',
  expired: 'plain',
  returned: 'warn',
} as const satisfies Readonly<Record<PaymentStatus, string>>

export const isPaymentStatus = (text: string): text is PaymentStatus => Object.hasOwn(paymentTones, text)

/** Statuses in the order of the filter. */
export const paymentStatuses: readonly PaymentStatus[] = Object.keys(paymentTones).filter(isPaymentStatus)

export const statusText = (status: string): string =>
  isKey(`status.${status}`) ? t(`status.${status}` as Key) : capitalized(status).replaceAll('_', ' ')

/** "1 needs approval", "2 need approval", "3 being checked". */
export const statusCount = (count: number, status: PaymentStatus): string =>
  status === 'pending_approval' || status === 'unknown'
    ? t(`count.${status}`, { count })
    : t('count.status', { count, status: t(`status.${status}`).toLowerCase() })

/** 0x1234…abcd */
export const shortAddress = (address: string): string =>
  address.length > 14 ? `${address.slice(address.lastIndexOf(':') + 1).slice(0, 6)}…${address.slice(-4)}` : address

export type Member = Pick<Schemas['Member'], 'account_id' | 'display_name' | 'email' | 'wallet_address'>

export const memberName = (member: Omit<Member, 'account_id'>): string =>
  member.display_name ?? member.email ?? (member.wallet_address ? shortAddress(member.wallet_address) : t('member'))

/** Name of an account for a reader. An unknown account is a former member only if all members are known. */
export const nameAmong = (members: readonly Member[], areAll: boolean, own: string, id: string): string => {
  if (id === own) return t('you')
  const member = members.find((candidate) => candidate.account_id === id)
  if (member) return memberName(member)
  return t(areAll ? 'former_member' : 'someone')
}

/** Shortens a provider's identifier of a person, so that it can be recognised but not copied. */
export const maskSubject = (subject: string): string =>
  subject.length > 8 ? `${subject.slice(0, 3)}…${subject.slice(-3)}` : subject

export const initials = (name: string): string =>
  name
    .split(/\s+/)
    .slice(0, 2)
    .map((word) => word.charAt(0).toUpperCase())
    .join('')

type InitiatedBy = Schemas['PaymentSummary']['initiated_by']

/** Requester of a payment: a person by name, or a key or agent and its owner. */
export const requesterWords = ({ label: agent, account_id: account }: InitiatedBy, people: (id: string) => string): string => {
  const person = people(account)
  if (agent === null) return person
  return person === t('you') ? t('your_agent', { agent }) : t('agent_of', { agent, person })
}

/** Creator of a record: a person by name, or a key or agent. */
export const makerText = ({ account_id: account, grant_id: grantId, label }: Schemas['Maker'], people: (id: string) => string) =>
  grantId === null ? capitalized(people(account)) : t('by_key_or_agent', { name: label ?? t('key_or_agent') })

/** "1,234.50" for an amount in minor units. Negative amounts have a real minus sign. */
export const majorText = (minor: string): string => {
  const negative = minor.startsWith('-')
  const digits = (negative ? minor.slice(1) : minor).padStart(3, '0')
  const whole = digits.slice(0, -2).replace(/\B(?=(\d{3})+(?!\d))/g, ',')
  return `${negative ? '\u2212' : ''}${whole}.${digits.slice(-2)}`
}

/** "KES 1,234.50", never broken across lines. */
export const moneyText = (minor: string, currency: string): string => `${currency}\u00a0${majorText(minor)}`

/** "KES 15.00 (KES 1,015.00 in total)": the fee of an amount. Null without a fee. */
export const feeWords = (minor: string, fee: string, currency: string): string | null =>
  fee === '0' ? null : t('with_fee', { fee: moneyText(fee, currency), sum: moneyText(sumMinor([minor, fee]), currency) })

/** "KES 23,499" for titles and sentences. Cents only if there are any. */
export const shortMoney = (minor: string, currency: string): string => moneyText(minor, currency).replace(/\.00$/, '')

/** "1.2M", "450k", "900": an amount on the axis of a chart. */
export const roundMoney = (minor: string): string => {
  if (minor.startsWith('-')) return `−${roundMoney(minor.slice(1))}`
  const major = Number(minor) / 100
  if (major >= 1_000_000) return `${+(major / 1_000_000).toFixed(1)}M`
  return major >= 1000 ? `${+(major / 1000).toFixed(major >= 10_000 ? 0 : 1)}k` : String(Math.round(major))
}

export const sumMinor = (amounts: readonly string[]): string => amounts.reduce((sum, minor) => sum + BigInt(minor), 0n).toString()

export const unreadableAmount = t('unreadable_amount')

/** Parses typed text ("1,500", "1500.5", "1500.") to minor units; null if invalid or ambiguous ("12,50"). */
export const parseMajor = (text: string): string | null => readNonNegative(text.replace(/\.$/, ''), '')?.toString() ?? null

export const isUnreadable = (amount: string): boolean => amount.trim() !== '' && parseMajor(amount) === null

/** Groups digits while typing: "12345.5" becomes "12,345.5". Text with anything else in it stays as it is. */
export const groupDigits = (text: string): string => {
  const [, whole, cents = ''] = /^(\d+)(\.\d{0,2})?$/.exec(text) ?? []
  return whole === undefined ? text : whole.replace(/\B(?=(\d{3})+$)/g, ',') + cents
}

/** Value for an amount field: "1500", "1500.50". */
export const editableMajor = (minor: string | null | undefined): string =>
  minor == null ? '' : majorText(minor).replaceAll(',', '').replace(/\.00$/, '')

/** Ratio of two amounts: "2.4", and whole numbers from ten on. */
export const multipleOf = (minor: string, of: string): string => {
  const times = Number(minor) / Number(of)
  return times >= 10 ? Math.round(times).toLocaleString(locale) : String(Math.round(times * 10) / 10)
}

/** Remaining amount of a limit: 0 if the limit was lowered below its use. */
export const leftOf = ({ used, limit }: { used: string; limit: string }): string =>
  compareMinor(used, limit) > 0 ? '0' : (BigInt(limit) - BigInt(used)).toString()

export const compareMinor = (a: string, b: string): number => (BigInt(a) < BigInt(b) ? -1 : BigInt(a) > BigInt(b) ? 1 : 0)

/** Used share of a limit, 0 to 1. */
export const share = (used: string, limit: string): number => {
  const total = BigInt(limit)
  if (total === 0n) return 1
  return Math.min(1, Math.max(0, Number((BigInt(used) * 1000n) / total) / 1000))
}
