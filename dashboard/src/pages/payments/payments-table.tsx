import { type ReactNode, useState } from 'react'
import { Link } from 'wouter'
import type { Schemas } from '../../api/types.ts'
import { cx } from '../../lib/class-names.ts'
import { majorText, moneyText } from '../../lib/money.ts'
import { typeLabel } from '../../lib/rails.ts'
import { dayHeading, localDate, timeOfDay } from '../../lib/time.ts'
import { useSession } from '../../shell/session.tsx'
import { IconButton } from '../../ui/button.tsx'
import { StatusBadge } from '../../ui/status.tsx'
import { FreezeAgent, type Stoppable } from '../agents/freeze-agent.tsx'
import { useIsFrozen } from '../agents/frozen-badge.tsx'
import { RequesterMark } from './requester.tsx'

type Payment = Schemas['Payment']
type Day = { date: string; payments: Payment[] }

const byDay = (payments: readonly Payment[]): Day[] => {
  const days: Day[] = []
  for (const payment of payments) {
    const date = localDate(Date.parse(payment.created_at))
    const last = days.at(-1)
    if (last?.date === date) last.payments.push(payment)
    else days.push({ date, payments: [payment] })
  }
  return days
}

type Props = {
  payments: readonly Payment[]
  /** Opens it beside the list. Returns false where there is no room, and the link opens its page. */
  onOpen?: (id: string) => boolean
  /** The payment that is open beside the list. */
  openId?: string | null
  /** What was spent on each day, over everything that the list's filters match. */
  spentOn?: ReadonlyMap<string, string>
  /** On a page of one payee or one agent it would repeat the page's title; beside an open payment there is room for the payee alone. */
  without?: 'payee' | 'requester' | 'all but payee'
}

/** Payments under the days on which they were asked for. The status is shown only where there is more to say than that it went well. */
export const PaymentsTable = ({ payments, onOpen, openId, spentOn, without }: Props) => {
  const { currency, account, can } = useSession()
  const narrow = without === 'all but payee'
  const [stopping, setStopping] = useState<Stoppable | null>(null)
  /** Its agent, where this person may stop it. */
  const stoppable = ({ initiated_by: { grant_id: id, label, account_id: owner } }: Payment): Stoppable | null => {
    const own = owner === account.id
    return id !== null && (own || can('workspace.manage')) ? { id, label: label ?? 'This agent', own } : null
  }
  return (
    <div className="table-scroll">
      <table className="table pay-table">
        <thead>
          <tr>
            <th scope="col">{without === 'payee' ? 'For' : 'Payee'}</th>
            {without !== 'payee' && !narrow && <th scope="col">For</th>}
            {without !== 'requester' && !narrow && <th scope="col">By</th>}
            <th scope="col" className="figure">
              Amount, {currency}
            </th>
            <th scope="col">
              <span className="visually-hidden">Status</span>
            </th>
          </tr>
        </thead>
        {byDay(payments).map(({ date, payments: ofDay }) => {
          const spent = spentOn?.get(date)
          return (
            <tbody key={date}>
              <tr className="pay-day">
                <th scope="rowgroup" colSpan={narrow ? 1 : without ? 2 : 3}>
                  {dayHeading(date)}
                </th>
                <td className="figure">{spent !== undefined && spent !== '0' && <>{moneyText(spent, currency)} spent</>}</td>
                <td />
              </tr>
              {ofDay.map((payment) => (
                <Row
                  key={payment.id}
                  payment={payment}
                  current={payment.id === openId}
                  without={without}
                  agent={stoppable(payment)}
                  onStop={setStopping}
                  {...(onOpen && { onOpen })}
                />
              ))}
            </tbody>
          )
        })}
      </table>
      {stopping && <FreezeAgent {...stopping} onClose={() => setStopping(null)} />}
    </div>
  )
}

type ByProps = { payment: Payment; agent: Stoppable | null; onStop: (agent: Stoppable) => void }

const By = ({ payment: { initiated_by: by }, agent, onStop }: ByProps) => {
  const frozen = useIsFrozen(by)
  return (
    <span className="pay-chip">
      <RequesterMark by={by} />
      {agent && !frozen && <IconButton icon="freeze" label={`Freeze ${agent.label}`} onClick={() => onStop(agent)} />}
    </span>
  )
}

type RowProps = {
  payment: Payment
  current: boolean
  without: Props['without']
  agent: Stoppable | null
  onStop: (agent: Stoppable) => void
} & Pick<Props, 'onOpen'>

const Row = ({ payment, current, without, agent, onStop, onOpen }: RowProps) => {
  const { id, status, narrative, account_reference: reference, beneficiary } = payment
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
          <By payment={payment} agent={agent} onStop={onStop} />
        </td>
      )}
      <td className={cx('figure pay-amount', status !== 'succeeded' && status !== 'processing' && 'pay-unspent')}>
        {majorText(payment.amount_minor)}
      </td>
      <td className="pay-status">{status !== 'succeeded' && <StatusBadge status={status} />}</td>
    </tr>
  )
}
