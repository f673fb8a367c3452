/** A local time, as the milliseconds at which UTC shows the same time: plain arithmetic on local time. */
type LocalMs = number

const maxCachedZones = 600
const formats = new Map<string, Intl.DateTimeFormat>()

/** Creating a formatter costs some hundred times as much as using one. Bounded, because a zone's name has many spellings. */
const formatOf = (timeZone: string): Intl.DateTimeFormat => {
  const known = formats.get(timeZone)
  if (known) return known
  const format = new Intl.DateTimeFormat('en-US', {
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
  })
  if (formats.size >= maxCachedZones) formats.clear()
  formats.set(timeZone, format)
  return format
}

/** Zones' offsets are whole seconds, so the milliseconds of an instant are the same in every local time. */
export const localMs = (at: number, timeZone: string): LocalMs => {
  const part: Record<string, number> = {}
  for (const { type, value } of formatOf(timeZone).formatToParts(at)) part[type] = Number(value)
  const { year = 0, month = 1, day = 1, hour = 0, minute = 0, second = 0 } = part
  return Date.UTC(year, month - 1, day, hour, minute, second) + (((at % 1000) + 1000) % 1000)
}

export const offsetMs = (at: number, timeZone: string): number => localMs(at, timeZone) - at

/** "2026-03-04 12:00:00": as a clock on the wall there shows it. */
export const localDateTime = (at: Date, timeZone: string): string =>
  new Date(localMs(at.getTime(), timeZone)).toISOString().slice(0, 19).replace('T', ' ')
