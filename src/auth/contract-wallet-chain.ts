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

/** The limit for all calls to a chain about one signature. */
export const deadlineMs = 3_000

export type SignedByContract = { chainId: number; address: Address; message: string; signature: string }

const erc1271 = parseAbi(['function isValidSignature(bytes32 hash, bytes signature) view returns (bytes4)'])
const magicValue = '0x1626ba7e'

const asDeployed = async (client: PublicClient, address: Address, hash: Hex, signature: Hex): Promise<boolean> => {
  const code = await client.getCode({ address })
  if (code === undefined || code === '0x') return false
  const answer = await client.readContract({ address, abi: erc1271, functionName: 'isValidSignature', args: [hash, signature] })
  return answer === magicValue
}

/** May not be deployed yet: ERC-6492's validator deploys it inside the call. */
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

/** Not viem's verifyMessage, which recovers a key when the chain fails. A failing chain proves nothing: this throws. */
export const queryChain = async (url: string, { chainId, address, message, signature }: SignedByContract): Promise<boolean> => {
  // Not EIP-3668: the contract, which is anyone's, would choose addresses that this server fetches.
  const client = createPublicClient({ ccipRead: false, transport: http(url, { timeout: deadlineMs, retryCount: 0 }) })
  if (!isHex(signature, { strict: true })) return false
  if ((await client.getChainId()) !== chainId) throw new Error('the RPC is of another chain')
  const call = isErc6492Signature(signature) ? asPredicted : asDeployed
  return call(client, address, hashMessage(message), signature)
}
