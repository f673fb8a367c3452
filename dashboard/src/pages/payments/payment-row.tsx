import { Link } from 'wouter'
import type { Schemas } from '../../api/types.ts'
import { railIcons, typeLabel } from '../../lib/rails.ts'
import { Amount } from '../../ui/amount.tsx'
import { Icon } from '../../ui/icon.tsx'
import { StatusBadge } from '../../ui/status.tsx'
import { Time } from '../../ui/time.tsx'

export const PaymentRow = ({ payment, name }: { payment: Schemas['Payment']; name: string }) => (
  <Link href={`/payments/${payment.id}`} className="item">
    <span className="avatar">
      <Icon name={railIcons[payment.payment_rail]} />
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
