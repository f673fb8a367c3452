import { useQueries, useQuery, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { Link } from 'wouter'
import { hasCode } from '../../api/error.ts'
import { api, everyPage, inWorkspace, parametersOf, type Schemas, workspacesQuery } from '../../api/queries.ts'
import { countWords, maskSubject, shortAddress } from '../../lib/words.ts'
import { useSession } from '../../shell/session.tsx'
import { Button, CopyText } from '../../ui/button.tsx'
import { Confirm, Dialog, DialogButton, useChange } from '../../ui/form.tsx'
import { Item, Rows } from '../../ui/listing.tsx'
import { Card, TextNotice, Time } from '../../ui/page.tsx'
import { identityName, ProviderMark, providerNames } from '../../ui/provider-mark.tsx'
import { announce } from '../../ui/toast.tsx'
import { useWalletFlow, WalletPicker } from '../../wallet/wallet.tsx'
import { prepareSignIn } from '../sign-in/provider-buttons.tsx'
import { type BeganHere, endQuery, outdatedByEnd, useBegan, WasItStolen } from './began-here.tsx'

/** The public route; its answer names the provider's page. */
const LinkProvider = ({ provider }: { provider: 'google' | 'github' }) => {
  const link = useChange(() => api.POST('/v1/accounts/me/identities', { body: { provider, return_to: '/account' } }), {
    onDone: (answer) => {
      if ('authorization_url' in answer) location.assign(answer.authorization_url)
    },
    announcesFailure: true,
  })
  return (
    <Button mark={<ProviderMark provider={provider} />} disabled={link.isPending || link.isSuccess} onClick={() => link.mutate()}>
      Link {providerNames[provider]}
    </Button>
  )
}

type Identity = Schemas['Identity']

const Who = ({ identity }: { identity: Identity }) => {
  if (identity.provider === 'wallet')
    return <CopyText value={identity.subject} text={shortAddress(identity.subject)} label="wallet address" />
  return <span>{identity.email ? identity.email : maskSubject(identity.subject)}</span>
}

type CardProps = { identity: Identity; last: boolean; onUnlinked: UnlinkProps['onUnlinked'] }

const IdentityCard = ({ identity, last, onUnlinked }: CardProps) => (
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
        <Time at={identity.last_used_at} before=", last used " />
        {identity.display_name && <>, as {identity.display_name}</>}
      </>
    }
  >
    <DialogButton
      size="small"
      variant="danger"
      disabled={last}
      label={`Unlink ${identityName(identity)}`}
      {...(last && { describedBy: 'last-identity' })}
      dialog={(close) => <Unlink identity={identity} onUnlinked={onUnlinked} onClose={close} />}
    >
      Unlink
    </DialogButton>
  </Item>
)

export const Identities = () => {
  const { account } = useSession()
  const began = useBegan()
  const last = account.identities.length === 1
  return (
    <Card title="Sign-in methods" note="Each of them signs you in to this account." flush>
      <Rows items={account.identities}>
        {(identity) => <IdentityCard identity={identity} last={last} onUnlinked={began.show} />}
      </Rows>
      {last && (
        <div className="card-body" id="last-identity">
          <TextNotice tone="warn" title="Add a second way in">
            This is your only sign-in method. If you lose it, you lose the account. It can’t be unlinked until there is another.
          </TextNotice>
        </div>
      )}
      <div className="row row-end card-footer" style={{ justifyContent: 'flex-start' }}>
        <LinkProvider provider="google" />
        <LinkProvider provider="github" />
        <DialogButton icon="wallet" dialog={(close) => <LinkDialog onClose={close} />}>
          Link wallet
        </DialogButton>
      </div>
      {began.dialog}
    </Card>
  )
}

const LinkDialog = ({ onClose }: { onClose: () => void }) => {
  const client = useQueryClient()
  const flow = useWalletFlow({
    prepare: prepareSignIn('link'),
    send: async ({ message, signature }) =>
      api.POST('/v1/accounts/me/identities', { body: { provider: 'wallet', message, signature } }),
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
            <TextNotice tone="info" title="This wallet belongs to another account">
              Accounts can’t be merged here. Sign in with that wallet to use its account, or link another wallet.
            </TextNotice>
          )
        }
      />
    </Dialog>
  )
}

type Relying = { mandates: number; decisions: number; isPending: boolean }

