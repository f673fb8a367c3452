import { useInfiniteQuery } from '@tanstack/react-query'
import { Link } from 'wouter'
import { mandatesQuery } from '../../api/queries.ts'
import type { Schemas } from '../../api/types.ts'
import { moneyText } from '../../lib/money.ts'
import { useSession } from '../../shell/session.tsx'
import { NewLink } from '../../ui/button.tsx'
import { Icon } from '../../ui/icon.tsx'
import { Empty, Page } from '../../ui/layout.tsx'
import { Listing, Rows } from '../../ui/listing.tsx'
import { Meter } from '../../ui/meter.tsx'
import { StatusBadge } from '../../ui/status.tsx'
import { Time } from '../../ui/time.tsx'

const Row = ({ mandate, currency }: { mandate: Schemas['IntentMandate']; currency: string }) => (
  <Link href={`/mandates/${mandate.id}`} className="item">
    <span className="avatar">
      <Icon name="mandate" />
    </span>
    <span className="item-main stack-xs">
      <span className="item-title">{mandate.description}</span>
      <span className="item-note">
        {moneyText(mandate.spent_minor, currency)} of {moneyText(mandate.max_total_minor, currency)} used ·{' '}
        {mandate.status === 'active' ? 'ends' : 'ended'} <Time at={mandate.expires_at} />
      </span>
      <Meter used={mandate.spent_minor} limit={mandate.max_total_minor} currency={currency} label="Spent" />
    </span>
    <span className="item-side">
      <StatusBadge status={mandate.status} />
    </span>
  </Link>
)

export const MandatesPage = () => {
  const { currency, can, ownsBalance } = useSession()
  const create = can('mandate.manage') && ownsBalance && <NewLink href="/mandates/new">New mandate</NewLink>
  return (
    <Page
      title="Mandates"
      lead="Approvals you signed in advance: a payment that fits a mandate doesn’t wait for you."
      actions={create}
    >
      <section className="card" aria-label="Mandates">
        <Listing
          query={useInfiniteQuery(mandatesQuery)}
          rows={2}
          empty={
            <Empty icon="mandate" title="No mandates yet" actions={create}>
              Sign once to let an agent pay, say, KES 2,000 to the caterer this week without asking you each time.
            </Empty>
          }
        >
          {(mandates) => <Rows items={mandates}>{(mandate) => <Row mandate={mandate} currency={currency} />}</Rows>}
        </Listing>
      </section>
    </Page>
  )
}
