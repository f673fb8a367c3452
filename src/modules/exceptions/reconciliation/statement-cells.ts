import { z } from 'zod'
import { type Minor, readAmount } from '../../../lib/money.ts'

// A cell is read completely or not at all: an ambiguous or meaningless cell is an error.

export type Span = { at: Date; until: Date }

const dayMs = 86_400_000
const months = ['jan', 'feb', 'mar', 'apr', 'may', 'jun', 'jul', 'aug', 'sep', 'oct', 'nov', 'dec']

const date = String.raw`(?:(?<y>\d{4})[-/.](?<m>\d\d?)[-/.](?<d>\d\d?)|(?<d2>\d\d?)[-/. ](?<m2>\d\d?|[A-Za-z]{3,9})[-/. ,]{1,2}(?<y2>\d{4}|\d\d(?!\d)))`
const clock = String.raw`(?<h>\d\d?):(?<min>\d\d)(?::(?<s>\d\d)(?:\.\d{1,9})?)?(?:\s?(?<half>[AaPp])\.?[Mm]\.?)?\s?(?<zone>Z|[+-]\d\d:?\d\d|EAT)?`
const separatedForm = new RegExp(`^${date}(?:(?:[T ]|,\\s)\\s?${clock})?$`)
const compactForm = /^(?<y>\d{4})(?<m>\d\d)(?<d>\d\d)(?<h>\d\d)(?<min>\d\d)(?<s>\d\d)$/
const timeInText = new RegExp(`${date}(?:(?:[T ]|,\\s)\\s?${clock})?`.replace(/\?<\w+>/g, ''), 'g')

type Parts = Readonly<Record<string, string | undefined>>

const monthOf = (text: string): number => (/^\d/.test(text) ? Number(text) : months.indexOf(text.slice(0, 3).toLowerCase()) + 1)

/** Returns NaN for an hour that does not exist, such as 14:33 PM. */
const hourOf = ({ h = '0', half }: Parts): number => {
  const hour = Number(h)
  if (half === undefined) return hour
  return hour < 1 || hour > 12 ? Number.NaN : (hour % 12) + (half.toLowerCase() === 'p' ? 12 : 0)
}

const zoneOf = ({ zone = 'EAT' }: Parts): string => (zone === 'EAT' ? '+03:00' : zone.replace(/(?<=\d\d)(?=\d\d$)/, ':'))

const instant = z.iso.datetime({ offset: true })
/** Earliest plausible year. Programs write 0001, 1899 or 1970 for a missing time. */
const firstYear = 2000
/** Earliest plausible two-digit year: `11-03-05` may begin with the year. */
const firstShortYear = 2015

/** Reads times with the year first, or the day first as in Kenya. Default zone: Nairobi. Undefined if there is no such time. */
export const readSpan = (text: string, isBank: boolean): Span | undefined => {
  const trimmed = text.replace(/[\u00a0\u202f\s]+/g, ' ').trim()
  const parts: Parts | undefined = (separatedForm.exec(trimmed) ?? compactForm.exec(trimmed))?.groups
  const isShort = parts?.y2?.length === 2
  // A provider's own export writes dates with a four-digit year.
  if (!parts || (isShort && parts.h === undefined && !isBank)) return undefined
  const two = (part: string | number = 0) => String(part).padStart(2, '0')
  const year = parts.y ?? (isShort ? `20${parts.y2}` : parts.y2)
  const day = `${year}-${two(monthOf(parts.m ?? parts.m2 ?? ''))}-${two(parts.d ?? parts.d2)}`
  const iso = `${day}T${two(hourOf(parts))}:${two(parts.min)}:${two(parts.s)}${zoneOf(parts)}`
  if (!instant.safeParse(iso).success) return undefined
  const at = new Date(iso)
  if (at.getUTCFullYear() < (isShort ? firstShortYear : firstYear)) return undefined
  return { at, until: parts.h === undefined ? new Date(at.getTime() + dayMs - 1) : at }
}

/** Finds all times in a text, such as "From 01-03-2026 00:00:00 To 31-03-2026". */
export const spansIn = (text: string): Span[] => (text.match(timeInText) ?? []).flatMap((each) => readSpan(each, true) ?? [])

export const knownTimes = '2026-03-31 14:05:00, 31-03-2026 14:05:00, 31/03/2026 02:05 PM, or a date alone'

export const knownAmounts = '1500.00, 1,500.00, 1 500.00, 1.500,00, -1,500.00 or (1,500.00)'

export type Direction = 'in' | 'out'

const directions: Readonly<Record<string, Direction>> = {
  ...{ c: 'in', cr: 'in', credit: 'in', credited: 'in', deposit: 'in', in: 'in', '+': 'in' },
  ...{ d: 'out', dr: 'out', debit: 'out', debited: 'out', withdrawal: 'out', out: 'out', '-': 'out' },
}
/** Undefined if the cell contains something other than a direction, such as a payment method. */
export const readDirection = (text: string): Direction | undefined => directions[text.replace(/[.\s]/g, '').toLowerCase()]

/** Reads an amount and the mark that a bank prints beside it, such as `1,500.00 DR`. */
export const readMarked = (text: string, currency: string): { amount: Minor | null | undefined; mark: Direction | undefined } => {
  const [, before, amount = '', after] = /^\s*(CR|DR)?\.?\s*(.*?)\s*\(?(CR|DR)?\.?\)?\s*$/i.exec(text) ?? []
  const mark = before ?? after
  const isMarked = mark !== undefined && !(before && after)
  return { amount: readAmount(isMarked ? amount : text, currency, true), mark: isMarked ? readDirection(mark) : undefined }
}
