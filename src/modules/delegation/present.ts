import { permissions } from '../../auth/permissions.ts'
import { secretPrefixes } from '../../auth/secrets.ts'
import { grantLife, keyLife } from '../../db/credential-life.ts'
import { presenter } from '../../http/presenter.ts'
import { type Headroom, presentUsage } from '../../policy/limits.ts'
import type { Usage } from '../../policy/types.ts'
import type { Controls } from './control-rules.ts'
import type { ApiKeyRecord, GrantRecord } from './queries.ts'
import { ApiKey, Grant, SpendingControls } from './schema.ts'

const shownControls = presenter(SpendingControls)
const shownGrant = presenter(Grant)
const shownKey = presenter(ApiKey)

export const presentControls = (controls: Controls): SpendingControls =>
  Object.fromEntries(Object.entries(shownControls(controls)).filter(([, value]) => value !== null))

export const presentHeadroom = presenter(Grant.shape.headroom)

export const presentGrant = (grant: GrantRecord, { usage, headroom }: { usage: Usage; headroom: Headroom }): Grant =>
  shownGrant(grant, {
    permissions: permissions.filter((permission) => grant.permissions.includes(permission)),
    spending_controls: presentControls(grant),
    usage: presentUsage(usage),
    headroom: presentHeadroom(headroom),
    frozen: grant.frozenAt !== null,
  })

const dateOrNull = (time: string | null): Date | null => (time === null ? null : new Date(time))

/** Matches authentication: a revoked key is never shown as expired, and a key whose grant has ended is shown as revoked. */
export const apiKeyStatus = (key: ApiKeyRecord, grant: Pick<GrantRecord, 'revokedAt' | 'expiresAt'>, at: Date) => {
  const life = keyLife(key, at)
  return life === 'active' && grantLife(grant, at) !== 'active' ? 'revoked' : life
}

export const presentApiKey = (key: ApiKeyRecord, grant: Grant, at: Date): ApiKey =>
  shownKey(key, {
    key_prefix: secretPrefixes.api_key + key.lookup,
    status: apiKeyStatus(key, { revokedAt: dateOrNull(grant.revoked_at), expiresAt: dateOrNull(grant.expires_at) }, at),
    permissions: grant.permissions,
    grant,
  })
