import { setTimeout as wait } from 'node:timers/promises'
import type { RequestOrigin } from '../../../auth/principal.ts'
import { inTx } from '../../../db/client.ts'
import { createTurns } from '../../../queue/turns.ts'
import { authenticateClient, type ClientCredentials, isPublicName } from '../clients/clients.ts'
import type { Deps } from '../deps.ts'
import { OAuthError } from '../errors.ts'
import type { TokenParameters, TokenResponse } from '../schema.ts'
import { answerAfterMs, readRefreshToken } from './presented-refresh.ts'
import { type RefreshRequest, refresh, unauthenticated, unknownRefreshToken } from './refresh.ts'

export type RefreshTokens = (
  caller: { authorization: string | undefined; origin: RequestOrigin },
  parameters: TokenParameters,
  elapsedMs: () => number,
) => Promise<TokenResponse>

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
  const rotated = async (request: RefreshRequest): Promise<TokenResponse | typeof unauthenticated> => {
    const answer = await turns(request.presented.handle, () => inTx(deps.db, (tx) => refresh(tx, deps, request)))
    if (answer instanceof OAuthError) throw answer
    if (answer !== unauthenticated) await wait(answerAfterMs)
    return answer
  }
  return async ({ authorization, origin }, parameters, elapsedMs) => {
    const credentials: ClientCredentials = { authorization, ...parameters }
    const presented = readRefreshToken(parameters.refresh_token ?? '')
    if (presented && isPublicName(deps.config, credentials)) {
      const answer = await rotated({ client: null, origin, parameters, presented, elapsedMs })
      if (answer !== unauthenticated) return answer
    }
    const client = await authenticateClient(deps, credentials)
    if (parameters.refresh_token === undefined) throw new OAuthError('invalid_request', 'refresh_token is required.')
    if (!client.grantTypes.includes('refresh_token')) throw new OAuthError('unauthorized_client')
    if (!presented) throw unknownRefreshToken()
    const answer = await rotated({ client, origin, parameters, presented, elapsedMs })
    if (answer === unauthenticated) throw new Error('a client that was authenticated was not accepted')
    return answer
  }
}
