import type { Address } from '../../../auth/wallet.ts'
import { Refusal } from '../../../lib/errors.ts'
import type { IdentityRecord } from './queries.ts'

/** What a sign-in has proved: this issuer confirms that this subject signed in now. */
export type IdentityProof = Pick<
  IdentityRecord,
  'provider' | 'issuer' | 'subject' | 'subjectKey' | 'email' | 'emailVerified' | 'displayName' | 'chainId'
>

/** `chainId`: the chain of the contract that verified the signature; null when the address's own key signed. */
export const walletProof = (address: Address, chainId: number | null): IdentityProof => ({
  provider: 'wallet',
  issuer: 'eip155',
  subject: address,
  subjectKey: address.toLowerCase(),
  email: null,
  emailVerified: false,
  displayName: null,
  chainId,
})

/**
 * The same address can be another person's contract on another chain. So a contract wallet can sign in only from the chain on which it was
 * linked, and a contract cannot sign for an address that was linked by its own key.
 */
export const walletContradiction = (known: Pick<IdentityRecord, 'chainId'>, proof: IdentityProof): Refusal | null => {
  if (proof.chainId === null || proof.chainId === known.chainId) return null
  return new Refusal('invalid_signature', {
    message: 'This address is linked by its own key, or by a contract on another chain.',
    details: { field: 'chain_id' },
  })
}
