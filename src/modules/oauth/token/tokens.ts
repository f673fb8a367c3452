import { randomBytes } from 'node:crypto'
import { and, eq, type SQL } from 'drizzle-orm'
import type { Principal } from '../../../auth/principal.ts'
import { secretPrefixes, sha256 } from '../../../auth/secrets.ts'
import { statement, type Tx } from '../../../db/client.ts'
import { grantLife } from '../../../db/credential-life.ts'
import { accounts } from '../../../db/tables/accounts.ts'
import { grants } from '../../../db/tables/grants.ts'
import { oauthAccessTokens, oauthGrants } from '../../../db/tables/oauth.ts'
import { daysAfter, earlier, secondsAfter } from '../../../lib/clock.ts'
import { newId } from '../../../lib/ids.ts'
import { presentControls } from '../../delegation/grants/present.ts'
import type { GrantRecord } from '../../delegation/grants/queries.ts'
import { moveGrantEnd } from '../../delegation/grants/service.ts'
import type { Deps } from '../../deps.ts'

import { type ClientRecord, touchClient } from '../clients/clients.ts'
import type { TokenResponse } from '../schema.ts'
import { formatScope } from '../scopes.ts'

export type OAuthGrantRecord = typeof oauthGrants.$inferSelect

const handleDigits = 32
const generationDigits = 8
const refreshPattern = new RegExp(
  `^${secretPrefixes.refresh_token}([0-9a-f]{${handleDigits}})([0-9a-f]{${generationDigits}})[0-9a-f]{64}$`,
)

export const newHandle = (): string => randomBytes(handleDigits / 2).toString('hex')

type Derived = { accessToken: string; refreshToken: string }

const compose = (handle: string, generation: number, mac: (purpose: string, message: string) => Buffer): Derived => {
  const message = `${handle}:${generation}`
  const number = generation.toString(16).padStart(generationDigits, '0')
  return {
    accessToken: secretPrefixes.access_token + mac('oauth.access_token', message).toString('hex'),
    refreshToken: secretPrefixes.refresh_token + handle + number + mac('oauth.refresh_token', message).toString('hex'),
  }
}

/** Derives a generation's tokens again, with the key that they were made with; undefined when that key is no longer in the ring. */
export const deriveAgain = (
  deps: Pick<Deps, 'derivations'>,
  { handle, generation, keyId }: Pick<OAuthGrantRecord, 'handle' | 'generation' | 'keyId'>,
): Derived | undefined => {
  const keyed = (purpose: string, message: string) =>
    deps.derivations.macs(purpose, message).find((candidate) => candidate.keyId === keyId)?.mac
  if (!keyed('oauth.access_token', '')) return undefined
  return compose(handle, generation, (purpose, message) => keyed(purpose, message) ?? Buffer.alloc(0))
}

const setGeneration = statement(
  'oauth.set_generation',
  'update oauth_grants set generation = $2, key_id = $3, current_hash = $4, expires_at = $5 where grant_id = $1',
)
const insertAccessToken = statement(
  'oauth.insert_access_token',
  `insert into oauth_access_tokens (id, grant_id, generation, hash, scopes, resources, created_at, expires_at)
   values ($1, $2, $3, $4, $5, $6, $7, $8)`,
)

export type PresentedRefresh = { handle: string; generation: number; hash: Buffer; text: string }

export const readRefreshToken = (text: string): PresentedRefresh | undefined => {
  const [, handle, number] = refreshPattern.exec(text) ?? []
  return handle === undefined || number === undefined
    ? undefined
    : { handle, generation: Number.parseInt(number, 16), hash: sha256(text), text }
}

/** Whether this service made the token, however long ago: with any key that is still in the ring. */
export const isOurs = (deps: Pick<Deps, 'derivations'>, { handle, generation, text }: PresentedRefresh): boolean =>
  deps.derivations
    .macs('oauth.refresh_token', '')
    .some(({ keyId }) => deriveAgain(deps, { handle, generation, keyId })?.refreshToken === text)

