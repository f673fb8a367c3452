import { permissions } from '../../auth/permissions.ts'
import type { Principal } from '../../auth/principal.ts'
import { isoTimeOrNull } from '../../http/wire.ts'
import { formatId } from '../../lib/ids.ts'
import { minor } from '../../lib/money.ts'
import { periodsAt } from '../../policy/calendar.ts'
import { approvalFrom, headroomOf } from '../../policy/headroom.ts'
import { effectiveTimeZone } from '../../policy/time-zone.ts'
import { viewGrant } from '../delegation/grants/present.ts'
import { findGrant, scopeOf } from '../delegation/grants/queries.ts'
import type { Deps } from './deps.ts'
import { loadLimits } from './queries.ts'
import type { Credential } from './schema.ts'

/** What the caller may do now, so that an agent need not learn its limits from refusals. */
export const readCredential = async (deps: Pick<Deps, 'clock' | 'db'>, principal: Principal): Promise<Credential> => {
  const at = deps.clock.now()
  const { workspace, grant } = principal
  const periods = periodsAt(at, effectiveTimeZone(workspace.zone, at))
  const [record, limits] = await Promise.all([
    grant ? findGrant(deps.db, scopeOf(principal), grant.id) : undefined,
    loadLimits(deps.db, workspace.id, grant?.lineage ?? [], periods),
  ])
  const headroom = headroomOf(limits)
  return {
    account_id: formatId('account', principal.accountId),
    workspace_id: formatId('workspace', workspace.id),
    role: principal.role,
    permissions: permissions.filter((permission) => principal.permissions.has(permission)),
    is_admin: principal.isAdmin,
    grant: record ? await viewGrant(deps.db, at, record) : null,
    headroom: {
      per_payment_minor: minor(headroom.perPaymentMinor),
      today_minor: minor(headroom.todayMinor),
      month_minor: minor(headroom.monthMinor),
      approval_from_minor: minor(approvalFrom(limits)),
    },
    expires_at: isoTimeOrNull(principal.expiresAt),
  }
}
