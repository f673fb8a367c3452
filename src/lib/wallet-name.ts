/** A wallet by CAIP-10 (`eip155:<chain>:<address>`), which names a contract, or by its bare address, which names a key of its own. */
export type WalletName = { chainId: number | null; address: string }

const named = /^(?:eip155:([1-9]\d{0,15}):)?(0x[0-9a-f]{40})$/

export const walletNameOf = (address: string, chainId: number | null): string =>
  chainId === null ? address : `eip155:${chainId}:${address}`

export const parseWalletName = (text: string): WalletName | undefined => {
  const [, chain, address] = named.exec(text.toLowerCase()) ?? []
  if (address === undefined) return undefined
  return { chainId: chain === undefined ? null : Number(chain), address }
}

/** What `walletKeySql` may say of a wallet with this name. A contract's address may be another person's on another chain; a key is the same on every chain. */
export const walletKeys = ({ chainId, address }: WalletName): string[] =>
  chainId === null ? [`key:${address}`] : [`key:${address}`, `eip155:${chainId}:${address}`]

/** The wallet identity `i` in the form of `walletKeys`. */
export const walletKeySql = (i: string): string => `case when ${i}.chain_id is null then 'key:' else '' end || ${i}.subject_key`
