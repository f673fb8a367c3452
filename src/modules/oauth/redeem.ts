import { setImmediate as nextTurn, setTimeout as wait } from 'node:timers/promises'
import { eq } from 'drizzle-orm'
import type { RequestOrigin } from '../../auth/principal.ts'
import { equalBytes, sha256 } from '../../auth/secrets.ts'
import type { Config } from '../../config.ts'
import { first, inTx, statement, type Tx } from '../../db/client.ts'
import { prepare, type RowOf } from '../../db/prepare.ts'
import { updateRow } from '../../db/prepare-write.ts'
import { selectRow } from '../../db/select-rows.ts'
import { grants } from '../../db/tables/grants.ts'
import { oauthAuthorizations, oauthGrants } from '../../db/tables/oauth.ts'
import { appendEvents } from '../../events/append.ts'
import { audit } from '../../events/audit.ts'
import { CommitThenThrow } from '../../lib/errors.ts'
import type { Uuid } from '../../lib/ids.ts'
import { createSerialRunner } from '../../queue/turns.ts'
import { viewGrant } from '../delegation/present.ts'
import { lockGrant } from '../delegation/queries.ts'
import { inTxEndingGrants, revokeGrant } from '../delegation/service.ts'
import type { Parts } from '../parts.ts'
import { pollIntervalSeconds } from './authorize.ts'
import { requireGrantType, withoutLastSlash } from './client-metadata.ts'
import { type ClientRecord, clientIdOf } from './clients.ts'
import { OAuthError } from './errors.ts'
import type { TokenParameters, TokenResponse } from './schema.ts'
import { isSubset, parseScope, readResources } from './scopes.ts'
import {
  type Audience,
  grantByHandle,
  grantState,
  hasEnded,
  isHashOf,
  isOurs,
  mintGeneration,
  type PresentedRefresh,
  readRefreshToken,
  repeatGeneration,
} from './tokens.ts'

type AuthorizationRecord = typeof oauthAuthorizations.$inferSelect
type RedeemDeps = Pick<Parts, 'config' | 'db' | 'derivations'>
type EndDeps = RedeemDeps & Pick<Parts, 'onGrantsRevoked' | 'ownersRelyingOn'>

const lockByCode = selectRow('oauth_authorizations.lock_by_code', oauthAuthorizations, ['codeHash'], { lock: 'update' })
const lockByDevice = selectRow('oauth_authorizations.lock_by_device', oauthAuthorizations, ['deviceCodeHash'], { lock: 'update' })

const verifierPattern = /^[A-Za-z0-9._~-]{43,128}$/

/** Refuses a verifier without a challenge and the reverse: an attacker may have removed or added one (RFC 9700, 4.8.2). */
const checkVerifier = (challenge: string | null, verifier: string | undefined): void => {
  if (challenge === null && verifier === undefined) return
  if (challenge === null) throw new OAuthError('invalid_grant', 'This request was begun without a code_challenge.')
  if (verifier === undefined) throw new OAuthError('invalid_request', 'code_verifier is required.')
  const fits =
    verifierPattern.test(verifier) && equalBytes(Buffer.from(sha256(verifier).toString('base64url')), Buffer.from(challenge))
  if (!fits) throw new OAuthError('invalid_grant', 'code_verifier does not belong to the code_challenge.')
}

const unknownCode = () => new OAuthError('invalid_grant', 'The code is unknown or expired, or was given to another client.')

/** Exchanges an approved request for the first tokens of its grant. The caller has locked the request and checked the verifier. */
const redeem = async (
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

/** A code or refresh token that was used again: either use may be a thief's, so its grant ends. */
type Reuse = {
  reused: { id: Uuid; accountId: Uuid; workspaceId: Uuid | null }
  action: 'oauth_code.reused' | 'oauth_token.reused'
  details: Record<string, unknown>
  message: string
}

const endReused = async (deps: EndDeps, client: ClientRecord, origin: RequestOrigin, reuse: Reuse): Promise<OAuthError> => {
  const { id, accountId, workspaceId } = reuse.reused
  const actor = { accountId, origin, way: 'oauth_client' }
  await inTxEndingGrants(deps, accountId, async (tx) => {
    const after = { client_id: clientIdOf(client), ...reuse.details }
    audit(tx, actor, reuse.action, { workspaceId, subject: id, after })
    await revokeGrant(tx, deps.onGrantsRevoked, actor, id)
  })
  return new OAuthError('invalid_grant', reuse.message)
}

export const redeemCode = async (
  deps: EndDeps,
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
    return redeem(tx, deps, { origin, parameters }, authorization)
  })
  if ('reused' in redeemed) throw await endReused(deps, client, origin, redeemed)
  return redeemed
}

