import { statement } from '../db/client.ts'
import { Refusal } from '../lib/errors.ts'
import type { Uuid } from '../lib/ids.ts'
import {
  type BearerResolver,
  type GrantRow,
  grantColumns,
  type IdentityRow,
  identityColumns,
  principalFrom,
  type ResolverDeps,
  refuseForeignWorkspace,
  touchAfterMs,
} from './resolve.ts'
import { secretPrefixes, sha256 } from './secrets.ts'

const byAccessToken = statement(
  'auth.access_token',
  `select t.id, t.scopes, t.resources, t.expires_at, g.last_used_at, ${identityColumns}, ${grantColumns}
   from oauth_access_tokens t join grants g on g.id = t.grant_id join accounts a on a.id = g.account_id join workspaces w on w.id = g.workspace_id
   left join members m on m.workspace_id = w.id and m.account_id = a.id
   where t.hash = $1`,
)
/** As for an API key: a grant that somebody holds is left for the next request. */
const touchGrant = statement(
  'auth.touch_grant',
  `with held as (select id from grants where id = $1 for no key update skip locked)
   update grants g set last_used_at = $2 from held where g.id = held.id`,
)

type Row = IdentityRow &
  GrantRow & { id: Uuid; scopes: string[]; resources: string[]; expires_at: Date; last_used_at: Date | null }

/**
 * An OAuth access token. The grant is looked at on every request, so that a revocation is felt by the next one; a token that was
 * given out for another API is as unknown here as none. `audience`: what this API is called in a token's resources.
 */
export const accessTokenResolver = (deps: ResolverDeps, audience: string): BearerResolver => ({
  prefix: secretPrefixes.access_token,
  resolve: async (secret, workspaceId) => {
    const [row] = await deps.db.query<Row>(byAccessToken, [sha256(secret)])
    if (!row) throw new Refusal('invalid_token', { message: 'The access token is not known.' })
    if (row.grant_revoked_at) throw new Refusal('invalid_token', { message: 'The access token was revoked.' })
    const now = deps.clock.now()
    if (row.expires_at <= now || (row.grant_expires_at && row.grant_expires_at <= now)) throw new Refusal('token_expired')
    if (!row.resources.includes(audience))
      throw new Refusal('invalid_token', { message: 'The access token is for another resource.' })
    if (!row.oauth_enabled) throw new Refusal('capability_disabled', { details: { capability: 'oauth' } })
    refuseForeignWorkspace(row.workspace_id, workspaceId)
    if (!row.last_used_at || now.getTime() - row.last_used_at.getTime() > touchAfterMs)
      await deps.db.query(touchGrant, [row.grant_id, now])
    const granted = row.granted.filter((permission) => row.scopes.includes(permission))
    return principalFrom(row, { kind: 'oauth', id: row.id }, row.expires_at, { ...row, granted }, false)
  },
})
