import { createStore, useStore } from '../lib/store.ts'
import type { Provider, Wallet } from './provider.ts'

const isRecord = (value: unknown): value is Record<string, unknown> => typeof value === 'object' && value !== null
const isProvider = (value: unknown): value is Provider => isRecord(value) && typeof value.request === 'function'

const readAnnouncement = (detail: unknown): Wallet | null => {
  if (!isRecord(detail) || !isRecord(detail.info) || !isProvider(detail.provider)) return null
  const { uuid, name, icon } = detail.info
  if (typeof uuid !== 'string' || typeof name !== 'string') return null
  return {
    id: uuid,
    name,
    icon: typeof icon === 'string' && icon.startsWith('data:image/') ? icon : null,
    provider: detail.provider,
  }
}

const announced = createStore<readonly Wallet[]>([])

addEventListener('eip6963:announceProvider', (event) => {
  const wallet = readAnnouncement(event instanceof CustomEvent ? event.detail : null)
  if (wallet && !announced.get().some(({ id }) => id === wallet.id)) announced.set([...announced.get(), wallet])
})
dispatchEvent(new Event('eip6963:requestProvider'))

/** Browsers inside wallets on phones often know only the older `window.ethereum`. */
const legacy = (): Wallet | null => {
  const provider: unknown = 'ethereum' in window ? window.ethereum : undefined
  return isProvider(provider) ? { id: 'injected', name: 'Browser wallet', icon: null, provider } : null
}

export const useWallets = (): readonly Wallet[] => {
  const wallets = useStore(announced)
  if (wallets.length > 0) return wallets
  const injected = legacy()
  return injected ? [injected] : []
}
