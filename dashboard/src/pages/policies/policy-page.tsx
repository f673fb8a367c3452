import { useQuery } from '@tanstack/react-query'
import { policyQuery } from '../../api/queries.ts'
import { Allowed } from '../../shell/allowed.tsx'
import { LoadFailure } from '../../shell/load-failure.tsx'
import { useSession } from '../../shell/session.tsx'
import { PageHeader, SkeletonRows } from '../../ui/layout.tsx'
import { MadeBy } from './made-by.tsx'
import { PolicyDetail } from './policy-detail.tsx'
import { PolicyForm } from './policy-form.tsx'

const back = { href: '/policies', label: 'Policies' }

export const NewPolicyPage = () => (
  <div className="stack">
    <PageHeader title="New policy" back={back} />
    <Allowed permission="policy.create" action="add policies">
      <PolicyForm policy={null} />
    </Allowed>
  </div>
)

export const PolicyPage = ({ id }: { id: string }) => {
  const { can } = useSession()
  const policy = useQuery(policyQuery(id))
  const editable = can('policy.manage') && policy.data?.status === 'active'
  return (
    <div className="stack">
      <PageHeader
        title={policy.data?.name ?? 'Policy'}
        back={back}
        lead={policy.data?.status === 'archived' && 'Archived: it no longer applies.'}
      />
      {policy.isPending && (
        <div className="card">
          <SkeletonRows rows={3} />
        </div>
      )}
      {policy.isError && (
        <LoadFailure error={policy.error} path={`/v1/spending-policies/${id}`} onRetry={() => void policy.refetch()} />
      )}
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
    </div>
  )
}
