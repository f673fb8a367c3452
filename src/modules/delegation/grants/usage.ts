import { inArray } from 'drizzle-orm'
import type { Db } from '../../../db/client.ts'
import { grants } from '../../../db/tables/grants.ts'
import { workspaces } from '../../../db/tables/workspaces.ts'
import type { Uuid } from '../../../lib/ids.ts'
import type { Minor } from '../../../lib/money.ts'
import { periodsAt } from '../../../policy/calendar.ts'
import { type Headroom, headroomOf } from '../../../policy/headroom.ts'
import { effectiveTimeZone } from '../../../policy/time-zone.ts'
import type { Periods, Usage } from '../../../policy/types.ts'
import type { GrantRecord } from './queries.ts'

/** The part of a grant that changes with every payment: what is used, and what its whole chain leaves. */
export type GrantUsage = { usage: Usage; headroom: Headroom }

const lineageOf = (grant: GrantRecord): Uuid[] => [...grant.ancestorIds, grant.id]

const withAncestors = async (db: Db, records: readonly GrantRecord[]): Promise<Map<Uuid, GrantRecord>> => {
  const known = new Map(records.map((grant) => [grant.id, grant]))
  const above = [...new Set(records.flatMap((grant) => grant.ancestorIds))].filter((id) => !known.has(id))
  const loaded = above.length === 0 ? [] : await db.orm.select().from(grants).where(inArray(grants.id, above))
  for (const grant of loaded) known.set(grant.id, grant)
  return known
}

const periodsOf = async (db: Db, at: Date, chains: Iterable<GrantRecord>): Promise<Map<Uuid, Periods>> => {
  const ids = [...new Set([...chains].map((grant) => grant.workspaceId))]
  const rows = await db.orm
    .select({
      id: workspaces.id,
      timeZone: workspaces.timeZone,
      nextTimeZone: workspaces.nextTimeZone,
      nextFrom: workspaces.nextTimeZoneFrom,
    })
    .from(workspaces)
    .where(inArray(workspaces.id, ids))
  return new Map(rows.map((row) => [row.id, periodsAt(at, effectiveTimeZone(row, at))]))
}

type CounterKey = { id: Uuid; period: 'day' | 'month'; start: string }

const readCounters = async (db: Db, counterKeys: readonly CounterKey[]): Promise<Map<string, Minor>> => {
  const rows = await db.query<{ subject_id: Uuid; period: string; used_minor: Minor }>(
    `select u.subject_id, u.period, u.used_minor from usage_counters u
     join unnest($1::uuid[], $2::text[], $3::date[]) as w (id, period, start) on u.subject_id = w.id and u.period = w.period and u.period_start = w.start`,
    [counterKeys.map(({ id }) => id), counterKeys.map(({ period }) => period), counterKeys.map(({ start }) => start)],
  )
  return new Map(rows.map((row) => [`${row.subject_id}:${row.period}`, row.used_minor]))
}

/** The current usage of each grant, in its workspace's own day and month. Four queries, however many grants. */
export const loadGrantUsage = async (db: Db, at: Date, records: readonly GrantRecord[]): Promise<Map<Uuid, GrantUsage>> => {
  if (records.length === 0) return new Map()
  const chains = await withAncestors(db, records)
  const periods = await periodsOf(db, at, chains.values())
  const counterKeys = [...chains.values()].flatMap(({ id, workspaceId }): CounterKey[] => {
    const current = periods.get(workspaceId)
    return current
      ? [
          { id, period: 'day', start: current.day },
          { id, period: 'month', start: current.month },
        ]
      : []
  })
  const counters = await readCounters(db, counterKeys)
  const usageOf = (id: Uuid): Usage => ({
    dayMinor: counters.get(`${id}:day`) ?? 0n,
    monthMinor: counters.get(`${id}:month`) ?? 0n,
  })
  return new Map(
    records.map((grant) => {
      const chain = lineageOf(grant).flatMap((id) => chains.get(id) ?? [])
      const headroom = headroomOf(chain.map((link) => ({ ...link, usage: usageOf(link.id) })))
      return [grant.id, { usage: usageOf(grant.id), headroom }]
    }),
  )
}
