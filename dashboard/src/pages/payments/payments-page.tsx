import { useInfiniteQuery, useQuery } from '@tanstack/react-query'
import { paymentsQuery, paymentsSummaryQuery } from '../../api/queries.ts'
import { useBeneficiaries } from '../../api/use-beneficiaries.ts'
import { countWords } from '../../lib/list-words.ts'
import { moneyText } from '../../lib/money.ts'
import { statusCount } from '../../lib/status-words.ts'
import { useSession } from '../../shell/session.tsx'
import { Button, LinkButton } from '../../ui/button.tsx'
import { CsvButton } from '../../ui/csv-button.tsx'
import { Empty, PageHeader } from '../../ui/layout.tsx'
import { Listing } from '../../ui/listing.tsx'
import { Filters } from './filters.tsx'
import { usePaymentFilters } from './payment-filters.ts'
import { PaymentPanel, usePanel } from './payment-panel.tsx'
import { PaymentRows } from './payment-row.tsx'

export const PaymentsPage = () => {
  const { can } = useSession()
  const filters = usePaymentFilters()
  const beneficiaries = useBeneficiaries()
  const panel = usePanel()
  const query = useInfiniteQuery(paymentsQuery(filters.parameters))
  const create = can('payment.create') && (
    <LinkButton href="/payments/new" variant="primary" icon="plus">
      New payment
    </LinkButton>
  )
  return (
    <div className="stack">
      <PageHeader
        title="Payments"
        actions={
          <>
            <CsvButton path="/v1/payments" query={filters.parameters} name="payments" />
            {create}
          </>
        }
      />
      <Filters filters={filters} />
      <Totals filters={filters} />
      <div className={panel.id ? 'with-panel' : undefined}>
        <section className="card" aria-label="Payments">
          <Listing
            query={query}
            empty={
              filters.any ? (
                <Empty icon="search" title="No payments match" actions={<Button onClick={filters.clear}>Clear filters</Button>} />
              ) : (
                <Empty icon="payments" title="No payments yet" actions={create}>
                  Pay a phone, a business or a bank account.
                </Empty>
              )
            }
          >
            {(payments) => (
              <PaymentRows payments={payments} nameOf={beneficiaries.nameOf} onOpen={panel.open} openId={panel.id} />
            )}
          </Listing>
        </section>
        {panel.id && <PaymentPanel key={panel.id} id={panel.id} onClose={panel.close} />}
      </div>
    </div>
  )
}

/** Totals over everything that the filters match, not only the pages that are shown. */
const Totals = ({ filters }: { filters: ReturnType<typeof usePaymentFilters> }) => {
  const { data } = useQuery(paymentsSummaryQuery(filters.parameters))
  if (!data || data.count === 0) return null
  return (
    <ul className="totals" aria-label="Totals">
      <li>
        <span className="strong">{countWords(data.count, 'payment')}</span>
      </li>
      {data.spent.count > 0 && (
        <li>
          <span className="strong">{moneyText(data.spent.amount_minor, data.currency)}</span> spent
        </li>
      )}
      {data.by_status.length > 1 &&
        data.by_status.map(({ status, count, amount_minor: amount }) => (
          <li key={status} className="quiet">
            <button type="button" className="link-button" onClick={() => filters.set('status', status)}>
              {statusCount(count, status)}
            </button>{' '}
            {moneyText(amount, data.currency)}
          </li>
        ))}
    </ul>
  )
}
