import { eq } from 'drizzle-orm'
import type { RequestOrigin } from '../../../auth/principal.ts'
import { sha256 } from '../../../auth/secrets.ts'
import type { Derivations } from '../../../auth/vault.ts'
import type { Database } from '../../../db/client.ts'
import { type Db, first, inTx } from '../../../db/client.ts'
import { prepare } from '../../../db/prepare.ts'
import { oauthAccessTokens, oauthGrants } from '../../../db/tables/oauth.ts'
import { audit } from '../../../events/audit.ts'
import type { Uuid } from '../../../lib/ids.ts'
import { revokeGrant } from '../../delegation/grants/revoke.ts'
import { type ClientRecord, clientIdOf } from '../clients/clients.ts'
import type { Deps } from '../deps.ts'
import { OAuthError } from '../errors.ts'
import { isOurs, readRefreshToken } from './presented-refresh.ts'

type Owner = { grantId: Uuid; clientId: Uuid }

const ownerOfAccess = prepare('oauth_grants.owner_of_access_token', { hash: 'bytea' }, (orm, at) =>
  orm
    .select({ grantId: oauthGrants.grantId, clientId: oauthGrants.clientId })
    .from(oauthAccessTokens)
    .innerJoin(oauthGrants, eq(oauthGrants.grantId, oauthAccessTokens.grantId))
    .where(eq(oauthAccessTokens.hash, at.hash)),
)

const ofAccessToken = (db: Db, token: string): Promise<Owner | undefined> => first(db, ownerOfAccess, { hash: sha256(token) })

const ownerOfRefresh = prepare('oauth_grants.owner_of_refresh_token', { handle: 'text' }, (orm, at) =>
  orm
    .select({ grantId: oauthGrants.grantId, clientId: oauthGrants.clientId })
    .from(oauthGrants)
    .where(eq(oauthGrants.handle, at.handle)),
)

/** Includes a token that was rotated long ago: a client that revokes it means the whole family. */
const ofRefreshToken = async (db: Database, derivations: Derivations, token: string): Promise<Owner | undefined> => {
  const presented = readRefreshToken(token)
  if (!presented || !isOurs(derivations, presented)) return undefined
  return first(db, ownerOfRefresh, { handle: presented.handle })
}

/** RFC 7009. Any token of a grant ends the grant; a token of another client ends nothing. The answer is the same. */
export const revokeToken = async (
  deps: Pick<Deps, 'db' | 'derivations' | 'onGrantsRevoked'>,
  client: ClientRecord,
  origin: RequestOrigin,
  token: string | undefined,
): Promise<void> => {
  if (token === undefined) throw new OAuthError('invalid_request', 'token is required.')
  const owner = (await ofAccessToken(deps.db, token)) ?? (await ofRefreshToken(deps.db, deps.derivations, token))
  if (!owner || owner.clientId !== client.id) return
  await inTx(deps.db, async (tx) => {
    const actor = { accountId: null, origin, way: 'oauth_client' }
    await audit(tx, actor, tx.at, {
      action: 'oauth_token.revoke',
      subject: { type: 'grant', id: owner.grantId },
      after: { client_id: clientIdOf(client) },
    })
    await revokeGrant(tx, deps.onGrantsRevoked, actor, owner.grantId)
  })
}
