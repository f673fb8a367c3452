import { useInfiniteQuery, useQuery } from '@tanstack/react-query'
import { type ReactNode, useState } from 'react'
import { Link } from 'wouter'
import { batchQuery, type PaymentFilters, paymentsQuery, rowsOf, type Schemas } from '../../api/queries.ts'
import { t } from '../../lib/language.ts'
import { timeOfDay } from '../../lib/time.ts'
import { batchTitle, majorText, statusCount } from '../../lib/words.ts'
import { Button } from '../../ui/button.tsx'
import { Icon } from '../../ui/icon.tsx'
import { Badge, Failure, StatusBadge } from '../../ui/page.tsx'
import { RequesterMark } from './requester.tsx'

type Props = {
  /** The payment that represents its batch in the list. */
  first: Schemas['Payment']
  batchId: string
  /** Filters of the list. The opened batch shows its matching items. */
  filters: PaymentFilters
  narrow: boolean
  children: (payments: readonly Schemas['Payment'][]) => ReactNode
}

/** A batch in a list of payments: one row with its count and total, which unfolds in place. */
export const BatchRow = ({ first, batchId, filters, narrow, children }: Props) => {
  const { data: batch } = useQuery(batchQuery(batchId))
  const [open, setOpen] = useState(false)
  const width = narrow ? 3 : 5
  const values = { count: batch?.items_count ?? 0 }
  const isUnfiltered = filters.batch_items === 'first'
  return (
    <>
      <tr className="pay-row">
        <td className="pay-payee">
          <time className="pay-time" dateTime={first.created_at}>
            {timeOfDay(first.created_at)}
          </time>
          <button type="button" className="pay-link" aria-expanded={open} onClick={() => setOpen(!open)}>
            {batch ? batchTitle(batch) : t('payment_batch')} <Icon name="chevron" size={14} />
          </button>
        </td>
        {!narrow && (
          <td className="pay-purpose">
            {batch && (isUnfiltered ? t('payments', values) : t('those_that_match', { payments: t('payments', values) }))}
          </td>
        )}
        {!narrow && (
          <td className="pay-by">
            <span className="row row-tight pay-chip">
              <RequesterMark by={first.initiated_by} />
            </span>
          </td>
        )}
        <td className="figure pay-amount">{batch && isUnfiltered && majorText(batch.total_minor)}</td>
        <td className="pay-status">{batch && <Outcome status={batch.status} failed={batch.counts.failed ?? 0} />}</td>
      </tr>
      {open && <Items {...{ batchId, filters, width, children }} />}
    </>
  )
}

/** Status of the batch. Empty if every payment succeeded, as in the rows of payments. */
const Outcome = ({ status, failed }: { status: Schemas['PaymentBatch']['status']; failed: number }) => {
  if (status !== 'completed') return <StatusBadge status={status} />
  return failed > 0 && <Badge tone="bad">{statusCount(failed, 'failed')}</Badge>
}

type ItemsProps = Pick<Props, 'batchId' | 'filters' | 'children'> & { width: number }

const Items = ({ batchId, filters: { batch_items: _, ...filters }, width, children }: ItemsProps) => {
  const query = useInfiniteQuery(paymentsQuery({ ...filters, batch_id: batchId }))
  return (
    <>
      {children(rowsOf(query))}
      <tr className="pay-more">
        <td colSpan={width}>
          <Failure error={query.error} onRetry={() => void query.refetch()} />
          <span className="row">
            {(query.hasNextPage || query.isPending) && (
              <Button size="small" busy={query.isFetching} onClick={() => void query.fetchNextPage()}>
                {t('show_more')}
              </Button>
            )}
            <Link href={`/payments/batches/${batchId}`}>{t('open_list')}</Link>
          </span>
        </td>
      </tr>
    </>
  )
}
