import type { Minor } from '../lib/money.ts'

export type JsonRecord = Readonly<Record<string, unknown>>

export const asRecord = (value: unknown): JsonRecord | undefined =>
  typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as JsonRecord) : undefined

/** Reads only own properties, so that a body cannot access `constructor` and the like. */
export const field = (value: unknown, name: string): unknown => {
  const record = asRecord(value)
  return record && Object.hasOwn(record, name) ? record[name] : undefined
}

/** Codes and ids arrive as strings or numbers. An empty value counts as missing, and so does an integer that JSON has rounded. */
export const asText = (value: unknown): string | undefined => {
  if (typeof value === 'number') return Math.abs(value) <= Number.MAX_SAFE_INTEGER ? String(value) : undefined
  if (typeof value !== 'string') return undefined
  const text = value.trim()
  return text === '' ? undefined : text
}

export const textField = (value: unknown, name: string): string | undefined => asText(field(value, name))

/** Accepts a bare value, which providers send instead of a list with one item. */
export const asList = (value: unknown): readonly unknown[] => {
  if (Array.isArray(value)) return value
  return value === undefined || value === null ? [] : [value]
}

export const parseJson = (text: string): unknown => {
  try {
    return JSON.parse(text.replace(/^\ufeff/, ''))
  } catch {
    return undefined
  }
}

/** A longer amount has more digits than the API and the ledger accept. */
const amountLimitMinor = 10n ** 17n

/** "500" for 50000n. Undefined for amounts with cents, because M-PESA moves whole shillings and nothing is rounded. */
export const wholeShillings = (amount: Minor): string | undefined =>
  amount > 0n && amount % 100n === 0n ? (amount / 100n).toString() : undefined

/** "500.00" for 50000n. */
export const decimalShillings = (amount: Minor): string => `${amount / 100n}.${(amount % 100n).toString().padStart(2, '0')}`

const amountForm =
  /^(?:k(?:es|sh)\.?\s*)?([+-]?)\s*(?:k(?:es|sh)\.?\s*)?(\d{1,16}|\d{1,3}(?:,\d{3}){1,5})(?:\.(\d{1,2})0*)?(?:\s*k(?:es|sh)\.?)?$/i

/** Parses signed amounts to minor units without floats: 500, "500.00", -26, "1,001.00", "KES 1,275.00". Otherwise undefined. */
export const readSignedShillings = (value: unknown): Minor | undefined => {
  if (typeof value !== 'number' && typeof value !== 'string') return undefined
  const match = amountForm.exec(String(value).trim())
  if (!match) return undefined
  const [, sign, whole = '', cents = ''] = match
  const amount = BigInt(whole.replaceAll(',', '')) * 100n + BigInt(cents.padEnd(2, '0'))
  if (amount >= amountLimitMinor) return undefined
  return sign === '-' ? -amount : amount
}

/** Undefined for a negative amount. */
export const readShillings = (value: unknown): Minor | undefined => {
  const amount = readSignedShillings(value)
  return amount === undefined || amount < 0n ? undefined : amount
}

/** A returned amount. Some providers write it as outgoing, with a minus sign. */
export const readReturned = (value: unknown): Minor | undefined => {
  const amount = readSignedShillings(value)
  return amount === undefined || amount === 0n ? undefined : amount < 0n ? -amount : amount
}

export const mobileForm = /^254[17]\d{8}$/

const offsetMs = 3 * 3_600_000

/** Nairobi time is three hours ahead of UTC all year. */
const nairobiIso = (at: Date): string => new Date(at.getTime() + offsetMs).toISOString()

/** Nairobi time as yyyyMMddHHmmss. */
export const nairobiTimestamp = (at: Date): string => nairobiIso(at).slice(0, 19).replace(/\D/g, '')

/** The date in Nairobi as yyyy-MM-dd. */
export const nairobiDate = (at: Date): string => nairobiIso(at).slice(0, 10)

/** Nairobi time as yyyy-MM-dd HH:mm:ss. */
export const nairobiDateTime = (at: Date): string => nairobiIso(at).slice(0, 19).replace('T', ' ')

export const nairobiMidnight = (at: Date): Date => new Date(Date.parse(`${nairobiDate(at)}T00:00:00Z`) - offsetMs)

/** Parses `yyyyMMddHHmmss` or `yyyy-MM-dd HH:mm:ss`, with or without a fraction. Text behind it, such as `PM`, is not ignored. */
const nairobiInstant = (text: string): Date | undefined => {
  const parts = /^(\d{4})-?(\d\d)-?(\d\d)[ T]?(\d\d):?(\d\d):?(\d\d)(?:\.\d+)?$/.exec(text)
  if (!parts) return undefined
  const [, year, month, day, hours, minutes, seconds] = parts
  const at = new Date(`${year}-${month}-${day}T${hours}:${minutes}:${seconds}+03:00`)
  return Number.isNaN(at.getTime()) || !nairobiIso(at).startsWith(`${year}-${month}-${day}`) ? undefined : at
}

/** Uses the stated UTC offset, or Nairobi time without one, whatever the time zone of this process. */
export const providerInstant = (text: string): Date | undefined => {
  const isZoned = /\d(?:Z|[+-]\d\d:?\d\d)$/.test(text.trim())
  const at = isZoned ? new Date(text.trim()) : nairobiInstant(text.trim())
  return at === undefined || Number.isNaN(at.getTime()) ? undefined : at
}
