import { useInfiniteQuery, useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { Link } from 'wouter'
import { usePeople } from '../../api/names.ts'
import { api, approvalQuery, batchesQuery, batchPaymentsQuery, batchQuery, rowsOf, type Schemas } from '../../api/queries.ts'
import { useEvery } from '../../api/use-every.ts'
import { useDebounced, useFilters } from '../../lib/drafts.ts'
import { failureWords } from '../../lib/rails.ts'
import {
  batchTitle,
  capitalized,
  countWords,
  feeWords,
  isPaymentStatus,
  listWords,
  majorText,
  type PaymentStatus,
  statusCount,
  statusText,
} from '../../lib/words.ts'
import { LoadState, useSession } from '../../shell/session.tsx'
import { CopyButton, LinkButton, NewLink } from '../../ui/button.tsx'
import { SelectField, TextField } from '../../ui/field.tsx'
import { CsvButton } from '../../ui/filter-bar.tsx'
import { ConfirmButton } from '../../ui/form.tsx'
import { Item, List, Table } from '../../ui/listing.tsx'
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
  SkeletonRows,
  StatusBadge,
  Time,
} from '../../ui/page.tsx'
import { VirtualRows } from '../../ui/virtual-rows.tsx'
import { useHindrance } from '../approvals/decide.tsx'
import { Requester } from '../payments/requester.tsx'

export const BatchesPage = () => {
  const { can } = useSession()
  const { get, set } = useFilters()
  const q = get('q') ?? ''
  const query = batchesQuery(useDebounced(q.trim()) || undefined)
  const create = can('payment.create') && <NewLink href="/payments/batches/new">Pay a list</NewLink>
  return (
    <Page
      title="Lists of payments"
      lead="Salaries and other lists: checked as a whole, and approved once."
      back={{ href: '/payments', label: 'Payments' }}
      actions={create}
    >
      <search className="filters">
        <TextField label="Search" type="search" value={q} onChange={(text) => set('q', text)} placeholder="Name of the list" />
      </search>
      <List
        label="Lists of payments"
        query={query}
        empty={
          q === '' ? (
            <Empty icon="payments" title="No lists yet" actions={create}>
              Pay many people from one spreadsheet, with one approval.
            </Empty>
          ) : (
            <Empty icon="payments" title="No list has this in its name" />
          )
        }
      >
        {(batch) => (
          <Item
            href={`/payments/batches/${batch.id}`}
            title={batchTitle(batch)}
            note={<Time at={batch.created_at} before={`${countWords(batch.items_count, 'payment')}, `} />}
          >
            <StatusBadge status={batch.status} />
            <Amount minor={batch.total_minor} currency={batch.currency} />
          </Item>
        )}
      </List>
    </Page>
  )
}

type Batch = Schemas['PaymentBatch']

const back = { href: '/payments/batches', label: 'Lists of payments' }

/** The statuses in which nothing more happens by itself. */
const isOpen = ({ status }: Batch): boolean => ['scheduled', 'pending_approval', 'processing'].includes(status)

export const BatchPage = ({ id }: { id: string }) => {
  // The stream reports each payment; polling covers a missed event.
  const batch = useQuery({
    ...batchQuery(id),
    refetchInterval: ({ state }) => (state.data && isOpen(state.data) ? 5_000 : false),
  })
  return (
    <Page title={batch.data?.name ?? 'List of payments'} back={back} actions={batch.data && <Actions batch={batch.data} />}>
      <LoadState query={batch} path={`/v1/payment-batches/${id}`} rows={4} />
      {batch.data && (
        <>
          <WaitingDecision batch={batch.data} />
          <Progress batch={batch.data} />
          <Items batch={batch.data} />
        </>
      )}
    </Page>
  )
}

const Actions = ({ batch }: { batch: Batch }) => {
  const { can } = useSession()
  const waits = batch.status === 'pending_approval' || batch.status === 'scheduled'
  return (
    <>
      <CsvButton path={`/v1/payment-batches/${batch.id}/lines`} query={{}} name={`${batch.name ?? batch.id}-results`} />
      {batch.approval_id && <LinkButton href={`/approvals/${batch.approval_id}`}>View approval</LinkButton>}
      <ConfirmButton
        button={{ variant: 'quiet', children: 'Cancel list', offered: waits && can('payment.create') }}
        title="Cancel this list?"
        action="Cancel list"
        keep="Keep list"
        change={() => api.POST('/v1/payment-batches/{id}/cancel', { path: { id: batch.id } })}
        announcement={() => 'List cancelled'}
        outdates={['payment', 'payments', 'approval', 'approvals', 'inbox', 'account']}
      >
        <p>None of its payments is sent, no one is asked to approve it any more, and what was held returns to the balance.</p>
      </ConfirmButton>
    </>
  )
}

/** A list is decided on its approval's page, where what to look at comes first. */
const WaitingDecision = ({ batch }: { batch: Batch }) => {
  const { can } = useSession()
  const approval = useQuery({
    ...approvalQuery(batch.approval_id ?? ''),
    enabled: batch.status === 'pending_approval' && can('approval.read'),
  })
  if (approval.data?.status !== 'pending') return null
  return <Review approval={approval.data} />
}

