import { createSlots } from '../lib/slots.ts'
import { parseWalletName } from '../lib/wallet-name.ts'
import type { SignedByContract } from './contract-wallet-chain.ts'
import { parseAddress } from './wallet.ts'

export type ChainAnswer = 'valid' | 'invalid' | 'unanswered'

const inTime = async (answer: Promise<boolean>, deadlineMs: number): Promise<boolean> => {
  const late = Promise.withResolvers<never>()
  const timer = setTimeout(() => late.reject(new Error('the chain did not answer in time')), deadlineMs)
  try {
    return await Promise.race([answer, late.promise])
  } finally {
    clearTimeout(timer)
  }
}

/**
 * Contract wallets have no key: only their chain knows whether a signature is theirs. viem is loaded at the first query to a
 * chain, because it costs as much memory as the rest of the service.
 */
export const createContractWallets = (
  rpcUrls: ReadonlyMap<number, string>,
  onFailure: (failure: { chainId: number; error: string }) => void,
) => {
  /** Limited, because every caller can make us query a chain. */
  const slots = createSlots({ size: 16, waiting: 32 })
  const ask = async (signed: SignedByContract): Promise<ChainAnswer> => {
    const { chainId } = signed
    const url = rpcUrls.get(chainId)
    if (url === undefined) return 'unanswered'
    try {
      const { deadlineMs, queryChain } = await import('./contract-wallet-chain.ts')
      return (await slots(() => inTime(queryChain(url, signed), deadlineMs))) ? 'valid' : 'invalid'
    } catch (error) {
      // Never the error's message: viem's contains the RPC's address, which may contain a key.
      onFailure({ chainId, error: error instanceof Error ? error.name : 'unknown' })
      return 'unanswered'
    }
  }
  // The items of a batch rest on the same approvals and are sent at the same time: they share one answer.
  const underWay = new Map<string, Promise<ChainAnswer>>()
  /** `unanswered` if anything is missing: an RPC for the chain, an answer of the RPC, the right chain. */
  const query = (signed: SignedByContract): Promise<ChainAnswer> => {
    const key = JSON.stringify([signed.chainId, signed.address, signed.message, signed.signature])
    const answer = underWay.get(key) ?? ask(signed).finally(() => underWay.delete(key))
    underWay.set(key, answer)
    return answer
  }
  return { chainIds: [...rpcUrls.keys()], query }
}
export type ContractWallets = ReturnType<typeof createContractWallets>

/**
 * Asks the chain whether contract wallet `signer` accepts the signature now: its owners may change. Null for a key wallet, which
 * needs no query.
 */
export const askSigner = async (
  { query }: ContractWallets,
  { signer, message, signature }: { signer: string; message: string; signature: string },
): Promise<ChainAnswer | null> => {
  const { address: named, chainId = null } = parseWalletName(signer) ?? {}
  const address = named && parseAddress(named)
  return address && chainId !== null ? query({ chainId, address, message, signature }) : null
}
