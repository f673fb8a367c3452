import type { Schemas } from '../../api/types.ts'
import { decisionReason } from '../../lib/decision-words.ts'
import { capitalized } from '../../lib/list-words.ts'
import { railFacts, typeLabel } from '../../lib/rails.ts'
import { requesterWords } from '../../lib/requester.ts'
import { useSession } from '../../shell/session.tsx'
import { Amount } from '../../ui/amount.tsx'
import { CopyButton } from '../../ui/copy.tsx'
import { Facts } from '../../ui/layout.tsx'
import { Badge, StatusBadge } from '../../ui/status.tsx'
import { Countdown, ExactTime } from '../../ui/time.tsx'
import { Cautions, ContextFacts } from './context-facts.tsx'

type Props = { approval: Schemas['Approval']; people: (accountId: string) => string }

/** Everything that a decision needs, the most important first. */
export const ApprovalSummary = ({ approval, people }: Props) => {
  const { workspace } = useSession()
  const { payment } = approval
  const { beneficiary } = payment
  const pending = approval.status === 'pending'
  return (
    <div className="stack">
      <div className="row row-between">
        <div>
          <Amount minor={payment.amount_minor} currency={payment.currency} size="big" />
          <p className="quiet">to {beneficiary.display_name}</p>
        </div>
        {pending ? (
          <span className="badge badge-warn">
            <Countdown to={approval.expires_at} suffix=" left" />
          </span>
        ) : (
          <StatusBadge status={approval.status} />
        )}
      </div>
      {pending && <Cautions approval={approval} />}
      <Facts
        stacked
        facts={[
          ['Purpose', payment.narrative],
          [
            'Requested by',
            <span key="requester">
              {capitalized(requesterWords(payment.initiated_by, people))}{' '}
              {payment.initiated_by.label !== null && (
                <Badge tone="info" dot={false}>
                  Agent or API key
                </Badge>
              )}
            </span>,
          ],
          ['Workspace', workspace.name],
          ['Why it needs approval', decisionReason(payment.decision)],
          [
            'Destination',
            <span key="mask">
              {railFacts[beneficiary.payment_rail].label}, <span className="mono">{beneficiary.destination_mask}</span>
            </span>,
          ],
          ['Type', payment.payment_type === beneficiary.payment_rail ? null : typeLabel(payment.payment_type)],
          ['Account reference', payment.account_reference],
          [
            'Approvals',
            `${approval.approvals_given} of ${approval.required_approvals}${approval.separation_of_duties ? '. The requester can’t approve it' : ''}`,
          ],
        ]}
      />
      <ContextFacts approval={approval} people={people} />
      <div className="row row-between faint small">
        <span>
          {pending ? 'Expires' : 'Would have expired'} <ExactTime at={approval.expires_at} />
        </span>
        <CopyButton value={approval.id}>Copy ID</CopyButton>
      </div>
    </div>
  )
}
