import type { Principal } from '../../auth/principal.ts'
import type { Db } from '../../db/client.ts'
import type { Uuid } from '../../lib/ids.ts'
import type { Minor } from '../../lib/money.ts'
import { periodsAt } from '../../policy/calendar.ts'
import { effectiveTimeZone } from '../../policy/time-zone.ts'
import type { Usage } from '../../policy/types.ts'

const counters = `
  select subject_id, period, used_minor from usage_counters
  where subject_id = any($1::uuid[]) and ((period = 'day' and period_start = $2::date) or (period = 'month' and period_start = $3::date))`

/** How much of each policy's limits is used in the workspace's current day and month. */
export const readUsage = async (
  db: Db,
  { zone }: Principal['workspace'],
  at: Date,
  ids: readonly Uuid[],
): Promise<(id: Uuid) => Usage> => {
  const { day, month } = periodsAt(at, effectiveTimeZone(zone, at))
  const rows =
    ids.length === 0 ? [] : await db.query<{ subject_id: Uuid; period: string; used_minor: Minor }>(counters, [ids, day, month])
  const used = new Map(rows.map((row) => [`${row.subject_id}:${row.period}`, BigInt(row.used_minor)]))
  return (id) => ({ dayMinor: used.get(`${id}:day`) ?? 0n, monthMinor: used.get(`${id}:month`) ?? 0n })
}
