import { useInfiniteQuery } from '@tanstack/react-query'
import { Link } from 'wouter'
import { paymentsQuery } from '../../api/queries.ts'
import { useSession } from '../../shell/session.tsx'
import { LinkButton } from '../../ui/button.tsx'
import { Listing } from '../../ui/listing.tsx'
import { Empty } from '../../ui/page.tsx'
import { PaymentsTable } from '../payments/payments-table.tsx'

export const recentPayments = 8

/** One row for each payment, in any status. The ledger's entries have a page of their own. */
export const RecentPayments = () => {
  const { can, ownsBalance } = useSession()
  const none = (
    <Empty
      icon="payments"
      title="No payments yet"
      actions={can('payment.create') && <LinkButton href="/payments/new">New payment</LinkButton>}
    />
  )
  return (
    <Listing
      title="Recent payments"
      actions={
        <>
          {ownsBalance && (
            <Link href="/history" className="small">
              History
            </Link>
          )}
          <Link href="/payments" className="small">
            View all
          </Link>
        </>
      }
      query={useInfiniteQuery(paymentsQuery({}, recentPayments))}
      empty={none}
      rows={4}
      whole
    >
      {(payments) => <PaymentsTable payments={payments.slice(0, recentPayments)} />}
    </Listing>
  )
}
