import type { ContractWallets } from '../../../auth/contract-wallet.ts'
import { parseAddress, recoverSigner } from '../../../auth/wallet.ts'
import type { Database } from '../../../db/client.ts'
import { walletNameOf } from '../../../lib/wallet-name.ts'
import { findIdentity, walletKey } from './queries.ts'

/**
 * The name of the wallet that signed `message`: recovered from the signature or, when `named` is the address of a linked contract wallet,
 * verified by its chain. Never called inside a transaction, because it may use the network. Whether the wallet may decide anything is
 * checked elsewhere.
 */
export const proveSigner = async (
  db: Database,
  contractWallets: ContractWallets,
  { message, signature, named }: { message: string; signature: string; named: string | undefined },
): Promise<string | undefined> => {
  const recovered = recoverSigner(message, signature)
  const address = named === undefined ? undefined : parseAddress(named)
  if (named === undefined || recovered === address) return recovered
  if (!address) return undefined
  for (const chainId of contractWallets.chainIds) {
    const name = walletNameOf(address, chainId)
    if (!(await findIdentity(db, walletKey(name)))) continue
    if (await contractWallets.isValidSignature({ chainId, address, message, signature })) return name
  }
  return undefined
}