/** Tolerance, because a client that waits for exactly the interval may arrive slightly early. */
const toleranceMs = 500
const slowDownSeconds = 5

/** Stores the time of this poll, so the refusal commits. */
const keepWaiting = (tx: Tx, { id, lastPolledAt, pollIntervalSeconds: last }: AuthorizationRecord): CommitThenThrow => {
  const seconds = last ?? pollIntervalSeconds
  const early = lastPolledAt !== null && tx.at.getTime() - lastPolledAt.getTime() < seconds * 1000 - toleranceMs
  const next = early ? seconds + slowDownSeconds : seconds
  updateRow(tx, oauthAuthorizations, { id }, { lastPolledAt: tx.at, pollIntervalSeconds: next })
  return new CommitThenThrow(new OAuthError(early ? 'slow_down' : 'authorization_pending'))
}

export const pollDevice = async (deps: RedeemDeps, client: ClientRecord, origin: RequestOrigin, parameters: TokenParameters) => {
  const { device_code: deviceCode } = parameters
  if (deviceCode === undefined) throw new OAuthError('invalid_request', 'device_code is required.')
  return inTx(deps.db, async (tx): Promise<TokenResponse> => {
    const authorization = await lockByDevice(tx, { deviceCodeHash: sha256(deviceCode) })
    if (!authorization || authorization.clientId !== client.id || authorization.status === 'redeemed')
      throw new OAuthError('invalid_grant', 'The device code is unknown or used, or was given to another client.')
    checkVerifier(authorization.codeChallenge, parameters.code_verifier)
    if (authorization.status === 'denied') throw new OAuthError('access_denied')
    if (authorization.expiresAt <= tx.at) throw new OAuthError('expired_token')
    if (authorization.status === 'pending') throw keepWaiting(tx, authorization)
    return redeem(tx, deps, { origin, parameters }, authorization)
  })
}

/**
 * A request is the same use if its last byte reaches any process within this time after the rotation, by the database's clock. A
 * request can take tens of milliseconds to arrive. The new pair is sent later, so that a request after an answer is later too.
 */
const sameUseMs = 50
const answerAfterMs = sameUseMs + 10
/** In the process that rotated, a request within this time is the same use if it arrives before the answer. */
const unansweredMs = 1_000
/** Time for which a used token is remembered, longer than a request waits for its turn. */
const rememberedMs = 10_000

const arrive = statement('oauth.refresh_arrives')`
  select least(transaction_timestamp(), statement_timestamp() - make_interval(secs => $2::float8))::text as "arrivedAt"
   from oauth_grants where handle = $1`
const arrivedInTime = statement('oauth.refresh_came_before')`
  select $3::timestamptz < rotated_at + make_interval(secs => $4) as "inTime"
   from oauth_access_tokens where grant_id = $1 and generation = $2`

/** Locks a grant by its token's handle, which saves reading the grant's id first. */
const lock = prepare('oauth.lock_grant', { handle: 'text' }, 'pool', (orm, param) =>
  orm
    .select({ id: grants.id })
    .from(oauthGrants)
    .innerJoin(grants, eq(grants.id, oauthGrants.grantId))
    .where(eq(oauthGrants.handle, param.handle))
    .for('update', { of: grants }),
)

const readAudience = (config: Config, { grant, state }: RowOf<typeof grantByHandle>, parameters: TokenParameters): Audience => {
  const scopes = parseScope(parameters.scope) ?? grant.permissions
  if (!isSubset(scopes, grant.permissions)) throw new OAuthError('invalid_scope', 'The scope is more than was granted.')
  return { scopes, resources: readResources(parameters.resource, config.publicUrl, state.resources) }
}

const same = (a: Audience, b: Audience): boolean =>
  isSubset(a.scopes, b.scopes) &&
  isSubset(b.scopes, a.scopes) &&
  isSubset(a.resources, b.resources) &&
  isSubset(b.resources, a.resources)

const unknownRefreshToken = () =>
  new OAuthError('invalid_grant', 'The refresh token is unknown, expired or revoked, or was given to another client.')

type RefreshRequest = {
  client: ClientRecord
  origin: RequestOrigin
  parameters: TokenParameters
  presented: PresentedRefresh
  /** The time since the request's last byte, by this process's clock. A client that delays its body gains nothing. */
  elapsedMs: () => number
  /** Whether the request arrived before this process answered the rotation of its token. */
  isUnanswered: () => boolean
}

