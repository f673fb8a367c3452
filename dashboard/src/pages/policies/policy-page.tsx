import { useQuery } from '@tanstack/react-query'
import { policyQuery } from '../../api/queries.ts'
import type { Schemas } from '../../api/types.ts'
import { fullTime } from '../../lib/time.ts'
import { Allowed } from '../../shell/allowed.tsx'
import { LoadState } from '../../shell/load-failure.tsx'
import { useSession } from '../../shell/session.tsx'
import { Page } from '../../ui/layout.tsx'
import { MadeBy } from './made-by.tsx'
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

const leadOf = (policy: Schemas['SpendingPolicy'] | undefined) => {
  if (policy?.status === 'archived') return 'Archived: it no longer applies.'
  if (!policy?.pending_change) return null
  const { change, effective_at } = policy.pending_change
  const words = change.status === 'archived' ? 'Archiving this policy' : 'A change that makes this policy less strict'
  return `${words} waits until ${fullTime(effective_at)}, or until another approver confirms it.`
}

export const PolicyPage = ({ id }: { id: string }) => {
  const { can } = useSession()
  const policy = useQuery(policyQuery(id))
  const editable = can('policy.manage') && policy.data?.status === 'active'
  return (
    <Page title={policy.data?.name ?? 'Policy'} back={back} lead={leadOf(policy.data)}>
      <LoadState query={policy} path={`/v1/spending-policies/${id}`} />
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
