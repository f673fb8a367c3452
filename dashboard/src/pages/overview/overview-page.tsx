import { useSession } from '../../shell/session.tsx'
import { LinkButton } from '../../ui/button.tsx'
import { PageHeader, SkeletonRows } from '../../ui/layout.tsx'
import { Balance } from './balance.tsx'
import { FirstSteps } from './first-steps.tsx'
import { Limits } from './limits.tsx'
import { RecentPayments } from './recent-payments.tsx'
import { useReady } from './use-ready.ts'
import { Waiting } from './waiting.tsx'

export const OverviewPage = () => {
  const { can, workspace } = useSession()
  const ready = useReady()
  return (
    <div className="stack">
      <PageHeader
        title="Overview"
        lead={workspace.name}
        actions={
          (can('topup.create') || can('payment.create')) && (
            <>
              {can('topup.create') && (
                <LinkButton href="/top-up" icon="topup">
                  Top up
                </LinkButton>
              )}
              {can('payment.create') && (
                <LinkButton href="/payments/new" variant="primary" icon="plus">
                  New payment
                </LinkButton>
              )}
            </>
          )
        }
      />
      {ready ? (
        <>
          <FirstSteps />
          <Waiting />
          <Balance />
          <Limits />
          <RecentPayments />
        </>
      ) : (
        <div className="card">
          <SkeletonRows rows={6} />
        </div>
      )}
    </div>
  )
}
