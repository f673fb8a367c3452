import { useQuery } from '@tanstack/react-query'
import { policyQuery } from '../../api/queries.ts'
import { Allowed } from '../../shell/allowed.tsx'
import { LoadState } from '../../shell/load-failure.tsx'
import { useSession } from '../../shell/session.tsx'
import { Page } from '../../ui/layout.tsx'
import { MadeBy } from './made-by.tsx'
import { PendingChange } from './pending-change.tsx'
import { PolicyDetail } from './policy-detail.tsx'
import { PolicyForm } from './policy-form.tsx'

const back = { href: '/policies', label: 'Policies' }

export const NewPolicyPage = () => (
  <Page title="New policy" back={back}>
    <Allowed permission="policy.create" action="add policies">
      <PolicyForm policy={null} />
    </Allowed>
  </Page>
)

export const PolicyPage = ({ id }: { id: string }) => {
  const { can } = useSession()
  const policy = useQuery(policyQuery(id))
  const editable = can('policy.manage') && policy.data?.status === 'active'
  return (
    <Page
      title={policy.data?.name ?? 'Policy'}
      back={back}
      lead={policy.data?.status === 'archived' ? 'Archived: it no longer applies.' : null}
    >
      <LoadState query={policy} path={`/v1/spending-policies/${id}`} />
      {policy.data?.pending_change && <PendingChange policy={policy.data} waiting={policy.data.pending_change} />}
      {/* A newer version begins the form anew: what was typed was about the older one. */}
      {policy.data &&
        (editable ? (
          <PolicyForm key={policy.data.version} policy={policy.data} />
        ) : (
          <>
            <PolicyDetail policy={policy.data} />
            <MadeBy policy={policy.data} />
          </>
        ))}
    </Page>
  )
}
