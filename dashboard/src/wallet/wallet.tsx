import { type ReactNode, useState } from 'react'
import { ApiError, DeviceError, hasCode, isRecord } from '../api/error.ts'
import { toHex } from '../lib/hex.ts'
import { type Key, t } from '../lib/language.ts'
import { createStore, useStore } from '../lib/store.ts'
import { shortAddress } from '../lib/words.ts'
import { Button, MethodButton } from '../ui/button.tsx'
import { CopyButton } from '../ui/copy.tsx'
import { Icon } from '../ui/icon.tsx'
import { Failure, Notice } from '../ui/page.tsx'
import { QrCode } from '../ui/qr-code.tsx'

/** Wallet provider as in EIP-1193. */
export type Provider = { request: (call: { method: string; params?: readonly unknown[] }) => Promise<unknown> }

/** Wallet as announced by EIP-6963, in which `icon` is a data: URI. No other icon is shown. */
export type Wallet = { id: string; name: string; icon: string | null; provider: Provider }

/** The wallet works, but the page needs another account of that wallet. */
export class WrongAccountError extends DeviceError {}

const codeOf = (error: unknown): number | null =>
  typeof error === 'object' && error !== null && 'code' in error && typeof error.code === 'number' ? error.code : null

const toDeviceError = (error: unknown): DeviceError => {
  const code = codeOf(error)
  if (code === 4001) return new DeviceError(t('wallet.declined'))
  if (code === -32_002) return new DeviceError(t('wallet.open_request'))
  return new DeviceError(t('wallet.could_not'))
}

const request = async (provider: Provider, method: string, params: readonly unknown[] = []): Promise<unknown> => {
  try {
    return await provider.request({ method, params })
  } catch (error) {
    throw toDeviceError(error)
  }
}

/** The address of the wallet's current account. The wallet asks for permission the first time. */
export const connectWallet = async ({ provider }: Wallet): Promise<string> => {
  const accounts = await request(provider, 'eth_requestAccounts')
  const first: unknown = Array.isArray(accounts) ? accounts[0] : undefined
  if (typeof first !== 'string') throw new DeviceError(t('wallet.no_account'))
  return first
}

/** Lets the person pick another account, if the wallet supports it (EIP-2255). */
export const chooseAccount = async ({ provider }: Wallet): Promise<void> => {
  await request(provider, 'wallet_requestPermissions', [{ eth_accounts: {} }])
}

/** Signs the readable text unchanged (EIP-191). */
export const signText = async ({ provider }: Wallet, address: string, text: string): Promise<string> => {
  const signature = await request(provider, 'personal_sign', [`0x${toHex(new TextEncoder().encode(text))}`, address])
  if (typeof signature !== 'string' || !signature.startsWith('0x')) throw new DeviceError(t('wallet.no_signature'))
  return signature
}

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

/** The browser inside a phone's wallet app often offers only the older `window.ethereum`. */
const legacy = (): Wallet | null => {
  const provider: unknown = 'ethereum' in window ? window.ethereum : undefined
  return isProvider(provider) ? { id: 'injected', name: t('wallet.of_browser'), icon: null, provider } : null
}

export const useWallets = (): readonly Wallet[] => {
  const wallets = useStore(announced)
  if (wallets.length > 0) return wallets
  const injected = legacy()
  return injected ? [injected] : []
}

export type WalletStep = 'idle' | 'connect' | 'sign' | 'send'

type State = { step: WalletStep; wallet: Wallet | null; address: string | null; error: unknown }

export type WalletFlow = State & {
  start: (wallet: Wallet) => void
  /** Asks the wallet for another account, and starts again with it. */
  changeAccount: () => void
}

type Options<Result> = {
  /** The text to sign for an address. Only the service writes it. */
  prepare: (address: string) => Promise<string>
  send: (signed: { address: string; message: string; signature: string }) => Promise<Result>
  done: (result: Result) => void
}

/** Connects, signs and sends. Each step is shown, so that a person knows whether to look at this page or the wallet. */
export const useWalletFlow = <Result,>({ prepare, send, done }: Options<Result>): WalletFlow => {
  const [state, setState] = useState<State>({ step: 'idle', wallet: null, address: null, error: null })
  const run = async (wallet: Wallet, anew: boolean) => {
    let address: string | null = null
    try {
      setState({ step: 'connect', wallet, address, error: null })
      if (anew) await chooseAccount(wallet)
      address = await connectWallet(wallet)
      const message = await prepare(address)
      setState({ step: 'sign', wallet, address, error: null })
      const signature = await signText(wallet, address, message)
      setState({ step: 'send', wallet, address, error: null })
      const result = await send({ address, message, signature })
      setState({ step: 'idle', wallet: null, address, error: null })
      done(result)
    } catch (error) {
      setState({ step: 'idle', wallet, address, error })
    }
  }
  return {
    ...state,
    start: (wallet) => {
      if (state.step === 'idle') void run(wallet, false)
    },
    changeAccount: () => {
      if (state.step === 'idle' && state.wallet) void run(state.wallet, true)
    },
  }
}

