import { memoised } from './memoised.ts'

/** Minor units (cents) of the deployment's only currency. Never a `number`. */
export type Minor = bigint

/** 0, or up to 18 digits without a leading zero, so that sums still fit a Postgres bigint. */
export const minorPattern = /^(0|[1-9]\d{0,17})$/

export const formatMinor = (amount: Minor): string => amount.toString()

export const formatMinorOrNull = (amount: Minor | null): string | null => (amount === null ? null : amount.toString())

export const sumOf = (parts: readonly { amountMinor: Minor }[]): Minor =>
  parts.reduce((sum, { amountMinor }) => sum + amountMinor, 0n)

/** "KES 1,234.50". Always two decimals, because the deployment's currency has cents. */
export const displayAmount = (amount: Minor, currency: string): string =>
  `${currency} ${formatMajor(amount).replace(/\B(?=(\d{3})+\.)/g, ',')}`

const tooLarge = 10n ** 17n

/** `1,500.00`, `1 500.00`, `1.500,00`, `1'500`, `1500.5`, `1500,50`. Not `1.500`, which is ambiguous. */
const forms = [
  /^(?<whole>\d{1,15}|\d{1,3}(?:,\d{3})+)(?:\.(?<cents>\d{1,2})(?:(?<=\.\d\d)00)?)?$/,
  /^(?<whole>\d{1,3}(?:[ '’]\d{3})+)(?:[.,](?<cents>\d{1,2}))?$/,
  /^(?<whole>\d{1,15}|\d{1,3}(?:\.\d{3})+),(?<cents>\d{1,2})$/,
  /^(?<whole>\d{1,3}(?:\.\d{3}){2,})$/,
]

/** With currency "", amounts have no unit. */
const signedForm = memoised((currency) => {
  const unit = String.raw`(?:${currency === 'KES' ? 'KES|KSHS?|SHS?' : currency || '(?!)'})\.?`
  const number = String.raw`(?<digits>\d(?:[\d.,' ’]*\d)?)(?:\.?/[=-])?`
  return new RegExp(`^(?<before>[+-]?) ?(?:${unit} ?)?(?<inner>[+-]?) ?${number} ?(?:${unit})?(?<after>-?)$`, 'i')
})

/**
 * Parses amounts as people and banks write them, with or without our currency. `(1,500.00)`, `-1,500.00` and `1,500.00-` are
 * negative. Null if empty. Undefined if not an amount, or ambiguous: `12,50` typed by a person may mean `12,500`, while in a
 * bank's file it means cents (`isFromFile`).
 */
export const readAmount = (text: string, currency: string, isFromFile = false): Minor | null | undefined => {
  const plain = text
    .replace(/\s+/g, ' ')
    .replace(/[\u2212\u2010-\u2013]/g, '-')
    .trim()
  if (plain === '' || /^-+$/.test(plain)) return null
  const bracketed = /^\((.*)\)$/.exec(plain)?.[1]?.trim()
  const { before, inner, after, digits = '' } = signedForm(currency).exec(bracketed ?? plain)?.groups ?? {}
  const parts = forms.map((form) => form.exec(digits)?.groups).find((found) => found !== undefined)
  const negatives = [bracketed !== undefined, before === '-', inner === '-', after === '-'].filter(Boolean).length
  if (!parts?.whole || negatives > 1 || (before && inner)) return undefined
  if (!isFromFile && /^\d+,\d{1,2}$/.test(digits)) return undefined
  const minor = BigInt(parts.whole.replace(/\D/g, '')) * 100n + BigInt((parts.cents ?? '').padEnd(2, '0'))
  if (minor >= tooLarge) return undefined
  return negatives === 1 ? -minor : minor
}

/** Undefined also for negative amounts. */
export const readNonNegative = (text: string, currency: string): Minor | undefined => {
  const amount = readAmount(text, currency)
  return amount !== null && amount !== undefined && amount >= 0n ? amount : undefined
}

/** Formats an amount for spreadsheets and accounting programs: "-1234.50". */
export const formatMajor = (amount: Minor): string => {
  const absolute = amount < 0n ? -amount : amount
  return `${amount < 0n ? '-' : ''}${absolute / 100n}.${(absolute % 100n).toString().padStart(2, '0')}`
}
