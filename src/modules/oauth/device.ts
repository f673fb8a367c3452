import { randomInt } from 'node:crypto'
import type { RequestOrigin } from '../../auth/principal.ts'
import { newSecret, sha256 } from '../../auth/secrets.ts'
import { inTx, type Tx } from '../../db/client.ts'
import { updateRow } from '../../db/prepare-write.ts'
import { selectRow } from '../../db/select-rows.ts'
import { oauthAuthorizations } from '../../db/tables/oauth.ts'
import { CommitThenThrow } from '../../lib/errors.ts'
import { type AuthorizeDeps, readChallenge, readRequestedAccess, storeRequest } from './authorize.ts'
import { deviceGrantType, requireGrantType } from './client-metadata.ts'
import type { ClientRecord } from './clients.ts'
import { OAuthError } from './errors.ts'
import { type AuthorizationRecord, checkVerifier, type RedeemDeps, redeemApproved } from './redeem.ts'
import type { DeviceParameters, TokenParameters, TokenResponse } from './schema.ts'

const deviceTtlSeconds = 600
const pollIntervalSeconds = 5

/** Consonants only, so that codes form no words and have no similar letters. 20^8 codes (RFC 8628 section 6.1). */
const letters = 'BCDFGHJKLMNPQRSTVWXZ'
const codeLength = 8

const newUserCode = (): string => Array.from({ length: codeLength }, () => letters[randomInt(letters.length)]).join('')

export const formatUserCode = (code: string): string => `${code.slice(0, codeLength / 2)}-${code.slice(codeLength / 2)}`

/** Reads a user code in any case and with any separators. Undefined if it cannot be one of ours. */
export const readUserCode = (text: string): string | undefined => {
  const code = text.toUpperCase().replace(/[^A-Z]/g, '')
  return code.length === codeLength && [...code].every((letter) => letters.includes(letter)) ? code : undefined
}

/** RFC 8628 has no PKCE. Here every flow needs it, so that a stolen device code is useless without the verifier. */
const deviceChallengeMissing =
  'code_challenge is required (PKCE), in the device flow too: send code_challenge and code_challenge_method=S256 with this request, and code_verifier with each token request.'

export const startDevice = async (deps: AuthorizeDeps, client: ClientRecord, parameters: DeviceParameters) => {
  requireGrantType(client, deviceGrantType)
  const { publicUrl } = deps.config
  const requested = readRequestedAccess(client, parameters, publicUrl)
  const codeChallenge = readChallenge(parameters, deviceChallengeMissing)
  const deviceCode = newSecret('device_code')
  const request = { flow: 'device', status: 'pending', ...requested, codeChallenge, pollIntervalSeconds } as const
  const deviceCodeHash = sha256(deviceCode)
  const newRequest = () => ({ ...request, deviceCodeHash, userCode: newUserCode() })
  const kept = await storeRequest(deps, client, deviceTtlSeconds, newRequest)
  const userCode = formatUserCode(kept.userCode)
  return {
    device_code: deviceCode,
    user_code: userCode,
    verification_uri: `${publicUrl}/device`,
    verification_uri_complete: `${publicUrl}/device?user_code=${userCode}`,
    expires_in: deviceTtlSeconds,
    interval: pollIntervalSeconds,
  }
}

const lockByDevice = selectRow('oauth_authorizations.lock_by_device', oauthAuthorizations, ['deviceCodeHash'], { lock: 'update' })

/** Tolerance, because a client that waits for exactly the interval may arrive slightly early. */
const toleranceMs = 500
const slowDownSeconds = 5

/** Stores the time of this poll, so the refusal commits. */
const keepWaiting = (tx: Tx, { id, lastPolledAt, pollIntervalSeconds: last }: AuthorizationRecord): CommitThenThrow => {
  const seconds = last ?? pollIntervalSeconds
  const early = lastPolledAt !== null && tx.at.getTime() - lastPolledAt.getTime() < seconds * 1000 - toleranceMs
  const next = early ? seconds + slowDownSeconds : seconds
  updateRow(tx, oauthAuthorizations, { id }, { lastPolledAt: tx.at, pollIntervalSeconds: next })
  return new CommitThenThrow(new OAuthError(early ? 'slow_down' : 'authorization_pending'))
}

export const pollDevice = async (deps: RedeemDeps, client: ClientRecord, origin: RequestOrigin, parameters: TokenParameters) => {
  const { device_code: deviceCode } = parameters
  if (deviceCode === undefined) throw new OAuthError('invalid_request', 'device_code is required.')
  return inTx(deps.db, async (tx): Promise<TokenResponse> => {
    const authorization = await lockByDevice(tx, { deviceCodeHash: sha256(deviceCode) })
    if (!authorization || authorization.clientId !== client.id || authorization.status === 'redeemed')
      throw new OAuthError('invalid_grant', 'The device code is unknown or used, or was given to another client.')
    checkVerifier(authorization.codeChallenge, parameters.code_verifier)
    if (authorization.status === 'denied') throw new OAuthError('access_denied')
    if (authorization.expiresAt <= tx.at) throw new OAuthError('expired_token')
    if (authorization.status === 'pending') throw keepWaiting(tx, authorization)
    return redeemApproved(tx, deps, { origin, parameters }, authorization)
  })
}
