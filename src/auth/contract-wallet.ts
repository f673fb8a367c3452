import { createSlots } from '../lib/slots.ts'
import { parseAddress, parseWalletName } from '../lib/wallet-name.ts'
import type { SignedByContract } from './contract-wallet-chain.ts'

export type ChainAnswer = 'valid' | 'invalid' | 'unanswered'

/**
 * A contract wallet has no key, so only its chain can confirm a signature. viem is loaded at the first query to a chain, because
 * it uses as much memory as the rest of the service.
 */
export const createContractWallets = (
  rpcUrls: ReadonlyMap<number, string>,
  onFailure: (failure: { chainId: number; error: string }) => void,
) => {
  /** Limited, because any caller can trigger queries to a chain. */
  const slots = createSlots({ size: 16, waiting: 32 })
  const ask = async (signed: SignedByContract): Promise<ChainAnswer> => {
    const { chainId } = signed
    const url = rpcUrls.get(chainId)
    if (url === undefined) return 'unanswered'
    try {
      const { verifyOnChain } = await import('./contract-wallet-chain.ts')
      return (await slots(() => verifyOnChain(url, signed))) ? 'valid' : 'invalid'
    } catch (error) {
      // Never log the error's message: viem puts the RPC URL into it, and the URL may contain a key.
      onFailure({ chainId, error: error instanceof Error ? error.name : 'unknown' })
      return 'unanswered'
    }
  }
  // The payments of a batch share their approvals and are sent at the same time, so they share one query.
  const pending = new Map<string, Promise<ChainAnswer>>()
  /** `unanswered` if the chain has no configured RPC, or if the RPC fails or belongs to another chain. */
  const query = (signed: SignedByContract): Promise<ChainAnswer> => {
    const key = JSON.stringify([signed.chainId, signed.address, signed.message, signed.signature])
    const answer = pending.get(key) ?? ask(signed).finally(() => pending.delete(key))
    pending.set(key, answer)
    return answer
  }
  return { chainIds: [...rpcUrls.keys()], query }
}
export type ContractWallets = ReturnType<typeof createContractWallets>

/**
 * Asks the chain whether contract wallet `signer` accepts the signature now, because its owners can change. Null for a key
 * wallet, which needs no query.
 */
export const verifyContractSigner = async (
  { query }: ContractWallets,
  { signer, message, signature }: { signer: string; message: string; signature: string },
): Promise<ChainAnswer | null> => {
  const { address: named, chainId = null } = parseWalletName(signer) ?? {}
  const address = named && parseAddress(named)
  return address && chainId !== null ? query({ chainId, address, message, signature }) : null
}
