import { isoTime, isoTimeOrNull } from '../../../lib/clock.ts'
import { formatId } from '../../../lib/ids.ts'
import type { IdentityRecord } from './queries.ts'
import type { Identity } from './schema.ts'

export const presentIdentity = (identity: IdentityRecord): Identity => ({
  id: formatId('identity', identity.id),
  provider: identity.provider,
  subject: identity.subject,
  chain_id: identity.chainId,
  email: identity.email,
  email_verified: identity.emailVerified,
  display_name: identity.displayName,
  created_at: isoTime(identity.createdAt),
  last_used_at: isoTimeOrNull(identity.lastUsedAt),
  linked_by_grant_id: identity.linkedByGrantId && formatId('grant', identity.linkedByGrantId),
})
