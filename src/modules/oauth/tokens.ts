import { randomBytes } from 'node:crypto'
import { eq } from 'drizzle-orm'
import type { QueryBuilder } from 'drizzle-orm/pg-core'
import type { RequestOrigin } from '../../auth/principal.ts'
import { equalBytes, secretPrefixes, sha256 } from '../../auth/secrets.ts'
import type { Derivations } from '../../auth/vault.ts'
import { first, type Tx } from '../../db/client.ts'
import { grantLife } from '../../db/credential-life.ts'
import { prepare, type RowOf } from '../../db/prepare.ts'
import { insertRow, prepareWrite } from '../../db/prepare-write.ts'
import { selectRow } from '../../db/select-rows.ts'
import { accounts } from '../../db/tables/accounts.ts'
import { grants } from '../../db/tables/grants.ts'
import { oauthAccessTokens, oauthClients, oauthGrants } from '../../db/tables/oauth.ts'
import { audit } from '../../events/audit.ts'
import { daysAfter, earlier, endOfDay, secondsAfter } from '../../lib/clock.ts'
import { formatId, newId } from '../../lib/ids.ts'
import { presentControls } from '../delegation/present.ts'
import { inTxEndingGrants, moveGrantEnd, revokeGrant } from '../delegation/revoke-service.ts'
import type { Parts } from '../parts.ts'
import { type ClientRecord, clientIdOf, touchClient } from './clients.ts'
import { writesLost } from './errors.ts'
import type { Introspection, TokenResponse } from './schema.ts'
import { formatScope } from './scopes.ts'

const handleDigits = 32
const generationDigits = 8

export const newHandle = (): string => randomBytes(handleDigits / 2).toString('hex')

type TokenPair = { accessToken: string; refreshToken: string }

