import type { RequestOrigin } from '../../auth/principal.ts'
import { audit } from '../../events/audit.ts'
import type { Uuid } from '../../lib/ids.ts'
import { inTxEndingGrants, revokeGrant } from '../delegation/revoke-service.ts'
import type { Parts } from '../parts.ts'
import { type ClientRecord, clientIdOf } from './clients.ts'
import { OAuthError } from './errors.ts'

type EndDeps = Pick<Parts, 'db' | 'onGrantsRevoked' | 'ownersRelyingOn'>

/** A code or refresh token that was used again: either use may be a thief's, so its grant ends. */
export type Reuse = {
  reused: { id: Uuid; accountId: Uuid; workspaceId: Uuid | null }
  action: 'oauth_code.reused' | 'oauth_token.reused'
  details: Record<string, unknown>
  message: string
}

/** Ends the grant and returns the refusal. */
export const endReused = async (
  deps: EndDeps,
  client: ClientRecord,
  origin: RequestOrigin,
  reuse: Reuse,
): Promise<OAuthError> => {
  const { id, accountId, workspaceId } = reuse.reused
  const actor = { accountId, origin, way: 'oauth_client' }
  await inTxEndingGrants(deps, accountId, async (tx) => {
    const after = { client_id: clientIdOf(client), ...reuse.details }
    audit(tx, actor, reuse.action, { workspaceId, subject: id, after })
    await revokeGrant(tx, deps.onGrantsRevoked, actor, id)
  })
  return new OAuthError('invalid_grant', reuse.message)
}
