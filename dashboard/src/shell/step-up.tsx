import { useSyncExternalStore } from 'react'
import { api, call } from '../api/client.ts'
import { stepUp } from '../api/step-up.ts'
import { ProviderButtons } from '../pages/sign-in/provider-buttons.tsx'
import { prepareSignIn } from '../pages/sign-in/wallet-message.ts'
import { Dialog } from '../ui/dialog.tsx'
import { useWalletFlow } from '../wallet/wallet-flow.ts'
import { WalletPicker } from '../wallet/wallet-picker.tsx'

const Asking = ({ answer }: { answer: (proven: boolean) => void }) => {
  const flow = useWalletFlow({
    prepare: prepareSignIn,
    send: ({ message, signature }) => call(api.POST('/v1/auth/wallet/verify', { body: { message, signature } })),
    done: () => answer(true),
  })
  return (
    <Dialog title="Confirm that it is you" onClose={() => answer(false)}>
      <p className="quiet">
        What an administrator changes needs a proof from the last ten minutes. Sign with a wallet of this account: what you were
        doing then goes on.
      </p>
      <WalletPicker flow={flow} verb="Confirm with" />
      <p className="quiet">Or sign in again elsewhere, come back to this page, and repeat it:</p>
      <ProviderButtons returnTo={location.pathname + location.search} />
    </Dialog>
  )
}

/** Opens when a request of any page was refused until the person proves who they are. */
export const StepUp = () => {
  const asking = useSyncExternalStore(stepUp.subscribe, stepUp.current)
  return asking && <Asking answer={asking.answer} />
}
