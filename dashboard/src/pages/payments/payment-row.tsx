import { Link } from 'wouter'
import type { Schemas } from '../../api/types.ts'
import { railFacts, typeLabel } from '../../lib/rails.ts'
import { Amount } from '../../ui/amount.tsx'
import { Icon } from '../../ui/icon.tsx'
import { StatusBadge } from '../../ui/status.tsx'
import { Time } from '../../ui/time.tsx'

type Props = {
  payment: Schemas['Payment']
  name: string
  /** Opens it beside the list. Returns false where there is no room, and the link opens its page. */
  onOpen?: (id: string) => boolean
  current?: boolean
}

const PaymentRow = ({ payment, name, onOpen, current = false }: Props) => (
  <Link
    href={`/payments/${payment.id}`}
    className="item"
    aria-current={current || undefined}
    onClick={(event) => {
      const plain = !event.ctrlKey && !event.metaKey && !event.shiftKey
      if (plain && onOpen?.(payment.id)) event.preventDefault()
    }}
  >
    <span className="avatar">
      <Icon name={railFacts[payment.payment_rail].icon} />
    </span>
    <span className="item-main">
      <span className="item-title">{name}</span>
      <span className="item-note">
        {payment.narrative ?? typeLabel(payment.payment_type)} · <Time at={payment.created_at} />
      </span>
    </span>
    <span className="item-side">
      <span className="item-figures">
        <Amount minor={payment.amount_minor} currency={payment.currency} />
      </span>
      <span className="item-status">
        <StatusBadge status={payment.status} />
      </span>
    </span>
  </Link>
)

type RowsProps = {
  payments: readonly Schemas['Payment'][]
  nameOf: (beneficiaryId: string) => string
  onOpen?: Props['onOpen']
  /** The payment that is open beside the list. */
  openId?: string | null
}

export const PaymentRows = ({ payments, nameOf, onOpen, openId }: RowsProps) => (
  <ul className="rows">
    {payments.map((payment) => (
      <li key={payment.id}>
        <PaymentRow
          payment={payment}
          name={nameOf(payment.beneficiary_id)}
          current={payment.id === openId}
          {...(onOpen && { onOpen })}
        />
      </li>
    ))}
  </ul>
)
