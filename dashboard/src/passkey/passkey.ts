import { DeviceError, loadScript } from '../api/error.ts'
import type { Schemas } from '../api/queries.ts'
import { t } from '../lib/language.ts'

const problems: Readonly<Record<string, string>> = {
  NotAllowedError: t('passkey.cancelled'),
  InvalidStateError: t('passkey.has_one'),
  SecurityError: t('passkey.address'),
  NotSupportedError: t('passkey.not_supported'),
}

const toDeviceError = (error: unknown): DeviceError => {
  const cause = error instanceof Error && error.cause instanceof Error ? error.cause : error
  const name = cause instanceof Error ? cause.name : ''
  return new DeviceError(problems[name] ?? t('passkey.failed'))
}

export const hasPasskeys = (): boolean => typeof PublicKeyCredential === 'function'

// Few visits use a passkey, so the library loads on demand.
const webauthn = () => loadScript(() => import('@simplewebauthn/browser'))

export const createPasskey = async (options: Schemas['PasskeyOptions']): Promise<Schemas['PasskeyRegistration']> => {
  const { startRegistration } = await webauthn()
  try {
    return await startRegistration({ optionsJSON: { ...options, attestation: 'none' } })
  } catch (error) {
    throw toDeviceError(error)
  }
}

/** Asks the device to sign a challenge with one of the passkeys in the options. */
export const signChallenge = async (optionsJSON: Schemas['ProofOptions']): Promise<Schemas['PasskeyAssertion']> => {
  const { startAuthentication } = await webauthn()
  try {
    return await startAuthentication({ optionsJSON })
  } catch (error) {
    throw toDeviceError(error)
  }
}

/** Signs a text with one of these passkeys: the challenge is its SHA-256, so the device signs the shown text. */
export const signWithPasskey = async (
  message: string,
  passkeys: readonly Pick<Schemas['Passkey'], 'credential_id'>[],
): Promise<Schemas['PasskeyAssertion']> => {
  const { bufferToBase64URLString } = await webauthn()
  const challenge = bufferToBase64URLString(await crypto.subtle.digest('SHA-256', new TextEncoder().encode(message)))
  return signChallenge({
    challenge,
    rpId: location.hostname,
    allowCredentials: passkeys.map(({ credential_id }) => ({ id: credential_id, type: 'public-key' })),
    userVerification: 'required',
    timeout: 120_000,
  })
}
