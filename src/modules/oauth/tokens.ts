import { randomBytes } from 'node:crypto'
import { eq } from 'drizzle-orm'
import type { QueryBuilder } from 'drizzle-orm/pg-core'
import type { RequestOrigin } from '../../auth/principal.ts'
import { secretPrefixes, sha256 } from '../../auth/secrets.ts'
import type { Derivations } from '../../auth/vault.ts'
import type { Config } from '../../config.ts'
import { type Db, first, inTx, type Tx } from '../../db/client.ts'
import { grantLife } from '../../db/credential-life.ts'
import { prepare } from '../../db/prepare.ts'
import { insertRow, prepareWrite, updateRow } from '../../db/prepare-write.ts'
import { selectRow } from '../../db/select-rows.ts'
import { accounts } from '../../db/tables/accounts.ts'
import { grants } from '../../db/tables/grants.ts'
import { oauthAccessTokens, oauthAuthorizations, oauthClients, oauthGrants } from '../../db/tables/oauth.ts'
import { appendEvents } from '../../events/append.ts'
import { audit } from '../../events/audit.ts'
import { daysAfter, earlier, endOfDay, secondsAfter } from '../../lib/clock.ts'
import { CommitThenThrow } from '../../lib/errors.ts'
import { newId, type Uuid } from '../../lib/ids.ts'
import { presentControls, viewGrant } from '../delegation/present.ts'
import { type GrantRecord, lockGrant } from '../delegation/queries.ts'
import { revokeGrant } from '../delegation/service.ts'
import type { Parts } from '../parts.ts'
import type { OnGrantsRevoked } from '../ports.ts'
import { type AuthorizationRecord, checkVerifier } from './authorization-request.ts'
import { type ClientRecord, clientIdOf, touchClient } from './clients.ts'
import { OAuthError } from './errors.ts'
import type { TokenParameters, TokenResponse } from './schema.ts'
import { formatScope, narrowedResources } from './scopes.ts'

export type OAuthGrantRecord = typeof oauthGrants.$inferSelect

export const handleDigits = 32
export const generationDigits = 8

export const newHandle = (): string => randomBytes(handleDigits / 2).toString('hex')

type Derived = { accessToken: string; refreshToken: string }

/** Derives a generation's tokens, with the key that they are made with; undefined when that key is no longer in the ring. */
export const deriveAgain = (
  derivations: Derivations,
  { handle, generation, keyId }: Pick<OAuthGrantRecord, 'handle' | 'generation' | 'keyId'>,
): Derived | undefined => {
  const message = `${handle}:${generation}`
  const access = derivations.macUnder(keyId, 'oauth.access_token', message)
  const refresh = derivations.macUnder(keyId, 'oauth.refresh_token', message)
  if (!access || !refresh) return undefined
  const number = generation.toString(16).padStart(generationDigits, '0')
  return {
    accessToken: secretPrefixes.access_token + access.toString('hex'),
    refreshToken: secretPrefixes.refresh_token + handle + number + refresh.toString('hex'),
  }
}

const setGeneration = prepareWrite(
  'oauth.set_generation',
  { grantId: 'uuid', generation: 'int', keyId: 'text', hash: 'bytea|null', end: 'timestamptz' },
  (orm, at) =>
    orm
      .update(oauthGrants)
      .set({ generation: at.generation, keyId: at.keyId, currentHash: at.hash, expiresAt: at.end })
      .where(eq(oauthGrants.grantId, at.grantId)),
)

const grantTables = (orm: QueryBuilder) =>
  orm
    .select({ grant: grants, state: oauthGrants, client: oauthClients, account: accounts })
    .from(oauthGrants)
    .innerJoin(grants, eq(grants.id, oauthGrants.grantId))
    .innerJoin(oauthClients, eq(oauthClients.id, oauthGrants.clientId))
    .innerJoin(accounts, eq(accounts.id, grants.accountId))

