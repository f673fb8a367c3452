import type { RequestOrigin } from '../../../auth/principal.ts'
import { equalBytes } from '../../../auth/secrets.ts'
import { inTx, statement, type Tx } from '../../../db/client.ts'
import { describeError } from '../../../db/errors.ts'
import { joinTurn } from '../../../db/join-turn.ts'
import { plainList } from '../../../db/lists.ts'
import { type ActedEntry, audit, auditAll } from '../../../events/audit.ts'
import { CommitThenThrow, Refusal } from '../../../lib/errors.ts'
import type { Uuid } from '../../../lib/ids.ts'
import { only } from '../../../lib/only.ts'
import type { GrantRecord } from '../../delegation/grants/queries.ts'
import { revokeGrant } from '../../delegation/grants/revoke.ts'
import { type ClientRecord, clientIdOf } from '../clients/clients.ts'
import type { Deps } from '../deps.ts'
import { OAuthError } from '../errors.ts'
import { parseResources } from '../resources.ts'
import type { TokenParameters, TokenResponse } from '../schema.ts'
import { isSubset, parseScope } from '../scopes.ts'
import {
  type Audience,
  hasEnded,
  isOurs,
  mintGenerations,
  type OAuthGrantRecord,
  type OAuthGrantState,
  type PresentedRefresh,
  readGrantStates,
  readRefreshToken,
  repeatGeneration,
  type TokenGeneration,
} from './tokens.ts'

/** How long the request waited in this service before its transaction began. Measured with our own clock, never compared with another. */
export type ElapsedMs = () => number

const arrive = statement(
  'oauth.refresh_arrives',
  `select grant_id, current_hash, least(transaction_timestamp(), statement_timestamp() - make_interval(secs => $2))::text as arrived_at
   from oauth_grants where handle = $1`,
)
/** By the tokens' handles, so that nothing has to be read first. */
const lockFree = statement(
  'oauth.lock_free',
  `select s.handle from oauth_grants s join grants g on g.id = s.grant_id where s.handle = any($1::text[]) order by g.id for update of g skip locked`,
)
const lockByHandle = statement(
  'oauth.lock_by_handle',
  'select from oauth_grants s join grants g on g.id = s.grant_id where s.handle = $1 for update of g',
)
const arrivedInTime = statement(
  'oauth.refresh_came_before',
  `select $3::timestamptz < rotated_at + make_interval(secs => $4) as in_time
   from oauth_access_tokens where grant_id = $1 and generation = $2`,
)

/**
 * `live`: the presented token was the current one when the request arrived, so every later rotation happened at the same time as this
 * request.
 */
type Arrival = { grantId: Uuid; arrivedAt: string; live: boolean }

const arrivalOf = async (tx: Tx, presented: PresentedRefresh, elapsedMs: ElapsedMs): Promise<Arrival | undefined> => {
  const [row] = await tx.query<{ grant_id: Uuid; current_hash: Buffer | null; arrived_at: string }>(arrive, [
    presented.handle,
    elapsedMs() / 1000,
  ])
  return row && { grantId: row.grant_id, arrivedAt: row.arrived_at, live: is(row.current_hash, presented) }
}

const is = (hash: Buffer | null, presented: PresentedRefresh): boolean => hash !== null && equalBytes(hash, presented.hash)

/**
 * The request was under way when the presented token was rotated, by the database's clock alone, or came late by no more than the
 * configured leeway. The number of rotations since then does not matter: connections of one client that refresh independently overtake each
 * other.
 */
const inFlight = async (tx: Tx, deps: Pick<Deps, 'config'>, arrival: Arrival, presented: PresentedRefresh): Promise<boolean> => {
  if (arrival.live) return true
  const [row] = await tx.query<{ in_time: boolean }>(arrivedInTime, [
    arrival.grantId,
    presented.generation + 1,
    arrival.arrivedAt,
    deps.config.OAUTH_REFRESH_LEEWAY_SECONDS,
  ])
  return row?.in_time ?? false
}

