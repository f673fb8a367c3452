import { eq } from 'drizzle-orm'
import type { RequestOrigin } from '../../../auth/principal.ts'
import { sha256 } from '../../../auth/secrets.ts'
import { first, inTx, type Tx } from '../../../db/client.ts'
import { prepare } from '../../../db/prepare.ts'
import { prepareUpdate } from '../../../db/prepare-write.ts'
import { oauthAuthorizations } from '../../../db/tables/oauth.ts'
import { appendEvents } from '../../../events/append.ts'
import { audit } from '../../../events/audit.ts'
import { CommitThenThrow } from '../../../lib/errors.ts'
import { viewGrant } from '../../delegation/grants/present.ts'
import { lockGrant } from '../../delegation/grants/queries.ts'
import { revokeGrant } from '../../delegation/grants/revoke.ts'
import type { OnGrantsRevoked } from '../../ports.ts'
import type { AuthorizationRecord } from '../authorize/authorizations.ts'
import { checkVerifier } from '../authorize/pkce.ts'
import { type ClientRecord, clientIdOf } from '../clients/clients.ts'
import type { Deps } from '../deps.ts'
import { OAuthError } from '../errors.ts'
import { narrowedResources } from '../resources.ts'
import type { TokenParameters, TokenResponse } from '../schema.ts'
import { hasEnded, mintGeneration, readGrantState } from './tokens.ts'

const lockByCode = prepare('oauth_authorizations.lock_by_code', { codeHash: 'bytea' }, (orm, at) =>
  orm.select().from(oauthAuthorizations).where(eq(oauthAuthorizations.codeHash, at.codeHash)).for('update'),
)
const redeemRow = prepareUpdate('oauth_authorizations.redeem', oauthAuthorizations, ['status', 'redeemedAt'])

const unknown = () => new OAuthError('invalid_grant', 'The code is unknown or expired, or was given to another client.')

/** Exchanges an approved request for the first tokens of its grant. The caller has locked the request. */
export const redeem = async (
  tx: Tx,
  deps: Pick<Deps, 'config' | 'derivations'>,
  request: { client: ClientRecord; origin: RequestOrigin; parameters: TokenParameters },
  authorization: AuthorizationRecord,
): Promise<TokenResponse> => {
  const { client, origin, parameters } = request
  if (authorization.grantId === null) throw new Error('an approved request has no grant')
  checkVerifier(authorization.codeChallenge, parameters.code_verifier)
  const [, locked] = await Promise.all([lockGrant(tx, authorization.grantId), readGrantState(tx, authorization.grantId)])
  if (!locked || hasEnded(locked, tx.at)) throw unknown()
  const { grant, state } = locked
  const resources = narrowedResources(parameters.resource, state.resources, deps.config.publicUrl)
  const { at } = tx
  redeemRow(tx, authorization.id, { status: 'redeemed', redeemedAt: at })
  await audit(tx, { accountId: grant.accountId, origin, way: 'oauth_client' }, at, {
    action: 'oauth_token.issue',
    workspaceId: grant.workspaceId,
    subject: { type: 'grant', id: grant.id },
    after: { client_id: clientIdOf(client), scopes: grant.permissions, resources },
  })
  const tokens = mintGeneration(tx, deps.config, deps.derivations, {
    client,
    grant,
    state,
    audience: { scopes: grant.permissions, resources },
  })
  const data = await viewGrant(tx, at, await lockGrant(tx, grant.id))
  await appendEvents(tx, [{ type: 'grant.updated', accountId: grant.accountId, workspaceId: null, data }])
  return tokens
}

/**
 * A code that is used twice was stolen, and one of the two uses was the thief's: the grant of the first use is revoked too (RFC 6749,
 * 4.1.2).
 */
const revokeFirst = async (
  tx: Tx,
  onGrantsRevoked: OnGrantsRevoked,
  request: { client: ClientRecord; origin: RequestOrigin },
  authorization: AuthorizationRecord,
) => {
  if (authorization.grantId === null) throw new Error('a redeemed request has no grant')
  const actor = { accountId: authorization.accountId, origin: request.origin, way: 'oauth_client' }
  const after = { client_id: clientIdOf(request.client) }
  await audit(tx, actor, tx.at, {
    action: 'oauth_code.reused',
    subject: { type: 'grant', id: authorization.grantId },
    after,
  })
  await revokeGrant(tx, onGrantsRevoked, actor, authorization.grantId)
  return new OAuthError('invalid_grant', 'This code was used before. The tokens that it gave have been revoked.')
}

export const redeemCode = async (
  deps: Pick<Deps, 'config' | 'db' | 'derivations' | 'onGrantsRevoked'>,
  client: ClientRecord,
  origin: RequestOrigin,
  parameters: TokenParameters,
): Promise<TokenResponse> => {
  const { code, redirect_uri: redirectUri } = parameters
  if (code === undefined) throw new OAuthError('invalid_request', 'code is required.')
  const request = { client, origin, parameters }
  return inTx(deps.db, async (tx): Promise<TokenResponse> => {
    const authorization = await first(tx, lockByCode, { codeHash: sha256(code) })
    if (!authorization || authorization.clientId !== client.id) throw unknown()
    if (authorization.status === 'redeemed')
      throw new CommitThenThrow(await revokeFirst(tx, deps.onGrantsRevoked, request, authorization))
    const { codeExpiresAt } = authorization
    if (authorization.status !== 'approved' || !codeExpiresAt || codeExpiresAt <= tx.at) throw unknown()
    if (redirectUri !== undefined && redirectUri !== authorization.redirectUri)
      throw new OAuthError('invalid_grant', 'redirect_uri is not the one of the authorization request.')
    return redeem(tx, deps, request, authorization)
  })
}
