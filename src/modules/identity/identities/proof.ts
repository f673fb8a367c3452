import type { Address } from '../../../auth/wallet.ts'
import { Refusal } from '../../../lib/errors.ts'
import type { IdentityRecord } from './queries.ts'

/** What a sign-in method has proved: this subject is here now, vouched for by this issuer. */
export type IdentityProof = Pick<
  IdentityRecord,
  'provider' | 'issuer' | 'subject' | 'subjectKey' | 'email' | 'emailVerified' | 'displayName' | 'chainId'
>

/** `chainId`: of the contract that spoke for the address; null when its own key did. */
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
 * The same address can be another person's contract on another chain. So a contract wallet stays on the chain that it was linked
 * from, and an address that proved itself by its own key can't be spoken for by a contract.
 */
export const walletContradiction = (known: Pick<IdentityRecord, 'chainId'>, proof: IdentityProof): Refusal | null => {
  if (proof.chainId === null || proof.chainId === known.chainId) return null
  return new Refusal('invalid_signature', {
    message: 'This address is linked by its own key, or by a contract on another chain.',
    details: { field: 'chain_id' },
  })
}
