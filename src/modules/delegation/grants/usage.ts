import { sql } from 'drizzle-orm'
import type { Db } from '../../../db/client.ts'
import { prepare } from '../../../db/prepare.ts'
import { grants } from '../../../db/tables/grants.ts'
import { usageCounters } from '../../../db/tables/policies.ts'
import { workspaces } from '../../../db/tables/workspaces.ts'
import { daysAfter } from '../../../lib/clock.ts'
import type { Uuid } from '../../../lib/ids.ts'
import { only } from '../../../lib/lists.ts'
import { effectiveTimeZone, periodsAt } from '../../../policy/calendar.ts'
import { type Headroom, headroomOf } from '../../../policy/limits.ts'
import type { Usage } from '../../../policy/types.ts'
import type { GrantRecord } from './queries.ts'

/** The part of a grant that changes with every payment: what is used, and what its whole chain leaves. */
export type GrantUsage = { usage: Usage; headroom: Headroom }

const byIds = prepare('grants.by_ids', { ids: 'uuid[]' }, (orm, at) =>
  orm.select().from(grants).where(sql`${grants.id} = any(${at.ids})`),
)

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

type Asked = { at: Date; records: readonly GrantRecord[] }

const usageOfEach = ({ at, records }: Asked, above: readonly GrantRecord[], periodOf: PeriodOf, usedOf: UsedOf) => {
  const chains = new Map([...above, ...records].map((grant) => [grant.id, grant]))
  const current = new Map([...new Set(records.map(({ workspaceId }) => workspaceId))].map((id) => [id, periodOf(id, at)]))
  const usageOf = ({ id, workspaceId }: GrantRecord): Usage => {
    const periods = current.get(workspaceId)
    return { dayMinor: usedOf(`${id}:day:${periods?.day}`), monthMinor: usedOf(`${id}:month:${periods?.month}`) }
  }
  // Its limits and no other column: copies of whole grants were a third of what the collector had of a page.
  const inUse = (grant: GrantRecord, usage: Usage) => ({
    perPaymentLimitMinor: grant.perPaymentLimitMinor,
    dailyLimitMinor: grant.dailyLimitMinor,
    monthlyLimitMinor: grant.monthlyLimitMinor,
    usage,
  })
  return new Map(
    records.map((grant) => {
      const usage = usageOf(grant)
      const chain = grant.ancestorIds.flatMap((id) => chains.get(id) ?? []).map((link) => inUse(link, usageOf(link)))
      return [grant.id, { usage, headroom: headroomOf([...chain, inUse(grant, usage)]) }]
    }),
  )
}

type PeriodOf = (workspaceId: Uuid, at: Date) => ReturnType<typeof periodsAt> | undefined
type UsedOf = (counter: string) => Usage['dayMinor']

/** The grants above some that are not among them. */
const aboveThese = ({ records }: Asked): Uuid[] => {
  const own = new Set(records.map(({ id }) => id))
  return records.flatMap(({ ancestorIds }) => ancestorIds).filter((id) => !own.has(id))
}

const readUsages = async (db: Db, asked: readonly Asked[]): Promise<Map<Uuid, GrantUsage>[]> => {
  const records = asked.flatMap(({ records }) => records)
  const above = [...new Set(asked.flatMap(aboveThese))]
  const ids = [...new Set([...records.map(({ id }) => id), ...above])]
  // A grant and those above it are of one workspace.
  const [ancestors, zoned, counted] = await Promise.all([
    above.length === 0 ? [] : db.run(byIds, { ids: above }),
    db.run(zones, { workspaceIds: [...new Set(records.map(({ workspaceId }) => workspaceId))] }),
    db.run(counters, { ids, starts: [...new Set(asked.flatMap(({ at }) => startsAt(at)))] }),
  ])
  const zoneOf = new Map(zoned.map((zone) => [zone.id, zone]))
  const used = new Map(counted.map(({ id, period, start, usedMinor }) => [`${id}:${period}:${start}`, usedMinor]))
  const periodOf: PeriodOf = (workspaceId, at) => {
    const zone = zoneOf.get(workspaceId)
    return zone && periodsAt(at, effectiveTimeZone(zone, at))
  }
  return asked.map((each) => usageOfEach(each, ancestors, periodOf, (counter) => used.get(counter) ?? 0n))
}

/** The current usage of each grant, in its workspace's own day and month. One round trip, however many grants. */
export const loadGrantUsage = async (db: Db, at: Date, records: readonly GrantRecord[]): Promise<Map<Uuid, GrantUsage>> => {
  if (records.length === 0) return new Map()
  return only(await readUsages(db, [{ at, records }]))
}
