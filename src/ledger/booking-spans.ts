import type { BookingUnit } from '../db/tables/ledger.ts'

/** A part of a period: whole units whose sums are stored, or, where `unit` is null, less than the smallest one. */
export type BookingSpan = { unit: BookingUnit | null; begins: Date; ends: Date }

/**
 * Days and months are those of Nairobi, where nearly all workspaces are: its offset has been three hours since 1942. The days of another time
 * zone are made of hours.
 */
const offsetHours = 3
const offsetMs = offsetHours * 3_600_000

type Calendar = 'hour' | 'day' | 'month'
const widthMs = { hour: 3_600_000, day: 86_400_000 } as const

/** The beginning of the unit that a time is in; or of the one after, for `later` 1. */
const beginningOf = (calendar: Calendar, at: number, later: 0 | 1): number => {
  const local = at + offsetMs
  if (calendar !== 'month') return (Math.floor(local / widthMs[calendar]) + later) * widthMs[calendar] - offsetMs
  const date = new Date(local)
  return Date.UTC(date.getUTCFullYear(), date.getUTCMonth() + later, 1) - offsetMs
}

/** The same of a column. */
export const beginningSql = (calendar: Calendar, at: string): string =>
  `(date_trunc('${calendar}', (${at} at time zone 'UTC') + interval '${offsetHours} hours') - interval '${offsetHours} hours') at time zone 'UTC'`

export const hourOf = (at: Date): Date => new Date(beginningOf('hour', at.getTime(), 0))

/** Long before every booking, and the beginning of a unit of each kind. */
export const ever = new Date(Date.UTC(2000, 0, 1) - offsetMs)
/** Far behind every booking, and the beginning of a unit of each kind. */
export const never = new Date(Date.UTC(9000, 0, 1) - offsetMs)

const together: readonly BookingUnit[] = ['month', 'day', 'hour']
const byPayee: readonly BookingUnit[] = ['payee_month', 'payee_day']
const calendarOf = (unit: BookingUnit): Calendar => unit.replace('payee_', '') as Calendar

const cover = ([unit, ...smaller]: readonly BookingUnit[], begins: number, ends: number): BookingSpan[] => {
  if (begins >= ends) return []
  if (unit === undefined) return [{ unit: null, begins: new Date(begins), ends: new Date(ends) }]
  const calendar = calendarOf(unit)
  const first = beginningOf(calendar, begins - 1, 1)
  const last = beginningOf(calendar, ends, 0)
  if (first >= last) return cover(smaller, begins, ends)
  return [
    ...cover(smaller, begins, first),
    { unit, begins: new Date(first), ends: new Date(last) },
    ...cover(smaller, last, ends),
  ]
}

/** The fewest units that make up a period, in their order: the largest in the middle. */
export const spansOf = (begins: Date, ends: Date, of: 'together' | 'by payee' = 'together'): BookingSpan[] =>
  cover(of === 'together' ? together : byPayee, begins.getTime(), ends.getTime())
