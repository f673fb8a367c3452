import { and, eq, sql } from 'drizzle-orm'
import { effectivePermissions, type Permission } from '../../auth/permissions.ts'
import type { Principal } from '../../auth/principal.ts'
import type { Db } from '../../db/client.ts'
import { prepare } from '../../db/prepare.ts'
import { grants } from '../../db/tables/grants.ts'
import { members } from '../../db/tables/workspaces.ts'
import { type Reader, readerOf } from '../../events/visibility.ts'
import type { Uuid } from '../../lib/ids.ts'

const memberships = prepare('notifications.memberships', { accountId: 'uuid' }, (orm, at) =>
  orm
    .select({ workspaceId: members.workspaceId, role: members.role })
    .from(members)
    .where(and(eq(members.accountId, at.accountId), eq(members.status, 'active'))),
)
/** Found by the root of the tree: one on all ancestors would need bitmaps, which the connections' settings switch off. */
const descendants = prepare('notifications.descendants', { rootId: 'uuid', grantId: 'uuid' }, (orm, at) =>
  orm
    .select({ id: grants.id })
    .from(grants)
    .where(and(sql`${grants.ancestorIds}[1] = ${at.rootId}`, sql`${grants.ancestorIds} @> array[${at.grantId}]`)),
)

/** The events that this principal may read now. */
export const findReader = async (db: Db, principal: Principal): Promise<Reader> => {
  const { accountId, grant } = principal
  const [rows, below] = await Promise.all([
    db.run(memberships, { accountId }),
    grant ? db.run(descendants, { rootId: grant.lineage[0] ?? grant.id, grantId: grant.id }) : [],
  ])
  const permissions = new Map<Uuid, ReadonlySet<Permission>>(
    rows.map((row) => [row.workspaceId, effectivePermissions(row.role, null)]),
  )
  return readerOf(
    principal,
    permissions,
    below.map((row) => row.id),
  )
}
