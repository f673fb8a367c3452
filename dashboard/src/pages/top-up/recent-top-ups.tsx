import { useInfiniteQuery } from '@tanstack/react-query'
import { historyQuery } from '../../api/queries.ts'
import { useSession } from '../../shell/session.tsx'
import { Amount } from '../../ui/amount.tsx'
import { Card, Empty } from '../../ui/layout.tsx'
import { Item, Listing, Rows } from '../../ui/listing.tsx'
import { Time } from '../../ui/time.tsx'

export const RecentTopUps = () => {
  const { currency } = useSession()
  return (
    <Card title="Recent top-ups" flush>
      <Listing
        query={useInfiniteQuery(historyQuery({ type: 'topup' }, 6))}
        rows={2}
        whole
        empty={<Empty icon="topup" title="No top-ups yet" />}
      >
        {(entries) => (
          <Rows items={entries}>
            {(entry) => (
              <Item href={`/top-up/${entry.reference.id}`} icon="topup" tone="good" title={<Time at={entry.created_at} />}>
                <Amount minor={entry.amount_minor} currency={currency} signed />
              </Item>
            )}
          </Rows>
        )}
      </Listing>
    </Card>
  )
}
