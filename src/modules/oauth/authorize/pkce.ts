import { equalBytes, sha256 } from '../../../auth/secrets.ts'
import { OAuthError } from '../errors.ts'

const challengePattern = /^[A-Za-z0-9_-]{43}$/
const verifierPattern = /^[A-Za-z0-9._~-]{43,128}$/

type Challenge = { code_challenge?: string | undefined; code_challenge_method?: string | undefined }

/** S256 or nothing: an absent method would mean `plain` (RFC 7636 section 4.3). */
export const readChallenge = ({ code_challenge: challenge, code_challenge_method: method }: Challenge): string => {
  if (challenge === undefined) throw new OAuthError('invalid_request', 'code_challenge is required (PKCE).')
  if (method !== 'S256') throw new OAuthError('invalid_request', 'code_challenge_method must be S256.')
  if (!challengePattern.test(challenge))
    throw new OAuthError('invalid_request', 'code_challenge must be the base64url SHA-256 of a verifier: 43 characters.')
  return challenge
}

/**
 * A verifier without a challenge is as wrong as a challenge without a verifier: an attacker may have removed or added one (RFC 9700,
 * 4.8.2).
 */
export const checkVerifier = (challenge: string | null, verifier: string | undefined): void => {
  if (challenge === null && verifier === undefined) return
  if (challenge === null) throw new OAuthError('invalid_grant', 'This request was begun without a code_challenge.')
  if (verifier === undefined) throw new OAuthError('invalid_request', 'code_verifier is required.')
  const fits =
    verifierPattern.test(verifier) && equalBytes(Buffer.from(sha256(verifier).toString('base64url')), Buffer.from(challenge))
  if (!fits) throw new OAuthError('invalid_grant', 'code_verifier does not belong to the code_challenge.')
}
