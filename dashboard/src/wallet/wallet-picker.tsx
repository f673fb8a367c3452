import type { ReactNode } from 'react'
import { hasCode, isTextChanged } from '../api/error.ts'
import { shortAddress } from '../lib/mask.ts'
import { Button, WayButton } from '../ui/button.tsx'
import { Icon } from '../ui/icon.tsx'
import { Failure } from '../ui/page.tsx'
import { useWallets } from './discovery.ts'
import { NoWallet } from './no-wallet.tsx'
import type { Wallet } from './provider.ts'
import type { WalletFlow, WalletStep } from './wallet-flow.ts'

const waiting = (step: WalletStep, { name }: Wallet): string => {
  if (step === 'connect') return `Connect in ${name}`
  return step === 'sign' ? `Sign the message in ${name}` : 'Checking the signature'
}

/** After a refused signature: another account of the same wallet may be the right one. */
const WrongAccount = ({ flow }: { flow: WalletFlow }) => {
  const wrong = hasCode(flow.error, 'invalid_signature') || (hasCode(flow.error, 'conflict') && !isTextChanged(flow.error))
  if (!wrong || !flow.wallet || !flow.address) return null
  return (
    <p className="small quiet">
      Signed with {shortAddress(flow.address)}.{' '}
      <Button size="small" onClick={flow.changeAccount}>
        Choose another account in {flow.wallet.name}
      </Button>
    </p>
  )
}

type PickerProps = { flow: WalletFlow; verb: string; action?: ReactNode; fallback?: ReactNode }

/** The wallets that this browser offers (EIP-6963), and the state of a signature by one of them. `fallback`: shown where it offers none. */
export const WalletPicker = ({ flow, verb, action, fallback = <NoWallet /> }: PickerProps) => {
  const wallets = useWallets()
  const busy = flow.step !== 'idle'
  return (
    <div className="stack-s">
      {wallets.length === 0 && fallback}
      {wallets.map((wallet) => {
        const active = busy && flow.wallet?.id === wallet.id
        return (
          <WayButton
            key={wallet.id}
            mark={wallet.icon ? <img src={wallet.icon} alt="" /> : <Icon name="wallet" />}
            disabled={busy}
            busy={active}
            onClick={() => flow.start(wallet)}
          >
            {active ? waiting(flow.step, wallet) : `${verb} ${wallet.name}`}
          </WayButton>
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
