import type { Minor } from '../../../lib/money.ts'

// The forms in which exports write times and amounts. What could mean two things, or nothing, is refused: a cell is never read by half.

/** An instant; of a date alone, the whole day. */
export type Span = { at: Date; until: Date }

const largest = 10n ** 17n
const dayMs = 86_400_000
const months = ['jan', 'feb', 'mar', 'apr', 'may', 'jun', 'jul', 'aug', 'sep', 'oct', 'nov', 'dec']

const date = String.raw`(?:(?<y>\d{4})[-/.](?<m>\d\d?)[-/.](?<d>\d\d?)|(?<d2>\d\d?)[-/. ](?<m2>\d\d?|[A-Za-z]{3,9})[-/. ,]{1,2}(?<y2>\d{4}))`
const clock = String.raw`(?<h>\d\d?):(?<min>\d\d)(?::(?<s>\d\d)(?:\.\d{1,9})?)?(?:\s?(?<half>[AaPp])\.?[Mm]\.?)?\s?(?<zone>Z|[+-]\d\d:?\d\d|EAT)?`
const spread = new RegExp(`^${date}(?:(?:[T ]|,\\s)\\s?${clock})?$`)
const compact = /^(?<y>\d{4})(?<m>\d\d)(?<d>\d\d)(?<h>\d\d)(?<min>\d\d)(?<s>\d\d)$/
const withinText = new RegExp(`${date}(?:(?:[T ]|,\\s)\\s?${clock})?`.replace(/\?<\w+>/g, ''), 'g')

type Parts = Readonly<Record<string, string | undefined>>

const monthOf = (text: string): number => (/^\d/.test(text) ? Number(text) : months.indexOf(text.slice(0, 3).toLowerCase()) + 1)

const hourOf = ({ h = '', half }: Parts): number | undefined => {
  const hour = Number(h)
  if (half === undefined) return hour <= 23 ? hour : undefined
  if (hour < 1 || hour > 12) return undefined
  return (hour % 12) + (half.toLowerCase() === 'p' ? 12 : 0)
}

const zoneMs = (zone: string | undefined): number => {
  if (zone === undefined || zone === 'EAT') return 3 * 3_600_000
  if (zone === 'Z') return 0
  const minutes = Number(zone.slice(1, 3)) * 60 + Number(zone.slice(-2))
  return (zone.startsWith('-') ? -minutes : minutes) * 60_000
}

/**
 * Year first, or day first as in Kenya; with a time of 24 hours, or of 12 with AM or PM, or without. Nairobi's time, unless a zone is written.
 * Undefined for all else, and for a day or a time that does not exist.
 */
export const readSpan = (text: string): Span | undefined => {
  const trimmed = text.replace(/[\u00a0\u202f\s]+/g, ' ').trim()
  const parts: Parts | undefined = (spread.exec(trimmed) ?? compact.exec(trimmed))?.groups
  if (!parts) return undefined
  const [year, month, day] = [Number(parts.y ?? parts.y2), monthOf(parts.m ?? parts.m2 ?? ''), Number(parts.d ?? parts.d2)]
  const midnight = new Date(Date.UTC(year, month - 1, day))
  if (midnight.getUTCMonth() !== month - 1 || midnight.getUTCDate() !== day) return undefined
  const start = midnight.getTime() - zoneMs(parts.zone)
  if (parts.h === undefined) return { at: new Date(start), until: new Date(start + dayMs - 1) }
  const [hour, minute, second] = [hourOf(parts), Number(parts.min), Number(parts.s ?? 0)]
  if (hour === undefined || minute > 59 || second > 59) return undefined
  const at = new Date(start + ((hour * 60 + minute) * 60 + second) * 1000)
  return { at, until: at }
}

/** Every time that a text names: "From 01-03-2026 00:00:00 To 31-03-2026". */
export const spansIn = (text: string): Span[] => (text.match(withinText) ?? []).flatMap((each) => readSpan(each) ?? [])

export const knownTimes = '2026-03-31 14:05:00, 31-03-2026 14:05:00, 31/03/2026 02:05 PM, or a date alone'

/** With separators of thousands that stand where they belong: `1,500.00`, `1 500.00`, `1.500,00`, `1'500`, `1500.5`, `1500,50`. */
const forms = [
  /^(?<whole>\d{1,15}|\d{1,3}(?:,\d{3})+)(?:\.(?<cents>\d{1,2})(?:(?<=\.\d\d)00)?)?$/,
  /^(?<whole>\d{1,3}(?:[ '’]\d{3})+)(?:[.,](?<cents>\d{1,2}))?$/,
  /^(?<whole>\d{1,15}|\d{1,3}(?:\.\d{3})+),(?<cents>\d{1,2})$/,
  /^(?<whole>\d{1,3}(?:\.\d{3}){2,})$/,
]

/** `(1,500.00)`, `-1,500.00` and `1,500.00-` are negative. Null: there is none. Undefined: it cannot be read. */
export const readAmount = (text: string): Minor | null | undefined => {
  const plain = text
    .replace(/[\u00a0\u202f\u2009\s]+/g, ' ')
    .replace(/[\u2212\u2013]/g, '-')
    .trim()
  if (plain === '' || /^-+$/.test(plain)) return null
  const inner = /^\((.*)\)$/.exec(plain)?.[1] ?? plain
  const unsigned = inner.replace(/^(?:KES|KSH\.?)\s?/i, '').replace(/\s?(?:KES|KSH\.?)$/i, '')
  const [, before = '', digits = '', after = ''] = /^([+-]?)\s?(?:(?:KES|KSH\.?)\s?)?([\d.,' ’]*\d)\s?(-?)$/i.exec(unsigned) ?? []
  const negatives = [inner !== plain, before === '-', after === '-'].filter(Boolean).length
  const parts = forms.map((form) => form.exec(digits)?.groups).find((found) => found !== undefined)
  if (!parts?.whole || negatives > 1) return undefined
  const minor = BigInt(parts.whole.replace(/\D/g, '')) * 100n + BigInt((parts.cents ?? '').padEnd(2, '0'))
  if (minor >= largest) return undefined
  return negatives === 1 ? -minor : minor
}

export const knownAmounts = '1500.00, 1,500.00, 1 500.00, 1.500,00, -1,500.00 or (1,500.00)'
