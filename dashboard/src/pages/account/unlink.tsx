import { useInfiniteQuery } from '@tanstack/react-query'
import { Link } from 'wouter'
import { api, call } from '../../api/client.ts'
import { mandatesQuery } from '../../api/queries.ts'
import type { Schemas } from '../../api/types.ts'
import { countWords } from '../../lib/list-words.ts'
import { useSession } from '../../shell/session.tsx'
import { Confirm } from '../../ui/confirm.tsx'
import { providerNames } from '../../ui/provider-mark.tsx'
import { identityName } from './identity-name.ts'

/** Mandates in force that this wallet signed, among the newest ones. */
const useSignedMandates = ({ provider, subject }: Schemas['Identity']): number => {
  const { can } = useSession()
  const { data } = useInfiniteQuery({ ...mandatesQuery, enabled: provider === 'wallet' && can('mandate.read') })
  const mandates = data?.pages.flatMap((page) => page.data) ?? []
  return mandates.filter(({ status, signer }) => status === 'active' && signer.toLowerCase() === subject.toLowerCase()).length
}

export const Unlink = ({ identity, onClose }: { identity: Schemas['Identity']; onClose: () => void }) => {
  const mandates = useSignedMandates(identity)
  return (
    <Confirm
      title={`Unlink ${identityName(identity)}?`}
      action="Unlink"
      change={() => call(api.DELETE('/v1/accounts/me/identities/{id}', { params: { path: { id: identity.id } } }))}
      announcement={() => `${providerNames[identity.provider]} unlinked`}
      outdates={['account']}
      onClose={onClose}
    >
      <p>
        It will no longer sign you in{identity.provider === 'wallet' && ', and its signature can no longer decide approvals'}.
        Browsers signed in with it are signed out. Your other sign-in methods stay.
      </p>
      {mandates > 0 && (
        <p>
          {countWords(mandates, 'mandate in force was', 'mandates in force were')} signed with it in this workspace, and will be
          revoked. <Link href="/mandates">See mandates</Link>
        </p>
      )}
    </Confirm>
  )
}
