import { setTimeout as wait } from 'node:timers/promises'
import { eq } from 'drizzle-orm'
import type { RequestOrigin } from '../../auth/principal.ts'
import { equalBytes, secretPrefixes, sha256 } from '../../auth/secrets.ts'
import type { Derivations } from '../../auth/vault.ts'
import type { Config } from '../../config.ts'
import { inTx, statement, type Tx } from '../../db/client.ts'
import { prepare } from '../../db/prepare.ts'
import { grants } from '../../db/tables/grants.ts'
import { oauthGrants } from '../../db/tables/oauth.ts'
import { audit } from '../../events/audit.ts'
import { CommitThenThrow } from '../../lib/errors.ts'
import type { Uuid } from '../../lib/ids.ts'
import { createTurns } from '../../queue/turns.ts'
import type { GrantRecord } from '../delegation/queries.ts'
import { revokeGrant } from '../delegation/service.ts'
import type { Parts } from '../parts.ts'
import type { OnGrantsRevoked } from '../ports.ts'
import { authenticateClient, type ClientRecord, clientIdOf } from './clients.ts'
import { OAuthError } from './errors.ts'
import type { TokenParameters, TokenResponse } from './schema.ts'
import { isSubset, narrowedResources, parseScope } from './scopes.ts'
import {
  type Audience,
  deriveAgain,
  generationDigits,
  handleDigits,
  hasEnded,
  mintGeneration,
  type OAuthGrantRecord,
  type OAuthGrantState,
  readGrantByHandle,
  repeatGeneration,
} from './tokens.ts'

const refreshPattern = new RegExp(
  `^${secretPrefixes.refresh_token}([0-9a-f]{${handleDigits}})([0-9a-f]{${generationDigits}})[0-9a-f]{64}$`,
)

type PresentedRefresh = { handle: string; generation: number; hash: Buffer; text: string }

export const readRefreshToken = (text: string): PresentedRefresh | undefined => {
  const [, handle, number] = refreshPattern.exec(text) ?? []
  return handle === undefined || number === undefined
    ? undefined
    : { handle, generation: Number.parseInt(number, 16), hash: sha256(text), text }
}

/** Whether this service made the token, however long ago: with any key that is still in the ring. */
export const isOurs = (derivations: Derivations, { handle, generation, text }: PresentedRefresh): boolean =>
  derivations
    .macs('oauth.refresh_token', '')
    .some(({ keyId }) => deriveAgain(derivations, { handle, generation, keyId })?.refreshToken === text)

/**
 * A request that comes to any process within this time after the rotation is the same use: on a machine with other work a request is tens of
 * milliseconds on its way. The new pair is answered only after it, so who has an answer is always later.
 */
const sameUseMs = 50
const answerAfterMs = sameUseMs + 10

const arrive = statement(
  'oauth.refresh_arrives',
  `select grant_id, least(transaction_timestamp(), statement_timestamp() - make_interval(secs => $2::float8))::text as arrived_at
   from oauth_grants where handle = $1`,
)
const arrivedInTime = statement(
  'oauth.refresh_came_before',
  `select $3::timestamptz < rotated_at + make_interval(secs => $4) as in_time
   from oauth_access_tokens where grant_id = $1 and generation = $2`,
)

export const isHashOf = (hash: Buffer | null, presented: PresentedRefresh): boolean =>
  hash !== null && equalBytes(hash, presented.hash)

/** By the database's clock. Null: no such grant. */
type Arrival = { grantId: Uuid; arrivedAt: string } | null

const readArrival = async (
  tx: Tx,
  { presented, elapsedMs }: { presented: PresentedRefresh; elapsedMs: () => number },
): Promise<Arrival> => {
  const [row] = await tx.query<{ grant_id: Uuid; arrived_at: string }>(arrive, [presented.handle, elapsedMs() / 1000])
  return row ? { grantId: row.grant_id, arrivedAt: row.arrived_at } : null
}

/**
 * The request was under way before the pair of the presented token's rotation was answered, by the database's clock alone, or came late by no
 * more than the configured leeway. The number of rotations since then does not matter: connections of one client that refresh independently overtake each
 * other.
 */
const inFlight = async (tx: Tx, config: Config, arrival: NonNullable<Arrival>, presented: PresentedRefresh): Promise<boolean> => {
  const [row] = await tx.query<{ in_time: boolean }>(arrivedInTime, [
    arrival.grantId,
    presented.generation + 1,
    arrival.arrivedAt,
    config.OAUTH_REFRESH_LEEWAY_SECONDS + sameUseMs / 1_000,
  ])
  return row?.in_time ?? false
}

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

const unknownRefreshToken = () =>
  new OAuthError('invalid_grant', 'The refresh token is unknown, expired or revoked, or was given to another client.')
