import { sql } from 'drizzle-orm'
import { makePgArray } from 'drizzle-orm/pg-core'
import { permissions } from '../../auth/permissions.ts'
import type { Principal } from '../../auth/principal.ts'
import type { Database } from '../../db/client.ts'
import { prepare } from '../../db/prepare.ts'
import { type Clock, isoTimeOrNull } from '../../lib/clock.ts'
import { formatId, type Uuid } from '../../lib/ids.ts'
import { formatMinorOrNull, type Minor } from '../../lib/money.ts'
import { effectiveTimeZone, periodsAt } from '../../policy/calendar.ts'
import { headroomOf, lowestApprovalThreshold } from '../../policy/limits.ts'
import { presentGrant, presentHeadroom } from '../delegation/present.ts'
import { findGrant, scopeOf, uncountedTotalSql } from '../delegation/queries.ts'
import type { Credential } from './schema.ts'

/**
 * Reads the limits of grants, and of policies that apply to every payment. A policy that requires approvals but has no threshold
 * requires them from 0. The query is SQL text, because it reads two tables as one relation, and `coalesced`, because starting its
 * plan costs more than reading its rows. Grant ids are one text, because lists of different lengths cannot share an array. Each
 * counter has its own lookup: a plain join would read every tenant's counters of the month.
 */
const limitRows = prepare(
  'credentials.limits',
  { workspaceId: 'uuid|null', grantIds: 'text', day: 'date', month: 'date' },
  'coalesced',
  (orm, param) =>
    orm
      .select({
        id: sql<Uuid>`l.id`,
        perPaymentLimitMinor: sql<Minor | null>`l.per_payment_limit_minor`,
        dailyLimitMinor: sql<Minor | null>`l.daily_limit_minor`,
        monthlyLimitMinor: sql<Minor | null>`l.monthly_limit_minor`,
        totalLimitMinor: sql<Minor | null>`l.total_limit_minor`,
        approvalThresholdMinor: sql<Minor | null>`l.approval_threshold_minor`,
        dayMinor: sql<Minor>`coalesce(d.used_minor, 0::bigint)`,
        monthMinor: sql<Minor>`coalesce(m.used_minor, 0::bigint)`,
        totalMinor: sql<Minor>`coalesce(l.uncounted,
          (select sum(used_minor) from usage_counters where subject_id = l.id and period = 'total'), 0)::bigint`,
      })
      .from(
        sql`(select id, per_payment_limit_minor, daily_limit_minor, monthly_limit_minor, total_limit_minor, approval_threshold_minor,
               ${sql.raw(uncountedTotalSql)} as uncounted
             from grants where id = any(${param.grantIds}::uuid[])
             union all
             select id, per_payment_limit_minor, daily_limit_minor, monthly_limit_minor, total_limit_minor,
               case when required_approval_count > 0 then coalesce(approval_threshold_minor, 0) else approval_threshold_minor end, null
             from spending_policies
             where workspace_id = ${param.workspaceId} and archived_at is null
               and cardinality(payment_types) = 0 and cardinality(beneficiary_ids) = 0
               and (binds_grant_id is null or binds_grant_id = any(${param.grantIds}::uuid[]))) as l
           left join lateral (select used_minor from usage_counters
             where subject_id = l.id and period = 'day' and period_start = ${param.day} offset 0) as d on true
           left join lateral (select used_minor from usage_counters
             where subject_id = l.id and period = 'month' and period_start = ${param.month} offset 0) as m on true`,
      ),
)

export const readCredential = async (db: Database, clock: Clock, principal: Principal): Promise<Credential> => {
  const at = clock.now()
  const { workspace, grant } = principal
  const { day, month } = periodsAt(at, effectiveTimeZone(workspace, at))
  const lineage = grant?.lineage ?? []
  // The rest of a workspace's limits shows how much it spends, so only active members see it.
  const policyWorkspaceId = principal.memberStatus === 'active' ? workspace.id : null
  const [record, rows] = await Promise.all([
    grant ? findGrant(db, scopeOf(principal), grant.id) : undefined,
    db.run(limitRows, { workspaceId: policyWorkspaceId, grantIds: makePgArray([...lineage]), day, month }),
  ])
  const limitsWithUsage = rows.map(({ dayMinor, monthMinor, totalMinor, ...limit }) => ({
    ...limit,
    usage: { dayMinor, monthMinor, totalMinor },
  }))
  // The rows above include the grant's own usage and its lineage's limits, because a grant belongs to the workspace.
  const grantUsage = {
    usage: limitsWithUsage.find(({ id }) => id === grant?.id)?.usage ?? { dayMinor: 0n, monthMinor: 0n, totalMinor: 0n },
    headroom: headroomOf(limitsWithUsage.filter(({ id }) => lineage.includes(id))),
  }
  return {
    account_id: formatId('account', principal.accountId),
    workspace_id: formatId('workspace', workspace.id),
    role: principal.role,
    permissions: permissions.filter((permission) => principal.permissions.has(permission)),
    is_admin: principal.isAdmin,
    grant: record ? presentGrant(record, grantUsage) : null,
    headroom: {
      ...presentHeadroom(headroomOf(limitsWithUsage)),
      approval_from_minor: formatMinorOrNull(lowestApprovalThreshold(limitsWithUsage)),
    },
    expires_at: isoTimeOrNull(principal.expiresAt),
  }
}
