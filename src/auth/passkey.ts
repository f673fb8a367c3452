import { z } from 'zod'
import type { PasskeyKey, PasskeyProof } from '../lib/passkey-proof.ts'
import { sha256 } from './secrets.ts'

// The library is loaded at the first use of a passkey, because most processes never need it.
const webauthn = () => import('@simplewebauthn/server')
const helpers = () => import('@simplewebauthn/server/helpers')

const expectedSite = ({ publicUrl }: { publicUrl: string }) => ({
  expectedRPID: new URL(publicUrl).hostname,
  expectedOrigin: publicUrl,
})

/** ES256 and RS256 (COSE). Every authenticator supports one of them, and WebCrypto verifies both in every browser and in Node. */
export const algorithms = [-7, -257]

const Base64Url = z
  .string()
  .max(20_000, { abort: true })
  .min(1)
  .regex(/^[A-Za-z0-9_-]+$/, 'must be base64url')

// Browsers add fields over time, so a field that the service ignores may have any type.
const ignored = (what: string) => z.unknown().optional().describe(`${what}. Ignored.`)
const credential = {
  id: Base64Url,
  rawId: Base64Url,
  type: z.literal('public-key'),
  authenticatorAttachment: ignored('Whether the authenticator is part of the device: `platform` or `cross-platform`'),
  clientExtensionResults: ignored('The results of WebAuthn extensions'),
}

export const NewCredential = z
  .object({
    ...credential,
    response: z.object({
      clientDataJSON: Base64Url,
      attestationObject: Base64Url.describe('The attestation object of the new key, in base64url (WebAuthn).'),
      authenticatorData: ignored('The authenticator data, extracted by the browser'),
      transports: ignored('The transports of the authenticator: `internal`, `hybrid`, `usb`, `nfc`, `ble`'),
      publicKey: ignored('The public key, extracted by the browser'),
      publicKeyAlgorithm: ignored('The algorithm of the key (COSE)'),
    }),
  })
  .meta({
    id: 'PasskeyRegistration',
    description: 'The `PublicKeyCredential` that the browser created, in the form of its `toJSON()`.',
  })
export type NewCredential = z.output<typeof NewCredential>

export const Assertion = z
  .object({
    ...credential,
    response: z.object({
      clientDataJSON: Base64Url,
      authenticatorData: Base64Url.describe('The authenticator data of the signature, in base64url (WebAuthn).'),
      signature: Base64Url,
      userHandle: ignored('The user handle that the authenticator stores'),
    }),
  })
  .meta({
    id: 'PasskeyAssertion',
    description: 'The `PublicKeyCredential` of the signature, in the form of its `toJSON()`.',
  })
export type Assertion = z.output<typeof Assertion>

/** Converts a passkey's public key from COSE (RFC 9053) to JWK (RFC 7517). Undefined unless the key is P-256 or RSA. */
const jwkOf = async (cose: Uint8Array): Promise<PasskeyKey | undefined> => {
  const { decodeCredentialPublicKey, isoBase64URL, cose: names } = await helpers()
  const key = decodeCredentialPublicKey(new Uint8Array(cose))
  const text = (bytes: Uint8Array | undefined) => (bytes ? isoBase64URL.fromBuffer(new Uint8Array(bytes)) : '')
  if (names.isCOSEPublicKeyEC2(key) && key.get(names.COSEKEYS.crv) === names.COSECRV.P256)
    return { kty: 'EC', crv: 'P-256', x: text(key.get(names.COSEKEYS.x)), y: text(key.get(names.COSEKEYS.y)) }
  if (names.isCOSEPublicKeyRSA(key)) return { kty: 'RSA', n: text(key.get(names.COSEKEYS.n)), e: text(key.get(names.COSEKEYS.e)) }
  return undefined
}

/** The challenge in a browser's response. Empty if the response cannot be parsed. */
export const challengeOf = (clientDataJSON: string): Buffer => {
  try {
    const { challenge }: { challenge?: unknown } = JSON.parse(Buffer.from(clientDataJSON, 'base64url').toString())
    return Buffer.from(typeof challenge === 'string' ? challenge : '', 'base64url')
  } catch {
    return Buffer.alloc(0)
  }
}

/**
 * Removes the attestation statement. The service requests none, but a browser may send one (WebAuthn §6.5.5), and to verify it
 * the library would fetch URLs from a certificate that it has not checked yet. The authenticator data contains the key and flags.
 */
