import { useInfiniteQuery } from '@tanstack/react-query'
import { mandatesQuery, type Schemas } from '../../api/queries.ts'
import { moneyText, shortMoney } from '../../lib/money.ts'
import { useSession } from '../../shell/session.tsx'
import { NewLink } from '../../ui/button.tsx'
import { Meter } from '../../ui/charts.tsx'
import { Item, List } from '../../ui/listing.tsx'
import { Empty, Page, StatusBadge, Time } from '../../ui/page.tsx'

const Row = ({ mandate, currency }: { mandate: Schemas['IntentMandate']; currency: string }) => (
  <Item
    href={`/mandates/${mandate.id}`}
    icon="mandate"
    title={mandate.description}
    note={
      <>
        {moneyText(mandate.spent_minor, currency)} of {moneyText(mandate.max_total_minor, currency)} used ·{' '}
        {mandate.status === 'active' ? 'ends' : 'ended'} <Time at={mandate.expires_at} />
        <Meter used={mandate.spent_minor} limit={mandate.max_total_minor} currency={currency} label="Used" />
      </>
    }
  >
    <StatusBadge status={mandate.status} />
  </Item>
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
      <List
        label="Mandates"
        query={useInfiniteQuery(mandatesQuery)}
        rows={2}
        empty={
          <Empty icon="mandate" title="No mandates yet" actions={create}>
            Sign once to let an agent pay, say, {shortMoney('200000', currency)} to the caterer this week without asking you each
            time.
          </Empty>
        }
      >
        {(mandate) => <Row mandate={mandate} currency={currency} />}
      </List>
    </Page>
  )
}
