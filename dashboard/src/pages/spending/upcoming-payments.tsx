import { queryOptions, useQuery } from '@tanstack/react-query'
import { Link } from 'wouter'
import { api, everyPage, parametersOf, type Schemas } from '../../api/queries.ts'
import { t } from '../../lib/language.ts'
import { dayLabel, daysAfter, localDate, now } from '../../lib/time.ts'
import { majorText, moneyText, shortMoney, sumMinor } from '../../lib/words.ts'
import { useSession } from '../../shell/session.tsx'
import { BalanceFigure } from '../../ui/balance-chart.tsx'
import { Table } from '../../ui/listing.tsx'
import { Card, Failure, SkeletonText, TextNotice } from '../../ui/page.tsx'
import { richBooks, tBooks } from '../history/texts.ts'

/** All scheduled payments: a batch of a thousand is ten pages. */
const scheduledQuery = queryOptions({
  queryKey: ['payments', 'scheduled'],
  queryFn: () =>
    everyPage((cursor) => {
      const status: Schemas['Payment']['status'][] = ['scheduled']
      return api.GET('/v1/payments', { query: parametersOf({ status, limit: 100, cursor }) })
    }),
})

const daysAhead = 30

/** Scheduled payments of the coming days, and what they leave of today's balance. */
export const UpcomingPayments = () => {
  const { balance, seesBalance, currency } = useSession()
  const scheduled = useQuery(scheduledQuery)
  const today = localDate(now())
  const dates = Array.from({ length: daysAhead + 1 }, (_, ahead) => daysAfter(today, ahead))
  const due = (scheduled.data ?? []).map(({ execute_at: at, amount_minor: amount, fee_minor: fee }) => ({
    date: localDate(Date.parse(at ?? '')),
    minor: sumMinor([amount, fee]),
  }))
  let left = BigInt(balance?.available_minor ?? '0')
  const days = dates.map((date) => {
    const own = due.filter((payment) => payment.date === date)
    const minor = sumMinor(own.map((payment) => payment.minor))
    left -= BigInt(minor)
    return { date, count: own.length, minor, left: left.toString() }
  })
  const total = sumMinor(days.map(({ minor }) => minor))
  const short = seesBalance ? days.find((day) => day.left.startsWith('-')) : undefined
  const count = days.reduce((sum, day) => sum + day.count, 0)
  return (
    <Card
      title={tBooks('coming')}
      note={count > 0 && tBooks('coming.sum', { count, amount: shortMoney(total, currency) })}
      actions={
        <Link href="/payments?status=scheduled" className="small">
          {t('view_all')}
        </Link>
      }
    >
      {scheduled.isPending && <SkeletonText width="100%" height={56} />}
      <Failure error={scheduled.error} />
      {scheduled.data && count === 0 && <p className="muted">{tBooks('coming.none')}</p>}
      {short && (
        <TextNotice tone="warn" title={tBooks('coming.short', { day: dayLabel(short.date) })}>
          {richBooks('coming.missing', {
            amount: moneyText(short.left.slice(1), currency),
            link: <Link href="/top-up">{t('top_up')}</Link>,
          })}
        </TextNotice>
      )}
      {scheduled.data && seesBalance && (
        <BalanceFigure line={days.map(({ date, left: minor }) => ({ date, minor: BigInt(minor) }))} currency={currency}>
          {tBooks('coming.after', {
            amount: shortMoney(balance?.available_minor ?? '0', currency),
            amount2: shortMoney(days.at(-1)?.left ?? '0', currency),
          })}
        </BalanceFigure>
      )}
      {count > 0 && (
        <Table
          headings={[
            tBooks('coming.day', { currency }),
            { figures: t('status.scheduled') },
            ...(seesBalance ? [{ figures: tBooks('left') }] : []),
          ]}
        >
          {days
            .filter((day) => day.count > 0)
            .map((day) => (
              <tr key={day.date}>
                <td>
                  {dayLabel(day.date)}
                  <span className="block faint small">{t('payments', { count: day.count })}</span>
                </td>
                <td className="figure nowrap">{majorText(day.minor)}</td>
                {seesBalance && <td className="figure nowrap">{majorText(day.left)}</td>}
              </tr>
            ))}
        </Table>
      )}
    </Card>
  )
}
