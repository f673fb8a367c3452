import { sql } from 'drizzle-orm'
import { makePgArray } from 'drizzle-orm/pg-core'
import type { Principal } from '../../auth/principal.ts'
import type { Db } from '../../db/client.ts'
import { prepare } from '../../db/prepare.ts'
import { usageCounters } from '../../db/tables/policies.ts'
import type { Uuid } from '../../lib/ids.ts'
import { effectiveTimeZone, periodsAt } from '../../policy/calendar.ts'
import type { Usage } from '../../policy/types.ts'

/** What is asked for in one turn is one statement; the ids are one text of a list. */
const counters = prepare(
  'policies.counters',
  { ids: 'text', day: 'date', month: 'date' },
  (orm, at) =>
    orm
      .select({ id: usageCounters.subjectId, period: usageCounters.period, usedMinor: usageCounters.usedMinor })
      .from(usageCounters)
      .where(
        sql`${usageCounters.subjectId} = any(${at.ids}::uuid[])
          and (${usageCounters.period}, ${usageCounters.periodStart}) in (('day', ${at.day}), ('month', ${at.month}))`,
      ),
  'joined',
)

/** How much of each policy's limits is used in the workspace's current day and month. */
export const readUsage = async (
  db: Db,
  { zone }: Principal['workspace'],
  at: Date,
  ids: readonly Uuid[],
): Promise<(id: Uuid) => Usage> => {
  const { day, month } = periodsAt(at, effectiveTimeZone(zone, at))
  const rows = ids.length === 0 ? [] : await db.run(counters, { ids: makePgArray([...ids]), day, month })
  const used = new Map(rows.map(({ id, period, usedMinor }) => [`${id}:${period}`, usedMinor]))
  return (id) => ({ dayMinor: used.get(`${id}:day`) ?? 0n, monthMinor: used.get(`${id}:month`) ?? 0n })
}
