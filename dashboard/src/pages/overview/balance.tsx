import { useQuery } from '@tanstack/react-query'
import { Link } from 'wouter'
import { attentionQuery, historySummaryQuery } from '../../api/queries.ts'
import { shortMoney, sumMinor } from '../../lib/money.ts'
import { useSession } from '../../shell/session.tsx'
import { Amount } from '../../ui/amount.tsx'
import { BalanceLine } from '../../ui/balance-line.tsx'
import { DayChart } from '../../ui/day-chart.tsx'
import { Failure } from '../../ui/failure.tsx'

/** The balance over 30 days where it is the reader's own, and what was spent in this workspace on each day. */
export const Balance = () => {
  const { account, workspace, ownsBalance, currency } = useSession()
  const attention = useQuery(attentionQuery)
  const summary = useQuery({ ...historySummaryQuery, enabled: ownsBalance })
  const { available_minor: available, held_minor: held } = account.balance
  const spent = attention.data?.by_day ?? []
  const into = new Map(summary.data?.days.map((day) => [day.date, day.in_minor]))
  const days = spent.map(({ date, amount_minor: up }) => ({ date, up, mark: into.get(date) ?? '0' }))
  const came = sumMinor(days.map(({ mark }) => mark))
  return (
    <section className="card" aria-label={ownsBalance ? 'Balance' : 'Spending'}>
      <div className="card-body balance-card">
        <div className="stack">
          {ownsBalance ? (
            <>
              <div>
                <p className="quiet">Available</p>
                <p aria-live="polite">
                  <Amount minor={available} currency={currency} size="big" />
                </p>
                {held !== '0' && (
                  <p className="quiet small">
                    <Amount minor={held} currency={currency} /> more is held for payments in progress
                  </p>
                )}
              </div>
              {summary.isError && <Failure error={summary.error} onRetry={() => void summary.refetch()} />}
              {summary.data && (
                <BalanceLine total={(BigInt(available) + BigInt(held)).toString()} days={summary.data.days} currency={currency} />
              )}
            </>
          ) : (
            <p className="quiet small">Payments in {workspace.name} are paid from its owner’s balance.</p>
          )}
        </div>
        <div className="stack-s">
          <ul className="legend" aria-label="Last 30 days">
            <li>
              <span className="tone-accent" aria-hidden="true" />
              <span>Spent {shortMoney(sumMinor(days.map(({ up }) => up)), currency)}</span>
            </li>
            {ownsBalance && came !== '0' && (
              <li>
                <span className="tone-good" aria-hidden="true" />
                <span>In {shortMoney(came, currency)}</span>
              </li>
            )}
            <li className="faint">Last 30 days</li>
            <li>
              <Link href="/spending">By agent and payee</Link>
            </li>
          </ul>
          {attention.isError && <Failure error={attention.error} onRetry={() => void attention.refetch()} />}
          {attention.data && (
            <DayChart days={days} currency={currency} names={{ up: 'Spent', ...(ownsBalance && { mark: 'Money in' }) }} />
          )}
        </div>
      </div>
    </section>
  )
}
