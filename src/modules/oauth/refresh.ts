import { setImmediate as nextTurn, setTimeout as wait } from 'node:timers/promises'
import { eq } from 'drizzle-orm'
import type { RequestOrigin } from '../../auth/principal.ts'
import type { Config } from '../../config.ts'
import { first, inTx, statement, type Tx } from '../../db/client.ts'
import { prepare, type RowOf } from '../../db/prepare.ts'
import { grants } from '../../db/tables/grants.ts'
import { oauthGrants } from '../../db/tables/oauth.ts'
import { audit } from '../../events/audit.ts'
import { isTemporary } from '../../lib/errors.ts'
import { createSerialRunner } from '../../queue/serial-runner.ts'
import type { Parts } from '../parts.ts'
import { requireGrantType } from './client-metadata.ts'
import type { ClientRecord } from './clients.ts'
import { OAuthError } from './errors.ts'
import { endReused, type Reuse } from './reuse.ts'
import type { TokenParameters, TokenResponse } from './schema.ts'
import { isSubset, parseScope, readResources } from './scopes.ts'
import {
  type Audience,
  grantByHandle,
  hasEnded,
  isHashOf,
  isIssuedHere,
  mintGeneration,
  type PresentedRefresh,
  readRefreshToken,
  repeatGeneration,
} from './tokens.ts'

// A client presents its grant's current refresh token, which is rotated, or an older one. If the rotation of an older one is not
// answered yet, the request is the same use and gets the same pair. Otherwise the token was stolen, and the grant ends.

type RefreshDeps = Pick<Parts, 'config' | 'db' | 'derivations' | 'onGrantsRevoked' | 'ownersRelyingOn'>

/**
 * A request is the same use if its last byte reaches any process within this time after the rotation, by the database's clock. A
 * request can take tens of milliseconds to arrive. The new pair is sent later, so that a request after an answer is later too.
 */
const sameUseMs = 50
const answerAfterMs = sameUseMs + 10
/** In the process that rotated, a request within this time is the same use if it arrives before the answer. */
const unansweredMs = 1_000
/**
 * Time for which a used token is remembered, longer than a request waits for its turn. If the rotation's commit was not confirmed,
 * a request within this time is the same use, such as the client's retry after a 503.
 */
const rememberedMs = 10_000

const readArrival = statement('oauth.refresh_arrives')`
  select least(transaction_timestamp(), statement_timestamp() - make_interval(secs => $2::float8))::text as "arrivedAt"
   from oauth_grants where handle = $1`
const readSameUse = statement('oauth.refresh_came_before')`
  select $3::timestamptz < rotated_at + make_interval(secs => $4) as "inTime"
   from oauth_access_tokens where grant_id = $1 and generation = $2`

/** Locks a grant by its token's handle, which saves reading the grant's id first. */
const lockByHandle = prepare('oauth.lock_grant', { handle: 'text' }, 'pool', (orm, param) =>
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

const isSameAudience = (a: Audience, b: Audience): boolean =>
  (['scopes', 'resources'] as const).every((part) => isSubset(a[part], b[part]) && isSubset(b[part], a[part]))

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
    tx.query<{ arrivedAt: string }>(readArrival, [handle, request.elapsedMs() / 1000]),
    tx.run(lockByHandle, { handle }),
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
  if (generation >= state.generation || !isIssuedHere(deps.derivations, presented)) throw unknownRefreshToken()
  // `inTime`: by the database's clock, the request arrived before its token's rotation was answered, or within the leeway after
  // that. The number of rotations since does not matter, because a client's connections overtake each other.
  const leewaySeconds = deps.config.OAUTH_REFRESH_LEEWAY_SECONDS + sameUseMs / 1_000
  const inTime = [grant.id, generation + 1, arrival.arrivedAt, leewaySeconds]
  const [rotated] = await tx.query<{ inTime: boolean }>(readSameUse, inTime)
  if (rotated?.inTime || request.isUnanswered()) {
    if (hasEnded(row, state.expiresAt, tx.at)) throw unknownRefreshToken()
    const again = await repeatGeneration(tx, deps.derivations, row)
    if (!again || !isSameAudience(again.audience, readAudience(deps.config, row, parameters)))
      throw new OAuthError('invalid_grant', 'This refresh token was just used for another scope or resource.')
    return { response: again.response, rotates: false }
  }
  const message = 'This refresh token was used before. All tokens of its grant have been revoked.'
  const details = { generation, current_generation: state.generation }
  return { reused: grant, action: 'oauth_token.reused', details, message }
}

/**
 * Runs one rotation of a grant at a time. A rotation whose commit is not confirmed is run again: if it took effect, the same pair
 * is derived. If that fails too, nobody has the pair, so the client's next request with the token gets it.
 */
export const createRefreshTokens = (deps: RefreshDeps) => {
  const turns = createSerialRunner()
  /** Tokens that this process rotated recently, each with the time until which another request is the same use. */
  const openUntil = new Map<string, number>()
  const remember = (token: string, openMs: number): void => {
    openUntil.set(token, performance.now() + openMs)
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
    const rotateOnce = async (): Promise<TokenResponse> => {
      const rotation = await inTx(deps.db, async (tx) => {
        const decided = await rotate(tx, deps, request)
        if ('rotates' in decided && decided.rotates) remember(token, rememberedMs)
        return decided
      })
      if ('reused' in rotation) throw await endReused(deps, client, origin, rotation)
      if (rotation.rotates) remember(token, unansweredMs)
      return rotation.response
    }
    const response = await turns(presented.handle, () =>
      rotateOnce().catch((error: unknown) => {
        if (!openUntil.has(token) || !isTemporary(error)) throw error
        return rotateOnce()
      }),
    )
    await wait(answerAfterMs)
    // A late timer fires before new arrivals are read. The next turn accepts connections, and the turn after it reads requests.
    await nextTurn()
    await nextTurn()
    const until = openUntil.get(token)
    if (until !== undefined) openUntil.set(token, Math.min(until, performance.now()))
    return response
  }
}
