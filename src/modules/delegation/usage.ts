import { sql } from 'drizzle-orm'
import type { Db } from '../../db/client.ts'
import { prepare } from '../../db/prepare.ts'
import { selectAmong } from '../../db/select-rows.ts'
import { grants } from '../../db/tables/grants.ts'
import { usageCounters } from '../../db/tables/policies.ts'
import { workspaces } from '../../db/tables/workspaces.ts'
import { daysAfter } from '../../lib/clock.ts'
import type { Uuid } from '../../lib/ids.ts'
import { effectiveTimeZone, periodsAt } from '../../policy/calendar.ts'
import { type Headroom, headroomOf } from '../../policy/limits.ts'
import type { Usage } from '../../policy/types.ts'
import type { GrantRecord } from './queries.ts'

/** The part of a grant that changes with every payment: what is used, and what its whole chain leaves. */
export type GrantUsage = { usage: Usage; headroom: Headroom }

const findGrants = selectAmong('grants.by_ids', grants, 'id')

const zones = prepare('grants.time_zones', { workspaceIds: 'uuid[]' }, (orm, at) =>
  orm
    .select({
      id: workspaces.id,
      timeZone: workspaces.timeZone,
      nextTimeZone: workspaces.nextTimeZone,
      nextFrom: workspaces.nextTimeZoneFrom,
    })
    .from(workspaces)
    .where(sql`${workspaces.id} = any(${at.workspaceIds})`),
)

const counters = prepare('grants.counters', { ids: 'uuid[]', starts: 'date[]' }, (orm, at) =>
  orm
    .select({
      id: usageCounters.subjectId,
      period: usageCounters.period,
      start: usageCounters.periodStart,
      usedMinor: usageCounters.usedMinor,
    })
    .from(usageCounters)
    .where(
      sql`${usageCounters.subjectId} = any(${at.ids}) and ${usageCounters.period} in ('day', 'month')
        and ${usageCounters.periodStart} = any(${at.starts})`,
    ),
)

/** The first dates of the days and months that contain an instant somewhere on earth: so no time zone must be known to read counters. */
const startsAt = (at: Date): string[] => {
  const days = [-1, 0, 1].map((days) => daysAfter(at, days).toISOString().slice(0, 10))
  return [...new Set([...days, ...days.map((day) => `${day.slice(0, 7)}-01`)])]
}

/** Its limits and no other column: copies of whole grants were a third of what the collector had of a page. */
const inUse = ({ perPaymentLimitMinor, dailyLimitMinor, monthlyLimitMinor }: GrantRecord, usage: Usage) => ({
  perPaymentLimitMinor,
  dailyLimitMinor,
  monthlyLimitMinor,
  usage,
})

/** The current usage of each grant, in its workspace's own day and month. One round trip, however many grants. */
export const loadGrantUsage = async (db: Db, at: Date, records: readonly GrantRecord[]): Promise<Map<Uuid, GrantUsage>> => {
  if (records.length === 0) return new Map()
  const own = new Set(records.map(({ id }) => id))
  const above = [...new Set(records.flatMap(({ ancestorIds }) => ancestorIds))].filter((id) => !own.has(id))
  // A grant and those above it are of one workspace.
  const [ancestors, zoned, counted] = await Promise.all([
    findGrants(db, above),
    db.run(zones, { workspaceIds: [...new Set(records.map(({ workspaceId }) => workspaceId))] }),
    db.run(counters, { ids: [...own, ...above], starts: startsAt(at) }),
  ])
  const periods = new Map(zoned.map((zone) => [zone.id, periodsAt(at, effectiveTimeZone(zone, at))]))
  const used = new Map(counted.map(({ id, period, start, usedMinor }) => [`${id}:${period}:${start}`, usedMinor]))
  const chains = new Map([...ancestors, ...records].map((grant) => [grant.id, grant]))
  const usageOf = ({ id, workspaceId }: GrantRecord): Usage => ({
    dayMinor: used.get(`${id}:day:${periods.get(workspaceId)?.day}`) ?? 0n,
    monthMinor: used.get(`${id}:month:${periods.get(workspaceId)?.month}`) ?? 0n,
  })
  return new Map(
    records.map((grant) => {
      const chain = [...grant.ancestorIds.flatMap((id) => chains.get(id) ?? []), grant]
      return [grant.id, { usage: usageOf(grant), headroom: headroomOf(chain.map((link) => inUse(link, usageOf(link)))) }]
    }),
  )
}
