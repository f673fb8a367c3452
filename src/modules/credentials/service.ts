import { permissions } from '../../auth/permissions.ts'
import type { Principal } from '../../auth/principal.ts'
import type { Database } from '../../db/client.ts'
import type { Clock } from '../../lib/clock.ts'
import { isoTimeOrNull } from '../../lib/clock.ts'
import { formatId, type Uuid } from '../../lib/ids.ts'
import { minor } from '../../lib/money.ts'
import { effectiveTimeZone, periodsAt } from '../../policy/calendar.ts'
import { approvalFrom, headroomOf, type LimitsInUse } from '../../policy/limits.ts'
import { presentGrant } from '../delegation/grants/present.ts'
import { findGrant, scopeOf } from '../delegation/grants/queries.ts'
import { loadLimits } from './queries.ts'
import type { Credential } from './schema.ts'

/** A grant is of the workspace that it works in, so its own usage and what its chain leaves are among the limits. */
const usageIn = (limits: readonly (LimitsInUse & { id: Uuid })[], id: Uuid, lineage: readonly Uuid[]) => ({
  usage: limits.find((limit) => limit.id === id)?.usage ?? { dayMinor: 0n, monthMinor: 0n },
  headroom: headroomOf(limits.filter((limit) => lineage.includes(limit.id))),
})

/** What the caller may do now, so that an agent need not learn its limits from refusals. */
export const readCredential = async (db: Database, clock: Clock, principal: Principal): Promise<Credential> => {
  const at = clock.now()
  const { workspace, grant } = principal
  const periods = periodsAt(at, effectiveTimeZone(workspace.zone, at))
  const [record, limits] = await Promise.all([
    grant ? findGrant(db, scopeOf(principal), grant.id) : undefined,
    loadLimits(db, workspace.id, grant?.lineage ?? [], periods),
  ])
  const headroom = headroomOf(limits)
  return {
    account_id: formatId('account', principal.accountId),
    workspace_id: formatId('workspace', workspace.id),
    role: principal.role,
    permissions: permissions.filter((permission) => principal.permissions.has(permission)),
    is_admin: principal.isAdmin,
    grant: record ? presentGrant(record, usageIn(limits, record.id, grant?.lineage ?? [])) : null,
    headroom: {
      per_payment_minor: minor(headroom.perPaymentMinor),
      today_minor: minor(headroom.todayMinor),
      month_minor: minor(headroom.monthMinor),
      approval_from_minor: minor(approvalFrom(limits)),
    },
    expires_at: isoTimeOrNull(principal.expiresAt),
  }
}
