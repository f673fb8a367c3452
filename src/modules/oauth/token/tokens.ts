import { randomBytes } from 'node:crypto'
import { and, eq } from 'drizzle-orm'
import type { Principal } from '../../../auth/principal.ts'
import { secretPrefixes, sha256 } from '../../../auth/secrets.ts'
import type { Derivations } from '../../../auth/vault.ts'
import type { Config } from '../../../config.ts'
import { first, statement, type Tx } from '../../../db/client.ts'
import { columnsOf } from '../../../db/columns.ts'
import { grantLife } from '../../../db/credential-life.ts'
import { prepare } from '../../../db/prepare.ts'
import { prepareInsert, prepareWrite } from '../../../db/prepare-write.ts'
import { grants } from '../../../db/tables/grants.ts'
import { oauthAccessTokens, oauthGrants } from '../../../db/tables/oauth.ts'
import { daysAfter, earlier, endOfDay, secondsAfter } from '../../../lib/clock.ts'
import { newId, type Uuid } from '../../../lib/ids.ts'
import { presentControls } from '../../delegation/grants/present.ts'
import type { GrantRecord } from '../../delegation/grants/queries.ts'
import { moveGrantEnd } from '../../delegation/grants/service.ts'
import { type ClientRecord, touchClient } from '../clients/clients.ts'
import type { TokenResponse } from '../schema.ts'
import { formatScope } from '../scopes.ts'

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
const insertAccessToken = prepareInsert('oauth.insert_access_token', oauthAccessTokens)

export type OAuthGrantState = {
  grant: GrantRecord
  state: OAuthGrantRecord
  account: { status: Principal['accountStatus']; enabled: boolean }
}

/** What a client's tokens depend on. */
export type TokenClient = Pick<ClientRecord, 'id' | 'url' | 'grantTypes' | 'lastUsedAt'>
export type OAuthGrantWithClient = OAuthGrantState & { client: TokenClient & { isPublic: boolean } }

type ClientOfRow = {
  clientUrl: ClientRecord['url']
  clientGrantTypes: ClientRecord['grantTypes']
  clientLastUsedAt: ClientRecord['lastUsedAt']
  clientIsPublic: boolean
}
type GrantStateRow = GrantRecord &
  Omit<OAuthGrantRecord, 'expiresAt'> & { refreshEndsAt: Date; accountStatus: Principal['accountStatus']; enabled: boolean }

const stateColumns = `${columnsOf(oauthGrants, 's', ['expiresAt'])}, s.expires_at as "refreshEndsAt", ${columnsOf(grants, 'g')},
  a.status as "accountStatus", a.oauth_enabled as enabled`
const grantTables = 'oauth_grants s join grants g on g.id = s.grant_id join accounts a on a.id = g.account_id'

const byGrant = statement('oauth.grant_state', `select ${stateColumns} from ${grantTables} where s.grant_id = $1`)
/** With the grant's client, which is all that proves a client without a secret. */
const byHandle = statement(
  'oauth.grant_by_handle',
  `select ${stateColumns}, c.url as "clientUrl", c.grant_types as "clientGrantTypes", c.last_used_at as "clientLastUsedAt",
     c.secret_hash is null as "clientIsPublic"
   from ${grantTables} join oauth_clients c on c.id = s.client_id where s.handle = $1`,
)

/** Both records share the row; `expiresAt`, which both have, is the grant's in it. */
const stateOf = (row: GrantStateRow): OAuthGrantState => ({
  grant: row,
  state: { ...row, expiresAt: row.refreshEndsAt },
  account: { status: row.accountStatus, enabled: row.enabled },
})

/** To be read behind the lock of the grant. */
export const readGrantState = async (tx: Tx, grantId: Uuid): Promise<OAuthGrantState | undefined> =>
  (await tx.query<GrantStateRow>(byGrant, [grantId])).map(stateOf)[0]

/** To be read behind the lock of the grant. */
export const readGrantByHandle = async (tx: Tx, handle: string): Promise<OAuthGrantWithClient | undefined> =>
  (await tx.query<GrantStateRow & ClientOfRow>(byHandle, [handle])).map((row) => ({
    ...stateOf(row),
    client: {
      id: row.clientId,
      url: row.clientUrl,
      grantTypes: row.clientGrantTypes,
      lastUsedAt: row.clientLastUsedAt,
      isPublic: row.clientIsPublic,
    },
  }))[0]

/** Reasons to issue no tokens for a grant although the request is valid. */
export const hasEnded = ({ grant, state, account }: OAuthGrantState, at: Date): boolean =>
  state.expiresAt <= at || grantLife(grant, at) !== 'active' || !account.enabled || account.status === 'closed'

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

export type TokenGeneration = { client: TokenClient; grant: GrantRecord; state: OAuthGrantRecord; audience: Audience }

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
  if (grantEnd.getTime() !== grant.expiresAt?.getTime()) moveGrantEnd(tx, grant.id, { expiresAt: grantEnd })
  tx.defer(touchClient(tx, client, at))
  const hash = refreshes ? sha256(tokens.refreshToken) : null
  tx.defer(tx.run(setGeneration, { grantId: grant.id, generation, keyId: currentKeyId, hash, end }))
  insertAccessToken(tx, {
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

const accessOf = prepare('oauth_access_tokens.of_generation', { grantId: 'uuid', generation: 'int' }, (orm, at) =>
  orm
    .select()
    .from(oauthAccessTokens)
    .where(and(eq(oauthAccessTokens.grantId, at.grantId), eq(oauthAccessTokens.generation, at.generation))),
)

/** The current generation's response once more, and the request that it was for. */
export const repeatGeneration = async (
  tx: Tx,
  derivations: Derivations,
  grant: GrantRecord,
  state: OAuthGrantRecord,
): Promise<{ response: TokenResponse; audience: Audience } | undefined> => {
  const tokens = deriveAgain(derivations, state)
  const access = await first(tx, accessOf, { grantId: grant.id, generation: state.generation })
  if (!tokens || !access) return undefined
  const { scopes, resources, expiresAt } = access
  const seconds = Math.max(0, Math.floor((expiresAt.getTime() - tx.at.getTime()) / 1000))
  const refreshes = state.currentHash !== null
  return {
    response: respond(tokens, seconds, scopes, grant, { detailed: state.detailed, refreshes }),
    audience: { scopes, resources },
  }
}
