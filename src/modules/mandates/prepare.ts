import { invalidFields } from '../../lib/errors.ts'
import { type IssuedNonce, issueNonce } from '../identity/sign-in/wallet/nonces.ts'
import { nonceTtlSeconds } from '../identity/sign-in/wallet/siwe.ts'
import type { Deps } from './deps.ts'
import { mandateMessage } from './message.ts'
import type { PrepareMandate } from './schema.ts'
import { nonceBinding, termContradictions, termsDigest } from './terms.ts'

export type PreparedMandate = IssuedNonce & { message: string }

/** Reads nothing: the answer reveals nothing about an account, a workspace, a grant or a beneficiary. */
export const prepareMandate = async (
  deps: Pick<Deps, 'clock' | 'config' | 'db'>,
  { address, terms }: PrepareMandate,
): Promise<PreparedMandate> => {
  const at = deps.clock.now()
  const problems = termContradictions(terms, at)
  if (problems.length > 0) throw invalidFields(...problems)
  const digest = termsDigest(terms)
  const issued = await issueNonce(deps.db, at, {
    purpose: 'mandate',
    ttlSeconds: nonceTtlSeconds,
    boundTo: nonceBinding(address, digest),
  })
  return {
    ...issued,
    message: mandateMessage(deps.config, { address, terms, digest, nonce: issued.nonce, signBy: issued.expiresAt }),
  }
}
