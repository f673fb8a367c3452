import type { Tx } from '../../../db/client.ts'
import { appendEvents } from '../../../events/append.ts'
import type { Uuid } from '../../../lib/ids.ts'
import { presentMember, presentRemoved } from './present.ts'
import { findMember, type NamedMember } from './queries.ts'

/** The event's account is the member's: its streams check again what it may read. */
export const publishMemberEvent = async (
  tx: Tx,
  type: 'member.joined' | 'member.updated',
  { workspaceId, id }: { workspaceId: Uuid; id: Uuid },
): Promise<NamedMember> => {
  const member = await findMember(tx, workspaceId, id)
  if (!member) throw new Error('a member who was changed is missing')
  await appendEvents(tx, [{ type, accountId: member.accountId, workspaceId, data: presentMember(member) }])
  return member
}

export const publishMemberRemovedEvent = (tx: Tx, member: NamedMember): Promise<void> => {
  const { accountId, workspaceId } = member
  return appendEvents(tx, [{ type: 'member.removed', accountId, workspaceId, data: presentRemoved(member) }])
}