const byGrant = prepare('oauth.grant_state', { grantId: 'uuid' }, (orm, at) =>
  grantTables(orm).where(eq(oauthGrants.grantId, at.grantId)),
)
const byHandle = prepare('oauth.grant_by_handle', { handle: 'text' }, (orm, at) =>
  grantTables(orm).where(eq(oauthGrants.handle, at.handle)),
)

/** A grant with all that its tokens depend on. A writer reads it behind the grant's lock. */
export const readGrantState = (db: Db, grantId: Uuid) => first(db, byGrant, { grantId })
export const readGrantByHandle = (db: Db, handle: string) => first(db, byHandle, { handle })
export type OAuthGrantState = NonNullable<Awaited<ReturnType<typeof readGrantState>>>

/** Reasons to issue no tokens for a grant although the request is valid. */
export const hasEnded = ({ grant, account }: OAuthGrantState, expiresAt: Date, at: Date): boolean =>
  expiresAt <= at || grantLife(grant, at) !== 'active' || !account.oauthEnabled || account.status === 'closed'

export type Audience = { scopes: string[]; resources: string[] }

const respond = (
  tokens: Derived,
  expiresInSeconds: number,
  scopes: readonly string[],
  grant: GrantRecord,
  state: { detailed: boolean; refreshes: boolean },
): TokenResponse => {
  const controls = presentControls(grant)
  const detailed = state.detailed || Object.keys(controls).length > 0
  return {
    access_token: tokens.accessToken,
    token_type: 'Bearer',
    expires_in: expiresInSeconds,
    ...(state.refreshes && { refresh_token: tokens.refreshToken }),
    scope: formatScope(scopes),
    ...(detailed && { authorization_details: [{ type: 'payment' as const, ...controls }] }),
  }
}

type TokenGeneration = { client: ClientRecord; grant: GrantRecord; state: OAuthGrantRecord; audience: Audience }

/**
 * The next generation of a grant's tokens. Only hashes are stored: both tokens are derived from the grant's handle and the generation, so
 * that requests under way at the same time can all get the same pair. The caller has locked the grant and commits right after this: the
 * time of the rotation is written last, so that every request that arrived before the commit counts as in time.
 */
export const mintGeneration = (
  tx: Tx,
  config: Config,
  derivations: Derivations,
  { client, grant, state, audience }: TokenGeneration,
): TokenResponse => {
  const { at } = tx
  const { currentKeyId } = derivations
  const generation = state.generation + 1
  const tokens = deriveAgain(derivations, { handle: state.handle, generation, keyId: currentKeyId })
  if (!tokens) throw new Error('the current key is not in its ring')
  const refreshes = client.grantTypes.includes('refresh_token')
  const accessEnds = earlier(secondsAfter(at, config.ACCESS_TOKEN_TTL_SECONDS), state.endsAt)
  const end = refreshes ? earlier(daysAfter(at, config.REFRESH_TOKEN_TTL_DAYS), state.endsAt) : accessEnds
  // An index has it: a client that refreshes often moves it once a day.
  const grantEnd = refreshes ? earlier(endOfDay(end), state.endsAt) : end
  if (grantEnd.getTime() !== grant.expiresAt?.getTime()) updateRow(tx, grants, grant, { expiresAt: grantEnd })
  tx.defer(touchClient(tx, client, at))
  const hash = refreshes ? sha256(tokens.refreshToken) : null
  tx.defer(tx.run(setGeneration, { grantId: grant.id, generation, keyId: currentKeyId, hash, end }))
  insertRow(tx, oauthAccessTokens, {
    id: newId(),
    grantId: grant.id,
    generation,
    hash: sha256(tokens.accessToken),
    ...audience,
    createdAt: at,
    expiresAt: accessEnds,
  })
  const seconds = Math.floor((accessEnds.getTime() - at.getTime()) / 1000)
  return respond(tokens, seconds, audience.scopes, grant, { detailed: state.detailed, refreshes })
}

