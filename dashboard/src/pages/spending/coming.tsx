import { useQuery } from '@tanstack/react-query'
import { Link } from 'wouter'
import { scheduledQuery } from '../../api/queries.ts'
import { now } from '../../lib/clock.ts'
import { countWords } from '../../lib/list-words.ts'
import { majorText, moneyText, shortMoney, sumMinor } from '../../lib/money.ts'
import { dayLabel, localDate } from '../../lib/time.ts'
import { useSession } from '../../shell/session.tsx'
import { BalanceFigure } from '../../ui/balance-line.tsx'
import { Failure } from '../../ui/failure.tsx'
import { Card, Notice, SkeletonText } from '../../ui/layout.tsx'
import { Table } from '../../ui/table.tsx'

const daysAhead = 30
const dayMs = 86_400_000

/** The coming days: what is scheduled, and what it leaves of the balance that is there today. */
export const Coming = () => {
  const { account, ownsBalance, currency } = useSession()
  const scheduled = useQuery(scheduledQuery)
  const dates = Array.from({ length: daysAhead + 1 }, (_, ahead) => localDate(now() + ahead * dayMs))
  const due = (scheduled.data ?? []).map(({ execute_at: at, amount_minor: minor }) => ({
    date: localDate(Date.parse(at ?? '')),
    minor,
  }))
  let left = BigInt(account.balance.available_minor)
  const days = dates.map((date) => {
    const own = due.filter((payment) => payment.date === date)
    const minor = sumMinor(own.map((payment) => payment.minor))
    left -= BigInt(minor)
    return { date, count: own.length, minor, left: left.toString() }
  })
  const total = sumMinor(days.map(({ minor }) => minor))
  const short = ownsBalance ? days.find((day) => day.left.startsWith('-')) : undefined
  const count = days.reduce((sum, day) => sum + day.count, 0)
  return (
    <Card
      title="The coming 30 days"
      note={
        scheduled.data &&
        (count === 0 ? 'Nothing is scheduled.' : `${countWords(count, 'payment')}, ${shortMoney(total, currency)} in all.`)
      }
      actions={
        <Link href="/payments?status=scheduled" className="small">
          View all
        </Link>
      }
    >
      <div className="stack">
        {scheduled.isPending && <SkeletonText width="100%" height={56} />}
        <Failure error={scheduled.error} />
        {short && (
          <Notice tone="warn" title={`The balance does not suffice on ${dayLabel(short.date)}`}>
            <p className="quiet">
              {moneyText(short.left.slice(1), currency)} short, if nothing arrives before. <Link href="/top-up">Top up</Link>
            </p>
          </Notice>
        )}
        {scheduled.data && ownsBalance && (
          <BalanceFigure line={days.map(({ date, left: minor }) => ({ date, minor: BigInt(minor) }))}>
            Available today {shortMoney(account.balance.available_minor, currency)}, after what is scheduled{' '}
            {shortMoney(days.at(-1)?.left ?? '0', currency)}
          </BalanceFigure>
        )}
        {count > 0 && (
          <Table
            headings={[
              `Day, ${currency}`,
              { figures: 'Payments' },
              { figures: 'Scheduled' },
              ...(ownsBalance ? [{ figures: 'Left' }] : []),
            ]}
          >
            {days
              .filter((day) => day.count > 0)
              .map((day) => (
                <tr key={day.date}>
                  <td className="nowrap">{dayLabel(day.date)}</td>
                  <td className="figure">{day.count}</td>
                  <td className="figure nowrap">{majorText(day.minor)}</td>
                  {ownsBalance && <td className="figure nowrap">{majorText(day.left)}</td>}
                </tr>
              ))}
          </Table>
        )}
      </div>
    </Card>
  )
}
