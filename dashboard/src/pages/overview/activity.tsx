import { useInfiniteQuery } from '@tanstack/react-query'
import { Link } from 'wouter'
import { paymentsQuery } from '../../api/queries.ts'
import type { Schemas } from '../../api/types.ts'
import { useBeneficiaries } from '../../api/use-beneficiaries.ts'
import { cx } from '../../lib/class-names.ts'
import { useSession } from '../../shell/session.tsx'
import { Amount } from '../../ui/amount.tsx'
import { LinkButton } from '../../ui/button.tsx'
import { Icon, type IconName } from '../../ui/icon.tsx'
import { Card, Empty } from '../../ui/layout.tsx'
import { Listing } from '../../ui/listing.tsx'
import { Time } from '../../ui/time.tsx'
import { PaymentRow } from '../payments/payment-row.tsx'
import { recentHistory } from './balance.tsx'

type Entry = Schemas['HistoryEntry']

const kinds: Readonly<Record<Entry['type'], { icon: IconName; title: string; to: string }>> = {
  topup: { icon: 'topup', title: 'Top-up', to: 'Top-up' },
  payment_hold: { icon: 'clock', title: 'Held for a payment', to: 'Held for ' },
  payment: { icon: 'check', title: 'Payment completed', to: 'Paid to ' },
  payment_release: { icon: 'back', title: 'Given back from a payment', to: 'Given back from ' },
  adjustment: { icon: 'policy', title: 'Adjustment', to: 'Adjustment' },
}

const hrefOf = ({ reference }: Entry): string | null => {
  if (reference.type === 'payment') return `/payments/${reference.id}`
  return reference.type === 'topup' ? `/top-up/${reference.id}` : null
}

/** The ledger knows payments by their id; the latest ones are put into names. */
const useTitles = (): ((entry: Entry) => string) => {
  const { can } = useSession()
  const beneficiaries = useBeneficiaries()
  const payments = useInfiniteQuery({ ...paymentsQuery({}), enabled: can('payment.read') })
  const known = new Map(payments.data?.pages.flatMap((page) => page.data).map(({ id, beneficiary_id }) => [id, beneficiary_id]))
  return (entry) => {
    const beneficiary = beneficiaries.find(known.get(entry.reference.id) ?? '')
    return beneficiary ? kinds[entry.type].to + beneficiary.display_name : kinds[entry.type].title
  }
}

const EntryContent = ({ entry, title, currency }: { entry: Entry; title: string; currency: string }) => (
  <>
    <span className={cx('avatar', entry.amount_minor.startsWith('-') || entry.amount_minor === '0' ? null : 'avatar-good')}>
      <Icon name={kinds[entry.type].icon} />
    </span>
    <span className="item-main">
      <span className="item-title">{title}</span>
      <span className="item-note">
        <Time at={entry.created_at} />
      </span>
    </span>
    <span className="item-side">
      <span className="item-figures">
        {/* A completed payment moves nothing more: its hold did. */}
        {entry.amount_minor === '0' ? (
          <span className="faint">from what was held</span>
        ) : (
          <Amount minor={entry.amount_minor} currency={currency} signed />
        )}
        <br />
        <span className="faint small">
          <Amount minor={entry.available_after_minor} currency={currency} /> left
        </span>
      </span>
    </span>
  </>
)

const EntryRow = ({ entry, title, currency }: { entry: Entry; title: string; currency: string }) => {
  const href = hrefOf(entry)
  const content = <EntryContent entry={entry} title={title} currency={currency} />
  return href ? (
    <Link href={href} className="item">
      {content}
    </Link>
  ) : (
    <div className="item">{content}</div>
  )
}

const OwnActivity = () => {
  const { currency } = useSession()
  const titleOf = useTitles()
  return (
    <Card title="Recent activity" flush>
      <Listing
        query={useInfiniteQuery(recentHistory)}
        empty={
          <Empty icon="overview" title="Nothing has moved yet" actions={<LinkButton href="/top-up">Top up</LinkButton>}>
            Top-ups and payments appear here as they happen.
          </Empty>
        }
      >
        {(entries) => (
          <ul className="rows">
            {entries.map((entry) => (
              <li key={entry.id}>
                <EntryRow entry={entry} title={titleOf(entry)} currency={currency} />
              </li>
            ))}
          </ul>
        )}
      </Listing>
    </Card>
  )
}

const WorkspaceActivity = () => {
  const beneficiaries = useBeneficiaries()
  return (
    <Card title="Recent payments" flush>
      <Listing query={useInfiniteQuery(paymentsQuery({}))} empty={<Empty icon="payments" title="No payments yet" />}>
        {(payments) => (
          <ul className="rows">
            {payments.map((payment) => (
              <li key={payment.id}>
                <PaymentRow payment={payment} name={beneficiaries.nameOf(payment.beneficiary_id)} />
              </li>
            ))}
          </ul>
        )}
      </Listing>
    </Card>
  )
}

/** What moved on the reader's own balance; in somebody else's workspace, what was paid there. */
export const Activity = () => {
  const { ownsBalance } = useSession()
  return ownsBalance ? <OwnActivity /> : <WorkspaceActivity />
}
