import { periodsAt } from './calendar.ts'

/** A workspace's time zone, and the one that replaces it at an instant; both null when no change is planned. */
export type ZoneSchedule = { timeZone: string; nextTimeZone: string | null; nextFrom: Date | null }

export const effectiveTimeZone = ({ timeZone, nextTimeZone, nextFrom }: ZoneSchedule, at: Date): string =>
  nextTimeZone !== null && nextFrom !== null && at >= nextFrom ? nextTimeZone : timeZone

/**
 * When a change requested at `at` takes effect: as soon as the next month has begun in both the old and the new zone. So the local date
 * never returns to a month that has ended, and no month is counted twice.
 */
export const zoneChangesAt = (at: Date, from: string, to: string): Date => {
  const old = periodsAt(at, from)
  const there = periodsAt(old.monthResetsAt, to)
  return there.month > old.month ? old.monthResetsAt : there.monthResetsAt
}
