import type { BrowserContext } from 'playwright-core'
import { type Hex, hexToString } from 'viem'
import type { PrivateKeyAccount } from 'viem/accounts'

/** A wallet as pages use it: EIP-6963 announces it, EIP-1193 takes its requests; its keys stay outside the browser. */
export type InjectedWallet = {
  accounts: PrivateKeyAccount[]
  /** The person at the wallet declines the next request to sign. */
  declineNext: () => void
  /** Every signed text. */
  signed: string[]
  answer: (method: string, params: unknown[]) => Promise<Answer>
}

type Answer = { result: unknown } | { error: { code: number; message: string } }

const script = `(() => {
  const request = async ({ method, params }) => {
    const answer = await window.__wallet(method, params ?? [])
    if ('error' in answer) throw Object.assign(new Error(answer.error.message), { code: answer.error.code })
    return answer.result
  }
  const icon = 'data:image/svg+xml;base64,' + btoa('<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 24 24"><circle cx="12" cy="12" r="12" fill="#e2761b"/></svg>')
  const detail = Object.freeze({ info: { uuid: '350670db-19fa-4704-a166-e52e178b59d2', name: 'Test Wallet', icon, rdns: 'test.wallet' }, provider: { request } })
  const announce = () => window.dispatchEvent(new CustomEvent('eip6963:announceProvider', { detail }))
  window.addEventListener('eip6963:requestProvider', announce)
  announce()
})()`

const isHex = (value: unknown): value is Hex => typeof value === 'string' && value.startsWith('0x')

export const createWallet = (...accounts: PrivateKeyAccount[]): InjectedWallet => {
  let declines = false
  const wallet: InjectedWallet = {
    accounts,
    declineNext: () => {
      declines = true
    },
    signed: [],
    answer: async (method, params) => {
      if (declines && method === 'personal_sign') {
        declines = false
        return { error: { code: 4001, message: 'User rejected the request.' } }
      }
      const answer = answers[method]
      return answer ? { result: await answer(params) } : { error: { code: 4200, message: 'unsupported' } }
    },
  }
  const answers: Record<string, (params: unknown[]) => Promise<unknown> | unknown> = {
    eth_requestAccounts: () => wallet.accounts.map(({ address }) => address.toLowerCase()),
    wallet_requestPermissions: () => {
      // The person picks the wallet's next account.
      wallet.accounts = [...wallet.accounts.slice(1), ...wallet.accounts.slice(0, 1)]
      return [{ parentCapability: 'eth_accounts' }]
    },
    personal_sign: ([data, address]) => {
      const account = wallet.accounts.find((candidate) => candidate.address.toLowerCase() === String(address).toLowerCase())
      if (!account || !isHex(data)) throw new Error('the wallet has no such account')
      const message = hexToString(data)
      wallet.signed.push(message)
      return account.signMessage({ message })
    },
  }
  return wallet
}

/** Lets pages of this context find a wallet: at each request, the one that `current` returns. */
export const injectWallet = async (context: BrowserContext, current: () => InjectedWallet): Promise<void> => {
  await context.exposeFunction('__wallet', (method: string, params: unknown[]) => current().answer(method, params))
  await context.addInitScript(script)
}
