import { and, eq, isNull, sql } from 'drizzle-orm'
import { effectivePermissions, type Role } from '../../../auth/permissions.ts'
import type { Tx } from '../../../db/client.ts'
import { prepare } from '../../../db/prepare.ts'
import { prepareWrite } from '../../../db/prepare-write.ts'
import { invitations } from '../../../db/tables/workspaces.ts'
import { type Actor, audit } from '../../../events/audit.ts'
import type { Uuid } from '../../../lib/ids.ts'

const openBy = prepare('invitations.open_by', { workspaceId: 'uuid', accountId: 'uuid' }, (orm, at) =>
  orm
    .select({ id: invitations.id, role: invitations.role })
    .from(invitations)
    .where(
      and(
        eq(invitations.workspaceId, at.workspaceId),
        eq(invitations.invitedBy, at.accountId),
        isNull(invitations.acceptedAt),
        isNull(invitations.revokedAt),
      ),
    ),
)

const revokeRows = prepareWrite('invitations.revoke_all', { ids: 'uuid[]', at: 'timestamptz' }, (orm, at) =>
  orm.update(invitations).set({ revokedAt: at.at }).where(sql`${invitations.id} = any(${at.ids})`),
)

type Place = { workspaceId: Uuid; accountId: Uuid }

const mayOffer = (role: Role | null, offered: Role): boolean =>
  role !== null && effectivePermissions(role, null).has('workspace.manage') && (offered !== 'owner' || role === 'owner')

/**
 * Open invitations end with the right to create them; otherwise a member who is being removed could return by one. `role`: null when
 * removed.
 */
export const endInvitations = async (
  tx: Tx,

  actor: Actor,
  { workspaceId, accountId }: Place,
  role: Role | null,
): Promise<void> => {
  const { at } = tx
  const open = await tx.run(openBy, { workspaceId, accountId })
  const ended = open.filter((invitation) => !mayOffer(role, invitation.role)).map(({ id }) => id)
  if (ended.length === 0) return
  tx.defer(tx.run(revokeRows, { ids: ended, at }))
  for (const id of ended)
    await audit(tx, actor, at, { action: 'invitation.revoke', workspaceId, subject: { type: 'invitation', id } })
}
