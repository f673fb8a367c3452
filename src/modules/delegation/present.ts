import { sql } from 'drizzle-orm'
import { permissions } from '../../auth/permissions.ts'
import { secretPrefixes } from '../../auth/secrets.ts'
import type { Db } from '../../db/client.ts'
import { grantLife, keyLife } from '../../db/credential-life.ts'
import { prepare } from '../../db/prepare.ts'
import { selectAmong } from '../../db/select-rows.ts'
import { grants } from '../../db/tables/grants.ts'
import { usageCounters } from '../../db/tables/policies.ts'
import { workspaces } from '../../db/tables/workspaces.ts'
import { presenter } from '../../http/presenter.ts'
import { daysAfter } from '../../lib/clock.ts'
import type { Uuid } from '../../lib/ids.ts'
import { only } from '../../lib/lists.ts'
import { formatMinor } from '../../lib/money.ts'
import { effectiveTimeZone, periodsAt } from '../../policy/calendar.ts'
import { type Headroom, headroomOf } from '../../policy/limits.ts'
import type { Usage } from '../../policy/types.ts'
import type { Controls } from './control-rules.ts'
import type { ApiKeyRecord, GrantRecord, KeyWithGrant } from './queries.ts'
import { ApiKey, Grant, SpendingControls } from './schema.ts'

const shownControls = presenter(SpendingControls)
const shownGrant = presenter(Grant)
const shownKey = presenter(ApiKey)

export const presentControls = (controls: Controls): SpendingControls =>
  Object.fromEntries(Object.entries(shownControls(controls)).filter(([, value]) => value !== null))

export const presentHeadroom = presenter(Grant.shape.headroom)

export const presentGrant = (grant: GrantRecord, { usage, headroom }: { usage: Usage; headroom: Headroom }): Grant =>
  shownGrant(grant, {
    permissions: permissions.filter((permission) => grant.permissions.includes(permission)),
    spending_controls: presentControls(grant),
    usage: { today_minor: formatMinor(usage.dayMinor), month_minor: formatMinor(usage.monthMinor) },
    headroom: presentHeadroom(headroom),
    frozen: grant.frozenAt !== null,
  })

const findGrants = selectAmong('grants.by_ids', grants, 'id')

const zones = prepare('grants.time_zones', { workspaceIds: 'uuid[]' }, (orm, at) =>
  orm
    .select({
      id: workspaces.id,
      timeZone: workspaces.timeZone,
      nextTimeZone: workspaces.nextTimeZone,
      nextTimeZoneFrom: workspaces.nextTimeZoneFrom,
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

/** Of the days and months that contain an instant somewhere on earth: so no time zone must be known to read counters. */
const startsAt = (at: Date): string[] => {
  const days = [-1, 0, 1].map((days) => daysAfter(at, days).toISOString().slice(0, 10))
  return [...new Set([...days, ...days.map((day) => `${day.slice(0, 7)}-01`)])]
}

/** No other column: copies of whole grants were a third of what the collector had of a page. */
const inUse = ({ perPaymentLimitMinor, dailyLimitMinor, monthlyLimitMinor }: GrantRecord, usage: Usage) => ({
  perPaymentLimitMinor,
  dailyLimitMinor,
  monthlyLimitMinor,
  usage,
})

/** The grants as REST shows them, with usage in their workspace's own day and month. One round trip, however many. */
export const viewsOf = async (db: Db, at: Date, records: readonly GrantRecord[]): Promise<ReadonlyMap<Uuid, Grant>> => {
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
      const headroom = headroomOf(chain.map((link) => inUse(link, usageOf(link))))
      return [grant.id, presentGrant(grant, { usage: usageOf(grant), headroom })]
    }),
  )
}

export const viewGrants = async (db: Db, at: Date, records: readonly GrantRecord[]): Promise<Grant[]> => [
  ...(await viewsOf(db, at, records)).values(),
]

export const viewGrant = async (db: Db, at: Date, grant: GrantRecord): Promise<Grant> => only(await viewGrants(db, at, [grant]))

const dateOrNull = (time: string | null): Date | null => (time === null ? null : new Date(time))

/** As in authentication: a revoked key is never shown as expired, and a key ends with its grant at the latest. */
export const apiKeyStatus = (key: ApiKeyRecord, grant: Pick<GrantRecord, 'revokedAt' | 'expiresAt'>, at: Date) => {
  const life = keyLife(key, at)
  return life === 'active' && grantLife(grant, at) !== 'active' ? 'revoked' : life
}

export const presentApiKey = (key: ApiKeyRecord, grant: Grant, at: Date): ApiKey =>
  shownKey(key, {
    key_prefix: secretPrefixes.api_key + key.lookup,
    status: apiKeyStatus(key, { revokedAt: dateOrNull(grant.revoked_at), expiresAt: dateOrNull(grant.expires_at) }, at),
    permissions: grant.permissions,
    grant,
  })

export const viewKeys = async (db: Db, at: Date, rows: readonly KeyWithGrant[]): Promise<ApiKey[]> => {
  const views = await viewsOf(
    db,
    at,
    rows.map(({ grant }) => grant),
  )
  return rows.flatMap(({ key }) => {
    const grant = views.get(key.grantId)
    return grant ? [presentApiKey(key, grant, at)] : []
  })
}

export const viewKey = async (db: Db, at: Date, row: KeyWithGrant): Promise<ApiKey> => only(await viewKeys(db, at, [row]))
