import type { RequestOrigin } from '../../../auth/principal.ts'
import { inTx } from '../../../db/client.ts'
import { createAccountQueue } from '../../../queue/account-queue.ts'
import type { ClientRecord } from '../clients/clients.ts'
import type { Deps } from '../deps.ts'
import { OAuthError } from '../errors.ts'
import type { TokenParameters, TokenResponse } from '../schema.ts'
import { type RefreshRequest, refreshAll, unknownRefreshToken } from './refresh.ts'
import { readRefreshToken } from './tokens.ts'

export type RefreshTokens = (
  client: ClientRecord,
  origin: RequestOrigin,
  parameters: TokenParameters,
  elapsedMs: RefreshRequest['elapsedMs'],
) => Promise<TokenResponse>

/**
 * Refresh tokens wait in a queue of grants: one that arrives alone is rotated at once, those that arrive while others are under way are
 * rotated in one transaction. Where it may have been committed without an answer, the client asks again with the same token, and gets the
 * same pair.
 */
export const createRefreshTokens = (
  deps: Pick<Deps, 'appendEvents' | 'config' | 'db' | 'derivations' | 'logger' | 'onGrantsRevoked'>,
): RefreshTokens => {
  const queue = createAccountQueue<RefreshRequest, TokenResponse>({
    name: 'refresh tokens',
    logger: deps.logger,
    work: (requests, wait) => inTx(deps.db, (tx) => refreshAll(tx, deps, requests, wait)),
    mostShared: 2,
    mostWaiting: 4,
    mostQueued: 2_000,
  })
  return async (client, origin, parameters, elapsedMs) => {
    if (parameters.refresh_token === undefined) throw new OAuthError('invalid_request', 'refresh_token is required.')
    if (!client.grantTypes.includes('refresh_token')) throw new OAuthError('unauthorized_client')
    const presented = readRefreshToken(parameters.refresh_token)
    if (!presented) throw unknownRefreshToken()
    return queue.submit(presented.handle, { client, origin, parameters, presented, elapsedMs })
  }
}
