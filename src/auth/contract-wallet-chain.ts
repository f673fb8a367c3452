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
export const deadlineMs = 3_000

export type SignedByContract = { chainId: number; address: Address; message: string; signature: string }

const erc1271 = parseAbi(['function isValidSignature(bytes32 hash, bytes signature) view returns (bytes4)'])
const magicAnswer = /^0x1626ba7e0{56}/

type Rpc = { result: string } | { error: { code: number; message: string } }
const Answered = z.union([
  z.object({ result: z.string() }),
  z.object({ error: z.object({ code: z.number(), message: z.string().catch('') }) }),
])

/** Returns a JSON-RPC response, even one with HTTP status 400. Throws on any other response. */
const ask = async (url: string, method: string, params: unknown[]): Promise<Rpc> => {
  const response = await fetch(url, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }),
    signal: AbortSignal.timeout(deadlineMs),
  })
  const text = await response.text()
  if (response.status !== 200 && response.status !== 400) throw new Error('the chain did not answer')
  return Answered.parse(JSON.parse(text))
}

/** Error codes for a reverted call: 3 and -32000 from geth and Erigon, -32015 from OpenEthereum, -32603 from Hardhat. */
const refusing = new Set([3, -32_000, -32_015, -32_603])
const refusal = /revert|invalid opcode|(?:bad|invalid) jump|stack (?:under|over)flow|out of gas|VM (?:execution error|Exception)/i

/** Returns the contract's result, or null if the call reverted. Throws if the node failed or a limit ended the call. */
const call = async (url: string, parameters: object): Promise<string | null> => {
  const answer = await ask(url, 'eth_call', [parameters, 'latest'])
  if ('result' in answer) return answer.result
  const { code, message } = answer.error
  if (code === 3 || (refusing.has(code) && refusal.test(message))) return null
  throw new Error('the chain did not answer')
}

const resultOf = (answer: Rpc): string => {
  if ('result' in answer) return answer.result
  throw new Error('the chain did not answer')
}

const asDeployed = async (url: string, address: Address, hash: Hex, signature: Hex): Promise<boolean> => {
  if (resultOf(await ask(url, 'eth_getCode', [address, 'latest'])) === '0x') return false
  const data = encodeFunctionData({ abi: erc1271, functionName: 'isValidSignature', args: [hash, signature] })
  return magicAnswer.test((await call(url, { to: address, data })) ?? '')
}

/** Also covers a contract that is not deployed yet: ERC-6492's validator deploys it inside the call. */
const asPredicted = async (url: string, address: Address, hash: Hex, signature: Hex): Promise<boolean> => {
  const data = encodeDeployData({
    abi: erc6492SignatureValidatorAbi,
    args: [address, hash, signature],
    bytecode: erc6492SignatureValidatorByteCode,
  })
  return /^0x0*1$/.test((await call(url, { data })) ?? '')
}

/**
 * Replaces viem's verifyMessage, which recovers a key when the chain fails. viem's client also follows URLs that the contract
 * chooses (EIP-3668) and cannot tell a revert from a failure. This function throws on a failure, which proves nothing.
 */
export const queryChain = async (url: string, { chainId, address, message, signature }: SignedByContract): Promise<boolean> => {
  if (!isHex(signature, { strict: true })) return false
  if (Number(resultOf(await ask(url, 'eth_chainId', []))) !== chainId) throw new Error('the RPC is of another chain')
  const query = isErc6492Signature(signature) ? asPredicted : asDeployed
  return query(url, address, hashMessage(message), signature)
}
