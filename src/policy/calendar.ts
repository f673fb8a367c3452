import { lastDays } from '../lib/clock.ts'
import { memoised } from '../lib/memoised.ts'
import type { Periods } from './types.ts'

/** A local time in milliseconds: the instant at which a UTC clock shows that time. Local times then need only arithmetic. */
type LocalMs = number

/** Cached: creating a formatter is about 100 times slower than using it. Bounded, because zone names have many spellings. */
const formatOf = memoised(
  (timeZone) =>
    new Intl.DateTimeFormat('en-US', {
      timeZone,
      calendar: 'iso8601',
      numberingSystem: 'latn',
      hourCycle: 'h23',
      year: 'numeric',
      month: 'numeric',
      day: 'numeric',
      hour: 'numeric',
      minute: 'numeric',
      second: 'numeric',
    }),
  600,
)

/** Offsets are whole seconds, so a local time has the milliseconds of `at`. */
export const localMs = (at: number, timeZone: string): LocalMs => {
  const part: Record<string, number> = {}
  for (const { type, value } of formatOf(timeZone).formatToParts(at)) part[type] = Number(value)
  const { year = 0, month = 1, day = 1, hour = 0, minute = 0, second = 0 } = part
  return Date.UTC(year, month - 1, day, hour, minute, second) + (((at % 1000) + 1000) % 1000)
}

export const offsetMs = (at: number, timeZone: string): number => localMs(at, timeZone) - at

const hourMs = 3_600_000

/** The offset in a UTC hour, or NaN if it changes: no zone changes twice in an hour. `hour`: the zone and the hour's number. */
const offsetOfHour = memoised((hour) => {
  const [timeZone = '', number] = hour.split(' ')
  const from = Number(number) * hourMs
  const offset = offsetMs(from, timeZone)
  return offset === offsetMs(from + hourMs, timeZone) ? offset : Number.NaN
}, 600)

/** "2026-03-04 12:00:00": the local time. Caches offsets by hour, because an export has two times for each payment. */
export const localDateTime = (at: Date, timeZone: string): string => {
  const instant = at.getTime()
  const offset = offsetOfHour(`${timeZone} ${Math.floor(instant / hourMs)}`)
  const local = Number.isNaN(offset) ? localMs(instant, timeZone) : instant + offset
  return new Date(local).toISOString().slice(0, 19).replace('T', ' ')
}

type Unit = { startOfNext: (local: number) => number; name: (local: number) => string }

const day: Unit = {
  startOfNext: (local) => {
    const date = new Date(local)
    return Date.UTC(date.getUTCFullYear(), date.getUTCMonth(), date.getUTCDate() + 1)
  },
  name: (local) => new Date(local).toISOString().slice(0, 10),
}

const month: Unit = {
  startOfNext: (local) => {
    const date = new Date(local)
    return Date.UTC(date.getUTCFullYear(), date.getUTCMonth() + 1, 1)
  },
  name: (local) => `${new Date(local).toISOString().slice(0, 7)}-01`,
}

/** The first instant after `from`, up to `to`, with a different offset. A binary search, exact to the millisecond. */
const offsetChange = (from: number, to: number, timeZone: string): number => {
  const before = offsetMs(from, timeZone)
  let same = from
  let other = to
  while (other - same > 1) {
    const middle = same + Math.floor((other - same) / 2)
    if (offsetMs(middle, timeZone) === before) same = middle
    else other = middle
  }
  return other
}

/**
 * The first instant with a different local date or month. Checks the local time after each change of offset, which may skip
 * midnight (Cairo) or a whole day (Apia), or return to the old day (São Paulo).
 */
const endOf = (unit: Unit, at: number, timeZone: string): number => {
  const current = unit.name(localMs(at, timeZone))
  let from = at
  for (;;) {
    const local = localMs(from, timeZone)
    const end = unit.startOfNext(local) - (local - from)
    if (offsetMs(end, timeZone) === local - from) return end
    const change = offsetChange(from, end, timeZone)
    if (unit.name(localMs(change, timeZone)) !== current) return change
    from = change
  }
}

