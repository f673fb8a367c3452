import { startOfDate } from '../../../src/policy/calendar.ts'

let zone: string | undefined

/** Times and days are those of the workspace, because its limits are; before a person is signed in, those of this machine. */
export const pageZone = (): string | undefined => zone

export const setPageZone = (name: string): void => {
  zone = name
}

/** "Nairobi time" of "Africa/Nairobi". */
export const zoneWords = (name: string): string => `${(name.split('/').at(-1) ?? name).replaceAll('_', ' ')} time`

const here = (): string => zone ?? Intl.DateTimeFormat().resolvedOptions().timeZone

/** The instants at which a day typed into `<input type="date">` begins and ends there. */
export const dayStart = (day: string | null): string | undefined => (day ? startOfDate(day, here()).toISOString() : undefined)
export const dayEnd = (day: string | null): string | undefined => {
  if (!day) return undefined
  const next = new Date(Date.parse(`${day}T00:00:00Z`) + 86_400_000)
  return startOfDate(next.toISOString().slice(0, 10), here()).toISOString()
}
