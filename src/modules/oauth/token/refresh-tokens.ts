import type { RequestOrigin } from '../../../auth/principal.ts'
import { inTx } from '../../../db/client.ts'
import { createTurns } from '../../../queue/turns.ts'
import { authenticateClient, type ClientCredentials, isPublicName } from '../clients/clients.ts'
import type { Deps } from '../deps.ts'
import { OAuthError } from '../errors.ts'
import type { TokenParameters, TokenResponse } from '../schema.ts'
import { isCurrent, readRefreshToken } from './presented-refresh.ts'
import { type RefreshRequest, refresh, unauthenticated, unknownRefreshToken } from './refresh.ts'
import { createSameUse, type TokenArrival } from './same-use.ts'

export type RefreshTokens = (
  caller: { authorization: string | undefined; origin: RequestOrigin },
  parameters: TokenParameters,
  arrival: TokenArrival,
) => Promise<TokenResponse>

type Use = ReturnType<ReturnType<typeof createSameUse>['begin']>

/**
 * Of one grant one rotation is under way at a time; a request with the same token that came meanwhile gets the same pair. Where it may have been
 * committed without an answer, the client asks again with the same token, and gets the same pair.
 *
 * A client that has no secret proves itself by its name alone, so it is read with its grant, in the same transaction. Only where it is not the
 * grant's, or may not refresh, is it authenticated as others are, by a statement of its own, which says why it is refused.
 */
export const createRefreshTokens = (
  deps: Pick<Deps, 'clientDocuments' | 'clock' | 'config' | 'db' | 'derivations' | 'onGrantsRevoked' | 'readClient'>,
): RefreshTokens => {
  const turns = createTurns()
  const sameUse = createSameUse()
  const rotated = async (request: Omit<RefreshRequest, 'elapsedMs' | 'isSameUse'>, arrival: TokenArrival, use: Use) => {
    const elapsedMs = () => performance.now() - arrival.receivedAt
    const answer = await turns(request.presented.handle, () =>
      inTx(deps.db, (tx) => refresh(tx, deps, { ...request, elapsedMs, isSameUse: use.isSameUse })),
    )
    if (answer instanceof OAuthError) throw answer
    if (answer !== unauthenticated) use.succeeded()
    return answer
  }
  return async ({ authorization, origin }, parameters, arrival) => {
    const credentials: ClientCredentials = { authorization, ...parameters }
    const presented = readRefreshToken(parameters.refresh_token ?? '')
    const use = presented && sameUse.begin(presented, arrival)
    if (presented && use && (await isCurrent(deps.db, presented))) use.wasCurrent()
    if (presented && use && isPublicName(deps.config, credentials)) {
      const answer = await rotated({ client: null, origin, parameters, presented }, arrival, use)
      if (answer !== unauthenticated) return answer
    }
    const client = await authenticateClient(deps, credentials)
    if (parameters.refresh_token === undefined) throw new OAuthError('invalid_request', 'refresh_token is required.')
    if (!client.grantTypes.includes('refresh_token')) throw new OAuthError('unauthorized_client')
    if (!presented || !use) throw unknownRefreshToken()
    const answer = await rotated({ client, origin, parameters, presented }, arrival, use)
    if (answer === unauthenticated) throw new Error('a client that was authenticated was not accepted')
    return answer
  }
}
