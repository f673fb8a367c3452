import type { RequestOrigin } from '../../../auth/principal.ts'
import { deviceGrantType } from '../clients/client-metadata.ts'
import { authenticateClient } from '../clients/clients.ts'
import type { Deps } from '../deps.ts'
import { pollDevice } from '../device/device.ts'
import { OAuthError } from '../errors.ts'
import type { TokenParameters, TokenResponse } from '../schema.ts'
import { redeemCode } from '../token/code.ts'
import type { RefreshTokens } from '../token/refresh-tokens.ts'

/** The token endpoint. */
export const issueTokens = async (
  deps: Pick<Deps, 'clientDocuments' | 'clock' | 'config' | 'db' | 'derivations' | 'onGrantsRevoked' | 'readClient'> & {
    refreshTokens: RefreshTokens
  },
  caller: { authorization: string | undefined; origin: RequestOrigin },
  parameters: TokenParameters,
  /** How long the request has waited in this service. */
  elapsedMs: () => number,
): Promise<TokenResponse> => {
  const { authorization, origin } = caller
  if (parameters.grant_type === undefined) throw new OAuthError('invalid_request', 'grant_type is required.')
  if (parameters.grant_type === 'refresh_token') return deps.refreshTokens(caller, parameters, elapsedMs)
  const client = await authenticateClient(deps, { authorization, ...parameters })
  switch (parameters.grant_type) {
    case 'authorization_code':
      return redeemCode(deps, client, origin, parameters)
    case deviceGrantType:
      return pollDevice(deps, client, origin, parameters)
    default:
      throw new OAuthError('unsupported_grant_type')
  }
}