/**
 * Rotates a refresh token (RFC 9700 section 4.14.2). If two requests overlap, the same token was sent twice; otherwise it was
 * stolen. A family is one grant, so a theft ends one installation of one agent. The rotation takes two round trips to Postgres:
 * the first locks the grant and reads everything, the second writes everything with the commit.
 */
const rotate = async (
  tx: Tx,
  deps: Pick<Parts, 'config' | 'derivations'>,
  request: RefreshRequest,
): Promise<{ response: TokenResponse; rotates: boolean } | Reuse> => {
  const { client, origin, parameters, presented } = request
  const { handle, generation } = presented
  // One round trip, in this order: the time of arrival, the lock, and the state behind the lock.
  const [[arrival], , row] = await Promise.all([
    tx.query<{ arrivedAt: string }>(arrive, [handle, request.elapsedMs() / 1000]),
    tx.run(lock, { handle }),
    first(tx, grantByHandle, { handle }),
  ])
  if (!row || !arrival) throw unknownRefreshToken()
  const { grant, state } = row
  if (state.clientId !== client.id || grant.revokedAt) throw unknownRefreshToken()
  if (isHashOf(state.currentHash, presented)) {
    if (hasEnded(row, state.expiresAt, tx.at)) throw unknownRefreshToken()
    const audience = readAudience(deps.config, row, parameters)
    const after = { generation: state.generation + 1, scopes: audience.scopes }
    const actor = { accountId: grant.accountId, origin, way: 'oauth_client' }
    audit(tx, actor, 'oauth_token.refresh', { workspaceId: grant.workspaceId, subject: grant.id, after })
    return { response: mintGeneration(tx, deps, row, audience), rotates: true }
  }
  if (generation >= state.generation || !isOurs(deps.derivations, presented)) throw unknownRefreshToken()
  // `inTime`: by the database's clock, the request arrived before its token's rotation was answered, or within the leeway after
  // that. The number of rotations since does not matter, because a client's connections overtake each other.
  const leewaySeconds = deps.config.OAUTH_REFRESH_LEEWAY_SECONDS + sameUseMs / 1_000
  const inTime = [grant.id, generation + 1, arrival.arrivedAt, leewaySeconds]
  const [rotated] = await tx.query<{ inTime: boolean }>(arrivedInTime, inTime)
  if (rotated?.inTime || request.isUnanswered()) {
    if (hasEnded(row, state.expiresAt, tx.at)) throw unknownRefreshToken()
    const again = await repeatGeneration(tx, deps.derivations, row)
    if (!again || !same(again.audience, readAudience(deps.config, row, parameters)))
      throw new OAuthError('invalid_grant', 'This refresh token was just used for another scope or resource.')
    return { response: again.response, rotates: false }
  }
  const message = 'This refresh token was used before. All tokens of its grant have been revoked.'
  const details = { generation, current_generation: state.generation }
  return { reused: grant, action: 'oauth_token.reused', details, message }
}

/**
 * Runs one rotation of a grant at a time. A request with the same token gets the same pair, even if the first rotation may have
 * been committed without an answer.
 */
export const createRefreshTokens = (deps: EndDeps) => {
  const turns = createSerialRunner()
  /** Tokens that this process rotated recently, each with the time until which another request is the same use. */
  const openUntil = new Map<string, number>()
  const remember = (token: string): void => {
    openUntil.set(token, performance.now() + unansweredMs)
    setTimeout(() => openUntil.delete(token), rememberedMs).unref()
  }
  return async (
    client: ClientRecord,
    origin: RequestOrigin,
    parameters: TokenParameters,
    elapsedMs: () => number,
  ): Promise<TokenResponse> => {
    if (parameters.refresh_token === undefined) throw new OAuthError('invalid_request', 'refresh_token is required.')
    requireGrantType(client, 'refresh_token')
    const presented = readRefreshToken(parameters.refresh_token)
    if (!presented) throw unknownRefreshToken()
    const token = `${presented.handle}:${presented.generation}`
    const isUnanswered = () => performance.now() - elapsedMs() < (openUntil.get(token) ?? 0)
    const request = { client, origin, parameters, presented, elapsedMs, isUnanswered }
    const { response } = await turns(presented.handle, async () => {
      const rotation = await inTx(deps.db, (tx) => rotate(tx, deps, request))
      if ('reused' in rotation) throw await endReused(deps, client, origin, rotation)
      if (rotation.rotates) remember(token)
      return rotation
    })
    await wait(answerAfterMs)
    // A late timer fires before new arrivals are read. The next turn accepts connections, and the turn after it reads requests.
    await nextTurn()
    await nextTurn()
    const until = openUntil.get(token)
    if (until !== undefined) openUntil.set(token, Math.min(until, performance.now()))
    return response
  }
}
