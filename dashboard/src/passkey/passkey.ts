import { DeviceError, loadScript } from '../api/error.ts'
import type { Schemas } from '../api/queries.ts'

const problems: Readonly<Record<string, string>> = {
  NotAllowedError: 'This device didn’t confirm that it is you, or you cancelled. Nothing was signed.',
  InvalidStateError: 'This device already has a passkey of your account.',
  SecurityError: 'Passkeys work only at the service’s own address. Open this page there.',
  NotSupportedError: 'This device can’t make a passkey that this service accepts. Use another device or a security key.',
}

const toDeviceError = (error: unknown): DeviceError => {
  const cause = error instanceof Error && error.cause instanceof Error ? error.cause : error
  const name = cause instanceof Error ? cause.name : ''
  return new DeviceError(problems[name] ?? 'This device couldn’t use a passkey. Unlock it and try again.')
}

export const hasPasskeys = (): boolean => typeof PublicKeyCredential === 'function'

// Few visits use a passkey, so the library comes when one is.
const webauthn = () => loadScript(() => import('@simplewebauthn/browser'))

export const createPasskey = async (options: Schemas['PasskeyOptions']): Promise<Schemas['PasskeyRegistration']> => {
  const { startRegistration } = await webauthn()
  try {
    return await startRegistration({ optionsJSON: { ...options, attestation: 'none' } })
  } catch (error) {
    throw toDeviceError(error)
  }
}

/** Asks the device to sign a challenge of the service with one of the named passkeys. */
export const answerWithPasskey = async (optionsJSON: Schemas['ProofOptions']): Promise<Schemas['PasskeyAssertion']> => {
  const { startAuthentication } = await webauthn()
  try {
    return await startAuthentication({ optionsJSON })
  } catch (error) {
    throw toDeviceError(error)
  }
}

/** Signs a text with one of these passkeys: the challenge is its SHA-256, so the device signs what the page shows. */
export const signWithPasskey = async (
  message: string,
  passkeys: readonly Pick<Schemas['Passkey'], 'credential_id'>[],
): Promise<Schemas['PasskeyAssertion']> => {
  const { bufferToBase64URLString } = await webauthn()
  const challenge = bufferToBase64URLString(await crypto.subtle.digest('SHA-256', new TextEncoder().encode(message)))
  return answerWithPasskey({
    challenge,
    rpId: location.hostname,
    allowCredentials: passkeys.map(({ credential_id }) => ({ id: credential_id, type: 'public-key' })),
    userVerification: 'required',
    timeout: 120_000,
  })
}
