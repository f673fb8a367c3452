import type { RequestOrigin } from '../../auth/principal.ts'
import { equalBytes, sha256 } from '../../auth/secrets.ts'
import { first, inTx, type Tx } from '../../db/client.ts'
import { updateRow } from '../../db/prepare-write.ts'
import { selectRow } from '../../db/select-rows.ts'
import { oauthAuthorizations } from '../../db/tables/oauth.ts'
import { appendEvents } from '../../events/append.ts'
import { audit } from '../../events/audit.ts'
import { lockGrant } from '../delegation/queries.ts'
import { viewGrant } from '../delegation/view-service.ts'
import type { Parts } from '../parts.ts'
import { type ClientRecord, clientIdOf } from './clients.ts'
import { OAuthError } from './errors.ts'
import { withoutLastSlash } from './redirect-uri.ts'
import { endReused, type Reuse } from './reuse.ts'
import type { TokenParameters, TokenResponse } from './schema.ts'
import { readResources } from './scopes.ts'
import { grantState, hasEnded, mintGeneration } from './tokens.ts'

export type AuthorizationRecord = typeof oauthAuthorizations.$inferSelect
export type RedeemDeps = Pick<Parts, 'config' | 'db' | 'derivations'>

const lockByCode = selectRow('oauth_authorizations.lock_by_code', oauthAuthorizations, ['codeHash'], { lock: 'update' })

const verifierPattern = /^[A-Za-z0-9._~-]{43,128}$/

/** Refuses a verifier without a challenge and the reverse: an attacker may have removed or added one (RFC 9700, 4.8.2). */
export const checkVerifier = (challenge: string | null, verifier: string | undefined): void => {
  if (challenge === null && verifier === undefined) return
  if (challenge === null) throw new OAuthError('invalid_grant', 'This request was begun without a code_challenge.')
  if (verifier === undefined) throw new OAuthError('invalid_request', 'code_verifier is required.')
  const fits =
    verifierPattern.test(verifier) && equalBytes(Buffer.from(sha256(verifier).toString('base64url')), Buffer.from(challenge))
  if (!fits) throw new OAuthError('invalid_grant', 'code_verifier does not belong to the code_challenge.')
}

const unknownCode = () => new OAuthError('invalid_grant', 'The code is unknown or expired, or was given to another client.')

/** Exchanges an approved request for the first tokens of its grant. The caller has locked the request and checked the verifier. */
export const redeemApproved = async (
  tx: Tx,
  deps: RedeemDeps,
  { origin, parameters }: { origin: RequestOrigin; parameters: TokenParameters },
  authorization: AuthorizationRecord,
): Promise<TokenResponse> => {
  const { grantId } = authorization
  if (grantId === null) throw new Error('an approved request has no grant')
  const [, locked] = await Promise.all([lockGrant(tx, grantId), first(tx, grantState, { grantId })])
  if (!locked || hasEnded(locked, locked.state.expiresAt, tx.at)) throw unknownCode()
  const { accountId, workspaceId, permissions: scopes } = locked.grant
  const resources = readResources(parameters.resource, deps.config.publicUrl, locked.state.resources)
  updateRow(tx, oauthAuthorizations, authorization, { status: 'redeemed', redeemedAt: tx.at })
  audit(tx, { accountId, origin, way: 'oauth_client' }, 'oauth_token.issue', {
    workspaceId,
    subject: grantId,
    after: { client_id: clientIdOf(locked.client), scopes, resources },
  })
  const tokens = mintGeneration(tx, deps, locked, { scopes, resources })
  const data = await viewGrant(tx, tx.at, await lockGrant(tx, grantId))
  await appendEvents(tx, [{ type: 'grant.updated', accountId, workspaceId: null, data }])
  return tokens
}

export const redeemCode = async (
  deps: RedeemDeps & Pick<Parts, 'onGrantsRevoked' | 'ownersRelyingOn'>,
  client: ClientRecord,
  origin: RequestOrigin,
  parameters: TokenParameters,
): Promise<TokenResponse> => {
  const { code, redirect_uri: redirectUri } = parameters
  if (code === undefined) throw new OAuthError('invalid_request', 'code is required.')
  const redeemed = await inTx(deps.db, async (tx): Promise<TokenResponse | Reuse> => {
    const authorization = await lockByCode(tx, { codeHash: sha256(code) })
    if (!authorization || authorization.clientId !== client.id) throw unknownCode()
    const { status, codeExpiresAt, grantId, accountId } = authorization
    // RFC 6749, section 4.1.2.
    if (status === 'redeemed' && grantId !== null && accountId !== null) {
      const message = 'This code was used before. The tokens that it gave have been revoked.'
      return { reused: { id: grantId, accountId, workspaceId: null }, action: 'oauth_code.reused', details: {}, message }
    }
    if (status !== 'approved' || !codeExpiresAt || codeExpiresAt <= tx.at) throw unknownCode()
    if (redirectUri !== undefined && withoutLastSlash(redirectUri) !== withoutLastSlash(authorization.redirectUri ?? ''))
      throw new OAuthError('invalid_grant', 'redirect_uri is not the one of the authorization request.')
    checkVerifier(authorization.codeChallenge, parameters.code_verifier)
    return redeemApproved(tx, deps, { origin, parameters }, authorization)
  })
  if ('reused' in redeemed) throw await endReused(deps, client, origin, redeemed)
  return redeemed
}
