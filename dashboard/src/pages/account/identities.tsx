import { useQueries, useQuery, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { Link } from 'wouter'
import { hasCode } from '../../api/error.ts'
import { api, everyPage, inWorkspace, parametersOf, type Schemas, workspacesQuery } from '../../api/queries.ts'
import { t } from '../../lib/language.ts'
import { maskSubject, shortAddress } from '../../lib/words.ts'
import { useSession } from '../../shell/session.tsx'
import { Button } from '../../ui/button.tsx'
import { CopyText } from '../../ui/copy.tsx'
import { Confirm, Dialog, DialogButton, useChange } from '../../ui/form.tsx'
import { Item, Rows } from '../../ui/listing.tsx'
import { Card, TextNotice, Time } from '../../ui/page.tsx'
import { identityName, ProviderMark, providerNames } from '../../ui/provider-mark.tsx'
import { announce } from '../../ui/toast.tsx'
import { useWalletFlow, WalletPicker } from '../../wallet/wallet.tsx'
import { prepareSignIn } from '../sign-in/provider-buttons.tsx'
import { type BeganHere, CompromiseField, endQuery, outdatedByEnd, useStartedDialog } from './began-here.tsx'
import { richAccount, tAccount } from './texts.ts'

/** Links a provider through the public API, which answers with the provider's URL. */
const LinkProvider = ({ provider }: { provider: 'google' | 'github' }) => {
  const link = useChange(() => api.POST('/v1/accounts/me/identities', { body: { provider, return_to: '/account' } }), {
    onDone: (answer) => {
      if ('authorization_url' in answer && answer.authorization_url) location.assign(answer.authorization_url)
      // The browser repeated a request whose answer was lost. The service answers a repetition without the URL.
      else link.mutate()
    },
    announcesFailure: true,
  })
  return (
    <Button mark={<ProviderMark provider={provider} />} disabled={link.isPending || link.isSuccess} onClick={() => link.mutate()}>
      {tAccount('link_provider', { provider: providerNames[provider] })}
    </Button>
  )
}

type Identity = Schemas['Identity']

const IdentityLabel = ({ identity }: { identity: Identity }) => {
  if (identity.provider === 'wallet')
    return <CopyText value={identity.subject} text={shortAddress(identity.subject)} label={tAccount('wallet_address')} />
  return <span>{identity.email ? identity.email : maskSubject(identity.subject)}</span>
}

type CardProps = { identity: Identity; isOnly: boolean; onUnlinked: UnlinkProps['onUnlinked'] }

const IdentityCard = ({ identity, isOnly, onUnlinked }: CardProps) => (
  <Item
    mark={<ProviderMark provider={identity.provider} />}
    title={
      <>
        {providerNames[identity.provider]}
        <IdentityLabel identity={identity} />
      </>
    }
    note={richAccount('linked_at', {
      at: <Time at={identity.created_at} />,
      used: <Time at={identity.last_used_at} before={tAccount('last_used')} />,
      name: identity.display_name && tAccount('as_name', { name: identity.display_name }),
    })}
  >
    <DialogButton
      size="small"
      variant="danger"
      disabled={isOnly}
      label={tAccount('unlink.what', { method: identityName(identity) })}
      {...(isOnly && { describedBy: 'last-identity' })}
      dialog={(close) => <Unlink identity={identity} onUnlinked={onUnlinked} onClose={close} />}
    >
      {tAccount('unlink')}
    </DialogButton>
  </Item>
)

export const Identities = () => {
  const { account } = useSession()
  const began = useStartedDialog()
  const isOnly = account.identities.length === 1
  return (
    <Card title={tAccount('methods')} note={tAccount('methods.note')} flush>
      <Rows items={account.identities}>
        {(identity) => <IdentityCard identity={identity} isOnly={isOnly} onUnlinked={began.show} />}
      </Rows>
      {isOnly && (
        <div className="card-body" id="last-identity">
          <TextNotice tone="warn" title={t('nav.second_way')}>
            {tAccount('methods.only')}
          </TextNotice>
        </div>
      )}
      <div className="row row-end card-footer" style={{ justifyContent: 'flex-start' }}>
        <LinkProvider provider="google" />
        <LinkProvider provider="github" />
        <DialogButton icon="wallet" dialog={(close) => <LinkDialog onClose={close} />}>
          {tAccount('link_wallet')}
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
      announce(tAccount('wallet_linked'))
      void client.invalidateQueries({ queryKey: ['account'] })
      onClose()
    },
  })
  return (
    <Dialog title={tAccount('link_a_wallet')} onClose={onClose}>
      <p className="muted">{tAccount('link_wallet.note')}</p>
      <WalletPicker
        flow={flow}
        label="link_with"
        action={
          hasCode(flow.error, 'conflict') && (
            <TextNotice tone="info" title={tAccount('wallet_taken')}>
              {tAccount('wallet_taken.note')}
            </TextNotice>
          )
        }
      />
    </Dialog>
  )
}

