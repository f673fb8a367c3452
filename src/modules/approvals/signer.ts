import { type Address, parseAddress, recoverSigner } from '../../auth/wallet.ts'
import type { Deps } from '../deps.ts'
import { walletProof } from '../identities/proof.ts'
import { findIdentity } from '../identities/queries.ts'
import type { ApprovalRecord } from './queries.ts'
import type { DecideBySignature } from './schema.ts'

/** A wallet that signed an approval's canonical message, and what it signed. Whether it may decide is looked at later, under locks. */
export type ProvenSigner = { signer: Address; signature: string; message: string }

/**
 * Recovers the signer from the signature; for a wallet that is a contract, named by `address`, asks its chain. Before the transaction:
 * nothing talks to the network inside one, and the stored message never changes.
 */
export const proveSigner = async (
  deps: Deps,
  { approval }: Pick<ApprovalRecord, 'approval'>,
  { decision, signature, address: named }: Pick<DecideBySignature, 'decision' | 'signature' | 'address'>,
): Promise<ProvenSigner | undefined> => {
  const message = decision === 'approve' ? approval.approveMessage : approval.rejectMessage
  const recovered = recoverSigner(message, signature)
  const address = named === undefined ? undefined : parseAddress(named)
  if (named === undefined || recovered === address) return recovered && { signer: recovered, signature, message }
  const identity = address && (await findIdentity(deps.db, walletProof(address, null)))
  if (!address || !identity?.chainId) return undefined
  const signed = await deps.contractWallets.isValidSignature({ chainId: identity.chainId, address, message, signature })
  return signed ? { signer: address, signature, message } : undefined
}
