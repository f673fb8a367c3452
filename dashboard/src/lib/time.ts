import { now } from './clock.ts'

const dateTime = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium', timeStyle: 'short' })
const dateOnly = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium' })
const sameYear = new Intl.DateTimeFormat(undefined, { day: 'numeric', month: 'short', hour: '2-digit', minute: '2-digit' })
const dayAndMonth = new Intl.DateTimeFormat(undefined, { day: 'numeric', month: 'short', timeZone: 'UTC' })
const clock = new Intl.DateTimeFormat(undefined, { hour: '2-digit', minute: '2-digit', second: '2-digit' })
const relative = new Intl.RelativeTimeFormat(undefined, { numeric: 'auto' })

export const fullTime = (at: string): string => dateTime.format(new Date(at))
export const clockText = (at: string): string => clock.format(new Date(at))

/** "21 Nov" of a calendar date (2026-11-21), whatever the zone of this machine. */
export const dayLabel = (date: string): string => dayAndMonth.format(new Date(`${date}T00:00:00Z`))

/** A short form: relative while it is near, else a date. */
export const shortTime = (at: string): string => {
  const time = new Date(at)
  const seconds = (time.getTime() - now()) / 1000
  const distance = Math.abs(seconds)
  if (distance < 50) return seconds > 0 ? 'in a moment' : 'just now'
  if (distance < 3300) return relative.format(Math.round(seconds / 60), 'minute')
  if (distance < 79_200) return relative.format(Math.round(seconds / 3600), 'hour')
  if (distance < 6 * 86_400) return relative.format(Math.round(seconds / 86_400), 'day')
  return time.getFullYear() === new Date(now()).getFullYear() ? sameYear.format(time) : dateOnly.format(time)
}

/** "2 d 4 h", "3 h 12 min", "4:05". */
export const remainingText = (ms: number): string => {
  const seconds = Math.max(0, Math.ceil(ms / 1000))
  const [days, hours, minutes] = [Math.floor(seconds / 86_400), Math.floor(seconds / 3600) % 24, Math.floor(seconds / 60) % 60]
  if (days > 0) return `${days} d ${hours} h`
  if (hours > 0) return `${hours} h ${minutes} min`
  return `${minutes}:${String(seconds % 60).padStart(2, '0')}`
}

/** For an `<input type="datetime-local">`: local time to the minute. */
export const localInput = (at: Date): string => {
  const local = new Date(at.getTime() - at.getTimezoneOffset() * 60_000)
  return local.toISOString().slice(0, 16)
}

/** The instants at which a day typed into `<input type="date">` begins and ends here. */
export const dayStart = (day: string | null): string | undefined => (day ? new Date(`${day}T00:00:00`).toISOString() : undefined)
export const dayEnd = (day: string | null): string | undefined => {
  if (!day) return undefined
  const end = new Date(`${day}T00:00:00`)
  end.setDate(end.getDate() + 1)
  return end.toISOString()
}
