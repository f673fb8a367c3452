import type { RequestOrigin } from '../../auth/principal.ts'
import { sha256 } from '../../auth/secrets.ts'
import type { Derivations } from '../../auth/vault.ts'
import type { Config } from '../../config.ts'
import { type Db, inTx } from '../../db/client.ts'
import { selectRow } from '../../db/select-rows.ts'
import { oauthAccessTokens } from '../../db/tables/oauth.ts'
import { audit } from '../../events/audit.ts'
import { formatId } from '../../lib/ids.ts'
import { presentControls } from '../delegation/present.ts'
import { revokeGrant } from '../delegation/service.ts'
import type { Parts } from '../parts.ts'
import { type ClientRecord, clientIdOf } from './clients.ts'
import { OAuthError } from './errors.ts'
import { isHashOf, isOurs, readRefreshToken } from './refresh.ts'
import type { Introspection } from './schema.ts'
import { formatScope } from './scopes.ts'
import { hasEnded, type OAuthGrantState, readGrantByHandle, readGrantState } from './tokens.ts'

const findAccessToken = selectRow('oauth_access_tokens.by_hash', oauthAccessTokens, ['hash'])

type Token = { scopes: readonly string[]; resources: readonly string[]; createdAt: Date | null; expiresAt: Date }

const seconds = (time: Date): number => Math.floor(time.getTime() / 1000)

const describe = (config: Config, { grant, state, client }: OAuthGrantState, token: Token): Introspection => {
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

/** The grant of an access token. */
const ofAccessToken = async (db: Db, text: string) => {
  const token = await findAccessToken(db, { hash: sha256(text) })
  const row = token && (await readGrantState(db, token.grantId))
  return row && { token, row }
}

/** The grant of a refresh token, also of one that was rotated long ago. */
const ofRefreshToken = async (db: Db, derivations: Derivations, text: string) => {
  const presented = readRefreshToken(text)
  if (!presented || !isOurs(derivations, presented)) return undefined
  const row = await readGrantByHandle(db, presented.handle)
  return row && { isCurrent: isHashOf(row.state.currentHash, presented), row }
}

/** RFC 7662, for a client about its own tokens: every caller may register one. The grant's limits are shown as they are now, not as they were. */
export const introspectToken = async (
  { clock, config, db, derivations }: Pick<Parts, 'clock' | 'config' | 'db' | 'derivations'>,
  caller: ClientRecord,
  text: string | undefined,
): Promise<Introspection> => {
  if (text === undefined) throw new OAuthError('invalid_request', 'token is required.')
  const isActive = (row: OAuthGrantState, expiresAt: Date) =>
    row.client.id === caller.id && !hasEnded(row, expiresAt, clock.now())
  const access = await ofAccessToken(db, text)
  if (access && isActive(access.row, access.token.expiresAt)) {
    const scopes = access.token.scopes.filter((scope) => access.row.grant.permissions.includes(scope))
    return { ...describe(config, access.row, { ...access.token, scopes }), token_type: 'Bearer' }
  }
  const refresh = await ofRefreshToken(db, derivations, text)
  if (!refresh?.isCurrent || !isActive(refresh.row, refresh.row.state.expiresAt)) return { active: false }
  const { grant, state } = refresh.row
  return describe(config, refresh.row, {
    scopes: grant.permissions,
    resources: state.resources,
    createdAt: null,
    expiresAt: state.expiresAt,
  })
}

/** RFC 7009. Any token of a grant ends the grant; a token of another client ends nothing. The answer is the same. */
export const revokeToken = async (
  deps: Pick<Parts, 'db' | 'derivations' | 'onGrantsRevoked'>,
  client: ClientRecord,
  origin: RequestOrigin,
  token: string | undefined,
): Promise<void> => {
  if (token === undefined) throw new OAuthError('invalid_request', 'token is required.')
  const found = (await ofAccessToken(deps.db, token)) ?? (await ofRefreshToken(deps.db, deps.derivations, token))
  if (!found || found.row.client.id !== client.id) return
  const { id } = found.row.grant
  await inTx(deps.db, async (tx) => {
    const actor = { accountId: null, origin, way: 'oauth_client' }
    audit(tx, actor, 'oauth_token.revoke', { subject: id, after: { client_id: clientIdOf(client) } })
    await revokeGrant(tx, deps.onGrantsRevoked, actor, id)
  })
}