type DependentSignatures = { mandates: number; decisions: number; isPending: boolean; error: unknown }

/** Counts the signatures that end with a wallet, in all workspaces: active mandates, and approvals of unsent payments. */
const useDependentSignatures = ({ provider, subject }: Schemas['Identity']): DependentSignatures => {
  const isWallet = provider === 'wallet'
  const { data: workspaces, error } = useQuery({ ...workspacesQuery, enabled: isWallet })
  const isSigner = (signer: string | null) => signer?.toLowerCase() === subject.toLowerCase()
  const read = workspaces?.data.map(({ workspace }) => workspace.id) ?? []
  return useQueries({
    queries: isWallet ? read.map((id) => countedSignaturesQuery(id)) : [],
    combine: (results) => {
      const all = results.flatMap(({ data }) => (data ? [data] : []))
      return {
        mandates: all.flatMap(({ mandates }) => mandates).filter(({ signer }) => isSigner(signer)).length,
        decisions: all
          .flatMap(({ approvals }) => approvals)
          .flatMap(({ decisions }) => decisions)
          .filter(({ decision, signer, voided_at: voided }) => decision === 'approve' && voided === null && isSigner(signer))
          .length,
        isPending: isWallet && !error && (!workspaces || results.some(({ isPending }) => isPending)),
        error: error ?? results.find(({ isError }) => isError)?.error ?? null,
      }
    },
  })
}

/** Signatures that still count in a workspace: active mandates, and approvals of unsent payments. */
const countedSignaturesQuery = (workspaceId: string) => ({
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
    // Loads approvals in status `approved` only until those of all scheduled payments are found.
    const approved = await everyPage(
      (cursor) => api.GET('/v1/approvals', query({ status: 'approved' as const }, cursor)),
      (read) => read.filter(isWaiting).length >= waiting.size - pending.filter(isWaiting).length,
    )
    return { mandates, approvals: [...pending, ...approved.filter(isWaiting)] }
  },
  // Always reloaded, because a recent signature counts too.
  staleTime: 0,
})

type UnlinkProps = {
  identity: Schemas['Identity']
  onUnlinked: (ended: { began: BeganHere; everything: boolean }) => void
  onClose: () => void
}

const Unlink = ({ identity, onUnlinked, onClose }: UnlinkProps) => {
  const [stolen, setStolen] = useState(false)
  const { mandates, decisions, isPending, error } = useDependentSignatures(identity)
  return (
    <Confirm
      title={tAccount('unlink.title', { method: identityName(identity) })}
      action={stolen ? tAccount('unlink.all') : tAccount('unlink')}
      change={() => api.DELETE('/v1/accounts/me/identities/{id}', { path: { id: identity.id }, query: endQuery(stolen) })}
      announcement={() => tAccount('unlinked', { value: providerNames[identity.provider] })}
      invalidates={outdatedByEnd}
      onChanged={({ began_here: began }) => onUnlinked({ began, everything: stolen })}
      onClose={onClose}
    >
      <p>{tAccount(identity.provider === 'wallet' ? 'unlink.wallet_note' : 'unlink.note')}</p>
      {isPending && <p>{tAccount('reading')}</p>}
      {error !== null && (
        <TextNotice tone="warn" title={tAccount('unlink.unread')} live>
          {tAccount('unlink.unread_note')}
        </TextNotice>
      )}
      {mandates > 0 && (
        <p>
          {richAccount('unlink.mandates', { count: mandates, link: <Link href="/mandates">{tAccount('see_mandates')}</Link> })}
        </p>
      )}
      {decisions > 0 && (
        <p>
          {richAccount('unlink.approvals', {
            count: decisions,
            link: <Link href="/approvals">{tAccount('see_approvals')}</Link>,
          })}
        </p>
      )}
      <CompromiseField stolen={stolen} onChange={setStolen} />
    </Confirm>
  )
}
