import { useState } from 'react'
import { chooseAccount, connectWallet, signText, type Wallet } from './provider.ts'

export type WalletStep = 'idle' | 'connect' | 'sign' | 'send'

type Signed = { address: string; message: string; signature: string }

type State = { step: WalletStep; wallet: Wallet | null; address: string | null; error: unknown }

export type WalletFlow = State & {
  start: (wallet: Wallet) => void
  /** Back to the choice of wallets, with a request to the wallet for another account. */
  changeAccount: () => void
}

type Options<Result> = {
  /** The text to sign for this address; only the service makes it. */
  prepare: (address: string) => Promise<string>
  send: (signed: Signed) => Promise<Result>
  done: (result: Result) => void
}

/** Connect, sign, send: each step is shown, so that a person knows whether to look at this page or at the wallet. */
export const useWalletFlow = <Result>({ prepare, send, done }: Options<Result>): WalletFlow => {
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
