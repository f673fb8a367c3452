import type { ReactNode } from 'react'
import type { Schemas } from '../../api/types.ts'
import { countWords, listWords } from '../../lib/list-words.ts'
import { typeLabel } from '../../lib/rails.ts'
import { useSession } from '../../shell/session.tsx'
import { CopyButton } from '../../ui/copy.tsx'
import { Card, Facts } from '../../ui/layout.tsx'
import { ExactTime } from '../../ui/time.tsx'

type Approval = Schemas['Approval']
type Props = { approval: Approval; people: (accountId: string) => string }
type OwnFacts = Readonly<Record<string, ReactNode>>

const factsOfPayment = (payment: Schemas['PaymentSummary']): OwnFacts => ({
  Type: payment.payment_type === payment.beneficiary.payment_rail ? null : typeLabel(payment.payment_type),
  'Account reference': payment.account_reference,
})

const factsOfBatch = (batch: Schemas['PaymentBatchSummary']): OwnFacts => ({
  Payments: countWords(batch.items_count, 'payment'),
  'Merkle root': <span className="mono small">{batch.merkle_root}</span>,
})

const stillNeeded = ({ approvals_given: given, required_approvals: required, ...approval }: Approval): string =>
  [
    `${given} of ${required}`,
    ...(approval.approval_proof === 'signature' ? ['only by passkey or wallet'] : []),
    ...(approval.separation_of_duties ? ['not by the requester'] : []),
  ].join(', ')

/** Everything else about it. */
export const ApprovalDetails = ({ approval, people }: Props) => {
  const { workspace, account } = useSession()
  const { payment, batch, context } = approval
  const pending = approval.status === 'pending'
  const others = (context?.eligible_approvers ?? []).filter((id) => id !== account.id)
  return (
    <Card title="Details">
      <div className="stack">
        <Facts
          facts={{
            Workspace: workspace.name,
            ...(payment && factsOfPayment(payment)),
            ...(batch && factsOfBatch(batch)),
            Approvals: stillNeeded(approval),
            'Who else can decide': pending ? (others.length > 0 ? listWords(others.map(people), 'or') : 'No one else') : null,
          }}
        />
        <div className="row row-between faint small">
          <span>
            {pending ? 'Expires' : 'Would have expired'} <ExactTime at={approval.expires_at} />
          </span>
          <CopyButton value={approval.id}>Copy ID</CopyButton>
        </div>
      </div>
    </Card>
  )
}
