import type { ReactNode } from 'react'
import type { Schemas } from '../../api/types.ts'
import { approvalSubject } from '../../lib/approval-subject.ts'
import { capitalized, countWords } from '../../lib/list-words.ts'
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

type Fact = [label: string, value: ReactNode]

const factsOfPayment = (payment: Schemas['PaymentSummary']): Fact[] => {
  const { beneficiary } = payment
  return [
    [
      'Destination',
      <span key="mask">
        {railFacts[beneficiary.payment_rail].label}, <span className="mono">{beneficiary.destination_mask}</span>
      </span>,
    ],
    ['Type', payment.payment_type === beneficiary.payment_rail ? null : typeLabel(payment.payment_type)],
    ['Account reference', payment.account_reference],
  ]
}

const factsOfBatch = (batch: Schemas['PaymentBatchSummary']): Fact[] => [
  ['Payments', countWords(batch.items_count, 'payment')],
  [
    'Merkle root',
    <span key="root" className="mono small">
      {batch.merkle_root}
    </span>,
  ],
]

/** Everything that a decision needs, the most important first. */
export const ApprovalSummary = ({ approval, people }: Props) => {
  const { workspace } = useSession()
  const { payment, batch } = approval
  const subject = approvalSubject(approval)
  const pending = approval.status === 'pending'
  return (
    <div className="stack">
      <div className="row row-between">
        <div>
          <Amount minor={subject.amountMinor} currency={subject.currency} size="big" />
          <p className="quiet">{payment ? `to ${subject.title}` : subject.title}</p>
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
          ['Purpose', payment?.narrative ?? null],
          [
            'Requested by',
            <span key="requester">
              {capitalized(requesterWords(subject.initiatedBy, people))}{' '}
              {subject.initiatedBy.label !== null && (
                <Badge tone="info" dot={false}>
                  Agent or API key
                </Badge>
              )}
            </span>,
          ],
          ['Workspace', workspace.name],
          ['Why it needs approval', subject.reason],
          ...(payment ? factsOfPayment(payment) : []),
          ...(batch ? factsOfBatch(batch) : []),
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
