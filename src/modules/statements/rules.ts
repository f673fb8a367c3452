import { dateAfter } from '../../lib/clock.ts'
import { invalidFields } from '../../lib/errors.ts'
import { periodsAt, startOfDate } from '../../policy/calendar.ts'
import type { ReadStatement } from './schema.ts'

export type StatementPeriod = { from: string; to: string; timeZone: string; start: Date; end: Date }
/** `unfinishedAt`: when it was read, where its last day has not ended. */
export type ReadPeriod = StatementPeriod & { unfinishedAt: Date | null }

const mostDays = 366

const lastOfMonth = (date: string): string => {
  const [year = 0, month = 1] = date.split('-').map(Number)
  return new Date(Date.UTC(year, month, 0)).toISOString().slice(0, 10)
}

/** The days of a statement, both inclusive, and their instants in the workspace's time zone. Throws a 400 that names the field. */
export const periodOf = ({ from, to }: Pick<ReadStatement, 'from' | 'to'>, now: Date, timeZone: string): StatementPeriod => {
  const first = from ?? (to === undefined ? periodsAt(now, timeZone).month : `${to.slice(0, 7)}-01`)
  const last = to ?? lastOfMonth(first)
  if (last < first) throw invalidFields({ path: 'to', message: 'must not be before from' })
  if (dateAfter(first, mostDays) <= last)
    throw invalidFields({ path: 'to', message: `must be at most ${mostDays} days after from` })
  return { from: first, to: last, timeZone, start: startOfDate(first, timeZone), end: startOfDate(dateAfter(last, 1), timeZone) }
}
