import { type Address, parseAddress, recoverSigner } from '../../../auth/wallet.ts'
import type { Deps } from '../deps.ts'
import { walletProof } from './proof.ts'
import { findIdentity } from './queries.ts'

/**
 * The wallet that signed `message`: recovered from the signature or, when `named` is a linked contract wallet, verified by its chain. Never
 * called inside a transaction, because it may use the network. Whether the wallet may decide anything is checked elsewhere.
 */
export const proveSigner = async (
  deps: Pick<Deps, 'db' | 'contractWallets'>,
  { message, signature, named }: { message: string; signature: string; named: string | undefined },
): Promise<Address | undefined> => {
  const recovered = recoverSigner(message, signature)
  const address = named === undefined ? undefined : parseAddress(named)
  if (named === undefined || recovered === address) return recovered
  const identity = address && (await findIdentity(deps.db, walletProof(address, null)))
  if (!address || !identity?.chainId) return undefined
  const signed = await deps.contractWallets.isValidSignature({ chainId: identity.chainId, address, message, signature })
  return signed ? address : undefined
}
