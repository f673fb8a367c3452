import { keccak_256 } from '@noble/hashes/sha3'

/** An EIP-55 checksummed address, stored and shown in this form. Unique by its lowercase form. */
export type Address = `0x${string}`

/** EIP-55: a letter is uppercase if the hash has a hex digit of at least 8 at the same position. */
export const checksummed = (digits: string): Address => {
  const hash = Buffer.from(keccak_256(digits)).toString('hex')
  const letters = [...digits].map((digit, index) => (Number.parseInt(hash[index] ?? '0', 16) >= 8 ? digit.toUpperCase() : digit))
  return `0x${letters.join('')}`
}

export const parseAddress = (text: string): Address | undefined =>
  /^0x[0-9a-fA-F]{40}$/.test(text) ? checksummed(text.slice(2).toLowerCase()) : undefined

/** For addresses that people type: mixed case contains a checksum, and a wrong checksum indicates a typing error. */
export const hasWrongChecksum = (text: string): boolean => {
  const digits = /0[xX]([0-9a-fA-F]{40})$/.exec(text)?.[1] ?? ''
  const isMixed = digits !== digits.toLowerCase() && digits !== digits.toUpperCase()
  return isMixed && checksummed(digits.toLowerCase()) !== `0x${digits}`
}
export const checksumProblem =
  'has a wrong checksum (EIP-55), so a character was mistyped: copy it again, or write it in lowercase'

/** A wallet, by CAIP-10 name (`eip155:<chain>:<address>`) for a contract or by bare address for a key. */
export type WalletName = { chainId: number | null; address: string }

const named = /^(?:eip155:([1-9]\d{0,15}):)?(0x[0-9a-f]{40})$/

export const walletNameOf = (address: string, chainId: number | null): string =>
  chainId === null ? address : `eip155:${chainId}:${address}`

export const parseWalletName = (text: string): WalletName | undefined => {
  const [, chain, address] = named.exec(text.toLowerCase()) ?? []
  if (address === undefined) return undefined
  return { chainId: chain === undefined ? null : Number(chain), address }
}

/** Possible `walletKeySql` values. On another chain, a contract address can be another person's, while a key's cannot. */
export const walletKeys = ({ chainId, address }: WalletName): string[] =>
  chainId === null ? [`key:${address}`] : [`key:${address}`, `eip155:${chainId}:${address}`]

/** The key of wallet identity `i`, in the form of `walletKeys`. */
export const walletKeySql = (i: string): string => `case when ${i}.chain_id is null then 'key:' else '' end || ${i}.subject_key`
