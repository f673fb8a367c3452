import { type FastifyInstance, fastify } from 'fastify'
import {
  type Address,
  decodeDeployData,
  decodeFunctionData,
  encodeAbiParameters,
  encodeErrorResult,
  erc6492SignatureValidatorAbi,
  erc6492SignatureValidatorByteCode,
  type Hex,
  hashMessage,
  parseAbi,
} from 'viem'

type Call = { to?: Address; data: Hex }
type Rpc = { id: number; method: string; params?: [Call | Address] }

/** The chain's faults. */
export type Trouble =
  | 'none'
  | 'error'
  | 'http_500'
  | 'garbage'
  | 'reverts'
  | 'other_chain'
  | 'empty_answer'
  | 'silent'
  | 'looks_elsewhere'

/** A node's answer to a call, as sent. */
export type Said = { status?: number; body: unknown }

export type Chain = {
  url: string
  /** Deployed or deployable contracts by lowercase address: the signature that each accepts for a message. */
  contracts: Map<string, { message: string; signature: Hex; deployed: boolean }>
  trouble: Trouble | Said
  calls: string[]
  close: () => Promise<void>
}

const lookupAbi = parseAbi([
  'error OffchainLookup(address sender, string[] urls, bytes callData, bytes4 callbackFunction, bytes extraData)',
])
const erc1271Abi = parseAbi(['function isValidSignature(bytes32, bytes) view returns (bytes4)'])
const magic = `0x1626ba7e${'0'.repeat(56)}`

/** A JSON-RPC node with the parts of contract wallets in ERC-1271 and ERC-6492. */
export const startChain = async (chainId: number): Promise<Chain> => {
  const app: FastifyInstance = fastify({ forceCloseConnections: true })
  const accepts = (address: string, hash: Hex, signature: Hex) => {
    const contract = chain.contracts.get(address.toLowerCase())
    return contract !== undefined && hashMessage(contract.message) === hash && contract.signature === signature
  }
  const call = ({ to, data }: Call): Hex => {
    if (to === undefined) {
      const { args } = decodeDeployData({ abi: erc6492SignatureValidatorAbi, bytecode: erc6492SignatureValidatorByteCode, data })
      const [address, hash, signature] = args as [Address, Hex, Hex]
      return accepts(address, hash, signature) ? '0x01' : '0x00'
    }
    const [hash, signature] = decodeFunctionData({ abi: erc1271Abi, data }).args as [Hex, Hex]
    return (accepts(to, hash, signature) ? magic : encodeAbiParameters([{ type: 'bytes32' }], [`0x${'f'.repeat(64)}`])) as Hex
  }
  const answer = ({ method, params }: Rpc): unknown => {
    const first = params?.[0]
    if (method === 'eth_chainId') return `0x${(chain.trouble === 'other_chain' ? chainId + 1 : chainId).toString(16)}`
    if (method === 'eth_getCode') return chain.contracts.get(String(first).toLowerCase())?.deployed ? '0x60806040' : '0x'
    if (method === 'eth_call') return chain.trouble === 'empty_answer' ? '0x' : call(first as Call)
    throw new Error(`the stand-in does not know ${method}`)
  }
  app.post('/', async (request, reply) => {
    const rpc = request.body as Rpc
    chain.calls.push(rpc.method)
    const envelope = { jsonrpc: '2.0', id: rpc.id }
    if (chain.trouble === 'silent') await new Promise(() => undefined)
    if (chain.trouble === 'http_500') return reply.code(500).send('gone')
    if (chain.trouble === 'garbage') return reply.send('not JSON-RPC')
    if (chain.trouble === 'error') return reply.send({ ...envelope, error: { code: -32000, message: 'no' } })
    if (chain.trouble === 'reverts' && rpc.method === 'eth_call') {
      return reply.send({ ...envelope, error: { code: 3, message: 'execution reverted', data: '0x' } })
    }
    if (typeof chain.trouble === 'object' && rpc.method === 'eth_call') {
      const { status = 200, body } = chain.trouble
      return reply.code(status).send(typeof body === 'object' ? { ...envelope, ...body } : body)
    }
    if (chain.trouble === 'looks_elsewhere' && rpc.method === 'eth_call') {
      const { to } = (rpc.params ?? [])[0] as Call
      const args = [to ?? '0x', [`${url}/elsewhere`], '0x', '0x12345678', '0x'] as const
      const data = encodeErrorResult({ abi: lookupAbi, errorName: 'OffchainLookup', args })
      return reply.send({ ...envelope, error: { code: 3, message: 'execution reverted', data } })
    }
    return reply.send({ ...envelope, result: answer(rpc) })
  })
  app.all('/elsewhere', async () => {
    chain.calls.push('elsewhere')
    await new Promise(() => undefined)
  })
  const url = await app.listen({ host: '127.0.0.1', port: 0 })
  const chain: Chain = { url, contracts: new Map(), trouble: 'none', calls: [], close: () => app.close() }
  return chain
}
