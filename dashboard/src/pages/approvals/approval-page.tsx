import { useQuery } from '@tanstack/react-query'
import { approvalQuery } from '../../api/queries.ts'
import type { Schemas } from '../../api/types.ts'
import { usePeople } from '../../api/use-people.ts'
import { LoadFailure } from '../../shell/load-failure.tsx'
import { LinkButton } from '../../ui/button.tsx'
import { DecisionTrace } from '../../ui/decision-trace.tsx'
import { Card, PageHeader, SkeletonRows } from '../../ui/layout.tsx'
import { BatchLines } from '../batches/batch-lines.tsx'
import { ApprovalSummary } from './approval-summary.tsx'
import { Decide } from './decide.tsx'
import { subjectWords } from './decided-words.ts'
import { Decisions } from './decisions.tsx'
import { PaymentOutcome } from './payment-outcome.tsx'
import { SignedText } from './sign-decision.tsx'

type Approval = Schemas['Approval']

const back = { href: '/approvals', label: 'Approvals' }

export const ApprovalPage = ({ id }: { id: string }) => {
  const approval = useQuery(approvalQuery(id))
  return (
    <div className="stack">
      <PageHeader
        title={approval.data ? subjectWords(approval.data) : 'Approval'}
        back={back}
        actions={
          approval.data?.payment ? (
            <LinkButton href={`/payments/${approval.data.payment.id}`}>View payment</LinkButton>
          ) : (
            approval.data?.batch && <LinkButton href={`/payments/batches/${approval.data.batch.id}`}>View list</LinkButton>
          )
        }
      />
      {approval.isPending && (
        <div className="card">
          <SkeletonRows rows={4} />
        </div>
      )}
      {approval.isError && (
        <LoadFailure error={approval.error} path={`/v1/approvals/${id}`} onRetry={() => void approval.refetch()} />
      )}
      {approval.data && <ApprovalDetail approval={approval.data} />}
    </div>
  )
}

const ApprovalDetail = ({ approval }: { approval: Approval }) => {
  const people = usePeople()
  const pending = approval.status === 'pending'
  return (
    <div className="split">
      <Card>
        <ApprovalSummary approval={approval} people={people} />
      </Card>
      <div className="stack split-aside">
        {pending ? (
          <Decide approval={approval} />
        ) : (
          <PaymentOutcome approval={approval} paymentId={approval.payment?.id ?? null} />
        )}
        <Decisions approval={approval} people={people} />
      </div>
      <div className="split-below">
        {approval.payment ? (
          <Card title="Policy checks" note="Every rule that was checked.">
            <DecisionTrace decision={approval.payment.decision} currency={approval.payment.currency} />
          </Card>
        ) : (
          <div className="stack">
            {approval.batch && <BatchLines batch={approval.batch} message={approval.signing.approve} />}
            <Card title="What is approved" note="The text that is signed. Its Merkle root binds every payment of the list.">
              <SignedText message={approval.signing.approve} />
            </Card>
          </div>
        )}
      </div>
    </div>
  )
}
