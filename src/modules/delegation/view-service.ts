import { and, eq, sql } from 'drizzle-orm'
import type { Db } from '../../db/client.ts'
import { prepare } from '../../db/prepare.ts'
import { grants } from '../../db/tables/grants.ts'
import { usageCounters } from '../../db/tables/policies.ts'
import { workspaces } from '../../db/tables/workspaces.ts'
import { daysAfter } from '../../lib/clock.ts'
import type { Uuid } from '../../lib/ids.ts'
import { only } from '../../lib/lists.ts'
import { effectiveTimeZone, periodsAt } from '../../policy/calendar.ts'
import { headroomOf } from '../../policy/limits.ts'
import { totalStart } from '../../policy/scope-sql.ts'
import type { Usage } from '../../policy/types.ts'
import { presentApiKey, presentGrant } from './present.ts'
import { type GrantRecord, type KeyWithGrant, uncountedTotalSql } from './queries.ts'
import type { ApiKey, Grant } from './schema.ts'

/**
 * Reads the limits of grants, their usage in the days and months that begin at `starts`, and the time zones that determine the
 * current day and month. `workspaceIds`: the workspaces of all these grants. Workspaces and counters are read once, not once per
 * grant: a plain join would read every tenant's counters of the month.
 */
const limitsAndUsage = prepare('grants.links', { ids: 'uuid[]', workspaceIds: 'uuid[]', starts: 'date[]' }, (orm, param) =>
  orm
    .select({
      id: grants.id,
      perPaymentLimitMinor: grants.perPaymentLimitMinor,
      dailyLimitMinor: grants.dailyLimitMinor,
      monthlyLimitMinor: grants.monthlyLimitMinor,
      totalLimitMinor: grants.totalLimitMinor,
      timeZone: workspaces.timeZone,
      nextTimeZone: workspaces.nextTimeZone,
      nextTimeZoneFrom: workspaces.nextTimeZoneFrom,
      used: sql<Readonly<Record<string, string>>>`coalesce((
        select jsonb_object_agg(counted.id, counted.used) from (
          select summed.id, jsonb_object_agg(summed.period || ':' || summed.start, summed.minor::text) as used from (
            select ${usageCounters.subjectId} as id, ${usageCounters.period} as period, ${usageCounters.periodStart} as start,
              sum(${usageCounters.usedMinor}) as minor
            from ${usageCounters}
            where ${usageCounters.subjectId} = any(${param.ids}) and ${usageCounters.period} in ('day', 'month', 'total')
              and ${usageCounters.periodStart} = any(${param.starts})
            group by 1, 2, 3) as summed
          group by 1) as counted) -> ${grants.id}::text, '{}')`,
      uncounted: sql<string | null>`${sql.raw(uncountedTotalSql)}::text`,
    })
    .from(grants)
    .innerJoin(workspaces, and(eq(workspaces.id, grants.workspaceId), sql`${workspaces.id} = any(${param.workspaceIds})`))
    .where(sql`${grants.id} = any(${param.ids})`),
)

/** Starts of totals, and of every day and month that contains the instant in some time zone. */
const periodStartsAround = (at: Date): string[] => {
  const days = [-1, 0, 1].map((days) => daysAfter(at, days).toISOString().slice(0, 10))
  return [...new Set([...days, ...days.map((day) => `${day.slice(0, 7)}-01`), totalStart])]
}

const unused: Usage = { dayMinor: 0n, monthMinor: 0n, totalMinor: 0n }

/** Copies only these columns: copies of whole grants were a third of a page's garbage. */
const limitsOf = ({ perPaymentLimitMinor, dailyLimitMinor, monthlyLimitMinor, totalLimitMinor }: GrantRecord, usage: Usage) => ({
  perPaymentLimitMinor,
  dailyLimitMinor,
  monthlyLimitMinor,
  totalLimitMinor,
  usage,
})

/** Presents grants with their usage in the workspace's current day and month, in one query. Grants may be unwritten yet. */
export const viewGrantsById = async (db: Db, at: Date, records: readonly GrantRecord[]): Promise<ReadonlyMap<Uuid, Grant>> => {
  if (records.length === 0) return new Map()
  const ids = [...new Set(records.flatMap(({ id, ancestorIds }) => [...ancestorIds, id]))]
  const workspaceIds = [...new Set(records.map(({ workspaceId }) => workspaceId))]
  const rows = await db.run(limitsAndUsage, { ids, workspaceIds, starts: periodStartsAround(at) })
  const limitsById = new Map(
    rows.map(({ used, uncounted, ...limits }) => {
      const { day, month } = periodsAt(at, effectiveTimeZone(limits, at))
      const usage = {
        dayMinor: BigInt(used[`day:${day}`] ?? 0),
        monthMinor: BigInt(used[`month:${month}`] ?? 0),
        totalMinor: BigInt(uncounted ?? used[`total:${totalStart}`] ?? 0),
      }
      return [limits.id, { ...limits, usage }]
    }),
  )
  return new Map(
    records.map((grant) => {
      const usage = limitsById.get(grant.id)?.usage ?? unused
      const above = grant.ancestorIds.flatMap((id) => limitsById.get(id) ?? [])
      return [grant.id, presentGrant(grant, { usage, headroom: headroomOf([...above, limitsOf(grant, usage)]) })]
    }),
  )
}

export const viewGrants = async (db: Db, at: Date, records: readonly GrantRecord[]): Promise<Grant[]> => [
  ...(await viewGrantsById(db, at, records)).values(),
]

export const viewGrant = async (db: Db, at: Date, grant: GrantRecord): Promise<Grant> => only(await viewGrants(db, at, [grant]))

export const viewKeys = async (db: Db, at: Date, rows: readonly KeyWithGrant[]): Promise<ApiKey[]> => {
  const records = rows.map(({ grant }) => grant)
  const views = await viewGrantsById(db, at, records)
  return rows.flatMap(({ key }) => {
    const grant = views.get(key.grantId)
    return grant ? [presentApiKey(key, grant, at)] : []
  })
}

export const viewKey = async (db: Db, at: Date, row: KeyWithGrant): Promise<ApiKey> => only(await viewKeys(db, at, [row]))
