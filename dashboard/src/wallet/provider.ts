import { DeviceError } from '../lib/device-error.ts'

/** EIP-1193. */
export type Provider = { request: (call: { method: string; params?: readonly unknown[] }) => Promise<unknown> }

/** EIP-6963. `icon` is a data: URI by that standard; anything else is not shown. */
export type Wallet = { id: string; name: string; icon: string | null; provider: Provider }

const codeOf = (error: unknown): number | null =>
  typeof error === 'object' && error !== null && 'code' in error && typeof error.code === 'number' ? error.code : null

const toDeviceError = (error: unknown): DeviceError => {
  const code = codeOf(error)
  if (code === 4001) return new DeviceError('You declined in the wallet. Nothing was signed.')
  if (code === -32_002) return new DeviceError('The wallet already has an open request. Finish it there, then try again.')
  return new DeviceError('The wallet could not do this. Unlock it and try again.')
}

const request = async (provider: Provider, method: string, params: readonly unknown[] = []): Promise<unknown> => {
  try {
    return await provider.request({ method, params })
  } catch (error) {
    throw toDeviceError(error)
  }
}

/** The address the wallet shows us now; asks for permission the first time. */
export const connectWallet = async ({ provider }: Wallet): Promise<string> => {
  const accounts = await request(provider, 'eth_requestAccounts')
  const first: unknown = Array.isArray(accounts) ? accounts[0] : undefined
  if (typeof first !== 'string')
    throw new DeviceError('The wallet has not shared an account with this page. Choose one in the wallet and try again.')
  return first
}

/** Lets the person pick another of the wallet's accounts, where the wallet can (EIP-2255). */
export const chooseAccount = async ({ provider }: Wallet): Promise<void> => {
  await request(provider, 'wallet_requestPermissions', [{ eth_accounts: {} }])
}

const toHex = (text: string): string =>
  `0x${Array.from(new TextEncoder().encode(text), (byte) => byte.toString(16).padStart(2, '0')).join('')}`

/** EIP-191, the readable text as it is. */
export const signText = async ({ provider }: Wallet, address: string, text: string): Promise<string> => {
  const signature = await request(provider, 'personal_sign', [toHex(text), address])
  if (typeof signature !== 'string' || !signature.startsWith('0x')) throw new DeviceError('The wallet returned no signature.')
  return signature
}
