import type { Address } from '../../../auth/wallet.ts'
import type { Uuid } from '../../../lib/ids.ts'
import { walletProof } from '../../identity/identities/proof.ts'
import { findIdentity } from '../../identity/identities/queries.ts'
import { proveSigner as proveWallet } from '../../identity/identities/signer.ts'
import type { Deps } from '../deps.ts'
import type { ApprovalRecord } from './queries.ts'
import type { DecideBySignature } from './schema.ts'

/** A linked wallet that signed an approval's canonical message, its account, and the message. Whether it may decide is checked later, under locks. */
export type ProvenSigner = { signer: Address; accountId: Uuid; signature: string; message: string }

/** Called before the transaction: no transaction waits for the network, and the stored message never changes. */
export const proveSigner = async (
  deps: Pick<Deps, 'contractWallets' | 'db'>,
  { approval }: Pick<ApprovalRecord, 'approval'>,
  { decision, signature, address: named }: Pick<DecideBySignature, 'decision' | 'signature' | 'address'>,
): Promise<ProvenSigner | undefined> => {
  const message = decision === 'approve' ? approval.approveMessage : approval.rejectMessage
  const signer = await proveWallet(deps, { message, signature, named })
  const identity = signer && (await findIdentity(deps.db, walletProof(signer, null)))
  return identity && { signer, accountId: identity.accountId, signature, message }
}
