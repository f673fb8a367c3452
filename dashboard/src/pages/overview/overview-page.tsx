import { useSession } from '../../shell/session.tsx'
import { LinkButton } from '../../ui/button.tsx'
import { PageHeader } from '../../ui/layout.tsx'
import { Activity } from './activity.tsx'
import { Balance } from './balance.tsx'
import { FirstSteps } from './first-steps.tsx'
import { Waiting } from './waiting.tsx'

export const OverviewPage = () => {
  const { can, workspace } = useSession()
  return (
    <div className="stack">
      <PageHeader
        title="Overview"
        lead={workspace.name}
        actions={
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
        }
      />
      <Waiting />
      <Balance />
      <FirstSteps />
      <Activity />
    </div>
  )
}
