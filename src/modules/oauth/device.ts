import { randomInt } from 'node:crypto'
import type { RequestOrigin } from '../../auth/principal.ts'
import { newSecret, sha256 } from '../../auth/secrets.ts'
import { inTx, type Tx } from '../../db/client.ts'
import { prepareInsertOnce, updateRow } from '../../db/prepare-write.ts'
import { selectRow } from '../../db/select-rows.ts'
import { oauthAuthorizations } from '../../db/tables/oauth.ts'
import { secondsAfter } from '../../lib/clock.ts'
import { CommitThenThrow } from '../../lib/errors.ts'
import { newId } from '../../lib/ids.ts'
import type { Parts } from '../parts.ts'
import { type AuthorizationRecord, checkVerifier, readChallenge, readRequestedAccess } from './authorization-request.ts'
import { deviceGrantType } from './client-metadata.ts'
import type { ClientRecord } from './clients.ts'
import { OAuthError } from './errors.ts'
import type { RequestedAccessParameters, TokenParameters, TokenResponse } from './schema.ts'
import { redeem } from './tokens.ts'

const insertRow = prepareInsertOnce('oauth_authorizations.insert_device', oauthAuthorizations, oauthAuthorizations.userCode)
const lockByDevice = selectRow('oauth_authorizations.lock_by_device', oauthAuthorizations, ['deviceCodeHash'], { lock: 'update' })

export const deviceTtlSeconds = 600
const pollIntervalSeconds = 5
/** A client that waits exactly the interval may still arrive slightly early. */
const toleranceMs = 500
const slowDownSeconds = 5

/** Consonants only: no words, and no letters that look like others. 20^8 codes (RFC 8628 section 6.1). */
const letters = 'BCDFGHJKLMNPQRSTVWXZ'
const codeLength = 8

const newUserCode = (): string => Array.from({ length: codeLength }, () => letters[randomInt(letters.length)]).join('')

export const formatUserCode = (code: string): string => `${code.slice(0, codeLength / 2)}-${code.slice(codeLength / 2)}`

/** The code that a person typed: any case, any separators. Undefined when it cannot be one of ours. */
export const readUserCode = (text: string): string | undefined => {
  const code = text.toUpperCase().replace(/[^A-Z]/g, '')
  return code.length === codeLength && [...code].every((letter) => letters.includes(letter)) ? code : undefined
}

type StartedDevice = { deviceCode: string; userCode: string; intervalSeconds: number }
type DeviceParameters = RequestedAccessParameters & {
  code_challenge?: string | undefined
  code_challenge_method?: string | undefined
}

/** RFC 8628 has no PKCE; here every flow has it: a stolen device code cannot be redeemed without the verifier. */
const requireChallenge = (parameters: DeviceParameters): string => {
  if (parameters.code_challenge === undefined)
    throw new OAuthError(
      'invalid_request',
      'code_challenge is required (PKCE), in the device flow too: send code_challenge and code_challenge_method=S256 with this request, and code_verifier with each token request.',
    )
  return readChallenge(parameters)
}

export const startDevice = async (
  deps: Pick<Parts, 'clock' | 'config' | 'db'>,
  client: ClientRecord,
  parameters: DeviceParameters,
): Promise<StartedDevice> => {
  if (!client.grantTypes.includes(deviceGrantType)) throw new OAuthError('unauthorized_client')
  const requested = readRequestedAccess(client, parameters, deps.config.publicUrl)
  const codeChallenge = requireChallenge(parameters)
  const deviceCode = newSecret('device_code')
  const at = deps.clock.now()
  for (;;) {
    const userCode = newUserCode()
    const isFree = await insertRow(deps.db, {
      id: newId(),
      clientId: client.id,
      flow: 'device',
      status: 'pending',
      ...requested,
      codeChallenge,
      deviceCodeHash: sha256(deviceCode),
      userCode,
      pollIntervalSeconds,
      createdAt: at,
      expiresAt: secondsAfter(at, deviceTtlSeconds),
    })
    if (isFree) return { deviceCode, userCode: formatUserCode(userCode), intervalSeconds: pollIntervalSeconds }
  }
}

/** Not decided yet: the time of this poll is stored, so the refusal is returned instead of thrown. */
const keepWaiting = (tx: Tx, authorization: AuthorizationRecord, at: Date): OAuthError => {
  const seconds = authorization.pollIntervalSeconds ?? pollIntervalSeconds
  const { lastPolledAt } = authorization
  const early = lastPolledAt !== null && at.getTime() - lastPolledAt.getTime() < seconds * 1000 - toleranceMs
  updateRow(tx, oauthAuthorizations, authorization, {
    lastPolledAt: at,
    pollIntervalSeconds: early ? seconds + slowDownSeconds : seconds,
  })
  return new OAuthError(early ? 'slow_down' : 'authorization_pending')
}

export const pollDevice = async (
  deps: Pick<Parts, 'config' | 'db' | 'derivations'>,
  client: ClientRecord,
  origin: RequestOrigin,
  parameters: TokenParameters,
): Promise<TokenResponse> => {
  const { device_code: deviceCode } = parameters
  if (deviceCode === undefined) throw new OAuthError('invalid_request', 'device_code is required.')
  const unknown = () => new OAuthError('invalid_grant', 'The device code is unknown or used, or was given to another client.')
  return inTx(deps.db, async (tx): Promise<TokenResponse> => {
    const authorization = await lockByDevice(tx, { deviceCodeHash: sha256(deviceCode) })
    if (!authorization || authorization.clientId !== client.id || authorization.status === 'redeemed') throw unknown()
    checkVerifier(authorization.codeChallenge, parameters.code_verifier)
    const { at } = tx
    if (authorization.status === 'denied') throw new OAuthError('access_denied')
    if (authorization.expiresAt <= at) throw new OAuthError('expired_token')
    if (authorization.status === 'pending') throw new CommitThenThrow(keepWaiting(tx, authorization, at))
    return redeem(tx, deps, { client, origin, parameters }, authorization)
  })
}
