import { useQuery } from '@tanstack/react-query'
import { historySummaryQuery, paymentsSummaryQuery } from '../../api/queries.ts'
import { shortMoney, sumMinor } from '../../lib/money.ts'
import { useSession } from '../../shell/session.tsx'
import { Amount } from '../../ui/amount.tsx'
import { type DayBar, DayChart } from '../../ui/day-chart.tsx'
import { Failure } from '../../ui/failure.tsx'
import { SkeletonText } from '../../ui/layout.tsx'

/** The balance and the last 30 days. In someone else's workspace: what was spent, and whose balance pays. */
export const Balance = () => (useSession().ownsBalance ? <OwnBalance /> : <WorkspaceSpending />)

const total = (days: readonly DayBar[], side: 'up' | 'down', currency: string): string =>
  shortMoney(sumMinor(days.map((day) => day[side])), currency)

/** Kept current by the stream: every change of the balance reads the account again. */
const OwnBalance = () => {
  const { account } = useSession()
  const { available_minor: available, held_minor: held, currency } = account.balance
  const summary = useQuery(historySummaryQuery)
  const days = summary.data?.days.map(({ date, in_minor, out_minor }) => ({ date, up: in_minor, down: out_minor })) ?? []
  return (
    <section className="card" aria-label="Balance">
      <div className="card-body balance-card">
        <div className="stack">
          <div>
            <p className="quiet">Available</p>
            <p aria-live="polite">
              <Amount minor={available} currency={currency} size="big" />
            </p>
          </div>
          <div>
            <p className="quiet">Held for payments in progress</p>
            <Amount minor={held} currency={currency} size="medium" />
          </div>
        </div>
        <div className="stack-s">
          <ul className="legend" aria-label="Last 30 days">
            <li>
              <span className="chart-key-up" aria-hidden="true" />
              <span>In {total(days, 'up', currency)}</span>
            </li>
            <li>
              <span className="chart-key-down" aria-hidden="true" />
              <span>Out {total(days, 'down', currency)}</span>
            </li>
            <li className="faint">Last 30 days</li>
          </ul>
          {summary.isPending && <SkeletonText width="100%" height={168} />}
          {summary.isError && <Failure error={summary.error} onRetry={() => void summary.refetch()} />}
          {summary.data && <DayChart days={days} currency={currency} names={{ up: 'Money in', down: 'Money out' }} />}
        </div>
      </div>
    </section>
  )
}

const WorkspaceSpending = () => {
  const { workspace, currency } = useSession()
  const summary = useQuery(paymentsSummaryQuery({}))
  const days = summary.data?.by_day.map(({ date, amount_minor }) => ({ date, up: amount_minor, down: '0' })) ?? []
  return (
    <section className="card" aria-label="Spending">
      <div className="card-body balance-card">
        <div className="stack-s">
          <p className="quiet">Spent in the last 30 days</p>
          <Amount minor={sumMinor(days.map(({ up }) => up))} currency={currency} size="big" />
          <p className="faint small">Payments in {workspace.name} are paid from its owner’s balance.</p>
        </div>
        <div className="stack-s">
          {summary.isPending && <SkeletonText width="100%" height={112} />}
          {summary.isError && <Failure error={summary.error} onRetry={() => void summary.refetch()} />}
          {summary.data && <DayChart days={days} currency={currency} names={{ up: 'Spent' }} />}
        </div>
      </div>
    </section>
  )
}
