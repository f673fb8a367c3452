import type { Address } from '../../../auth/wallet.ts'
import { proveSigner as proveWallet } from '../../identity/identities/signer.ts'
import type { Deps } from '../deps.ts'
import type { ApprovalRecord } from './queries.ts'
import type { DecideBySignature } from './schema.ts'

/** A wallet that signed an approval's canonical message, and the message. Whether it may decide is checked later, under locks. */
export type ProvenSigner = { signer: Address; signature: string; message: string }

/** Called before the transaction: no transaction waits for the network, and the stored message never changes. */
export const proveSigner = async (
  deps: Pick<Deps, 'contractWallets' | 'db'>,
  { approval }: Pick<ApprovalRecord, 'approval'>,
  { decision, signature, address: named }: Pick<DecideBySignature, 'decision' | 'signature' | 'address'>,
): Promise<ProvenSigner | undefined> => {
  const message = decision === 'approve' ? approval.approveMessage : approval.rejectMessage
  const signer = await proveWallet(deps, { message, signature, named })
  return signer && { signer, signature, message }
}