/** What ends with a wallet, in every workspace: mandates in force that it signed, and approvals that it gave to payments that are not sent yet. */
const useRelying = ({ provider, subject }: Schemas['Identity']): Relying => {
  const isWallet = provider === 'wallet'
  const { data: workspaces } = useQuery({ ...workspacesQuery, enabled: isWallet })
  const isSigner = (signer: string | null) => signer?.toLowerCase() === subject.toLowerCase()
  const read = workspaces?.data.map(({ workspace }) => workspace.id) ?? []
  return useQueries({
    queries: isWallet ? read.map((id) => signedInQuery(id)) : [],
    combine: (results) => {
      const all = results.flatMap(({ data }) => (data ? [data] : []))
      return {
        mandates: all.flatMap(({ mandates }) => mandates).filter(({ signer }) => isSigner(signer)).length,
        decisions: all
          .flatMap(({ approvals }) => approvals)
          .flatMap(({ decisions }) => decisions)
          .filter(({ decision, signer, voided_at: voided }) => decision === 'approve' && voided === null && isSigner(signer))
          .length,
        isPending: isWallet && (!workspaces || results.some(({ isPending }) => isPending)),
      }
    },
  })
}

/** What was signed in a workspace: its mandates in force, and the approvals of what is not sent yet. */
const signedInQuery = (workspaceId: string) => ({
  queryKey: ['signed', workspaceId],
  queryFn: async () => {
    const within = inWorkspace(workspaceId)
    const query = <Filter extends object>(filter: Filter, cursor: string | undefined) => ({
      query: parametersOf({ ...filter, limit: 100, cursor }),
      ...within,
    })
    const status = 'scheduled' as const
    const [mandates, pending, payments, batches] = await Promise.all([
      everyPage((cursor) => api.GET('/v1/intent-mandates', query({ status: 'active' as const }, cursor))),
      everyPage((cursor) => api.GET('/v1/approvals', query({ status: 'pending' as const }, cursor))),
      everyPage((cursor) => api.GET('/v1/payments', query({ status: [status] }, cursor))),
      everyPage((cursor) => api.GET('/v1/payment-batches', query({ status }, cursor))),
    ])
    const waiting = new Set([...payments, ...batches].flatMap(({ approval_id: id }) => (id === null ? [] : [id])))
    const isWaiting = ({ id }: Schemas['Approval']) => waiting.has(id)
    // An approval that is given is looked for only where something rests on it until its day.
    const approved = await everyPage(
      (cursor) => api.GET('/v1/approvals', query({ status: 'approved' as const }, cursor)),
      (read) => read.filter(isWaiting).length >= waiting.size - pending.filter(isWaiting).length,
    )
    return { mandates, approvals: [...pending, ...approved.filter(isWaiting)] }
  },
  // What was signed a moment ago counts too.
  staleTime: 0,
})

type UnlinkProps = {
  identity: Schemas['Identity']
  onUnlinked: (ended: { began: BeganHere; everything: boolean }) => void
  onClose: () => void
}

const Unlink = ({ identity, onUnlinked, onClose }: UnlinkProps) => {
  const [stolen, setStolen] = useState(false)
  const { mandates, decisions, isPending } = useRelying(identity)
  return (
    <Confirm
      title={`Unlink ${identityName(identity)}?`}
      action={stolen ? 'Unlink and end all of it' : 'Unlink'}
      change={() => api.DELETE('/v1/accounts/me/identities/{id}', { path: { id: identity.id }, query: endQuery(stolen) })}
      announcement={() => `${providerNames[identity.provider]} unlinked`}
      outdates={outdatedByEnd}
      onChanged={({ began_here: began }) => onUnlinked({ began, everything: stolen })}
      onClose={onClose}
    >
      <p>
        It will no longer sign you in{identity.provider === 'wallet' && ', and its signature can no longer decide approvals'}.
        Browsers signed in with it are signed out. Your other sign-in methods stay.
      </p>
      {isPending && <p>Reading what it signed…</p>}
      {mandates > 0 && (
        <p>
          {countWords(mandates, 'mandate in force was', 'mandates in force were')} signed with it and will be revoked.{' '}
          <Link href="/mandates">See mandates</Link>
        </p>
      )}
      {decisions > 0 && (
        <p>
          {countWords(decisions, 'approval of a payment', 'approvals of payments')} not sent yet will be void:{' '}
          {decisions === 1 ? 'it needs' : 'they need'} another one. <Link href="/approvals">See approvals</Link>
        </p>
      )}
      <WasItStolen stolen={stolen} onChange={setStolen} />
    </Confirm>
  )
}