/** Derives a token pair again. Undefined if its key is no longer in the ring. */
const derivePair = (
  derivations: Derivations,
  { handle, generation, keyId }: Pick<typeof oauthGrants.$inferSelect, 'handle' | 'generation' | 'keyId'>,
): TokenPair | undefined => {
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

const refreshPattern = new RegExp(
  `^${secretPrefixes.refresh_token}([0-9a-f]{${handleDigits}})([0-9a-f]{${generationDigits}})[0-9a-f]{64}$`,
)

export type PresentedRefresh = { handle: string; generation: number; hash: Buffer; text: string }

export const readRefreshToken = (text: string): PresentedRefresh | undefined => {
  const [, handle, number] = refreshPattern.exec(text) ?? []
  return handle === undefined || number === undefined
    ? undefined
    : { handle, generation: Number.parseInt(number, 16), hash: sha256(text), text }
}

/** Whether this service issued the token, at any time and under any key in the ring. */
export const isIssuedHere = (derivations: Derivations, { handle, generation, text }: PresentedRefresh): boolean =>
  derivations
    .macs('oauth.refresh_token', '')
    .some(({ keyId }) => derivePair(derivations, { handle, generation, keyId })?.refreshToken === text)

export const isHashOf = (hash: Buffer | null, presented: PresentedRefresh): boolean =>
  hash !== null && equalBytes(hash, presented.hash)

const setGeneration = prepareWrite(
  'oauth.set_generation',
  { grantId: 'uuid', generation: 'int', keyId: 'text', hash: 'bytea|null', end: 'timestamptz' },
  (orm, param) =>
    orm
      .update(oauthGrants)
      .set({ generation: param.generation, keyId: param.keyId, currentHash: param.hash, expiresAt: param.end })
      .where(eq(oauthGrants.grantId, param.grantId)),
)

const grantTables = (orm: QueryBuilder) =>
  orm
    .select({ grant: grants, state: oauthGrants, client: oauthClients, account: accounts })
    .from(oauthGrants)
    .innerJoin(grants, eq(grants.id, oauthGrants.grantId))
    .innerJoin(oauthClients, eq(oauthClients.id, oauthGrants.clientId))
    .innerJoin(accounts, eq(accounts.id, grants.accountId))

/** Writers read the state under the grant's lock. */
export const grantState = prepare('oauth.grant_state', { grantId: 'uuid' }, (orm, param) =>
  grantTables(orm).where(eq(oauthGrants.grantId, param.grantId)),
)
export const grantByHandle = prepare('oauth.grant_by_handle', { handle: 'text' }, (orm, param) =>
  grantTables(orm).where(eq(oauthGrants.handle, param.handle)),
)

type TokenGrant = RowOf<typeof grantState>

/** Whether a grant gets no more tokens, even for a valid request. */
export const hasEnded = ({ grant, account }: TokenGrant, expiresAt: Date, at: Date): boolean =>
  expiresAt <= at || grantLife(grant, at) !== 'active' || !account.oauthEnabled || account.status === 'closed'

export type Audience = { scopes: string[]; resources: string[] }

/** The limits, if the grant has limits or the client asked for some. */
const detailsOf = ({ grant, state }: TokenGrant) => {
  const controls = presentControls(grant)
  return state.detailed || Object.keys(controls).length > 0
    ? { authorization_details: [{ type: 'payment' as const, ...controls }] }
    : {}
}

const seconds = (ms: number): number => Math.floor(ms / 1000)

const tokenResponse = (
  row: TokenGrant,
  tokens: TokenPair,
  { expiresInMs, scopes, refreshes }: { expiresInMs: number; scopes: string[]; refreshes: boolean },
): TokenResponse => ({
  access_token: tokens.accessToken,
  token_type: 'Bearer',
  expires_in: seconds(expiresInMs),
  ...(refreshes && { refresh_token: tokens.refreshToken }),
  scope: formatScope(scopes),
  ...detailsOf(row),
})

/**
 * Stores only hashes. Both tokens are derived, so that concurrent requests get the same pair. The caller has locked the grant and
 * commits right afterwards. The rotation's time is written last: requests that arrived before the commit are in time.
 */
export const mintGeneration = (
  tx: Tx,
  { config, derivations }: Pick<Parts, 'config' | 'derivations'>,
  row: TokenGrant,
  audience: Audience,
): TokenResponse => {
  const { at } = tx
  const { client, grant, state } = row
  const { currentKeyId } = derivations
  const generation = state.generation + 1
  const tokens = derivePair(derivations, { handle: state.handle, generation, keyId: currentKeyId })
  if (!tokens) throw new Error('the current key is not in its ring')
  const refreshes = client.grantTypes.includes('refresh_token')
  const accessEnds = earlier(secondsAfter(at, config.ACCESS_TOKEN_TTL_SECONDS), state.endsAt)
  const end = refreshes ? earlier(daysAfter(at, config.REFRESH_TOKEN_TTL_DAYS), state.endsAt) : accessEnds
  // The end is indexed, so it moves only once a day, even if a client refreshes often.
  const grantEnd = refreshes ? earlier(endOfDay(end), state.endsAt) : end
  if (grantEnd.getTime() !== grant.expiresAt?.getTime()) moveGrantEnd(tx, grant, grantEnd)
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
  return tokenResponse(row, tokens, { expiresInMs: accessEnds.getTime() - at.getTime(), scopes: audience.scopes, refreshes })
}

const accessOf = selectRow('oauth_access_tokens.of_generation', oauthAccessTokens, ['grantId', 'generation'])

export const repeatGeneration = async (tx: Tx, derivations: Derivations, row: TokenGrant) => {
  const { grant, state } = row
  const tokens = derivePair(derivations, state)
  const access = await accessOf(tx, { grantId: grant.id, generation: state.generation })
  if (!tokens || !access) return undefined
  const expiresInMs = Math.max(0, access.expiresAt.getTime() - tx.at.getTime())
  const { scopes } = access
  const response = tokenResponse(row, tokens, { expiresInMs, scopes, refreshes: state.currentHash !== null })
  return { response, audience: access }
}

const findAccessToken = selectRow('oauth_access_tokens.by_hash', oauthAccessTokens, ['hash'])

/** Finds an access token or a refresh token, even one that was rotated long ago. */
const findIssued = async ({ db, derivations }: Pick<Parts, 'db' | 'derivations'>, text: string) => {
  const access = await findAccessToken(db, { hash: sha256(text) })
  if (access) {
    const row = await first(db, grantState, { grantId: access.grantId })
    return row && { row, ...access, isCurrent: true }
  }
  const presented = readRefreshToken(text)
  if (!presented || !isIssuedHere(derivations, presented)) return undefined
  const row = await first(db, grantByHandle, { handle: presented.handle })
  if (!row) return undefined
  const { expiresAt, resources, currentHash } = row.state
  const isCurrent = isHashOf(currentHash, presented)
  return { row, scopes: row.grant.permissions, resources, createdAt: null, expiresAt, isCurrent }
}

/** RFC 7662, only for a client's own tokens, because any caller may register a client. Limits are the current ones. */
export const introspectToken = async (
  deps: Pick<Parts, 'clock' | 'config' | 'db' | 'derivations' | 'lossDetection'>,
  caller: ClientRecord,
  text: string,
): Promise<Introspection> => {
  const token = await findIssued(deps, text)
  // The generation of a refresh token may be among the lost writes too.
  if (!token?.isCurrent && deps.lossDetection.mayHaveLost()) throw writesLost()
  if (!token?.isCurrent || token.row.client.id !== caller.id) return { active: false }
  const { grant, client } = token.row
  if (hasEnded(token.row, token.expiresAt, deps.clock.now())) return { active: false }
  const [only, ...others] = token.resources
  return {
    active: true,
    scope: formatScope(token.scopes.filter((scope) => grant.permissions.includes(scope))),
    client_id: clientIdOf(client),
    exp: seconds(token.expiresAt.getTime()),
    sub: formatId('account', grant.accountId),
    aud: only !== undefined && others.length === 0 ? only : token.resources,
    iss: deps.config.publicUrl,
    grant_id: formatId('grant', grant.id),
    workspace_id: formatId('workspace', grant.workspaceId),
    ...detailsOf(token.row),
    // Only access tokens have a time of issue.
    ...(token.createdAt && { iat: seconds(token.createdAt.getTime()), token_type: 'Bearer' }),
  }
}

/**
 * RFC 7009. Any token of a grant ends the grant. Another client's token ends nothing, but gets the same answer. An unknown token
 * is a 503 while writes may be lost.
 */
export const revokeToken = async (
  deps: Pick<Parts, 'db' | 'derivations' | 'lossDetection' | 'onGrantsRevoked' | 'ownersRelyingOn'>,
  client: ClientRecord,
  origin: RequestOrigin,
  token: string,
): Promise<void> => {
  const found = await findIssued(deps, token)
  if (!found && deps.lossDetection.mayHaveLost()) throw writesLost()
  if (!found || found.row.client.id !== client.id) return
  const { id, accountId } = found.row.grant
  await inTxEndingGrants(deps, accountId, async (tx) => {
    const actor = { accountId: null, origin, way: 'oauth_client' }
    audit(tx, actor, 'oauth_token.revoke', { subject: id, after: { client_id: clientIdOf(client) } })
    await revokeGrant(tx, deps.onGrantsRevoked, actor, id)
  })
}