const accessOf = selectRow('oauth_access_tokens.of_generation', oauthAccessTokens, ['grantId', 'generation'])

/** The current generation's response once more, and the request that it was for. */
export const repeatGeneration = async (
  tx: Tx,
  derivations: Derivations,
  grant: GrantRecord,
  state: OAuthGrantRecord,
): Promise<{ response: TokenResponse; audience: Audience } | undefined> => {
  const tokens = deriveAgain(derivations, state)
  const access = await accessOf(tx, { grantId: grant.id, generation: state.generation })
  if (!tokens || !access) return undefined
  const { scopes, resources, expiresAt } = access
  const seconds = Math.max(0, Math.floor((expiresAt.getTime() - tx.at.getTime()) / 1000))
  const refreshes = state.currentHash !== null
  return {
    response: respond(tokens, seconds, scopes, grant, { detailed: state.detailed, refreshes }),
    audience: { scopes, resources },
  }
}

const lockByCode = selectRow('oauth_authorizations.lock_by_code', oauthAuthorizations, ['codeHash'], { lock: 'update' })

const unknownCode = () => new OAuthError('invalid_grant', 'The code is unknown or expired, or was given to another client.')

/** Exchanges an approved request for the first tokens of its grant. The caller has locked the request. */
export const redeem = async (
  tx: Tx,
  deps: Pick<Parts, 'config' | 'derivations'>,
  request: { client: ClientRecord; origin: RequestOrigin; parameters: TokenParameters },
  authorization: AuthorizationRecord,
): Promise<TokenResponse> => {
  const { client, origin, parameters } = request
  if (authorization.grantId === null) throw new Error('an approved request has no grant')
  checkVerifier(authorization.codeChallenge, parameters.code_verifier)
  const [, locked] = await Promise.all([lockGrant(tx, authorization.grantId), readGrantState(tx, authorization.grantId)])
  if (!locked || hasEnded(locked, locked.state.expiresAt, tx.at)) throw unknownCode()
  const { grant, state } = locked
  const resources = narrowedResources(parameters.resource, state.resources, deps.config.publicUrl)
  const { at } = tx
  updateRow(tx, oauthAuthorizations, authorization, { status: 'redeemed', redeemedAt: at })
  audit(tx, { accountId: grant.accountId, origin, way: 'oauth_client' }, 'oauth_token.issue', {
    workspaceId: grant.workspaceId,
    subject: grant.id,
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
  audit(tx, actor, 'oauth_code.reused', { subject: authorization.grantId, after })
  await revokeGrant(tx, onGrantsRevoked, actor, authorization.grantId)
  return new OAuthError('invalid_grant', 'This code was used before. The tokens that it gave have been revoked.')
}

export const redeemCode = async (
  deps: Pick<Parts, 'config' | 'db' | 'derivations' | 'onGrantsRevoked'>,
  client: ClientRecord,
  origin: RequestOrigin,
  parameters: TokenParameters,
): Promise<TokenResponse> => {
  const { code, redirect_uri: redirectUri } = parameters
  if (code === undefined) throw new OAuthError('invalid_request', 'code is required.')
  const request = { client, origin, parameters }
  return inTx(deps.db, async (tx): Promise<TokenResponse> => {
    const authorization = await lockByCode(tx, { codeHash: sha256(code) })
    if (!authorization || authorization.clientId !== client.id) throw unknownCode()
    if (authorization.status === 'redeemed')
      throw new CommitThenThrow(await revokeFirst(tx, deps.onGrantsRevoked, request, authorization))
    const { codeExpiresAt } = authorization
    if (authorization.status !== 'approved' || !codeExpiresAt || codeExpiresAt <= tx.at) throw unknownCode()
    if (redirectUri !== undefined && redirectUri !== authorization.redirectUri)
      throw new OAuthError('invalid_grant', 'redirect_uri is not the one of the authorization request.')
    return redeem(tx, deps, request, authorization)
  })
}
