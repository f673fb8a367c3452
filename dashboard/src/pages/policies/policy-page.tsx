import { useQuery } from '@tanstack/react-query'
import { policyQuery } from '../../api/queries.ts'
import { Failure } from '../../ui/failure.tsx'
import { PageHeader, SkeletonRows } from '../../ui/layout.tsx'
import { PolicyForm } from './policy-form.tsx'

const back = { href: '/policies', label: 'Policies' }

export const NewPolicyPage = () => (
  <div className="stack">
    <PageHeader title="New policy" back={back} />
    <PolicyForm policy={null} />
  </div>
)

export const PolicyPage = ({ id }: { id: string }) => {
  const policy = useQuery(policyQuery(id))
  return (
    <div className="stack">
      <PageHeader title={policy.data?.name ?? 'Policy'} back={back} lead={policy.data && `Version ${policy.data.version}`} />
      {policy.isPending && (
        <div className="card">
          <SkeletonRows rows={3} />
        </div>
      )}
      {policy.isError && <Failure error={policy.error} onRetry={() => void policy.refetch()} />}
      {/* A newer version begins the form anew: what was typed was about the older one. */}
      {policy.data && <PolicyForm key={policy.data.version} policy={policy.data} />}
    </div>
  )
}