/** The requested scopes; never more than the person consented to. A wrong request is refused and changes nothing. */
const readAudience = (
  deps: Pick<Deps, 'config'>,
  grant: GrantRecord,
  state: OAuthGrantRecord,
  parameters: TokenParameters,
): Audience => {
  const scopes = parseScope(parameters.scope) ?? grant.permissions
  const resources = parseResources(parameters.resource, deps.config.publicUrl) ?? state.resources
  if (!isSubset(scopes, grant.permissions)) throw new OAuthError('invalid_scope', 'The scope is more than was granted.')
  if (!isSubset(resources, state.resources))
    throw new OAuthError('invalid_target', 'The resource is not one that was consented to.')
  return { scopes, resources }
}

const same = (a: Audience, b: Audience): boolean =>
  isSubset(a.scopes, b.scopes) &&
  isSubset(b.scopes, a.scopes) &&
  isSubset(a.resources, b.resources) &&
  isSubset(b.resources, a.resources)

const unknown = () =>
  new OAuthError('invalid_grant', 'The refresh token is unknown, expired or revoked, or was given to another client.')
const reused = () =>
  new OAuthError('invalid_grant', 'This refresh token was used before. All tokens of its grant have been revoked.')

const repeat = async (
  tx: Tx,
  deps: Pick<Deps, 'config' | 'derivations'>,
  grant: GrantRecord,
  state: OAuthGrantRecord,
  parameters: TokenParameters,
): Promise<TokenResponse> => {
  const requestedAudience = readAudience(deps, grant, state, parameters)
  const again = await repeatGeneration(tx, deps, grant, state)
  if (!again || !same(again.audience, requestedAudience))
    throw new OAuthError('invalid_grant', 'This refresh token was just used for another scope or resource.')
  return again.response
}

type Request = {
  client: ClientRecord
  origin: RequestOrigin
  parameters: TokenParameters
  presented: PresentedRefresh
  elapsedMs: ElapsedMs
}

type Rotation = TokenGeneration & { origin: RequestOrigin }

const rotate = (tx: Tx, deps: Pick<Deps, 'config' | 'derivations'>, rotations: readonly Rotation[]): TokenResponse[] => {
  const entries = rotations.map(
    ({ grant, state, audience, origin }): ActedEntry => ({
      actor: { accountId: grant.accountId, origin, way: 'oauth_client' },
      action: 'oauth_token.refresh',
      workspaceId: grant.workspaceId,
      subject: { type: 'grant', id: grant.id },
      after: { generation: state.generation + 1, scopes: audience.scopes },
    }),
  )
  tx.defer(auditAll(tx, tx.at, entries))
  return mintGenerations(tx, deps, rotations)
}

const settle = async (
  tx: Tx,
  deps: Pick<Deps, 'appendEvents' | 'config' | 'derivations' | 'onGrantsRevoked'>,
  { client, origin, parameters, presented }: Request,
  { arrival, row }: { arrival: Arrival; row: OAuthGrantState },
): Promise<TokenResponse> => {
  const { grant, state } = row
  if (state.clientId !== client.id || grant.revokedAt) throw unknown()
  const actor = { accountId: grant.accountId, origin, way: 'oauth_client' }
  const subject = { type: 'grant', id: grant.id }
  const { at } = tx
  if (is(state.currentHash, presented)) {
    if (hasEnded(row, at)) throw unknown()
    const audience = readAudience(deps, grant, state, parameters)
    return only(rotate(tx, deps, [{ client, grant, state, audience, origin }]))
  }
  if (presented.generation >= state.generation || !isOurs(deps, presented)) throw unknown()
  if (await inFlight(tx, deps, arrival, presented)) {
    if (hasEnded(row, at)) throw unknown()
    return repeat(tx, deps, grant, state, parameters)
  }
  const after = { client_id: clientIdOf(client), generation: presented.generation, current_generation: state.generation }
  await audit(tx, actor, at, { action: 'oauth_token.reused', workspaceId: grant.workspaceId, subject, after })
  await revokeGrant(tx, deps, actor, grant.id)
  throw new CommitThenThrow(reused())
}

type RefreshDeps = Pick<Deps, 'appendEvents' | 'config' | 'db' | 'derivations' | 'logger' | 'onGrantsRevoked'>

