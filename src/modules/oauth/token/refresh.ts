import type { RequestOrigin } from '../../../auth/principal.ts'
import { statement, type Tx } from '../../../db/client.ts'
import { plainList } from '../../../db/lists.ts'
import { type ActedEntry, audit, auditAll } from '../../../events/audit.ts'
import { apart, contended, type Outcome } from '../../../queue/account-queue.ts'
import type { GrantRecord } from '../../delegation/grants/queries.ts'
import { revokeGrant } from '../../delegation/grants/revoke.ts'
import { clientIdOf } from '../clients/clients.ts'
import type { Deps } from '../deps.ts'
import { OAuthError } from '../errors.ts'
import { narrowedResources } from '../resources.ts'
import type { TokenParameters, TokenResponse } from '../schema.ts'
import { isSubset, parseScope } from '../scopes.ts'
import { type Arrival, inFlight, isHashOf, isOurs, type PresentedRefresh, readArrivals } from './presented-refresh.ts'
import {
  type Audience,
  hasEnded,
  mintGenerations,
  type OAuthGrantRecord,
  type OAuthGrantState,
  type OAuthGrantWithClient,
  readGrantStates,
  repeatGeneration,
  type TokenClient,
  type TokenGeneration,
} from './tokens.ts'

const grantsOf =
  'from oauth_grants s join grants g on g.id = s.grant_id where s.handle = any($1::text[]) order by g.id for update of g'
/** By the tokens' handles, so that nothing has to be read first. */
const lockFree = statement('oauth.lock_free', `select s.handle ${grantsOf} skip locked`)
const lockWaiting = statement('oauth.lock_waiting', `select s.handle ${grantsOf}`)