/** Links that open this page in a wallet's own browser, for phones with the wallet app. */
const walletLinks = (page: string): readonly { name: string; href: string }[] => {
  const bare = page.replace(/^https?:\/\//, '')
  return [
    { name: 'MetaMask', href: `https://link.metamask.io/dapp/${bare}` },
    { name: 'Coinbase Wallet', href: `https://go.cb-w.com/dapp?cb_url=${encodeURIComponent(page)}` },
    { name: 'Trust Wallet', href: `https://link.trustwallet.com/open_url?coin_id=60&url=${encodeURIComponent(page)}` },
  ]
}

/** On a phone or tablet the wallet is an app. Elsewhere it is an extension, or on another device. */
const isHandheld = (): boolean => matchMedia('(pointer: coarse) and (hover: none)').matches

/** Ways to use a wallet if this browser has none: its app on this phone, or on a phone beside this screen. */
export const NoWallet = () => {
  const handheld = isHandheld()
  return (
    <Notice title={t('wallet.none')}>
      <div className="stack-s">
        {handheld ? (
          <>
            <p className="muted">{t('wallet.open_in_app')}</p>
            <ul className="stack-xs">
              {walletLinks(location.href).map(({ name, href }) => (
                <li key={name}>
                  <a className="button button-secondary button-wide" href={href} rel="noreferrer">
                    {t('wallet.open_in', { name })}
                  </a>
                </li>
              ))}
            </ul>
          </>
        ) : (
          <details>
            <summary className="muted">{t('wallet.use_phone')}</summary>
            <div className="stack-s">
              <p className="muted small">{t('wallet.scan')}</p>
              <QrCode text={location.href} label={t('wallet.qr')} />
            </div>
          </details>
        )}
        <p>
          <CopyButton value={location.href}>{t('wallet.copy_link')}</CopyButton>
        </p>
      </div>
    </Notice>
  )
}

const waiting = (step: WalletStep, { name }: Wallet): string => t(step === 'idle' ? 'wallet.send' : `wallet.${step}`, { name })

/** Shown if another account of the same wallet may be the right one. */
const WrongAccount = ({ flow }: { flow: WalletFlow }) => {
  const wrong =
    flow.error instanceof WrongAccountError ||
    hasCode(flow.error, 'invalid_signature') ||
    (flow.error instanceof ApiError && flow.error.details.reason === 'identity')
  if (!wrong || !flow.wallet || !flow.address) return null
  return (
    <p className="small muted">
      {t('wallet.uses', { address: shortAddress(flow.address) })}{' '}
      <Button size="small" onClick={flow.changeAccount}>
        {t('wallet.another', { name: flow.wallet.name })}
      </Button>
    </p>
  )
}

/** Button labels that name a wallet or provider: "Sign with …". */
export type WithLabel = Extract<Key, `${string}_with`>

type PickerProps = { flow: WalletFlow; label: WithLabel; action?: ReactNode; fallback?: ReactNode }

/** Wallets of this browser (EIP-6963), and the state of a signature by one of them. `fallback`: shown if there are none. */
export const WalletPicker = ({ flow, label, action, fallback = <NoWallet /> }: PickerProps) => {
  const wallets = useWallets()
  const busy = flow.step !== 'idle'
  return (
    <div className="stack-s">
      {wallets.length === 0 && fallback}
      {wallets.map((wallet) => {
        const active = busy && flow.wallet?.id === wallet.id
        return (
          <MethodButton
            key={wallet.id}
            mark={wallet.icon ? <img src={wallet.icon} alt="" /> : <Icon name="wallet" />}
            disabled={busy}
            busy={active}
            onClick={() => flow.start(wallet)}
          >
            {active ? waiting(flow.step, wallet) : t(label, { name: wallet.name })}
          </MethodButton>
        )
      })}
      <p className="visually-hidden" role="status">
        {busy && flow.wallet ? waiting(flow.step, flow.wallet) : ''}
      </p>
      <Failure error={flow.error} />
      <WrongAccount flow={flow} />
      {action}
    </div>
  )
}
