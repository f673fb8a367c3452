import type { RequestOrigin } from '../../../auth/principal.ts'
import { inTx } from '../../../db/client.ts'
import { createAccountQueue } from '../../../queue/account-queue.ts'
import { authenticateClient, type ClientCredentials, isPublicName } from '../clients/clients.ts'
import type { Deps } from '../deps.ts'
import { OAuthError } from '../errors.ts'
import type { TokenParameters, TokenResponse } from '../schema.ts'
import { readRefreshToken } from './presented-refresh.ts'
import { type RefreshRequest, refreshAll, unauthenticated, unknownRefreshToken } from './refresh.ts'

export type RefreshTokens = (
  caller: { authorization: string | undefined; origin: RequestOrigin },
  parameters: TokenParameters,
  elapsedMs: RefreshRequest['elapsedMs'],
) => Promise<TokenResponse>

/**
 * Refresh tokens wait in a queue of grants: one that arrives alone is rotated at once, those that arrive while others are under way are
 * rotated in one transaction. Where it may have been committed without an answer, the client asks again with the same token, and gets the
 * same pair.
 *
 * A client that has no secret proves itself by its name alone, so it is read with its grant, in the same transaction. Only where it is not the
 * grant's, or may not refresh, is it authenticated as others are, by a statement of its own, which says why it is refused.
 */
export const createRefreshTokens = (
  deps: Pick<
    Deps,
    'appendEvents' | 'clientDocuments' | 'clock' | 'config' | 'db' | 'derivations' | 'logger' | 'onGrantsRevoked' | 'readClient'
  >,
): RefreshTokens => {
  const queue = createAccountQueue<RefreshRequest, TokenResponse | typeof unauthenticated>({
    name: 'refresh tokens',
    logger: deps.logger,
    work: (requests, wait) => inTx(deps.db, (tx) => refreshAll(tx, deps, requests, wait)),
    mostShared: 2,
    mostWaiting: 4,
    mostQueued: 2_000,
  })
  return async ({ authorization, origin }, parameters, elapsedMs) => {
    const credentials: ClientCredentials = { authorization, ...parameters }
    const presented = readRefreshToken(parameters.refresh_token ?? '')
    if (presented && isPublicName(deps.config, credentials)) {
      const answer = await queue.submit(presented.handle, { client: null, origin, parameters, presented, elapsedMs })
      if (answer !== unauthenticated) return answer
    }
    const client = await authenticateClient(deps, credentials)
    if (parameters.refresh_token === undefined) throw new OAuthError('invalid_request', 'refresh_token is required.')
    if (!client.grantTypes.includes('refresh_token')) throw new OAuthError('unauthorized_client')
    if (!presented) throw unknownRefreshToken()
    const answer = await queue.submit(presented.handle, { client, origin, parameters, presented, elapsedMs })
    if (answer === unauthenticated) throw new Error('a client that was authenticated was not accepted')
    return answer
  }
}
