import { useInfiniteQuery, useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { Link } from 'wouter'
import { usePeople } from '../../api/names.ts'
import { api, approvalQuery, batchPaymentsQuery, batchQuery, rowsOf, type Schemas } from '../../api/queries.ts'
import { useEvery } from '../../api/use-every.ts'
import { richBatch, tBatch } from '../../lib/batch-texts.ts'
import { useDebounced } from '../../lib/drafts.ts'
import { failureReason } from '../../lib/failure-texts.ts'
import { t } from '../../lib/language.ts'
import {
  batchTitle,
  capitalized,
  feeWords,
  isPaymentStatus,
  listWords,
  majorText,
  type PaymentStatus,
  statusCount,
  statusText,
} from '../../lib/words.ts'
import { LoadState } from '../../shell/load-state.tsx'
import { useSession } from '../../shell/session.tsx'
import { LinkButton } from '../../ui/button.tsx'
import { CopyButton } from '../../ui/copy.tsx'
import { SelectField, TextField } from '../../ui/field.tsx'
import { CsvButton } from '../../ui/filter-bar.tsx'
import { ConfirmButton } from '../../ui/form.tsx'
import { Table } from '../../ui/listing.tsx'
import {
  Amount,
  Card,
  Countdown,
  Empty,
  ExactTime,
  Facts,
  Failure,
  Notice,
  Page,
  SkeletonCard,
  SkeletonRows,
  StatusBadge,
} from '../../ui/page.tsx'
import { VirtualRows } from '../../ui/virtual-rows.tsx'
import { useReasonCannotDecide } from '../approvals/decide.tsx'
import { Requester } from '../payments/requester.tsx'
import { ApprovalTimeline } from '../payments/timeline.tsx'

type Batch = Schemas['PaymentBatch']

const back = { href: '/payments/batches', label: tBatch('batches') }

/** Whether the status can still change by itself. A batch with an unknown payment counts as processing. */
const isBatchOpen = ({ status }: Batch): boolean => ['scheduled', 'pending_approval', 'processing'].includes(status)

export const BatchPage = ({ id }: { id: string }) => {
  // The stream reports each payment; polling covers a missed event.
  const batch = useQuery({
    ...batchQuery(id),
    refetchInterval: ({ state }) => (state.data && isBatchOpen(state.data) ? 5_000 : false),
  })
  return (
    <Page title={batch.data?.name ?? t('payment_batch')} back={back} actions={batch.data && <Actions batch={batch.data} />}>
      <LoadState query={batch} apiPath={`/v1/payment-batches/${id}`} rows={4} />
      {batch.data && <BatchDetail batch={batch.data} />}
    </Page>
  )
}

const Actions = ({ batch }: { batch: Batch }) => {
  const { can } = useSession()
  const waits = batch.status === 'pending_approval' || batch.status === 'scheduled'
  return (
    <>
      <CsvButton path={`/v1/payment-batches/${batch.id}/lines`} query={{}} name={`${batch.name ?? batch.id}-results`} />
      {batch.approval_id && <LinkButton href={`/approvals/${batch.approval_id}`}>{tBatch('view_approval')}</LinkButton>}
      {!waits && can('payment.create') && (
        <LinkButton href={`/payments/batches/new?again=${batch.id}`}>{tBatch('pay_again')}</LinkButton>
      )}
      <ConfirmButton
        button={{ variant: 'ghost', children: tBatch('cancel'), offered: waits && can('payment.create') }}
        title={tBatch('cancel.title')}
        action={tBatch('cancel')}
        keep={tBatch('cancel.keep')}
        change={() => api.POST('/v1/payment-batches/{id}/cancel', { path: { id: batch.id } })}
        announcement={() => tBatch('cancel.done')}
        invalidates={['payment', 'payments', 'approval', 'approvals', 'inbox', 'account']}
      >
        <p>{tBatch('cancel.note')}</p>
      </ConfirmButton>
    </>
  )
}

const BatchDetail = ({ batch }: { batch: Batch }) => {
  const { can } = useSession()
  const readable = batch.approval_id !== null && can('approval.read')
  const { data: approval, isLoading } = useQuery({ ...approvalQuery(batch.approval_id ?? ''), enabled: readable })
  // Waits for the approval, which is shown first: if it came later, it would push down everything below.
  if (isLoading) return <SkeletonCard rows={4} />
  return (
    <>
      {batch.status === 'pending_approval' && approval?.status === 'pending' && <Review approval={approval} />}
      <Progress batch={batch} approval={approval} />
      <Items batch={batch} />
      {approval && <ApprovalTimeline approval={approval} />}
    </>
  )
}

/** Links to the approval's page, which shows the exceptions first and has the decision buttons. */
const Review = ({ approval }: { approval: Schemas['Approval'] }) => {
  const cannotDecide = useReasonCannotDecide(approval)
  return (
    <Notice tone="warn" title={tBatch('waits')}>
      <p className="muted">
        {richBatch('waits.left', {
          hindrance: cannotDecide ?? tBatch('waits.look'),
          countdown: <Countdown to={approval.expires_at} bare />,
        })}
      </p>
      <div className="row">
        <LinkButton href={`/approvals/${approval.id}`} variant={cannotDecide ? 'secondary' : 'primary'}>
          {cannotDecide ? tBatch('view_approval') : tBatch('review')}
        </LinkButton>
      </div>
    </Notice>
  )
}

const openPaymentStatuses: readonly PaymentStatus[] = ['scheduled', 'pending_approval', 'processing', 'unknown']

const statusesIn = ({ counts }: Batch): PaymentStatus[] => Object.keys(counts).filter(isPaymentStatus)

const Progress = ({ batch, approval }: { batch: Batch; approval: Schemas['Approval'] | undefined }) => {
  const open = openPaymentStatuses.reduce((count, status) => count + (batch.counts[status] ?? 0), 0)
  const ended = batch.items_count - open
  const part = ended / batch.items_count
  const words = statusesIn(batch).map((status) => statusCount(batch.counts[status] ?? 0, status))
  return (
    <Card>
      <div className="row row-between">
        <div>
          <Amount minor={batch.total_minor} currency={batch.currency} size="big" />
          <p className="muted">{t('payments', { count: batch.items_count })}</p>
        </div>
        <StatusBadge status={batch.status} />
      </div>
      <div
        className="meter"
        role="progressbar"
        aria-label={tBatch('ended')}
        aria-valuemin={0}
        aria-valuemax={batch.items_count}
        aria-valuenow={ended}
        aria-valuetext={tBatch('ended_of', { ended, items_count: batch.items_count })}
      >
        <span style={{ width: `${part * 100}%` }} />
      </div>
      <p aria-live="polite">{words.join(', ')}</p>
      <Facts
        facts={{
          [t('requested_by')]: <RequestedBy batch={batch} />,
          [tBatch('fees')]: feeWords(batch.total_minor, batch.fees_minor, batch.currency),
          [batch.status === 'rejected' ? tBatch('rejected_by') : tBatch('approved_by')]: approval && (
            <Decided approval={approval} decision={batch.status === 'rejected' ? 'reject' : 'approve'} />
          ),
          [tBatch('pays_again')]: batch.again_of && <Earlier id={batch.again_of} />,
          [tBatch('sent_at')]: batch.execute_at && <ExactTime at={batch.execute_at} />,
          [tBatch('created')]: <ExactTime at={batch.created_at} />,
          [tBatch('ended_at')]: batch.completed_at && <ExactTime at={batch.completed_at} />,
          '': <CopyButton value={batch.id}>{tBatch('copy_id')}</CopyButton>,
        }}
      />
    </Card>
  )
}

const Earlier = ({ id }: { id: string }) => {
  const { data } = useQuery(batchQuery(id))
  return data && <Link href={`/payments/batches/${id}`}>{batchTitle(data)}</Link>
}

/** Person, key or agent that requested the batch. Only the payments of the batch name a key or an agent. */
const RequestedBy = ({ batch }: { batch: Batch }) => {
  const { data } = useInfiniteQuery(batchPaymentsQuery(batch.id, {}))
  return <Requester by={data?.pages[0]?.data[0]?.initiated_by ?? { ...batch.initiated_by, label: null }} />
}

const Decided = ({ approval, decision }: { approval: Schemas['Approval']; decision: 'approve' | 'reject' }) => {
  const people = usePeople()
  const by = approval.decisions.filter((each) => each.decision === decision && !each.voided_at)
  return by.length > 0 ? capitalized(listWords(by.map(({ account_id: person }) => people(person)))) : tBatch('no_one')
}

const inListOrder = (one: Schemas['Payment'], other: Schemas['Payment']): number =>
  (one.batch_index ?? 0) - (other.batch_index ?? 0)

/** Payments in the order of the batch, which requires all pages. */
const Items = ({ batch }: { batch: Batch }) => {
  const { currency } = useSession()
  const [status, setStatus] = useState<PaymentStatus | undefined>()
  const [text, setText] = useState('')
  const query = batchPaymentsQuery(batch.id, { status, q: useDebounced(text.trim()) || undefined })
  const read = useEvery(query)
  const rows = rowsOf(read).toSorted(inListOrder)
  return (
    <Card
      title={t('payments_label')}
      actions={
        <>
          <TextField label={t('search')} type="search" value={text} onChange={setText} placeholder={tBatch('search_payments')} />
          <SelectField
            label={t('status')}
            value={status ?? ''}
            onChange={(value) => setStatus(isPaymentStatus(value) ? value : undefined)}
            emptyLabel={t('view.all')}
            options={statusesIn(batch).map((each) => ({
              value: each,
              label: tBatch('status_of', { status: statusText(each), count: batch.counts[each] ?? 0 }),
            }))}
          />
        </>
      }
      flush
    >
      {read.isError && (
        <div className="card-body">
          <Failure error={read.error} onRetry={() => void read.refetch()} />
        </div>
      )}
      {!read.isError && (read.isPending || read.hasNextPage) && <SkeletonRows rows={5} />}
      {read.isSuccess && rows.length === 0 && <Empty icon="payments" title={t('no_payments_match')} />}
      {rows.length > 0 && !read.hasNextPage && (
        <Table
          headings={[t('payee'), t('for'), { figures: t('amount_in', { currency }) }, { hidden: t('status') }]}
          label={t('payments_label')}
          className="pay-table"
          bodies
        >
          <VirtualRows rows={rows} columns={4}>
            {(payment) => <ItemRow key={payment.id} payment={payment} />}
          </VirtualRows>
        </Table>
      )}
    </Card>
  )
}

const ItemRow = ({ payment }: { payment: Schemas['Payment'] }) => (
  <tr className="pay-row">
    <td className="pay-payee">
      <Link href={`/payments/${payment.id}`} className="pay-link">
        <span className="faint">
          {payment.batch_row === null
            ? `${(payment.batch_index ?? 0) + 1}. `
            : tBatch('row_before', { batch_row: payment.batch_row })}
        </span>
        {payment.beneficiary.display_name}
      </Link>
    </td>
    <td className="pay-purpose">
      {payment.failure_code ? failureReason(payment) : (payment.narrative ?? payment.beneficiary.destination_mask)}
    </td>
    <td className="figure pay-amount">{majorText(payment.amount_minor)}</td>
    <td className="pay-status">
      <StatusBadge status={payment.status} />
    </td>
  </tr>
)
