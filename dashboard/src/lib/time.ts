import { useEffect, useState } from 'react'
import { localMs, offsetMs, startOfDate } from '../../../src/policy/calendar.ts'
import { locale, t } from './language.ts'

let zone: string | undefined

/** The workspace's time zone, because limits use it. Undefined before sign-in: this device's zone applies. */
export const pageZone = (): string | undefined => zone

export const setPageZone = (name: string): void => {
  zone = name
}

const zoneHere = (): string => zone ?? Intl.DateTimeFormat().resolvedOptions().timeZone

/** "Nairobi time" for "Africa/Nairobi". */
export const zoneWords = (name: string): string =>
  t('time.zone', { place: (name.split('/').at(-1) ?? name).replaceAll('_', ' ') })

type Zones = { time_zone: string; time_zone_from: string | null; previous_time_zone: string | null }

/** The zone that limits and totals use now. A changed one applies only from the next local month. */
export const zoneInEffect = ({ time_zone, time_zone_from: from, previous_time_zone: previous }: Zones): string =>
  from !== null && Date.parse(from) > now() ? (previous ?? time_zone) : time_zone

/** "Africa/Nairobi", with the day from which the zone applies if that is in the future. */
export const workspaceZone = ({ time_zone, time_zone_from }: Zones): string => {
  const from = time_zone_from === null ? 0 : Date.parse(time_zone_from)
  const zone = time_zone.replaceAll('_', ' ')
  return from > now() ? t('time.zone_from', { zone, day: dayLabel(localDate(from)) }) : zone
}

/** A URL can contain anything in place of a day. A date field accepts years of six digits, which the service does not. */
export const isDay = (day: string | null): day is string =>
  day !== null && /^\d{4}-\d\d-\d\d$/.test(day) && !Number.isNaN(Date.parse(`${day}T00:00:00Z`))

/** The calendar date that many days later: a day of a zone may have 23 or 25 hours. */
export const daysAfter = (date: string, days: number): string =>
  new Date(Date.parse(`${date}T00:00:00Z`) + days * 86_400_000).toISOString().slice(0, 10)

/** Instants at which a day from `<input type="date">` begins and ends. */
export const dayStart = (day: string | null): string | undefined =>
  isDay(day) ? startOfDate(day, zoneHere()).toISOString() : undefined
export const dayEnd = (day: string | null): string | undefined => {
  return isDay(day) ? dayStart(daysAfter(day, 1)) : undefined
}

/** A formatter in the page's zone, which is known only after sign-in. Created again if the zone changes. */
const zoned = (options: Intl.DateTimeFormatOptions): ((at: Date) => string) => {
  let format: Intl.DateTimeFormat | undefined
  let made: string | undefined
  return (at) => {
    const zone = pageZone()
    if (!format || made !== zone) format = new Intl.DateTimeFormat(locale, { ...options, ...(zone && { timeZone: zone }) })
    made = zone
    return format.format(at)
  }
}

const dateTime = zoned({ dateStyle: 'medium', timeStyle: 'short' })
const dateOnly = zoned({ dateStyle: 'medium' })
const sameYear = zoned({ day: 'numeric', month: 'short', hour: '2-digit', minute: '2-digit' })
const hourAndMinute = zoned({ hour: '2-digit', minute: '2-digit' })
const clock = zoned({ hour: '2-digit', minute: '2-digit', second: '2-digit' })
const monthOnly = zoned({ month: 'long' })
const monthAndYear = zoned({ month: 'long', year: 'numeric' })
const monthOfYear = new Intl.DateTimeFormat(locale, { month: 'short', timeZone: 'UTC' })
const monthOfOtherYear = new Intl.DateTimeFormat(locale, { month: 'short', year: 'numeric', timeZone: 'UTC' })
const dayAndMonth = new Intl.DateTimeFormat(locale, { day: 'numeric', month: 'short', timeZone: 'UTC' })
const weekday = new Intl.DateTimeFormat(locale, { weekday: 'long', day: 'numeric', month: 'long', timeZone: 'UTC' })
const dayMonthYear = new Intl.DateTimeFormat(locale, { day: 'numeric', month: 'long', year: 'numeric', timeZone: 'UTC' })
const relative = new Intl.RelativeTimeFormat(locale, { numeric: 'auto' })

/** Date in the workspace's zone at an instant: "2026-11-21". */
export const localDate = (at: number): string => new Date(localMs(at, zoneHere())).toISOString().slice(0, 10)

export const fullTime = (at: string): string => dateTime(new Date(at))
/** "21 Nov, 09:41:07": a log line without a day heading. */
export const timeWithDay = (at: string): string => `${dayLabel(localDate(Date.parse(at)))}, ${clock(new Date(at))}`

