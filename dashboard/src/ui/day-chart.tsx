import type { ReactNode } from 'react'
import { t } from '../lib/language.ts'
import { dayLabel } from '../lib/time.ts'
import { listWords, moneyText, roundMoney, shortMoney } from '../lib/words.ts'
import { Table } from './listing.tsx'

type DayAmounts = { date: string; spent: string; received?: string }

type Props = {
  days: readonly DayAmounts[]
  currency: string
  /** Whether to mark the days on which money came in. */
  showsReceived?: boolean
}

const width = 640
const height = 124
const baseline = 112
const gapShare = 0.28

/** Share of the height for ordinary days beside a few far above them: a batch of 200 payments must not flatten the rest. */
const shareOfOthers = 0.75

/** Cuts off outliers: if only one day or a tenth of the days reach a third of the maximum, the scale ends at the others. A text gives their amounts. */
const scaleOf = (amounts: readonly number[]): { max: number; cutOff: number } => {
  const [highest = 0] = [...amounts].sort((a, b) => b - a)
  const usual = Math.max(0, ...amounts.filter((amount) => amount < highest / 3))
  const far = amounts.filter((amount) => amount >= highest / 3).length
  const isCut = usual > 0 && far <= Math.max(1, amounts.length / 10)
  return { max: Math.max(1, isCut ? usual / shareOfOthers : highest), cutOff: isCut ? usual : Number.POSITIVE_INFINITY }
}

/** Height of a bar. Any amount above zero is visible. */
const barHeight = (minor: string, max: number): number =>
  minor === '0' ? 0 : Math.min(baseline - 2, Math.max(2, (Number(minor) / max) * (baseline - 2)))

type PlotProps = { max: number; days: readonly { date: string }[]; children: ReactNode }

/** A chart over days, with a scale (top, half, zero) beside it, and the first and last day below. */
export const Plot = ({ max, days: [first, ...others], children }: PlotProps) => (
  <div aria-hidden="true">
    <div className="chart-plot">
      <span className="chart-scale">
        {[...new Set([max, max / 2, 0].map((minor) => roundMoney(String(Math.round(minor)))))].map((amount) => (
          <span key={amount}>{amount}</span>
        ))}
      </span>
      {children}
    </div>
    <div className="row row-between faint small">
      {[first, others.at(-1)].map((day) => day && <span key={day.date}>{dayLabel(day.date)}</span>)}
    </div>
  </div>
)

/** Days as bars on their own scale, and the same numbers as a table. Marks show only on which days there was an amount. */
export const DayChart = ({ days, currency, showsReceived = false }: Props) => {
  const { max, cutOff } = scaleOf(days.map(({ spent }) => Number(spent)))
  const above = days.filter(({ spent }) => Number(spent) > cutOff)
  const step = width / days.length
  const barWidth = step * (1 - gapShare)
  const wordsOf = ({ date, spent, received }: DayAmounts) =>
    `${dayLabel(date)}: ${t('spent')} ${moneyText(spent, currency)}${showsReceived ? `, ${t('money_in')} ${moneyText(received ?? '0', currency)}` : ''}`
  return (
    <figure className="day-chart">
      <Plot max={max} days={days}>
        <svg viewBox={`0 0 ${width} ${height}`} preserveAspectRatio="none" aria-hidden="true">
          <line x1="0" x2={width} y1={baseline} y2={baseline} className="chart-line" vectorEffect="non-scaling-stroke" />
          {days.map((day, index) => {
            const x = index * step + (step * gapShare) / 2
            const high = barHeight(day.spent, max)
            return (
              <g key={day.date}>
                <title>{wordsOf(day)}</title>
                <rect className="chart-hit" x={index * step} y="0" width={step} height={height} />
                <rect className="chart-spent" x={x} y={baseline - high} width={barWidth} height={high} />
                {Number(day.spent) > cutOff && <rect className="chart-cut" x={x} y="14" width={barWidth} height="4" />}
                {showsReceived && (day.received ?? '0') !== '0' && (
                  <rect className="chart-received" x={x} y={baseline + 4} width={barWidth} height="6" />
                )}
              </g>
            )
          })}
        </svg>
      </Plot>
      {above.length > 0 && (
        <p className="faint small">
          {t('chart.above', {
            names: listWords(
              above.map(({ date, spent }) => t('chart.amount_on', { amount: shortMoney(spent, currency), day: dayLabel(date) })),
            ),
          })}
        </p>
      )}
      <details>
        <summary className="small muted">{t('chart.table')}</summary>
        {/* biome-ignore lint/a11y/noNoninteractiveTabindex: the table scrolls, so the keyboard has to reach it */}
        <section className="chart-table" tabIndex={0} aria-label={t('chart.by_day')}>
          <Table headings={[t('day'), { figures: t('spent') }, showsReceived && { figures: t('money_in') }]}>
            {[...days].reverse().map(({ date, spent, received }) => (
              <tr key={date}>
                <th scope="row">{dayLabel(date)}</th>
                <td className="figure">{moneyText(spent, currency)}</td>
                {showsReceived && <td className="figure">{moneyText(received ?? '0', currency)}</td>}
              </tr>
            ))}
          </Table>
        </section>
      </details>
    </figure>
  )
}