const Review = ({ approval }: { approval: Schemas['Approval'] }) => {
  const hindrance = useHindrance(approval)
  return (
    <Notice tone="warn" title="This list waits for a decision">
      <p className="quiet">
        {hindrance ?? 'Look at what deviates, then decide all its payments together.'} Time left:{' '}
        <Countdown to={approval.expires_at} />
      </p>
      <div className="row">
        <LinkButton href={`/approvals/${approval.id}`} variant={hindrance ? 'secondary' : 'primary'}>
          {hindrance ? 'View approval' : 'Review and approve'}
        </LinkButton>
      </div>
    </Notice>
  )
}

const statusesIn = ({ counts }: Batch): PaymentStatus[] => Object.keys(counts).filter(isPaymentStatus)

const Progress = ({ batch }: { batch: Batch }) => {
  const { can } = useSession()
  const readable = can('approval.read') ? batch.approval_id : null
  const open = ['scheduled', 'pending_approval', 'processing', 'unknown'].reduce(
    (sum, name) => sum + (batch.counts[name] ?? 0),
    0,
  )
  const ended = batch.items_count - open
  const part = ended / batch.items_count
  const words = statusesIn(batch).map((status) => statusCount(batch.counts[status] ?? 0, status))
  return (
    <Card>
      <div className="row row-between">
        <div>
          <Amount minor={batch.total_minor} currency={batch.currency} size="big" />
          <p className="quiet">{countWords(batch.items_count, 'payment')}</p>
        </div>
        <StatusBadge status={batch.status} />
      </div>
      <div
        className="meter"
        role="progressbar"
        aria-label="Payments that have ended"
        aria-valuemin={0}
        aria-valuemax={batch.items_count}
        aria-valuenow={ended}
        aria-valuetext={`${ended} of ${batch.items_count} have ended`}
      >
        <span style={{ width: `${part * 100}%` }} />
      </div>
      <p aria-live="polite">{words.join(', ')}</p>
      <Facts
        facts={{
          'Requested by': <RequestedBy batch={batch} />,
          Fees: feeWords(batch.total_minor, batch.fees_minor, batch.currency),
          [batch.status === 'rejected' ? 'Rejected by' : 'Approved by']: readable && (
            <Decided id={readable} decision={batch.status === 'rejected' ? 'reject' : 'approve'} />
          ),
          'Sent at': batch.execute_at && <ExactTime at={batch.execute_at} />,
          Created: <ExactTime at={batch.created_at} />,
          Ended: batch.completed_at && <ExactTime at={batch.completed_at} />,
          '': <CopyButton value={batch.id}>Copy list ID</CopyButton>,
        }}
      />
    </Card>
  )
}

/** Its payments name the key or agent that asked for them. */
const RequestedBy = ({ batch }: { batch: Batch }) => {
  const { data } = useInfiniteQuery(batchPaymentsQuery(batch.id, {}))
  return <Requester by={data?.pages[0]?.data[0]?.initiated_by ?? { ...batch.initiated_by, label: null }} />
}

const Decided = ({ id, decision }: { id: string; decision: 'approve' | 'reject' }) => {
  const people = usePeople()
  const { data } = useQuery(approvalQuery(id))
  const by = data?.decisions.filter((each) => each.decision === decision && !each.voided_at) ?? []
  return by.length > 0 ? capitalized(listWords(by.map(({ account_id: person }) => people(person)))) : 'No one yet'
}

const inListOrder = (one: Schemas['Payment'], other: Schemas['Payment']): number =>
  (one.batch_index ?? 0) - (other.batch_index ?? 0)

/** In the order of the list, which needs all of it. */
const Items = ({ batch }: { batch: Batch }) => {
  const { currency } = useSession()
  const [status, setStatus] = useState<PaymentStatus | undefined>()
  const [text, setText] = useState('')
  const query = batchPaymentsQuery(batch.id, { status, q: useDebounced(text.trim()) || undefined })
  const read = useEvery(query)
  const rows = rowsOf(read).toSorted(inListOrder)
  return (
    <Card
      title="Payments"
      actions={
        <>
          <TextField label="Search" type="search" value={text} onChange={setText} placeholder="Name, reference or amount" />
          <SelectField
            label="Status"
            value={status ?? ''}
            onChange={(value) => setStatus(isPaymentStatus(value) ? value : undefined)}
            none="All"
            options={statusesIn(batch).map((each) => ({ value: each, label: `${statusText(each)} (${batch.counts[each]})` }))}
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
      {read.isSuccess && rows.length === 0 && <Empty icon="payments" title="No payments match" />}
      {rows.length > 0 && !read.hasNextPage && (
        <Table
          headings={['Payee', 'For', { figures: `Amount, ${currency}` }, { hidden: 'Status' }]}
          label="Payments"
          className="pay-table"
          bodies
        >
          <VirtualRows rows={rows} columns={4} rowHeight={45}>
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
          {payment.batch_row === null ? `${(payment.batch_index ?? 0) + 1}. ` : `Row ${payment.batch_row}. `}
        </span>
        {payment.beneficiary.display_name}
      </Link>
    </td>
    <td className="pay-purpose">
      {payment.failure_code ? failureWords(payment) : (payment.narrative ?? payment.beneficiary.destination_mask)}
    </td>
    <td className="figure pay-amount">{majorText(payment.amount_minor)}</td>
    <td className="pay-status">
      <StatusBadge status={payment.status} />
    </td>
  </tr>
)
