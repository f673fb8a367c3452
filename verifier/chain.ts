import { fromHex, toHex } from './bytes.ts'

export type ContractAnswer = 'accepts' | 'refuses' | { unknown: string }
/** Asks a contract wallet's chain if the contract accepts a signature now. Undefined without an RPC for the chain. */
export type AskContract = (
  chainId: number,
  address: string,
  hash: Uint8Array,
  signature: string,
) => Promise<ContractAnswer> | undefined

type Answer = { result?: unknown; error?: { code?: unknown; message?: unknown } }

const ask = async (url: string, method: string, params: readonly unknown[]): Promise<Answer> => {
  const answer = await fetch(url, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }),
    signal: AbortSignal.timeout(10_000),
  })
  if (!answer.ok) throw new TypeError(`its RPC answered ${answer.status}`)
  return (await answer.json()) as Answer
}

const word = (value: number): string => value.toString(16).padStart(64, '0')

/** Encodes a call to `isValidSignature(bytes32, bytes)` of ERC-1271. */
const callOf = (hash: Uint8Array, signature: Uint8Array): string => {
  const padded = toHex(signature).padEnd(Math.ceil(signature.length / 32) * 64, '0')
  return `0x1626ba7e${toHex(hash)}${word(64)}${word(signature.length)}${padded}`
}

const erc6492 = '6492'.repeat(16)

/** Unwraps ERC-6492, which wraps the signature of a wallet that is not deployed yet: `(factory, call, signature)`. */
const unwrapped = (hex: string): string => {
  if (!hex.endsWith(erc6492)) return hex
  const start = Number.parseInt(hex.slice(128, 192), 16) * 2
  return hex.slice(start + 64, start + 64 + Number.parseInt(hex.slice(start, start + 64), 16) * 2)
}

const askChain = async (
  url: string,
  chainId: number,
  address: string,
  hash: Uint8Array,
  signature: string,
): Promise<ContractAnswer> => {
  const { result: chain } = await ask(url, 'eth_chainId', [])
  if (Number(chain) !== chainId) return { unknown: 'the RPC is of another chain' }
  const { result: code } = await ask(url, 'eth_getCode', [address, 'latest'])
  if (typeof code !== 'string') return { unknown: 'its RPC gave no answer' }
  if (code === '0x') return { unknown: 'there is no contract at this address yet' }
  const bytes = fromHex(unwrapped(signature.slice(2)))
  if (!bytes) return 'refuses'
  const { result, error } = await ask(url, 'eth_call', [{ to: address, data: callOf(hash, bytes) }, 'latest'])
  // The JSON-RPC code for a reverted call: the contract rejects the signature.
  if (error) return error.code === 3 ? 'refuses' : { unknown: 'its RPC gave no answer' }
  return typeof result === 'string' && result.startsWith('0x1626ba7e') ? 'accepts' : 'refuses'
}

/** Queries only chains for which the caller gave an RPC, and only for contract signatures. */
export const createAskContract =
  (rpcUrls: ReadonlyMap<number, string>): AskContract =>
  (chainId, address, hash, signature) => {
    const url = rpcUrls.get(chainId)
    return url === undefined
      ? undefined
      : askChain(url, chainId, address, hash, signature).catch((error: unknown) => ({
          unknown: `its chain did not answer (${error instanceof Error ? error.message : String(error)})`,
        }))
  }
