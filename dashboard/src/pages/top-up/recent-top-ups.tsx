import { useInfiniteQuery } from '@tanstack/react-query'
import { Link } from 'wouter'
import { historyQuery } from '../../api/queries.ts'
import { useSession } from '../../shell/session.tsx'
import { Amount } from '../../ui/amount.tsx'
import { Icon } from '../../ui/icon.tsx'
import { Card, Empty } from '../../ui/layout.tsx'
import { Listing, Rows } from '../../ui/listing.tsx'
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
              <Link href={`/top-up/${entry.reference.id}`} className="item">
                <span className="avatar avatar-good">
                  <Icon name="topup" />
                </span>
                <span className="item-main item-note">
                  <Time at={entry.created_at} />
                </span>
                <Amount minor={entry.amount_minor} currency={currency} signed />
              </Link>
            )}
          </Rows>
        )}
      </Listing>
    </Card>
  )
}
