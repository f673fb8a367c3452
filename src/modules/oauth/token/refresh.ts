import { eq } from 'drizzle-orm'
import type { RequestOrigin } from '../../../auth/principal.ts'
import type { Config } from '../../../config.ts'
import type { Tx } from '../../../db/client.ts'
import { prepare } from '../../../db/prepare.ts'
import { grants } from '../../../db/tables/grants.ts'
import { oauthGrants } from '../../../db/tables/oauth.ts'
import { audit } from '../../../events/audit.ts'
import type { GrantRecord } from '../../delegation/grants/queries.ts'
import { revokeGrant } from '../../delegation/grants/revoke.ts'
import type { OnGrantsRevoked } from '../../ports.ts'
import { clientIdOf } from '../clients/clients.ts'
import type { Deps } from '../deps.ts'
import { OAuthError } from '../errors.ts'
import { narrowedResources } from '../resources.ts'
import type { TokenParameters, TokenResponse } from '../schema.ts'
import { isSubset, parseScope } from '../scopes.ts'
import { inFlight, isHashOf, isOurs, type PresentedRefresh, readArrival } from './presented-refresh.ts'
import {
  type Audience,
  hasEnded,
  mintGeneration,
  type OAuthGrantRecord,
  type OAuthGrantWithClient,
  readGrantByHandle,
  repeatGeneration,
  type TokenClient,
} from './tokens.ts'

/** By the token's handle, so that nothing has to be read first. */
const lock = prepare(
  'oauth.lock_grant',
  { handle: 'text' },
  (orm, at) =>
    orm
      .select({ id: grants.id })
      .from(oauthGrants)
      .innerJoin(grants, eq(grants.id, oauthGrants.grantId))
      .where(eq(oauthGrants.handle, at.handle))
      .for('update', { of: grants }),
  'pool',
)

/** The requested scopes; never more than the person consented to. A wrong request is refused and changes nothing. */
const readAudience = (config: Config, grant: GrantRecord, state: OAuthGrantRecord, parameters: TokenParameters): Audience => {
  const scopes = parseScope(parameters.scope) ?? grant.permissions
  if (!isSubset(scopes, grant.permissions)) throw new OAuthError('invalid_scope', 'The scope is more than was granted.')
  return { scopes, resources: narrowedResources(parameters.resource, state.resources, config.publicUrl) }
}

const same = (a: Audience, b: Audience): boolean =>
  isSubset(a.scopes, b.scopes) &&
  isSubset(b.scopes, a.scopes) &&
  isSubset(a.resources, b.resources) &&
  isSubset(b.resources, a.resources)

export const unknownRefreshToken = () =>
  new OAuthError('invalid_grant', 'The refresh token is unknown, expired or revoked, or was given to another client.')
const otherUse = () => new OAuthError('invalid_grant', 'This refresh token was just used for another scope or resource.')
const reused = () =>
  new OAuthError('invalid_grant', 'This refresh token was used before. All tokens of its grant have been revoked.')

/** The outcome of a request whose client is not the grant's by its name alone, or may not refresh. Nothing was done for it. */
export const unauthenticated = Symbol('unauthenticated')

export type RefreshRequest = {
  /** Null: the client is not authenticated yet, and has no secret to be authenticated by. */
  client: TokenClient | null
  origin: RequestOrigin
  parameters: TokenParameters
  presented: PresentedRefresh
  /** How long the request has waited in this service. Measured with our own clock, never compared with another. */
  elapsedMs: () => number
}

type RefreshDeps = Pick<Deps, 'config' | 'derivations' | 'onGrantsRevoked'>

const endFamily = async (
  tx: Tx,
  onGrantsRevoked: OnGrantsRevoked,
  { origin, presented }: RefreshRequest,
  { client, grant, state }: OAuthGrantWithClient,
): Promise<void> => {
  const actor = { accountId: grant.accountId, origin, way: 'oauth_client' }
  const subject = { type: 'grant', id: grant.id }
  const after = { client_id: clientIdOf(client), generation: presented.generation, current_generation: state.generation }
  await audit(tx, actor, tx.at, { action: 'oauth_token.reused', workspaceId: grant.workspaceId, subject, after })
  await revokeGrant(tx, onGrantsRevoked, actor, grant.id)
}

/** The client that asks, as far as it is known: a public one that names itself is known by the grant that it has. */
const clientOf = ({ client, parameters }: RefreshRequest, { client: owner }: OAuthGrantWithClient): TokenClient | undefined => {
  if (client) return client
  const isOwner = owner.isPublic && clientIdOf(owner) === parameters.client_id
  return isOwner && owner.grantTypes.includes('refresh_token') ? owner : undefined
}

/**
 * Rotates a refresh token (RFC 9700 section 4.14.2). A token that was used before is either stolen or was sent twice; the difference is
 * whether both requests were under way at the same time. A family is one grant, so one theft ends one installation of one agent.
 *
 * Two trips: the first takes the lock of the grant and reads what is behind it, the second sends all writes with the commit. An OAuthError that it
 * answers commits with its effects.
 */
export const refresh = async (
  tx: Tx,
  deps: RefreshDeps,
  request: RefreshRequest,
): Promise<TokenResponse | OAuthError | typeof unauthenticated> => {
  const { origin, parameters, presented } = request
  // In this order and in one trip: how it stood on arrival, the lock, and how it stands behind it.
  const [arrival, , row] = await Promise.all([
    readArrival(tx, request),
    tx.run(lock, { handle: presented.handle }),
    readGrantByHandle(tx, presented.handle),
  ])
  if (!row || !arrival) return request.client ? unknownRefreshToken() : unauthenticated
  const { grant, state } = row
  const client = clientOf(request, row)
  if (!client) return unauthenticated
  if (state.clientId !== client.id || grant.revokedAt) return unknownRefreshToken()
  if (isHashOf(state.currentHash, presented)) {
    if (hasEnded(row, tx.at)) return unknownRefreshToken()
    const audience = readAudience(deps.config, grant, state, parameters)
    tx.defer(
      audit(tx, { accountId: grant.accountId, origin, way: 'oauth_client' }, tx.at, {
        action: 'oauth_token.refresh',
        workspaceId: grant.workspaceId,
        subject: { type: 'grant', id: grant.id },
        after: { generation: state.generation + 1, scopes: audience.scopes },
      }),
    )
    return mintGeneration(tx, deps.config, deps.derivations, { client, grant, state, audience })
  }
  if (presented.generation >= state.generation || !isOurs(deps.derivations, presented)) return unknownRefreshToken()
  if (await inFlight(tx, deps.config, arrival, presented)) {
    if (hasEnded(row, tx.at)) return unknownRefreshToken()
    // It was rotated at the same time as this request: its answer again.
    const again = await repeatGeneration(tx, deps.derivations, grant, state)
    return again && same(again.audience, readAudience(deps.config, grant, state, parameters)) ? again.response : otherUse()
  }
  await endFamily(tx, deps.onGrantsRevoked, request, row)
  return reused()
}
