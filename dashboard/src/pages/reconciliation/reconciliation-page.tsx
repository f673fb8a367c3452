import { useInfiniteQuery } from '@tanstack/react-query'
import { type ReactNode, useState } from 'react'
import { adviceFor } from '../../api/advice.ts'
import { hasCode } from '../../api/error.ts'
import { differencesQuery, suspenseQuery } from '../../api/queries.ts'
import type { Schemas } from '../../api/types.ts'
import { moneyText } from '../../lib/money.ts'
import { typeLabel } from '../../lib/rails.ts'
import { useSession } from '../../shell/session.tsx'
import { Button, LinkButton } from '../../ui/button.tsx'
import { CopyButton } from '../../ui/copy.tsx'
import { Card, Empty, PageHeader } from '../../ui/layout.tsx'
import { Listing } from '../../ui/listing.tsx'
import { ExactTime } from '../../ui/time.tsx'
import { Clearing, Comparisons } from './books.tsx'
import { ResolveDifference, ResolveSuspense } from './resolve.tsx'

type Difference = Schemas['ReconciliationDifference']
type Item = Schemas['SuspenseItem']

/** For administrators of the service: where the providers and the books disagree. */
export const ReconciliationPage = () => {
  const { currency } = useSession().workspace
  const suspense = useInfiniteQuery(suspenseQuery)
  if (hasCode(suspense.error, 'admin_required'))
    return (
      <div className="stack">
        <PageHeader title="Reconciliation" />
        <div className="card">
          <Empty icon="lock" title="Only administrators can see this" actions={<LinkButton href="/">Go to overview</LinkButton>}>
            {adviceFor(suspense.error)}
          </Empty>
        </div>
      </div>
    )
  return (
    <div className="stack">
      <PageHeader title="Reconciliation" lead="Where the providers and the books disagree, for administrators of the service." />
      <Suspense />
      <Differences />
      <Clearing />
      <Comparisons currency={currency} />
    </div>
  )
}

const reasons: Readonly<Record<Item['reason'], string>> = {
  superseded_attempt: 'A replaced attempt moved money',
  amount_mismatch: 'The provider reports another amount',
  receipt_taken: 'The receipt already belongs to something else',
  contradiction: 'The provider contradicts what is recorded as final',
  unbookable_delivery: 'A callback failed repeatedly and was set aside',
  not_in_our_books: 'The statement lists it, and the books do not',
  unknown_reference: 'A deposit under a reference that is not ours',
  account_closed: 'A deposit for a closed account',
}

const Row = ({ title, children, onResolve }: { title: string; children: ReactNode; onResolve: () => void }) => (
  <li>
    <div className="item">
      <span className="item-main">
        {title}
        {children}
      </span>
      <Button onClick={onResolve} label={`Resolve: ${title}`}>
        Resolve
      </Button>
    </div>
  </li>
)

const Note = ({ children }: { children: ReactNode }) => <span className="item-note block">{children}</span>

/** Which payment or top-up it is about. It may be another workspace's, so there is no link. */
const Subject = ({ of: { payment_id: payment, topup_id: topup } }: { of: Pick<Item, 'payment_id' | 'topup_id'> }) => {
  const id = payment ?? topup
  return id && <CopyButton value={id}>{payment ? 'Copy payment ID' : 'Copy top-up ID'}</CopyButton>
}

const Suspense = () => {
  const { currency } = useSession().workspace
  const query = useInfiniteQuery(suspenseQuery)
  const [chosen, choose] = useState<Item | null>(null)
  return (
    <Card title="Suspense" note="Money that a provider moved and that could not be booked." flush>
      <Listing query={query} empty={<Empty icon="check" title="Nothing is in suspense" />}>
        {(items) => (
          <ul className="rows">
            {items.map((item) => (
              <Row key={item.id} title={reasons[item.reason]} onResolve={() => choose(item)}>
                <Note>
                  {[
                    typeLabel(item.rail),
                    item.direction === 'in' ? 'paid in' : 'paid out',
                    item.amount_minor === null ? 'amount not known' : moneyText(item.amount_minor, currency),
                    item.provider_receipt,
                  ]
                    .filter(Boolean)
                    .join(', ')}
                </Note>
                <Subject of={item} />
                <Note>
                  <ExactTime at={item.created_at} />
                </Note>
              </Row>
            ))}
          </ul>
        )}
      </Listing>
      {chosen && <ResolveSuspense item={chosen} onClose={() => choose(null)} />}
    </Card>
  )
}

const sides = ({ booked_minor: booked, stated_minor: stated }: Difference, currency: string): string =>
  [
    booked === null ? 'not booked' : `booked ${moneyText(booked, currency)}`,
    stated === null ? 'not in the statement' : `statement ${moneyText(stated, currency)}`,
  ].join(', ')

const Differences = () => {
  const { currency } = useSession().workspace
  const query = useInfiniteQuery(differencesQuery)
  const [chosen, choose] = useState<Difference | null>(null)
  return (
    <Card title="Differences" note="Between the books and the providers’ statements." flush>
      <Listing query={query} empty={<Empty icon="check" title="No statement differs from the books" />}>
        {(differences) => (
          <ul className="rows">
            {differences.map((each) => (
              <Row key={each.id} title={each.reason} onResolve={() => choose(each)}>
                <Note>{each.action}</Note>
                <Note>{[sides(each, currency), each.provider_receipt].filter(Boolean).join(', ')}</Note>
                <Subject of={each} />
              </Row>
            ))}
          </ul>
        )}
      </Listing>
      {chosen && <ResolveDifference difference={chosen} onClose={() => choose(null)} />}
    </Card>
  )
}
