import { eq } from 'drizzle-orm'
import type { RequestOrigin } from '../../../auth/principal.ts'
import { sha256 } from '../../../auth/secrets.ts'
import { type Db, inTx } from '../../../db/client.ts'
import { oauthAccessTokens, oauthGrants } from '../../../db/tables/oauth.ts'
import { audit } from '../../../events/audit.ts'
import type { Uuid } from '../../../lib/ids.ts'
import { revokeGrant } from '../../delegation/grants/revoke.ts'
import { type ClientRecord, clientIdOf } from '../clients/clients.ts'
import type { Deps } from '../deps.ts'
import { OAuthError } from '../errors.ts'
import { isOurs, readRefreshToken } from './tokens.ts'

type Owner = { grantId: Uuid; clientId: Uuid }

const ofAccessToken = async (db: Db, token: string): Promise<Owner | undefined> =>
  (
    await db.orm
      .select({ grantId: oauthGrants.grantId, clientId: oauthGrants.clientId })
      .from(oauthAccessTokens)
      .innerJoin(oauthGrants, eq(oauthGrants.grantId, oauthAccessTokens.grantId))
      .where(eq(oauthAccessTokens.hash, sha256(token)))
  )[0]

/** Includes a token that was rotated long ago: a client that revokes it means the whole family. */
const ofRefreshToken = async (deps: Pick<Deps, 'db' | 'derivations'>, token: string): Promise<Owner | undefined> => {
  const presented = readRefreshToken(token)
  if (!presented || !isOurs(deps, presented)) return undefined
  return (
    await deps.db.orm
      .select({ grantId: oauthGrants.grantId, clientId: oauthGrants.clientId })
      .from(oauthGrants)
      .where(eq(oauthGrants.handle, presented.handle))
  )[0]
}

/** RFC 7009. Any token of a grant ends the grant; a token of another client ends nothing. The answer is the same. */
export const revokeToken = async (
  deps: Pick<Deps, 'appendEvents' | 'db' | 'derivations' | 'onGrantsRevoked'>,
  client: ClientRecord,
  origin: RequestOrigin,
  token: string | undefined,
): Promise<void> => {
  if (token === undefined) throw new OAuthError('invalid_request', 'token is required.')
  const owner = (await ofAccessToken(deps.db, token)) ?? (await ofRefreshToken(deps, token))
  if (!owner || owner.clientId !== client.id) return
  await inTx(deps.db, async (tx) => {
    const actor = { accountId: null, origin, way: 'oauth_client' }
    await audit(tx, actor, tx.at, {
      action: 'oauth_token.revoke',
      subject: { type: 'grant', id: owner.grantId },
      after: { client_id: clientIdOf(client) },
    })
    await revokeGrant(tx, deps, actor, owner.grantId)
  })
}
