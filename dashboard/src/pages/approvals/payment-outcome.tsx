import { useQuery } from '@tanstack/react-query'
import { paymentQuery } from '../../api/queries.ts'
import type { Schemas } from '../../api/types.ts'
import { useInbox } from '../../api/use-inbox.ts'
import { usePeople } from '../../api/use-people.ts'
import { LinkButton } from '../../ui/button.tsx'
import { Card, SkeletonText } from '../../ui/layout.tsx'
import { Timeline } from '../payments/timeline.tsx'

/** What happened to the payment after the decision, live, and a link to the next approval. */
export const PaymentOutcome = ({ approval, paymentId }: { approval: Schemas['Approval']; paymentId: string | null }) => {
  const payment = useQuery({ ...paymentQuery(paymentId ?? ''), enabled: paymentId !== null })
  const people = usePeople()
  const { forMe } = useInbox()
  return (
    <Card
      title="What happened"
      footer={forMe.length > 0 && <LinkButton href="/approvals">Next approval ({forMe.length} waiting)</LinkButton>}
    >
      {paymentId === null && <p className="quiet">The batch is {approval.batch?.status ?? approval.status}.</p>}
      {paymentId !== null &&
        (payment.data ? <Timeline payment={payment.data} nameOf={people} /> : <SkeletonText width="80%" height={60} />)}
    </Card>
  )
}
