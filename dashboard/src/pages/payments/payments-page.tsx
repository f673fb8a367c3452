import { useInfiniteQuery, useQuery } from '@tanstack/react-query'
import { useEffect, useRef } from 'react'
import { usePeople } from '../../api/names.ts'
import { paymentsQuery, paymentsSummaryQuery, rowsOf, type Schemas } from '../../api/queries.ts'
import { isDialogOpen, usePageKey, useShortcuts } from '../../lib/choices.ts'
import { useFilters } from '../../lib/drafts.ts'
import { rich, t } from '../../lib/language.ts'
import { moneyText, shortMoney, statusCount } from '../../lib/words.ts'
import { useSession } from '../../shell/session.tsx'
import { Button, IconButton, LinkButton, NewLink } from '../../ui/button.tsx'
import { CsvButton } from '../../ui/filter-bar.tsx'
import { Listing } from '../../ui/listing.tsx'
import { Empty, Failure, Page, SkeletonRows, StatusBadge } from '../../ui/page.tsx'
import { Filters, foldingBatches, panelParam, usePaymentFilters } from './filters.tsx'
import { followedPayment, PaymentActions, PaymentFacts, PaymentNotices } from './payment-page.tsx'
import { PaymentsTable } from './payments-table.tsx'
import { SavedViews } from './saved-views.tsx'
import { tPay } from './texts.ts'
import { Timeline } from './timeline.tsx'

export const PaymentsPage = () => {
  const { can } = useSession()
  const filters = usePaymentFilters()
  const panel = usePanel()
  const listed = foldingBatches(filters.parameters)
  const query = paymentsQuery(listed)
  const summary = useQuery(paymentsSummaryQuery(filters.parameters, 90))
  const shown = rowsOf(useInfiniteQuery(query))
  const moveBy = (by: 1 | -1) => () => {
    const index = shown.findIndex(({ id }) => id === panel.id)
    const next = shown[index === -1 ? 0 : index + by]
    if (next) panel.open(next.id)
  }
  useShortcuts({ j: moveBy(1), k: moveBy(-1) })
  const create = can('payment.create') && <NewLink href="/payments/new">{t('new_payment')}</NewLink>
  return (
    <Page
      title={t('nav.payments')}
      actions={
        <>
          <LinkButton href="/payments/batches" icon="list">
            {t('batches')}
          </LinkButton>
          <CsvButton path="/v1/payments" query={filters.parameters} name="payments" />
          {create}
        </>
      }
    >
      <SavedViews />
      <Filters filters={filters} />
      <Totals filters={filters} summary={summary.data} />
      <div className={panel.id ? 'with-panel' : undefined}>
        <Listing
          label={t('nav.payments')}
          query={query}
          empty={
            filters.any ? (
              <Empty
                icon="search"
                title={t('no_payments_match')}
                actions={<Button onClick={filters.clear}>{t('clear_filters')}</Button>}
              />
            ) : (
              <Empty icon="payments" title={t('no_payments')} actions={create}>
                {tPay('payments.empty_note')}
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

/** Totals of all matching payments, not only the shown pages. */
const Totals = ({ filters, summary }: TotalsProps) => {
  if (!summary || summary.count === 0) return null
  return (
    <ul className="row row-wide small" aria-label={tPay('totals')}>
      <li>
        <span className="strong">{t('payments', { count: summary.count })}</span>
      </li>
      {summary.spent.count > 0 && (
        <li>
          {rich('spent_of', {
            amount: <span className="strong">{moneyText(summary.spent.amount_minor, summary.currency)}</span>,
          })}
        </li>
      )}
      {summary.by_status.length > 1 &&
        summary.by_status
          .filter(({ status }) => status !== 'succeeded')
          .map(({ status, count, amount_minor: amount }) => (
            <li key={status} className="muted">
              <button type="button" className="link-button" onClick={() => filters.set('status', status)}>
                {statusCount(count, status)}
              </button>{' '}
              {moneyText(amount, summary.currency)}
            </li>
          ))}
    </ul>
  )
}

const wideEnough = '(min-width: 1100px)'

/** The payment open beside the list. It is in the URL, so the back button closes it. `open` returns whether there is room. */
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

/** A payment beside its list, which keeps its scroll position. */
const PaymentPanel = ({ id, onClose }: { id: string; onClose: () => void }) => {
  const payment = useQuery(followedPayment(id))
  const people = usePeople()
  const heading = useRef<HTMLHeadingElement>(null)
  useEffect(() => heading.current?.focus({ preventScroll: true }), [])
  // Listens on the page, because the focused button may be gone after its action.
  usePageKey((event) => {
    if (event.key === 'Escape' && !event.defaultPrevented && !isDialogOpen()) onClose()
  })
  const { data } = payment
  return (
    <aside className="card panel" aria-label={t('payment')}>
      <div className="row row-between dialog-header">
        <h2 ref={heading} tabIndex={-1}>
          {data
            ? t('to_payee', { amount: shortMoney(data.amount_minor, data.currency), payee: data.beneficiary.display_name })
            : t('payment')}
        </h2>
        <IconButton icon="cross" label={t('close')} onClick={onClose} />
      </div>
      {payment.isPending && <SkeletonRows rows={3} />}
      {payment.isError && <Failure error={payment.error} onRetry={() => void payment.refetch()} />}
      {data && (
        <div className="card-body stack">
          <div className="row row-between">
            <StatusBadge status={data.status} />
            <LinkButton href={`/payments/${id}`} size="small">
              {tPay('open_page')}
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
