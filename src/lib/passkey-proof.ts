/** A passkey's public key as a JWK (RFC 7517). */
export type PasskeyKey = { kty: string; crv?: string; x?: string; y?: string; n?: string; e?: string }

/** A WebAuthn assertion, with binary parts in base64url. */
export type PasskeyProof = {
  credential_id: string
  authenticator_data: string
  client_data: string
  public_key: PasskeyKey
}
