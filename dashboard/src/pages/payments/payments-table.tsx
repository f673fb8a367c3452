import type { ReactNode } from 'react'
import { Link } from 'wouter'
import type { PaymentFilters, Schemas } from '../../api/queries.ts'
import { cx } from '../../lib/class-names.ts'
import { t } from '../../lib/language.ts'
import { typeLabel } from '../../lib/rails.ts'
import { dayHeading, localDate, timeOfDay } from '../../lib/time.ts'
import { groupByKey, majorText, moneyText } from '../../lib/words.ts'
import { useSession } from '../../shell/session.tsx'
import { Table } from '../../ui/listing.tsx'
import { StatusBadge } from '../../ui/page.tsx'
import { FreezeRequester } from '../agents/agents.tsx'
import { BatchRow } from './batch-row.tsx'
import { RequesterMark } from './requester.tsx'

type Payment = Schemas['Payment']

const dateOf = ({ created_at: at }: Payment): string => localDate(Date.parse(at))

type Props = {
  payments: readonly Payment[]
  /** Opens the payment beside the list. Returns false if there is no room: the link then opens the payment's page. */
  onOpen?: (id: string) => boolean
  openId?: string | null
  /** Spending on each day, over all matches of the list's filters. */
  spentOn?: ReadonlyMap<string, string>
  /** Hidden columns: one that repeats the page's title, or beside an open payment all except the beneficiary. */
  without?: 'payee' | 'requester' | 'all but payee' | undefined
  /** Filters of the list, if payments of a batch share one row. */
  batches?: PaymentFilters
}

/** Groups payments of one batch. */
const groupsOf = (payments: readonly Payment[], groupsBatches: boolean) =>
  groupByKey(payments, ({ batch_id: batchId }) => (groupsBatches ? batchId : null))

/** Payments by day of request. A status is shown only if the payment has not simply succeeded. */
export const PaymentsTable = ({ payments, spentOn, without, batches, ...row }: Props) => {
  const { currency } = useSession()
  const narrow = without === 'all but payee'
  const rowsOf = (list: readonly Payment[]) =>
    list.map((payment) => <Row key={payment.id} payment={payment} without={without} {...row} />)
  return (
    <Table
      className="pay-table"
      bodies
      headings={[
        t(without === 'payee' ? 'for' : 'payee'),
        without !== 'payee' && !narrow && t('for'),
        without !== 'requester' && !narrow && t('by'),
        { figures: t('amount_in', { currency }) },
        { hidden: t('status') },
      ]}
    >
      {groupByKey(payments, dateOf).map((ofDay) => {
        const date = dateOf(ofDay[0])
        const spent = spentOn?.get(date)
        return (
          <tbody key={date}>
            <tr className="pay-day">
              <th scope="rowgroup" colSpan={narrow ? 1 : without ? 2 : 3}>
                {dayHeading(date)}
              </th>
              <td className="figure" colSpan={2}>
                {spent !== undefined && spent !== '0' && t('spent_of', { amount: moneyText(spent, currency) })}
              </td>
            </tr>
            {groupsOf(ofDay, batches !== undefined).flatMap(([first, ...others]) =>
              batches && first.batch_id && (others.length > 0 || batches.batch_items === 'first') ? (
                <BatchRow key={first.batch_id} first={first} batchId={first.batch_id} filters={batches} narrow={narrow}>
                  {rowsOf}
                </BatchRow>
              ) : (
                rowsOf([first])
              ),
            )}
          </tbody>
        )
      })}
    </Table>
  )
}

type RowProps = { payment: Payment; without: Props['without'] } & Pick<Props, 'onOpen' | 'openId'>

const Row = ({ payment, without, onOpen, openId }: RowProps) => {
  const { id, status, narrative, account_reference: reference, beneficiary, initiated_by: by } = payment
  const current = id === openId
  const purpose = narrative ?? reference ?? typeLabel(payment.payment_type)
  const link = (children: ReactNode) => (
    <Link
      href={`/payments/${id}`}
      className="pay-link"
      aria-current={current || undefined}
      onClick={(event) => {
        const plain = !event.ctrlKey && !event.metaKey && !event.shiftKey
        if (plain && onOpen?.(id)) event.preventDefault()
      }}
    >
      {children}
    </Link>
  )
  return (
    <tr className={cx('pay-row', current && 'pay-current')}>
      <td className="pay-payee">
        <time className="pay-time" dateTime={payment.created_at}>
          {timeOfDay(payment.created_at)}
        </time>
        {link(without === 'payee' ? purpose : beneficiary.display_name)}
      </td>
      {without !== 'payee' && without !== 'all but payee' && <td className="pay-purpose">{purpose}</td>}
      {without !== 'requester' && without !== 'all but payee' && (
        <td className="pay-by">
          <span className="row row-tight pay-chip">
            <RequesterMark by={by} />
            <FreezeRequester by={by} asIcon />
          </span>
        </td>
      )}
      <td className={cx('figure pay-amount', status !== 'succeeded' && status !== 'processing' && 'pay-unspent')}>
        {majorText(payment.amount_minor)}
      </td>
      <td className="pay-status">{status !== 'succeeded' && <StatusBadge status={status} />}</td>
    </tr>
  )
}
