import { useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { api, call } from '../../api/client.ts'
import { hasCode } from '../../api/error.ts'
import { Button } from '../../ui/button.tsx'
import { Dialog } from '../../ui/dialog.tsx'
import { Notice } from '../../ui/layout.tsx'
import { announce } from '../../ui/toast.tsx'
import { useWalletFlow } from '../../wallet/wallet-flow.ts'
import { WalletPicker } from '../../wallet/wallet-picker.tsx'
import { prepareSignIn } from '../sign-in/wallet-message.ts'

const LinkDialog = ({ onClose }: { onClose: () => void }) => {
  const client = useQueryClient()
  const flow = useWalletFlow({
    prepare: prepareSignIn('link'),
    send: async ({ message, signature }) =>
      call(api.POST('/v1/accounts/me/identities', { body: { provider: 'wallet', message, signature } })),
    done: () => {
      announce('Wallet linked')
      void client.invalidateQueries({ queryKey: ['account'] })
      onClose()
    },
  })
  return (
    <Dialog title="Link a wallet" onClose={onClose}>
      <p className="quiet">Sign a message with the wallet. It can then sign you in and decide approvals.</p>
      <WalletPicker
        flow={flow}
        verb="Link"
        action={
          hasCode(flow.error, 'conflict') && (
            <Notice tone="info" title="This wallet belongs to another account">
              <p className="quiet">
                Accounts can’t be merged here. Sign in with that wallet to use its account, or link another wallet.
              </p>
            </Notice>
          )
        }
      />
    </Dialog>
  )
}

export const LinkWallet = () => {
  const [open, setOpen] = useState(false)
  return (
    <>
      <Button icon="wallet" onClick={() => setOpen(true)}>
        Link wallet
      </Button>
      {open && <LinkDialog onClose={() => setOpen(false)} />}
    </>
  )
}