/** "21 Nov" for a calendar date (2026-11-21), whatever this device's zone. */
export const dayLabel = (date: string): string => dayAndMonth.format(new Date(`${date}T00:00:00Z`))

/** "Nov" for a month (2026-11), with the year if it is not this one. */
export const monthLabel = (month: string): string =>
  (month.slice(0, 4) === localDate(now()).slice(0, 4) ? monthOfYear : monthOfOtherYear).format(new Date(`${month}-01T00:00:00Z`))

export const addMonths = (month: string, months: number): string => {
  const [year = 0, number = 1] = month.split('-').map(Number)
  return new Date(Date.UTC(year, number - 1 + months, 1)).toISOString().slice(0, 7)
}

const dayMs = 86_400_000

/** Calendar days from now to an instant, in the workspace's zone. */
const daysTo = (at: number): number => (Date.parse(localDate(at)) - Date.parse(localDate(now()))) / dayMs

/** Relative if recent, else a date. Clock skew below 3 seconds must not put a past event in the future. */
export const shortTime = (at: string): string => {
  const time = new Date(at)
  const seconds = (time.getTime() - now()) / 1000
  const distance = Math.abs(seconds)
  if (distance < 50) return t(seconds > 3 ? 'time.soon' : 'time.just_now')
  if (distance < 3300) return relative.format(Math.round(seconds / 60), 'minute')
  if (distance < 79_200) return relative.format(Math.round(seconds / 3600), 'hour')
  if (distance < 6 * 86_400) return relative.format(daysTo(time.getTime()), 'day')
  return localDate(time.getTime()).slice(0, 4) === localDate(now()).slice(0, 4) ? sameYear(time) : dateOnly(time)
}

/** "2 d 4 h", "3 h 12 min", "4:05". */
export const remainingText = (ms: number): string => {
  const seconds = Math.max(0, Math.ceil(ms / 1000))
  const [days, hours, minutes] = [Math.floor(seconds / 86_400), Math.floor(seconds / 3600) % 24, Math.floor(seconds / 60) % 60]
  if (days > 0) return t('time.days_left', { days, hours })
  if (hours > 0) return t('time.hours_left', { hours, minutes })
  return `${minutes}:${String(seconds % 60).padStart(2, '0')}`
}

/** Value of an `<input type="datetime-local">`: local time to the minute. */
export const localInput = (at: Date): string => new Date(localMs(at.getTime(), zoneHere())).toISOString().slice(0, 16)

const completeInput = /^\d{4}-\d\d-\d\dT\d\d:\d\d/

/** Instant of an `<input type="datetime-local">` value. Null if it is incomplete or its year has more than four digits. */
export const fromLocalInput = (text: string): Date | null => {
  const local = completeInput.test(text) ? Date.parse(`${text}Z`) : Number.NaN
  if (Number.isNaN(local)) return null
  const zone = zoneHere()
  // Uses the offset at that local time, because the offset at the same reading of UTC differs around a clock change.
  return new Date(local - offsetMs(local - offsetMs(local, zone), zone))
}

/** "Today", "Yesterday", "Monday, 2 November": the heading of a day in a list. */
export const dayHeading = (date: string): string => {
  const today = localDate(now())
  if (date === today) return t('time.today')
  if (date === daysAfter(today, -1)) return t('time.yesterday')
  return (date.slice(0, 4) === today.slice(0, 4) ? weekday : dayMonthYear).format(new Date(`${date}T00:00:00Z`))
}

/** "09:41", under a day heading. */
export const timeOfDay = (at: string): string => hourAndMinute(new Date(at))

/** Words for the day and month of a limit at an instant: "today" and "this month" only if still current. */
export const periodWords = (at: number): { day: string; month: string } => {
  const [date, today] = [localDate(at), localDate(now())]
  const year = date.slice(0, 4) === today.slice(0, 4)
  return {
    day: date === today ? t('time.day_today') : t('time.day_on', { day: dayLabel(date) }),
    month:
      date.slice(0, 7) === today.slice(0, 7)
        ? t('time.this_month')
        : t('time.in_month', { month: (year ? monthOnly : monthAndYear)(new Date(at)) }),
  }
}

let skewMs = 0

/** Follows the service's clock, which decides expiry. Its Date header has whole seconds, so small differences are ignored. */
export const syncClock = (date: string | null): void => {
  const server = date === null ? Number.NaN : Date.parse(date)
  if (Number.isNaN(server)) return
  const difference = server - Date.now()
  skewMs = Math.abs(difference) > 3000 ? difference : 0
}

export const now = (): number => Date.now() + skewMs

export const useNow = (everyMs: number): number => {
  const [time, setTime] = useState(now)
  useEffect(() => {
    const timer = setInterval(() => setTime(now()), everyMs)
    return () => clearInterval(timer)
  }, [everyMs])
  return time
}