const refreshAlone = (deps: RefreshDeps, request: Request): Promise<TokenResponse> =>
  inTx(deps.db, async (tx): Promise<TokenResponse> => {
    const { presented, elapsedMs } = request
    // In this order and in one trip: how it stood on arrival, the lock, and how it stands behind the lock.
    const [arrival, , [row]] = await Promise.all([
      arrivalOf(tx, presented, elapsedMs),
      tx.query(lockByHandle, [presented.handle]),
      readGrantStates(tx, [presented.handle]),
    ])
    if (!arrival || !row) throw unknown()
    return settle(tx, deps, request, { arrival, row })
  })

/** The rotation of a current token of a grant that may go on; undefined for everything else. */
const plainRotation = (
  deps: Pick<Deps, 'config'>,
  { client, origin, parameters, presented }: Request,
  row: OAuthGrantState,
  at: Date,
): Rotation | undefined => {
  const { grant, state } = row
  if (state.clientId !== client.id || grant.revokedAt || hasEnded(row, at) || !is(state.currentHash, presented)) return undefined
  try {
    return { client, grant, state, origin, audience: readAudience(deps, grant, state, parameters) }
  } catch (error) {
    if (error instanceof OAuthError) return undefined
    throw error
  }
}

const alone = 'alone'

/**
 * Rotates the current tokens of grants that no other transaction holds, in one transaction and two trips. What is not as simple is left to
 * `refreshAlone`: a token that was used before, a request that is refused, a second request for the same grant.
 */
const refreshTogether = (deps: RefreshDeps, requests: readonly Request[]): Promise<(TokenResponse | typeof alone)[]> =>
  inTx(deps.db, async (tx) => {
    const handles = [...new Set(requests.map(({ presented }) => presented.handle))]
    const [locked, rows] = await Promise.all([
      tx.query<{ handle: string }>(lockFree, [plainList(handles)]),
      readGrantStates(tx, handles),
    ])
    const free = new Set(locked.map(({ handle }) => handle))
    const rowOf = new Map(rows.map((row) => [row.state.handle, row]))
    const plain = new Map<Request, Rotation>()
    for (const request of requests) {
      const { handle } = request.presented
      const row = rowOf.get(handle)
      const rotation = row && free.delete(handle) ? plainRotation(deps, request, row, tx.at) : undefined
      if (rotation) plain.set(request, rotation)
    }
    if (plain.size === 0) return requests.map(() => alone)
    const responses = rotate(tx, deps, [...plain.values()])
    const responseOf = new Map([...plain.keys()].map((request, index) => [request, responses[index]]))
    return requests.map((request) => responseOf.get(request) ?? alone)
  })

export type RefreshTokens = (
  client: ClientRecord,
  origin: RequestOrigin,
  parameters: TokenParameters,
  elapsedMs: ElapsedMs,
) => Promise<TokenResponse>

/**
 * Rotates refresh tokens (RFC 9700 section 4.14.2). A token that was used before is either stolen or was sent twice; the difference is
 * whether both requests were under way at the same time. A family is one grant, so one theft ends one installation of one agent. Requests
 * of one turn of the event loop, or that arrive while others are under way, are answered together.
 */
export const createRefreshTokens = (deps: RefreshDeps): RefreshTokens => {
  const together = joinTurn<Request, TokenResponse | typeof alone>({
    inFlight: 2,
    maxKeys: 32,
    query: (requests) =>
      refreshTogether(deps, requests).catch((error: unknown) => {
        // Whether it was committed may be unknown: the client asks again with the same token, and gets the same pair.
        if (error instanceof Refusal) throw error
        deps.logger.warn({ requests: requests.length, ...describeError(error) }, 'refresh tokens are rotated one by one')
        return requests.map(() => alone)
      }),
  })
  return async (client, origin, parameters, elapsedMs) => {
    if (parameters.refresh_token === undefined) throw new OAuthError('invalid_request', 'refresh_token is required.')
    if (!client.grantTypes.includes('refresh_token')) throw new OAuthError('unauthorized_client')
    const presented = readRefreshToken(parameters.refresh_token)
    if (!presented) throw unknown()
    const request = { client, origin, parameters, presented, elapsedMs }
    const answer = await together(request)
    return answer === alone ? refreshAlone(deps, request) : answer
  }
}
