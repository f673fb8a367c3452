import { eq } from 'drizzle-orm'
import type { QueryBuilder } from 'drizzle-orm/pg-core'
import { sha256 } from '../../../auth/secrets.ts'
import type { Config } from '../../../config.ts'
import { first } from '../../../db/client.ts'
import { grantLife } from '../../../db/credential-life.ts'
import { prepare } from '../../../db/prepare.ts'
import { accounts } from '../../../db/tables/accounts.ts'
import { grants } from '../../../db/tables/grants.ts'
import { oauthAccessTokens, oauthClients, oauthGrants } from '../../../db/tables/oauth.ts'
import type { Clock } from '../../../lib/clock.ts'
import { formatId } from '../../../lib/ids.ts'
import { presentControls } from '../../delegation/grants/present.ts'
import { type ClientRecord, clientIdOf } from '../clients/clients.ts'
import type { Deps } from '../deps.ts'
import { OAuthError } from '../errors.ts'
import type { Introspection } from '../schema.ts'
import { formatScope, isSubset } from '../scopes.ts'
import { readRefreshToken } from './presented-refresh.ts'

type IntrospectDeps = Pick<Deps, 'clock' | 'config' | 'db'>

const inactive: Introspection = { active: false }

const grantAndClient = (orm: QueryBuilder) =>
  orm
    .select({ grant: grants, state: oauthGrants, client: oauthClients, account: accounts })
    .from(oauthGrants)
    .innerJoin(grants, eq(grants.id, oauthGrants.grantId))
    .innerJoin(oauthClients, eq(oauthClients.id, oauthGrants.clientId))
    .innerJoin(accounts, eq(accounts.id, grants.accountId))

const byGrant = prepare('oauth_grants.introspect', { grantId: 'uuid' }, (orm, at) =>
  grantAndClient(orm).where(eq(oauthGrants.grantId, at.grantId)),
)
const byHandle = prepare('oauth_grants.introspect_refresh', { handle: 'text' }, (orm, at) =>
  grantAndClient(orm).where(eq(oauthGrants.handle, at.handle)),
)
const accessToken = prepare('oauth_access_tokens.by_hash', { hash: 'bytea' }, (orm, at) =>
  orm.select().from(oauthAccessTokens).where(eq(oauthAccessTokens.hash, at.hash)),
)

type GrantRow = {
  grant: typeof grants.$inferSelect
  state: typeof oauthGrants.$inferSelect
  client: ClientRecord
  account: typeof accounts.$inferSelect
}
type Token = { scopes: readonly string[]; resources: readonly string[]; createdAt: Date | null; expiresAt: Date }

const seconds = (time: Date): number => Math.floor(time.getTime() / 1000)

const describe = (config: Config, { grant, state, client }: GrantRow, token: Token): Introspection => {
  const [only, ...others] = token.resources
  const controls = presentControls(grant)
  return {
    active: true,
    scope: formatScope(token.scopes),
    client_id: clientIdOf(client),
    exp: seconds(token.expiresAt),
    ...(token.createdAt && { iat: seconds(token.createdAt) }),
    sub: formatId('account', grant.accountId),
    aud: only !== undefined && others.length === 0 ? only : [...token.resources],
    iss: config.publicUrl,
    grant_id: formatId('grant', grant.id),
    workspace_id: formatId('workspace', grant.workspaceId),
    ...((state.detailed || Object.keys(controls).length > 0) && {
      authorization_details: [{ type: 'payment' as const, ...controls }],
    }),
  }
}

const isActive = (clock: Clock, { grant, account }: GrantRow, expiresAt: Date): boolean => {
  const now = clock.now()
  const ended = expiresAt <= now || grantLife(grant, now) !== 'active'
  return !ended && account.oauthEnabled && account.status !== 'closed'
}

/** Every caller may register a client, so a client learns only about its own tokens. */
const ofAccessToken = async (deps: IntrospectDeps, caller: ClientRecord, text: string): Promise<Introspection> => {
  const token = await first(deps.db, accessToken, { hash: sha256(text) })
  const row = token && (await first(deps.db, byGrant, { grantId: token.grantId }))
  if (!row || row.client.id !== caller.id || !isActive(deps.clock, row, token.expiresAt)) return inactive
  const scopes = token.scopes.filter((scope) => isSubset([scope], row.grant.permissions))
  return { ...describe(deps.config, row, { ...token, scopes }), token_type: 'Bearer' }
}

/** Only its own client may ask about a refresh token. */
const ofRefreshToken = async (deps: IntrospectDeps, caller: ClientRecord, text: string): Promise<Introspection> => {
  const presented = readRefreshToken(text)
  if (!presented) return inactive
  const row = await first(deps.db, byHandle, { handle: presented.handle })
  if (
    !row?.state.currentHash?.equals(presented.hash) ||
    row.client.id !== caller.id ||
    !isActive(deps.clock, row, row.state.expiresAt)
  )
    return inactive
  const { resources, expiresAt } = row.state
  return describe(deps.config, row, { scopes: row.grant.permissions, resources, createdAt: null, expiresAt })
}

/** RFC 7662, for a client about its own tokens. The grant's limits are shown as they are now, not as they were. */
export const introspectToken = async (
  deps: IntrospectDeps,
  caller: ClientRecord,
  token: string | undefined,
): Promise<Introspection> => {
  if (token === undefined) throw new OAuthError('invalid_request', 'token is required.')
  const access = await ofAccessToken(deps, caller, token)
  return access.active ? access : ofRefreshToken(deps, caller, token)
}
