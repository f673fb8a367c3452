import { useInfiniteQuery, useQuery } from '@tanstack/react-query'
import { useEffect, useRef } from 'react'
import { useLocation, useSearch } from 'wouter'
import { usePeople } from '../../api/names.ts'
import { paymentsQuery, paymentsSummaryQuery, rowsOf, type Schemas } from '../../api/queries.ts'
import { isDialogOpen, usePageKey, useShortcuts } from '../../lib/choices.ts'
import { useFilters } from '../../lib/drafts.ts'
import { countWords, moneyText, shortMoney, statusCount } from '../../lib/words.ts'
import { useSession } from '../../shell/session.tsx'
import { Button, IconButton, LinkButton, NewLink } from '../../ui/button.tsx'
import { CsvButton } from '../../ui/filter-bar.tsx'
import { Listing } from '../../ui/listing.tsx'
import { Empty, Failure, Page, SkeletonRows, StatusBadge, Tabs } from '../../ui/page.tsx'
import { Filters, foldingBatches, panelParam, usePaymentFilters } from './filters.tsx'
import { followedPayment, PaymentActions, PaymentFacts, PaymentNotices } from './payment-page.tsx'
import { PaymentsTable } from './payments-table.tsx'
import { Timeline } from './timeline.tsx'

export const PaymentsPage = () => {
  const { can, account } = useSession()
  const filters = usePaymentFilters()
  const panel = usePanel()
  const listed = foldingBatches(filters.parameters)
  const query = paymentsQuery(listed)
  const summary = useQuery(paymentsSummaryQuery(filters.parameters, 90))
  const shown = rowsOf(useInfiniteQuery(query))
  const step = (by: 1 | -1) => () => {
    const at = shown.findIndex(({ id }) => id === panel.id)
    const next = shown[at === -1 ? 0 : at + by]
    if (next) panel.open(next.id)
  }
  useShortcuts({ j: step(1), k: step(-1) })
  const create = can('payment.create') && <NewLink href="/payments/new">New payment</NewLink>
  return (
    <Page
      title="Payments"
      actions={
        <>
          <LinkButton href="/payments/batches" icon="list">
            Lists
          </LinkButton>
          <CsvButton path="/v1/payments" query={filters.parameters} name="payments" />
          {create}
        </>
      }
    >
      <SavedViews views={savedViews(account.id)} />
      <Filters filters={filters} />
      <Totals filters={filters} summary={summary.data} />
      <div className={panel.id ? 'with-panel' : undefined}>
        <Listing
          label="Payments"
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
            <PaymentsTable
              payments={payments}
              batches={listed}
              onOpen={panel.open}
              openId={panel.id}
              {...(panel.id && { without: 'all but payee' })}
              spentOn={new Map(summary.data?.by_day.map((day) => [day.date, day.amount_minor]))}
            />
          )}
        </Listing>
        {panel.id && <PaymentPanel key={panel.id} id={panel.id} onClose={panel.close} />}
      </div>
    </Page>
  )
}

type TotalsProps = { filters: ReturnType<typeof usePaymentFilters>; summary: Schemas['PaymentTotals'] | undefined }

/** Totals over everything that the filters match, not only the pages that are shown. */
const Totals = ({ filters, summary }: TotalsProps) => {
  if (!summary || summary.count === 0) return null
  return (
    <ul className="row row-wide small" aria-label="Totals">
      <li>
        <span className="strong">{countWords(summary.count, 'payment')}</span>
      </li>
      {summary.spent.count > 0 && (
        <li>
          <span className="strong">{moneyText(summary.spent.amount_minor, summary.currency)}</span> spent
        </li>
      )}
      {summary.by_status.length > 1 &&
        summary.by_status
          .filter(({ status }) => status !== 'succeeded')
          .map(({ status, count, amount_minor: amount }) => (
            <li key={status} className="quiet">
              <button type="button" className="link-button" onClick={() => filters.set('status', status)}>
                {statusCount(count, status)}
              </button>{' '}
              {moneyText(amount, summary.currency)}
            </li>
          ))}
    </ul>
  )
}

type SavedView = { label: string; path?: string; search: string }

/** Lists that people come back to. Each is an address, as every filter is. */
export const savedViews = (accountId: string): readonly SavedView[] => [
  { label: 'All', search: '' },
  { label: 'Refused', path: '/payments/refused', search: '' },
  { label: 'Problems', search: 'status=unknown,failed,returned' },
  { label: 'Mine', search: `person=${accountId}` },
]

export const SavedViews = ({ views }: { views: readonly SavedView[] }) => {
  const parameters = new URLSearchParams(useSearch())
  // The payment that is open beside the list belongs to no view.
  parameters.delete('open')
  const search = decodeURIComponent(parameters.toString())
  const [location] = useLocation()
  const tabs = views.map(({ label, path = '/payments', search: own }) => ({
    label,
    href: own === '' ? path : `${path}?${own}`,
    current: location === path && (path !== '/payments' || search === own),
  }))
  return <Tabs label="Views of payments" tabs={tabs} />
}

const wideEnough = '(min-width: 1100px)'

/** The payment that is open beside the list. It is in the address, so that going back closes it. `open` returns whether there is room. */
const usePanel = () => {
  const { get, set } = useFilters()
  const id = get(panelParam)
  return {
    id,
    open: (payment: string): boolean => {
      if (!matchMedia(wideEnough).matches) return false
      set(panelParam, payment, id !== null)
      return true
    },
    close: () => {
      set(panelParam, '', id !== null)
      document.querySelector<HTMLElement>(`a[href="/payments/${id}"]`)?.focus()
    },
  }
}

/** A payment beside its list, which keeps its place. */
const PaymentPanel = ({ id, onClose }: { id: string; onClose: () => void }) => {
  const payment = useQuery(followedPayment(id))
  const people = usePeople()
  const heading = useRef<HTMLHeadingElement>(null)
  useEffect(() => heading.current?.focus({ preventScroll: true }), [])
  // On the page, not on the panel: the focused button may be gone after its action.
  usePageKey((event) => {
    if (event.key === 'Escape' && !event.defaultPrevented && !isDialogOpen()) onClose()
  })
  const { data } = payment
  return (
    <aside className="card panel" aria-label="Payment">
      <div className="row row-between dialog-header">
        <h2 ref={heading} tabIndex={-1}>
          {data ? `${shortMoney(data.amount_minor, data.currency)} to ${data.beneficiary.display_name}` : 'Payment'}
        </h2>
        <IconButton icon="cross" label="Close" onClick={onClose} />
      </div>
      {payment.isPending && <SkeletonRows rows={3} />}
      {payment.isError && <Failure error={payment.error} onRetry={() => void payment.refetch()} />}
      {data && (
        <div className="card-body stack">
          <div className="row row-between">
            <StatusBadge status={data.status} />
            <LinkButton href={`/payments/${id}`} size="small">
              Open page
            </LinkButton>
          </div>
          <PaymentNotices payment={data} />
          <div className="row">
            <PaymentActions payment={data} />
          </div>
          <Timeline payment={data} nameOf={people} />
          <PaymentFacts payment={data} />
        </div>
      )}
    </aside>
  )
}
