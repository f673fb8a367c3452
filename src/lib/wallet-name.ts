/** A wallet as people name it: by CAIP-10 (`eip155:<chain>:<address>`), or by its bare address, which names a key of its own. */
export type WalletName = { chainId: number | null; address: string }

const named = /^(?:eip155:([1-9]\d{0,15}):)?(0x[0-9a-f]{40})$/

/** Its name: `eip155:<chain>:<address>` of a contract, the bare address of a key of its own. */
export const walletNameOf = (address: string, chainId: number | null): string =>
  chainId === null ? address : `eip155:${chainId}:${address}`

/** Of any letter case; the address is lower-cased. */
export const parseWalletName = (text: string): WalletName | undefined => {
  const [, chain, address] = named.exec(text.toLowerCase()) ?? []
  if (address === undefined) return undefined
  return { chainId: chain === undefined ? null : Number(chain), address }
}

/**
 * What `walletKeySql` may say of the wallets with this name. A contract is one on its chain alone, because the same address on another chain
 * may be another person's. A key of its own is the same on every chain.
 */
export const walletKeys = ({ chainId, address }: WalletName): string[] =>
  chainId === null ? [`key:${address}`] : [`key:${address}`, `eip155:${chainId}:${address}`]

/** The wallet identity `i` in the form of `walletKeys`. */
export const walletKeySql = (i: string): string => `case when ${i}.chain_id is null then 'key:' else '' end || ${i}.subject_key`
