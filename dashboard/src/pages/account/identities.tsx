import { useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { api, call } from '../../api/client.ts'
import { hasCode } from '../../api/error.ts'
import type { Schemas } from '../../api/types.ts'
import { maskSubject, shortAddress } from '../../lib/mask.ts'
import { useSession } from '../../shell/session.tsx'
import { Button } from '../../ui/button.tsx'
import { CopyText } from '../../ui/copy.tsx'
import { Dialog } from '../../ui/dialog.tsx'
import { Card, Notice } from '../../ui/layout.tsx'
import { Item, Rows } from '../../ui/listing.tsx'
import { ProviderMark, providerNames } from '../../ui/provider-mark.tsx'
import { Time } from '../../ui/time.tsx'
import { announce } from '../../ui/toast.tsx'
import { useChange } from '../../ui/use-change.ts'
import { useWalletFlow } from '../../wallet/wallet-flow.ts'
import { WalletPicker } from '../../wallet/wallet-picker.tsx'
import { prepareSignIn } from '../sign-in/wallet-message.ts'
import { useBegan } from './began-here.tsx'
import { identityName } from './identity-name.ts'
import { Unlink } from './unlink.tsx'

/** The public route; its answer names the provider's page. */
const LinkProvider = ({ provider }: { provider: 'google' | 'github' }) => {
  const link = useChange(() => call(api.POST('/v1/accounts/me/identities', { body: { provider, return_to: '/account' } })), {
    onDone: (answer) => {
      if ('authorization_url' in answer) location.assign(answer.authorization_url)
    },
    announcesFailure: true,
  })
  const busy = link.isPending || link.isSuccess
  return (
    <button
      type="button"
      className="button button-secondary"
      aria-disabled={busy || undefined}
      onClick={() => {
        if (!busy) link.mutate()
      }}
    >
      <ProviderMark provider={provider} />
      Link {providerNames[provider]}
    </button>
  )
}

type Identity = Schemas['Identity']

const Who = ({ identity }: { identity: Identity }) => {
  if (identity.provider === 'wallet')
    return <CopyText value={identity.subject} text={shortAddress(identity.subject)} label="wallet address" />
  return <span>{identity.email ? identity.email : maskSubject(identity.subject)}</span>
}

const IdentityCard = ({ identity, onUnlink, last }: { identity: Identity; onUnlink: () => void; last: boolean }) => (
  <Item
    mark={<ProviderMark provider={identity.provider} />}
    title={
      <>
        {providerNames[identity.provider]}
        <Who identity={identity} />
      </>
    }
    note={
      <>
        Linked <Time at={identity.created_at} />
        {identity.last_used_at && (
          <>
            , last used <Time at={identity.last_used_at} />
          </>
        )}
        {identity.display_name && <>, as {identity.display_name}</>}
      </>
    }
  >
    <Button
      size="small"
      variant="danger"
      disabled={last}
      onClick={onUnlink}
      label={`Unlink ${identityName(identity)}`}
      {...(last && { describedBy: 'last-identity' })}
    >
      Unlink
    </Button>
  </Item>
)

/** The sign-in methods, and the buttons that add another. */
export const Identities = () => {
  const { account } = useSession()
  const [unlinking, setUnlinking] = useState<Identity | null>(null)
  const began = useBegan()
  const last = account.identities.length === 1
  return (
    <Card title="Sign-in methods" note="Each of them signs you in to this account." flush>
      <Rows items={account.identities}>
        {(identity) => <IdentityCard identity={identity} last={last} onUnlink={() => setUnlinking(identity)} />}
      </Rows>
      {last && (
        <div className="card-body" id="last-identity">
          <Notice tone="warn" title="Add a second way in">
            <p className="quiet">
              This is your only sign-in method. If you lose it, you lose the account. It can’t be unlinked until there is another.
            </p>
          </Notice>
        </div>
      )}
      <div className="card-footer" style={{ justifyContent: 'flex-start' }}>
        <LinkProvider provider="google" />
        <LinkProvider provider="github" />
        <LinkWallet />
      </div>
      {unlinking && <Unlink identity={unlinking} onUnlinked={began.show} onClose={() => setUnlinking(null)} />}
      {began.dialog}
    </Card>
  )
}

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

const LinkWallet = () => {
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