/** The requested scopes; never more than the person consented to. A wrong request is refused and changes nothing. */
const readAudience = (
  deps: Pick<Deps, 'config'>,
  grant: GrantRecord,
  state: OAuthGrantRecord,
  parameters: TokenParameters,
): Audience => {
  const scopes = parseScope(parameters.scope) ?? grant.permissions
  if (!isSubset(scopes, grant.permissions)) throw new OAuthError('invalid_scope', 'The scope is more than was granted.')
  return { scopes, resources: narrowedResources(parameters.resource, state.resources, deps.config.publicUrl) }
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

type RefreshDeps = Pick<Deps, 'appendEvents' | 'config' | 'derivations' | 'onGrantsRevoked'>

type Decided = Outcome<TokenResponse | typeof unauthenticated>

/** A grant behind its lock, with what the requests of this batch have done to it so far. */
type Family = { row: OAuthGrantWithClient; rotation: Rotation | null; revoked: boolean }

/** A token that was rotated before this batch, at the same time as this request: its answer again. */
const repeat = async (
  tx: Tx,
  deps: RefreshDeps,
  { grant, state }: OAuthGrantState,
  audience: Audience,
): Promise<TokenResponse> => {
  const again = await repeatGeneration(tx, deps, grant, state)
  if (!again || !same(again.audience, audience)) throw otherUse()
  return again.response
}

const endFamily = async (tx: Tx, deps: RefreshDeps, { origin, presented }: RefreshRequest, family: Family): Promise<void> => {
  const { client, grant, state } = family.row
  const actor = { accountId: grant.accountId, origin, way: 'oauth_client' }
  const subject = { type: 'grant', id: grant.id }
  const after = { client_id: clientIdOf(client), generation: presented.generation, current_generation: state.generation }
  await audit(tx, actor, tx.at, { action: 'oauth_token.reused', workspaceId: grant.workspaceId, subject, after })
  await revokeGrant(tx, deps, actor, grant.id)
  family.revoked = true
}

/** The client that asks, as far as it is known: a public one that names itself is known by the grant that it has. */
const clientOf = ({ client, parameters }: RefreshRequest, { client: owner }: OAuthGrantWithClient): TokenClient | undefined => {
  if (client) return client
  const isOwner = owner.isPublic && clientIdOf(owner) === parameters.client_id
  return isOwner && owner.grantTypes.includes('refresh_token') ? owner : undefined
}

/**
 * Decides one request: the rotation that answers it, or an earlier one's answer. Throws an OAuthError, whose effects are committed. What needs
 * more reading, or ends a grant, is left to a batch of its own (`apart`), which locks that grant alone.
 */
const decide = async (
  tx: Tx,
  deps: RefreshDeps,
  request: RefreshRequest,
  { family, arrival, wait }: { family: Family; arrival: NonNullable<Arrival>; wait: boolean },
): Promise<Rotation | Decided> => {
  const { origin, parameters, presented } = request
  const { row, rotation } = family
  const { grant, state } = row
  const client = clientOf(request, row)
  if (!client) return unauthenticated
  if (state.clientId !== client.id || grant.revokedAt || family.revoked) throw unknownRefreshToken()
  if (!rotation && isHashOf(state.currentHash, presented)) {
    if (hasEnded(row, tx.at)) throw unknownRefreshToken()
    family.rotation = { client, grant, state, origin, audience: readAudience(deps, grant, state, parameters) }
    return family.rotation
  }
  const generation = rotation ? state.generation + 1 : state.generation
  if (presented.generation >= generation || !isOurs(deps, presented)) throw unknownRefreshToken()
  if (!wait && !(arrival.live && rotation)) return apart
  if (await inFlight(tx, deps, arrival, presented)) {
    if (hasEnded(row, tx.at)) throw unknownRefreshToken()
    const audience = readAudience(deps, grant, state, parameters)
    if (!rotation) return repeat(tx, deps, row, audience)
    if (!same(rotation.audience, audience)) throw otherUse()
    return rotation
  }
  await endFamily(tx, deps, request, family)
  throw reused()
}

const refusalOf = (error: unknown): OAuthError => {
  if (error instanceof OAuthError) return error
  throw error
}

/**
 * Rotates refresh tokens (RFC 9700 section 4.14.2). A token that was used before is either stolen or was sent twice; the difference is
 * whether both requests were under way at the same time. A family is one grant, so one theft ends one installation of one agent.
 *
 * Two trips: the first takes the locks of the grants and reads what is behind them, the second sends all writes with the commit. `wait`: whether
 * to wait for the locks.
 */
export const refreshAll = async (
  tx: Tx,
  deps: RefreshDeps,
  requests: readonly RefreshRequest[],
  wait: boolean,
): Promise<Decided[]> => {
  const handles = [...new Set(requests.map(({ presented }) => presented.handle))]
  // In this order and in one trip: how each stood on arrival, the locks, and how it stands behind them.
  const [arrivals, locked, rows] = await Promise.all([
    readArrivals(tx, requests),
    tx.query<{ handle: string }>(wait ? lockWaiting : lockFree, [plainList(handles)]),
    readGrantStates(tx, handles),
  ])
  const ours = new Set(locked.map(({ handle }) => handle))
  const families = new Map(rows.map((row): [string, Family] => [row.state.handle, { row, rotation: null, revoked: false }]))
  const decided: (Rotation | Decided)[] = []
  for (const [index, request] of requests.entries()) {
    const { handle } = request.presented
    const [family, arrival] = [families.get(handle), arrivals[index]]
    if (!family || !arrival) decided.push(request.client ? unknownRefreshToken() : unauthenticated)
    else if (!ours.has(handle)) decided.push(contended)
    else decided.push(await decide(tx, deps, request, { family, arrival, wait }).catch(refusalOf))
  }
  const rotations = [...families.values()].flatMap(({ rotation }) => rotation ?? [])
  const responses = rotate(tx, deps, rotations)
  return decided.map((one) => {
    const index = rotations.indexOf(one as Rotation)
    return index === -1 ? (one as Decided) : (responses[index] as TokenResponse)
  })
}