/** Cache of a zone's last two results, valid until their days end. Nearly every call is about today or tomorrow. */
type CachedPeriods = { from: number; periods: Periods }
const cache = new Map<string, readonly CachedPeriods[]>()

/** Throws a RangeError for an unknown time zone. */
export const periodsAt = (at: Date, timeZone: string): Periods => {
  const instant = at.getTime()
  const known = cache.get(timeZone) ?? []
  const same = known.find(({ from, periods }) => from <= instant && instant < periods.dayResetsAt.getTime())
  if (same) return same.periods
  const local = localMs(instant, timeZone)
  const periods: Periods = {
    day: day.name(local),
    month: month.name(local),
    dayResetsAt: new Date(endOf(day, instant, timeZone)),
    monthResetsAt: new Date(endOf(month, instant, timeZone)),
  }
  if (cache.size >= 600) cache.clear()
  cache.set(timeZone, [{ from: instant, periods }, ...known.slice(0, 1)])
  return periods
}

/** The first instant of a local date ("2026-03-01"). If the zone skipped that date, the first instant after it. */
export const startOfDate = (date: string, timeZone: string): Date => {
  const noonBefore = Date.parse(`${date}T12:00:00Z`) - 86_400_000
  return new Date(endOf(day, noonBefore - offsetMs(noonBefore, timeZone), timeZone))
}

/** Accepts IANA names in any letter case, as ECMA-402 does. A bare offset is not a time zone, because it never changes. */
export const isTimeZone = (text: string): boolean => {
  if (!/^[A-Za-z][A-Za-z0-9_+\-/]{0,63}$/.test(text)) return false
  try {
    offsetMs(0, text)
    return true
  } catch {
    return false
  }
}

/** Both `next` fields are null if no change is planned. */
export type ZoneSchedule = { timeZone: string; nextTimeZone: string | null; nextTimeZoneFrom: Date | null }

export const effectiveTimeZone = ({ timeZone, nextTimeZone, nextTimeZoneFrom }: ZoneSchedule, at: Date): string =>
  nextTimeZone !== null && nextTimeZoneFrom !== null && at >= nextTimeZoneFrom ? nextTimeZone : timeZone

type ZoneFrom = { readonly timeZone: string; readonly fromAt: Date }

/** The first zone and all later changes. */
export type Zones = { timeZone: string; changes: readonly ZoneFrom[] }

/** `kept`: the rows of `workspace_time_zones`, oldest first. The last row has the schedule's zone. */
export const zonesOf = ({ timeZone, nextTimeZone, nextTimeZoneFrom }: ZoneSchedule, kept: readonly ZoneFrom[]): Zones => {
  const [first, ...changes] = kept
  const next = nextTimeZone === null || nextTimeZoneFrom === null ? [] : [{ timeZone: nextTimeZone, fromAt: nextTimeZoneFrom }]
  return { timeZone: first?.timeZone ?? timeZone, changes: [...changes, ...next] }
}

export const timeZoneAt = ({ timeZone, changes }: Zones, at: Date): string =>
  changes.findLast(({ fromAt }) => fromAt <= at)?.timeZone ?? timeZone

/** A date that began before a zone change keeps its start, so that sums up to that start do not change. */
export const startOfDateInZones = ({ timeZone, changes }: Zones, date: string): Date => {
  let start = startOfDate(date, timeZone)
  for (const change of changes) {
    if (start < change.fromAt) return start
    start = new Date(Math.max(startOfDate(date, change.timeZone).getTime(), change.fromAt.getTime()))
  }
  return start
}

/** The last `count` days including today, and the start of each. */
export const lastDaysInZones = (zones: Zones, at: Date, count: number): { dates: readonly string[]; starts: readonly Date[] } => {
  const dates = lastDays(periodsAt(at, timeZoneAt(zones, at)).day, count)
  return { dates, starts: dates.map((date) => startOfDateInZones(zones, date)) }
}

/** When the next month has begun in both zones: the date never returns to an ended month, and no month counts twice. */
export const zoneChangesAt = (at: Date, from: string, to: string): Date => {
  const old = periodsAt(at, from)
  const there = periodsAt(old.monthResetsAt, to)
  return there.month > old.month ? old.monthResetsAt : there.monthResetsAt
}
