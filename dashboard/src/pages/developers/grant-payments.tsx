import { useInfiniteQuery, useQuery } from '@tanstack/react-query'
import { Link } from 'wouter'
import { paymentsQuery, paymentsSummaryQuery } from '../../api/queries.ts'
import type { Schemas } from '../../api/types.ts'
import { countWords } from '../../lib/list-words.ts'
import { useSession } from '../../shell/session.tsx'
import { DayChart } from '../../ui/day-chart.tsx'
import { Card, Empty } from '../../ui/layout.tsx'
import { Listing } from '../../ui/listing.tsx'
import { PaymentsTable } from '../payments/payments-table.tsx'

/** Its payments, by day and one by one. They belong to its workspace, so they are shown only there. */
export const GrantPayments = ({ grant }: { grant: Schemas['Grant'] }) => {
  const { workspace, can } = useSession()
  if (grant.workspace_id !== workspace.id || !can('payment.read')) return null
  return <Payments grantId={grant.id} />
}

const Payments = ({ grantId }: { grantId: string }) => {
  const { currency } = useSession()
  const filter = { grant_id: grantId }
  const summary = useQuery(paymentsSummaryQuery(filter))
  const days = summary.data?.by_day.map(({ date, amount_minor }) => ({ date, up: amount_minor })) ?? []
  return (
    <>
      {summary.data && summary.data.count > 0 && (
        <Card title="Spent by day" note="Sent or being sent, last 30 days">
          <DayChart days={days} currency={currency} names={{ up: 'Spent' }} />
        </Card>
      )}
      <Card
        title="Payments"
        note={summary.data && countWords(summary.data.count, 'payment')}
        actions={
          <Link href={`/payments?agent=${grantId}`} className="small">
            View all
          </Link>
        }
        flush
      >
        <Listing
          query={useInfiniteQuery(paymentsQuery(filter, 10))}
          rows={3}
          whole
          empty={<Empty icon="payments" title="No payments yet" />}
        >
          {(payments) => <PaymentsTable payments={payments} without="requester" />}
        </Listing>
      </Card>
    </>
  )
}
