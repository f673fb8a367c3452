import {
  type Address,
  encodeDeployData,
  encodeFunctionData,
  erc6492SignatureValidatorAbi,
  erc6492SignatureValidatorByteCode,
  type Hex,
  hashMessage,
  isErc6492Signature,
  isHex,
  parseAbi,
} from 'viem'
import { z } from 'zod'

/** Time limit for all calls to a chain about one signature. */
const deadlineMs = 3_000

export type SignedByContract = { chainId: number; address: Address; message: string; signature: string }

/** The name is logged. Messages are not, because those of viem and of fetch contain the RPC's URL. */
class ChainError extends Error {
  constructor(name: 'NoAnswer' | 'OtherChain') {
    super(name)
    this.name = name
  }
}

const erc1271 = parseAbi(['function isValidSignature(bytes32 hash, bytes signature) view returns (bytes4)'])
const magicValue = /^0x1626ba7e0{56}/

const RpcResponse = z.union([
  z.object({ result: z.string() }),
  z.object({ error: z.object({ code: z.number(), message: z.string().catch('') }) }),
])

/** Error codes for a reverted call: 3 and -32000 from geth and Erigon, -32015 from OpenEthereum, -32603 from Hardhat. */
const revertCodes = new Set([3, -32_000, -32_015, -32_603])
const reverts = /revert|invalid opcode|(?:bad|invalid) jump|stack (?:under|over)flow|out of gas|VM (?:execution error|Exception)/i

/** Returns null if the call reverted. Throws if the node failed or a limit ended the call. Some nodes send errors with HTTP 400. */
type CallRpc = (method: 'eth_call' | 'eth_chainId' | 'eth_getCode', params: unknown[]) => Promise<string | null>

const rpcAt =
  (url: string, signal: AbortSignal): CallRpc =>
  async (method, params) => {
    const response = await fetch(url, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }),
      signal,
    })
    const text = await response.text()
    if (response.status !== 200 && response.status !== 400) throw new ChainError('NoAnswer')
    const answer = RpcResponse.parse(JSON.parse(text))
    if ('result' in answer) return answer.result
    const { code, message } = answer.error
    if (method === 'eth_call' && (code === 3 || (revertCodes.has(code) && reverts.test(message)))) return null
    throw new ChainError('NoAnswer')
  }

const verifyDeployed = async (call: CallRpc, address: Address, hash: Hex, signature: Hex): Promise<boolean> => {
  if ((await call('eth_getCode', [address, 'latest'])) === '0x') return false
  const data = encodeFunctionData({ abi: erc1271, functionName: 'isValidSignature', args: [hash, signature] })
  return magicValue.test((await call('eth_call', [{ to: address, data }, 'latest'])) ?? '')
}

/** Also covers a contract that is not deployed yet: ERC-6492's validator deploys it inside the call. */
const verifyUndeployed = async (call: CallRpc, address: Address, hash: Hex, signature: Hex): Promise<boolean> => {
  const data = encodeDeployData({
    abi: erc6492SignatureValidatorAbi,
    args: [address, hash, signature],
    bytecode: erc6492SignatureValidatorByteCode,
  })
  return /^0x0*1$/.test((await call('eth_call', [{ data }, 'latest'])) ?? '')
}

/**
 * Replaces viem's verifyMessage, which recovers a key when the chain fails. viem's client also follows URLs that the contract
 * chooses (EIP-3668) and cannot tell a revert from a failure. This function throws on a failure, which proves nothing.
 */
export const verifyOnChain = async (url: string, { chainId, address, message, signature }: SignedByContract) => {
  if (!isHex(signature, { strict: true })) return false
  const call = rpcAt(url, AbortSignal.timeout(deadlineMs))
  if (Number(await call('eth_chainId', [])) !== chainId) throw new ChainError('OtherChain')
  const verify = isErc6492Signature(signature) ? verifyUndeployed : verifyDeployed
  return verify(call, address, hashMessage(message), signature)
}