export type OAuthGrantState = {
  grant: GrantRecord
  state: OAuthGrantRecord
  account: { status: Principal['accountStatus']; enabled: boolean }
}

/** To be read behind the lock of the grant. */
export const readGrantState = async (tx: Tx, which: SQL): Promise<OAuthGrantState | undefined> => {
  const [row] = await tx.orm
    .select({
      grant: grants,
      state: oauthGrants,
      account: { status: accounts.status, enabled: accounts.oauthEnabled },
    })
    .from(oauthGrants)
    .innerJoin(grants, eq(grants.id, oauthGrants.grantId))
    .innerJoin(accounts, eq(accounts.id, grants.accountId))
    .where(which)
  return row
}

/** Reasons to issue no tokens for a grant although the request is valid. */
export const hasEnded = ({ grant, account }: Pick<OAuthGrantState, 'grant' | 'account'>, at: Date): boolean =>
  grantLife(grant, at) !== 'active' || !account.enabled || account.status === 'closed'

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

export type TokenGeneration = { client: ClientRecord; grant: GrantRecord; state: OAuthGrantRecord; audience: Audience }

/**
 * The next generation of a grant's tokens. Only hashes are stored: both tokens are derived from the grant's handle and the generation, so
 * that requests under way at the same time can all get the same pair. The caller has locked the grant and commits right after this: the
 * time of the rotation is written last, so that every request that arrived before the commit counts as in time.
 */
export const mintGeneration = (
  tx: Tx,
  deps: Pick<Deps, 'config' | 'derivations'>,
  { client, grant, state, audience }: TokenGeneration,
): TokenResponse => {
  const { at } = tx
  const generation = state.generation + 1
  const keyId = deps.derivations.currentKeyId
  const tokens = deriveAgain(deps, { handle: state.handle, generation, keyId })
  if (!tokens) throw new Error('the current key is not in its ring')
  const refreshes = client.grantTypes.includes('refresh_token')
  const accessEnds = earlier(secondsAfter(at, deps.config.ACCESS_TOKEN_TTL_SECONDS), state.endsAt)
  const seconds = Math.floor((accessEnds.getTime() - at.getTime()) / 1000)
  const ends = refreshes ? earlier(daysAfter(at, deps.config.REFRESH_TOKEN_TTL_DAYS), state.endsAt) : accessEnds
  const hash = sha256(tokens.accessToken)
  const { scopes, resources } = audience
  tx.defer(moveGrantEnd(tx, grant.id, ends))
  tx.defer(touchClient(tx, client, at))
  tx.defer(tx.query(setGeneration, [grant.id, generation, keyId, refreshes ? sha256(tokens.refreshToken) : null, ends]))
  tx.defer(tx.query(insertAccessToken, [newId(), grant.id, generation, hash, scopes, resources, at, accessEnds]))
  return respond(tokens, seconds, scopes, grant, { detailed: state.detailed, refreshes })
}

/** The current generation's response once more, and the request that it was for. */
export const repeatGeneration = async (
  tx: Tx,
  deps: Pick<Deps, 'derivations'>,
  grant: GrantRecord,
  state: OAuthGrantRecord,
): Promise<{ response: TokenResponse; audience: Audience } | undefined> => {
  const tokens = deriveAgain(deps, state)
  const [access] = await tx.orm
    .select()
    .from(oauthAccessTokens)
    .where(and(eq(oauthAccessTokens.grantId, grant.id), eq(oauthAccessTokens.generation, state.generation)))
  if (!tokens || !access) return undefined
  const { scopes, resources, expiresAt } = access
  const seconds = Math.max(0, Math.floor((expiresAt.getTime() - tx.at.getTime()) / 1000))
  const refreshes = state.currentHash !== null
  return {
    response: respond(tokens, seconds, scopes, grant, { detailed: state.detailed, refreshes }),
    audience: { scopes, resources },
  }
}
