import {
  type Address,
  createPublicClient,
  encodeDeployData,
  erc6492SignatureValidatorAbi,
  erc6492SignatureValidatorByteCode,
  type Hex,
  hashMessage,
  http,
  isErc6492Signature,
  isHex,
  type PublicClient,
  parseAbi,
} from 'viem'

export type SignedByContract = { chainId: number; address: Address; message: string; signature: string }

/** Wallets that are contracts: they have no key of their own, only their chain can say whether a signature is theirs. */
export type ContractWallets = {
  /** False on any doubt: no RPC for the chain, one that fails or is of another chain, no contract there. */
  isValidSignature: (signed: SignedByContract) => Promise<boolean>
}

const erc1271 = parseAbi(['function isValidSignature(bytes32 hash, bytes signature) view returns (bytes4)'])
const magicValue = '0x1626ba7e'
const timeoutMs = 5_000

const asDeployed = async (client: PublicClient, address: Address, hash: Hex, signature: Hex): Promise<boolean> => {
  const code = await client.getCode({ address })
  if (code === undefined || code === '0x') return false
  const answer = await client.readContract({ address, abi: erc1271, functionName: 'isValidSignature', args: [hash, signature] })
  return answer === magicValue
}

/** A wallet that may not be deployed yet: ERC-6492's validator deploys it inside the call, and asks it. */
const asPredicted = async (client: PublicClient, address: Address, hash: Hex, signature: Hex): Promise<boolean> => {
  const { data } = await client.call({
    data: encodeDeployData({
      abi: erc6492SignatureValidatorAbi,
      args: [address, hash, signature],
      bytecode: erc6492SignatureValidatorByteCode,
    }),
  })
  return data !== undefined && /^0x0*1$/.test(data)
}

/**
 * viem's own verifyMessage falls back to recovering a key when the chain fails; here the key has been tried already, under stricter
 * rules, and a failing chain is no answer.
 */
export const createContractWallets = (
  rpcUrls: ReadonlyMap<number, string>,
  onFailure: (failure: { chainId: number; error: string }) => void,
): ContractWallets => {
  const clients = new Map(
    [...rpcUrls].map(([chainId, url]) => [
      chainId,
      createPublicClient({ transport: http(url, { timeout: timeoutMs, retryCount: 1 }) }),
    ]),
  )
  return {
    isValidSignature: async ({ chainId, address, message, signature }) => {
      const client = clients.get(chainId)
      if (!client || !isHex(signature, { strict: true })) return false
      try {
        if ((await client.getChainId()) !== chainId) throw new Error('the RPC is of another chain')
        const ask = isErc6492Signature(signature) ? asPredicted : asDeployed
        return await ask(client, address, hashMessage(message), signature)
      } catch (error) {
        // Never its message: viem's names the RPC's address, which may hold a key.
        onFailure({ chainId, error: error instanceof Error ? error.name : 'unknown' })
        return false
      }
    },
  }
}
