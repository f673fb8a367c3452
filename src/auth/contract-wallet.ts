import type { SignedByContract } from './contract-wallet-chain.ts'

/** Wallets that are contracts: they have no key of their own, only their chain can say whether a signature is theirs. */
export type ContractWallets = {
  /** False on any doubt: no RPC for the chain, one that fails or is of another chain, no contract there. */
  isValidSignature: (signed: SignedByContract) => Promise<boolean>
}

/** viem is loaded when a chain is asked for the first time: it costs as much memory as the rest of the service. */
export const createContractWallets = (
  rpcUrls: ReadonlyMap<number, string>,
  onFailure: (failure: { chainId: number; error: string }) => void,
): ContractWallets => ({
  isValidSignature: async (signed) => {
    const { chainId } = signed
    const url = rpcUrls.get(chainId)
    if (url === undefined) return false
    try {
      const { askChain } = await import('./contract-wallet-chain.ts')
      return await askChain(url, signed)
    } catch (error) {
      // Never its message: viem's names the RPC's address, which may hold a key.
      onFailure({ chainId, error: error instanceof Error ? error.name : 'unknown' })
      return false
    }
  },
})
