import { isoTime } from '../../../lib/clock.ts'
import { formatId } from '../../../lib/ids.ts'
import type { NamedMember } from './queries.ts'
import type { Member } from './schema.ts'

export const presentMember = (member: NamedMember): Member => ({
  id: formatId('member', member.id),
  workspace_id: formatId('workspace', member.workspaceId),
  account_id: formatId('account', member.accountId),
  email: member.email,
  display_name: member.displayName,
  wallet_address: member.walletAddress,
  role: member.role,
  status: member.status,
  created_at: isoTime(member.createdAt),
  updated_at: isoTime(member.updatedAt),
})

export const presentRemoved = (member: NamedMember): Member => ({ ...presentMember(member), status: 'removed' })
