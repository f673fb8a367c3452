import { useQuery } from '@tanstack/react-query'
import { useEffect } from 'react'
import { approvalQuery, paymentQuery } from '../../api/queries.ts'
import type { Schemas } from '../../api/types.ts'
import { useInbox } from '../../api/use-inbox.ts'
import { usePeople } from '../../api/use-people.ts'
import { noteOpened } from '../../lib/approval-cautions.ts'
import { statusText } from '../../lib/status-words.ts'
import { LoadState } from '../../shell/load-failure.tsx'
import { LinkButton } from '../../ui/button.tsx'
import { DecisionTrace } from '../../ui/decision-trace.tsx'
import { Card, PageHeader, SkeletonText } from '../../ui/layout.tsx'
import { BatchLines } from '../batches/batch-lines.tsx'
import { Timeline } from '../payments/timeline.tsx'
import { ApprovalDetails } from './approval-details.tsx'
import { Decide } from './decide.tsx'
import { subjectWords } from './decided-words.ts'
import { DecisionCard } from './decision-card.tsx'
import { Decisions } from './decisions.tsx'
import { OtherWays } from './other-ways.tsx'
import { SignedText } from './sign-decision.tsx'
import { useReviewQueue } from './use-review-queue.ts'

/** What happened to the payment after the decision, live, and a link to the next approval. */
const PaymentOutcome = ({ approval, paymentId }: { approval: Schemas['Approval']; paymentId: string | null }) => {
  const payment = useQuery({ ...paymentQuery(paymentId ?? ''), enabled: paymentId !== null })
  const people = usePeople()
  const { forMe } = useInbox()
  return (
    <Card
      title="What happened"
      footer={forMe.length > 0 && <LinkButton href="/approvals">Next approval ({forMe.length} waiting)</LinkButton>}
    >
      {paymentId === null && (
        <p className="quiet">The list is {statusText(approval.batch?.status ?? approval.status).toLowerCase()}.</p>
      )}
      {paymentId !== null &&
        (payment.data ? <Timeline payment={payment.data} nameOf={people} /> : <SkeletonText width="80%" height={60} />)}
    </Card>
  )
}

type Approval = Schemas['Approval']

const back = { href: '/approvals', label: 'Approvals' }

export const ApprovalPage = ({ id }: { id: string }) => {
  const approval = useQuery(approvalQuery(id))
  return (
    <div className="stack decision-page">
      <PageHeader
        title={approval.data ? subjectWords(approval.data) : 'Approval'}
        back={back}
        actions={approval.data?.payment && <LinkButton href={`/payments/${approval.data.payment.id}`}>View payment</LinkButton>}
      />
      <LoadState query={approval} path={`/v1/approvals/${id}`} rows={4} />
      {approval.data && <ApprovalDetail approval={approval.data} />}
    </div>
  )
}

const ApprovalDetail = ({ approval }: { approval: Approval }) => {
  const people = usePeople()
  const queue = useReviewQueue(approval)
  const pending = approval.status === 'pending'
  useEffect(() => noteOpened(approval.id), [approval.id])
  return (
    <>
      <DecisionCard approval={approval} people={people} place={pending ? queue.place : null}>
        {pending ? (
          <Decide approval={approval} onDecided={queue.goOn} />
        ) : (
          <PaymentOutcome approval={approval} paymentId={approval.payment?.id ?? null} />
        )}
      </DecisionCard>
      {approval.batch && <BatchLines batch={approval.batch} message={approval.signing.approve} />}
      <Decisions approval={approval} people={people} />
      {pending && <OtherWays approval={approval} />}
      <ApprovalDetails approval={approval} people={people} />
      <PolicyChecks approval={approval} />
    </>
  )
}

/** While it waits, as the rules would decide it at this moment; afterwards, as they decided when it was asked for. */
const PolicyChecks = ({ approval: { payment, signing, decision_now: now } }: { approval: Approval }) => {
  if (!payment)
    return (
      <Card title="What is approved" note="The text that is signed. Its Merkle root binds every payment of the list.">
        <SignedText message={signing.approve} />
      </Card>
    )
  return (
    <Card title="Policy checks" note={now ? 'Every rule, with what is used now.' : 'Every rule, when it was asked for.'}>
      <DecisionTrace decision={now ?? payment.decision} currency={payment.currency} />
    </Card>
  )
}