const withoutAttestation = async (attestationObject: string): Promise<string> => {
  const { decodeAttestationObject, isoBase64URL, isoCBOR } = await helpers()
  const authData = decodeAttestationObject(isoBase64URL.toBuffer(attestationObject)).get('authData')
  const bare = new Map<string, string | Uint8Array | Map<string, string>>([
    ['fmt', 'none'],
    ['attStmt', new Map<string, string>()],
    ['authData', authData],
  ])
  return isoBase64URL.fromBuffer(isoCBOR.encode(bare))
}

/** The library's messages quote the caller's input, so they are only matched, and the problem is described in our own words. */
const problemOf = (error: unknown): { problem: string } => {
  const message = error instanceof Error ? error.message : ''
  if (/^User verification (?:was )?required/.test(message)) return { problem: 'its user was not verified' }
  if (/^Unexpected RP ID hash|^Unexpected \w+ response origin/.test(message)) return { problem: 'it is of another site' }
  if (/^Unexpected \w+ response challenge/.test(message)) return { problem: 'it answers another challenge' }
  return { problem: 'it cannot be read' }
}

/** Verifies a new passkey, created on this site with user verification. The caller must check that the challenge is ours. */
export const readNewPasskey = async (
  site: { publicUrl: string },
  { id, rawId, type, response: { clientDataJSON, attestationObject } }: NewCredential,
) => {
  try {
    const { verifyRegistrationResponse } = await webauthn()
    const response = { clientDataJSON, attestationObject: await withoutAttestation(attestationObject) }
    const { verified, registrationInfo } = await verifyRegistrationResponse({
      ...expectedSite(site),
      response: { id, rawId, type, response, clientExtensionResults: {} },
      expectedChallenge: challengeOf(clientDataJSON).toString('base64url'),
      requireUserVerification: true,
      supportedAlgorithmIDs: algorithms,
    })
    const publicKey = verified ? await jwkOf(registrationInfo.credential.publicKey) : undefined
    if (!verified || !publicKey) return { problem: 'its public key is not one that this service verifies' }
    return {
      credentialId: registrationInfo.credential.id,
      coseKey: Buffer.from(registrationInfo.credential.publicKey),
      publicKey,
      signCount: registrationInfo.credential.counter,
      backupEligible: registrationInfo.credentialDeviceType === 'multiDevice',
      backedUp: registrationInfo.credentialBackedUp,
    }
  } catch (error) {
    return problemOf(error)
  }
}

/** The challenge is the SHA-256 hash of the text to sign, so the assertion is valid for this text only. */
export const challengeFor = (message: string): string => sha256(message).toString('base64url')

export type ReadAssertion = {
  signature: string
  proof: PasskeyProof
  signCount: number
  backupEligible: boolean
  backedUp: boolean
}

/**
 * A passkey's assertion over `challenge` (base64url), made on this site with user verification, or the problem. The caller
 * compares the stored sign count later, under the passkey's lock.
 */
export const readAssertion = async (
  site: { publicUrl: string },
  passkey: { credentialId: string; coseKey: Buffer; publicKey: PasskeyKey },
  { assertion, challenge }: { assertion: Assertion; challenge: string },
): Promise<ReadAssertion | { problem: string }> => {
  try {
    const { verifyAuthenticationResponse } = await webauthn()
    const { id, rawId, type } = assertion
    const { authenticatorData, clientDataJSON, signature } = assertion.response
    const { verified, authenticationInfo } = await verifyAuthenticationResponse({
      ...expectedSite(site),
      response: { id, rawId, type, response: { authenticatorData, clientDataJSON, signature }, clientExtensionResults: {} },
      expectedChallenge: challenge,
      requireUserVerification: true,
      credential: { id: passkey.credentialId, publicKey: new Uint8Array(passkey.coseKey), counter: 0 },
    })
    if (!verified) return { problem: 'the signature is not of this passkey' }
    return {
      signature,
      proof: {
        credential_id: passkey.credentialId,
        authenticator_data: authenticatorData,
        client_data: clientDataJSON,
        public_key: passkey.publicKey,
      },
      signCount: authenticationInfo.newCounter,
      // These flags of an existing passkey change when its provider begins to sync it.
      backupEligible: authenticationInfo.credentialDeviceType === 'multiDevice',
      backedUp: authenticationInfo.credentialBackedUp,
    }
  } catch (error) {
    return problemOf(error)
  }
}