const otherUse = () => new OAuthError('invalid_grant', 'This refresh token was just used for another scope or resource.')
const reused = () =>
  new OAuthError('invalid_grant', 'This refresh token was used before. All tokens of its grant have been revoked.')

type RefreshRequest = {
  client: ClientRecord
  origin: RequestOrigin
  parameters: TokenParameters
  presented: PresentedRefresh
  /** How long the request has waited in this service. Measured with our own clock, never compared with another. */
  elapsedMs: () => number
}

const endFamily = async (
  tx: Tx,
  onGrantsRevoked: OnGrantsRevoked,
  { client, origin, presented }: RefreshRequest,
  { grant, state }: OAuthGrantState,
): Promise<void> => {
  const actor = { accountId: grant.accountId, origin, way: 'oauth_client' }
  const after = { client_id: clientIdOf(client), generation: presented.generation, current_generation: state.generation }
  audit(tx, actor, 'oauth_token.reused', { workspaceId: grant.workspaceId, subject: grant.id, after })
  await revokeGrant(tx, onGrantsRevoked, actor, grant.id)
}

/**
 * Rotates a refresh token (RFC 9700 section 4.14.2). A token that was used before is either stolen or was sent twice; the difference is
 * whether both requests were under way at the same time. A family is one grant, so one theft ends one installation of one agent.
 *
 * Two trips: the first takes the lock of the grant and reads what is behind it, the second sends all writes with the commit.
 */
const rotate = async (
  tx: Tx,
  deps: Pick<Parts, 'config' | 'derivations' | 'onGrantsRevoked'>,
  request: RefreshRequest,
): Promise<TokenResponse> => {
  const { client, origin, parameters, presented } = request
  // In this order and in one trip: how it stood on arrival, the lock, and how it stands behind it.
  const [arrival, , row] = await Promise.all([
    readArrival(tx, request),
    tx.run(lock, { handle: presented.handle }),
    readGrantByHandle(tx, presented.handle),
  ])
  if (!row || !arrival) throw unknownRefreshToken()
  const { grant, state } = row
  if (state.clientId !== client.id || grant.revokedAt) throw unknownRefreshToken()
  if (isHashOf(state.currentHash, presented)) {
    if (hasEnded(row, state.expiresAt, tx.at)) throw unknownRefreshToken()
    const audience = readAudience(deps.config, grant, state, parameters)
    audit(tx, { accountId: grant.accountId, origin, way: 'oauth_client' }, 'oauth_token.refresh', {
      workspaceId: grant.workspaceId,
      subject: grant.id,
      after: { generation: state.generation + 1, scopes: audience.scopes },
    })
    return mintGeneration(tx, deps.config, deps.derivations, { client, grant, state, audience })
  }
  if (presented.generation >= state.generation || !isOurs(deps.derivations, presented)) throw unknownRefreshToken()
  if (await inFlight(tx, deps.config, arrival, presented)) {
    if (hasEnded(row, state.expiresAt, tx.at)) throw unknownRefreshToken()
    // It was rotated at the same time as this request: its answer again.
    const again = await repeatGeneration(tx, deps.derivations, grant, state)
    if (!again || !same(again.audience, readAudience(deps.config, grant, state, parameters))) throw otherUse()
    return again.response
  }
  await endFamily(tx, deps.onGrantsRevoked, request, row)
  throw new CommitThenThrow(reused())
}

export type RefreshTokens = (
  caller: { authorization: string | undefined; origin: RequestOrigin },
  parameters: TokenParameters,
  elapsedMs: () => number,
) => Promise<TokenResponse>

/**
 * Of one grant one rotation is under way at a time; a request with the same token that came meanwhile gets the same pair. Where it may have been
 * committed without an answer, the client asks again with the same token, and gets the same pair.
 */
export const createRefreshTokens = (
  deps: Pick<Parts, 'clientDocuments' | 'clock' | 'config' | 'db' | 'derivations' | 'onGrantsRevoked'>,
): RefreshTokens => {
  const turns = createTurns()
  return async ({ authorization, origin }, parameters, elapsedMs) => {
    const client = await authenticateClient(deps, { authorization, ...parameters })
    if (parameters.refresh_token === undefined) throw new OAuthError('invalid_request', 'refresh_token is required.')
    if (!client.grantTypes.includes('refresh_token')) throw new OAuthError('unauthorized_client')
    const presented = readRefreshToken(parameters.refresh_token)
    if (!presented) throw unknownRefreshToken()
    const request = { client, origin, parameters, presented, elapsedMs }
    const response = await turns(presented.handle, () => inTx(deps.db, (tx) => rotate(tx, deps, request)))
    await wait(answerAfterMs)
    return response
  }
}
