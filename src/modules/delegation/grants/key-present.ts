import { secretPrefixes } from '../../../auth/secrets.ts'
import { grantLife, keyLife } from '../../../db/credential-life.ts'
import type { apiKeys } from '../../../db/tables/grants.ts'
import { isoTime, isoTimeOrNull } from '../../../lib/clock.ts'
import { formatId } from '../../../lib/ids.ts'
import type { ApiKey } from './key-schema.ts'
import type { Grant } from './schema.ts'

export type ApiKeyRecord = typeof apiKeys.$inferSelect

const dateOrNull = (time: string | null): Date | null => (time === null ? null : new Date(time))

/** The same order as in authentication: a revoked key is never shown as expired, and a key ends with its grant at the latest. */
export const apiKeyStatus = (key: ApiKeyRecord, grant: Pick<Grant, 'revoked_at' | 'expires_at'>, at: Date): ApiKey['status'] => {
  const life = keyLife(key, at)
  if (life !== 'active') return life
  const ends = { revokedAt: dateOrNull(grant.revoked_at), expiresAt: dateOrNull(grant.expires_at) }
  return grantLife(ends, at) === 'active' ? 'active' : 'revoked'
}

const view = (key: ApiKeyRecord, grant: Grant, status: ApiKey['status']): ApiKey => ({
  id: formatId('api_key', key.id),
  workspace_id: formatId('workspace', key.workspaceId),
  name: key.name,
  key_prefix: secretPrefixes.api_key + key.lookup,
  last_four: key.lastFour,
  status,
  permissions: grant.permissions,
  grant,
  created_at: isoTime(key.createdAt),
  last_used_at: isoTimeOrNull(key.lastUsedAt),
  expires_at: isoTimeOrNull(key.expiresAt),
  revoked_at: isoTimeOrNull(key.revokedAt),
})

/** `grant` is the key's own, as REST shows it. */
export const presentApiKey = (key: ApiKeyRecord, grant: Grant, at: Date): ApiKey => view(key, grant, apiKeyStatus(key, grant, at))
