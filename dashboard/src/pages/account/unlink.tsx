import { useQueries, useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { Link } from 'wouter'
import { api, call, inWorkspace } from '../../api/client.ts'
import { everyPage } from '../../api/every-page.ts'
import { parametersOf } from '../../api/parameters.ts'
import { workspacesQuery } from '../../api/queries.ts'
import type { Schemas } from '../../api/types.ts'
import { countWords } from '../../lib/list-words.ts'
import { Confirm } from '../../ui/confirm.tsx'
import { providerNames } from '../../ui/provider-mark.tsx'
import { type BeganHere, endQuery, outdatedByEnd, WasItStolen } from './began-here.tsx'
import { identityName } from './identity-name.ts'

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
      params: { query: parametersOf({ ...filter, limit: 100, cursor }) },
      ...within,
    })
    const status = 'scheduled' as const
    const [mandates, pending, payments, batches] = await Promise.all([
      everyPage((cursor) => call(api.GET('/v1/intent-mandates', query({ status: 'active' as const }, cursor)))),
      everyPage((cursor) => call(api.GET('/v1/approvals', query({ status: 'pending' as const }, cursor)))),
      everyPage((cursor) => call(api.GET('/v1/payments', query({ status: [status] }, cursor)))),
      everyPage((cursor) => call(api.GET('/v1/payment-batches', query({ status }, cursor)))),
    ])
    const waiting = new Set([...payments, ...batches].flatMap(({ approval_id: id }) => (id === null ? [] : [id])))
    const isWaiting = ({ id }: Schemas['Approval']) => waiting.has(id)
    // An approval that is given is looked for only where something rests on it until its day.
    const approved = await everyPage(
      (cursor) => call(api.GET('/v1/approvals', query({ status: 'approved' as const }, cursor))),
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

export const Unlink = ({ identity, onUnlinked, onClose }: UnlinkProps) => {
  const [stolen, setStolen] = useState(false)
  const { mandates, decisions, isPending } = useRelying(identity)
  return (
    <Confirm
      title={`Unlink ${identityName(identity)}?`}
      action={stolen ? 'Unlink and end all of it' : 'Unlink'}
      change={() =>
        call(api.DELETE('/v1/accounts/me/identities/{id}', { params: { path: { id: identity.id }, query: endQuery(stolen) } }))
      }
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
