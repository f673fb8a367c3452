import { useInfiniteQuery } from '@tanstack/react-query'
import { historyQuery } from '../../api/queries.ts'
import { useSession } from '../../shell/session.tsx'
import { Amount } from '../../ui/amount.tsx'
import { Notice } from '../../ui/layout.tsx'
import { Sparkline } from './sparkline.tsx'

export const recentHistory = historyQuery({})

/** Kept current by the stream: every movement tells the account anew. */
export const Balance = () => {
  const { account, ownsBalance, workspace } = useSession()
  const history = useInfiniteQuery({ ...recentHistory, enabled: ownsBalance })
  if (!ownsBalance)
    return (
      <Notice tone="info" title={`Payments in ${workspace.name} draw on its owner’s balance`}>
        <p className="quiet">Your own balance is on your account page.</p>
      </Notice>
    )
  const { available_minor: available, held_minor: held, currency } = account.balance
  const course = history.data?.pages[0]?.data.map(({ available_after_minor: after }) => after).reverse() ?? []
  return (
    <section className="card" aria-label="Balance">
      <div className="card-body balance-card">
        <div className="stack-s">
          <div>
            <p className="quiet">Available</p>
            <p aria-live="polite">
              <Amount minor={available} currency={currency} size="big" />
            </p>
          </div>
          <p className="quiet">
            <Amount minor={held} currency={currency} /> held for payments under way
          </p>
        </div>
        <div className="spark-box">{course.length > 1 && <Sparkline values={course} />}</div>
      </div>
    </section>
  )
}
