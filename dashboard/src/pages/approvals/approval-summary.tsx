import type { Schemas } from '../../api/types.ts'
import { decisionReason } from '../../lib/decision-words.ts'
import { capitalized } from '../../lib/list-words.ts'
import { railLabels, typeLabel } from '../../lib/rails.ts'
import { Amount } from '../../ui/amount.tsx'
import { CopyText } from '../../ui/copy.tsx'
import { Facts, Notice } from '../../ui/layout.tsx'
import { Badge, StatusBadge } from '../../ui/status.tsx'
import { Countdown, ExactTime } from '../../ui/time.tsx'

/** Everything that a decision is about, the most important first. */
export const ApprovalSummary = ({ approval, asker }: { approval: Schemas['Approval']; asker: string }) => {
  const { payment } = approval
  const { beneficiary } = payment
  return (
    <div className="stack">
      <div className="row row-between">
        <div>
          <Amount minor={payment.amount_minor} currency={payment.currency} size="big" />
          <p className="quiet">to {beneficiary.display_name}</p>
        </div>
        {approval.status === 'pending' ? (
          <span className="badge badge-warn">
            <Countdown to={approval.expires_at} /> left
          </span>
        ) : (
          <StatusBadge status={approval.status} />
        )}
      </div>
      {beneficiary.first_payment && (
        <Notice tone="warn" title="First payment to this destination">
          <p className="quiet">Nothing was ever paid to it from this workspace. Make sure that it is who you think.</p>
        </Notice>
      )}
      <Facts
        stacked
        facts={[
          [
            'Asked by',
            payment.initiated_by.label ? (
              <>
                {asker}{' '}
                <Badge key="agent" tone="info" dot={false}>
                  Agent or API key
                </Badge>
              </>
            ) : (
              capitalized(asker)
            ),
          ],
          ['Beneficiary', beneficiary.display_name],
          [
            'Destination',
            <span key="mask" className="mono">
              {beneficiary.destination_mask}
            </span>,
          ],
          ['By', railLabels[beneficiary.payment_rail]],
          ['Type', payment.payment_type === beneficiary.payment_rail ? null : typeLabel(payment.payment_type)],
          ['Account reference', payment.account_reference],
          ['For', payment.narrative],
          ['Why it asks', decisionReason(payment.decision, payment.currency)],
          [
            'Approvals',
            `${approval.approvals_given} of ${approval.required_approvals} given${approval.separation_of_duties ? '; not by whoever started it' : ''}`,
          ],
          ['Expires', <ExactTime key="expires" at={approval.expires_at} />],
          ['Id', <CopyText key="id" value={approval.id} label="approval id" />],
        ]}
      />
    </div>
  )
}
