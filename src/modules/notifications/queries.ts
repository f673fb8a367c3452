import { effectivePermissions, type Permission, type Role } from '../../auth/permissions.ts'
import type { Principal } from '../../auth/principal.ts'
import { type Db, statement } from '../../db/client.ts'
import { type Reader, readerOf } from '../../events/visibility.ts'
import type { Uuid } from '../../lib/ids.ts'

const memberships = statement(
  'notifications.memberships',
  `select workspace_id, role from members where account_id = $1 and status = 'active'`,
)
const descendants = statement('notifications.descendants', 'select id from grants where ancestor_ids @> array[$1::uuid]')

/** The events that this principal may read now. */
export const findReader = async (db: Db, principal: Principal): Promise<Reader> => {
  const rows = await db.query<{ workspace_id: Uuid; role: Role }>(memberships, [principal.accountId])
  const permissions = new Map<Uuid, ReadonlySet<Permission>>(
    rows.map((row) => [row.workspace_id, effectivePermissions(row.role, null)]),
  )
  const below = principal.grant ? await db.query<{ id: Uuid }>(descendants, [principal.grant.id]) : []
  return readerOf(
    principal,
    permissions,
    below.map((row) => row.id),
  )
}
