import { moneyText, roundMoney, shortMoney } from '../lib/money.ts'
import { dayLabel } from '../lib/time.ts'
import { listWords } from '../lib/words.ts'
import { Table } from './listing.tsx'

export type DayBar = { date: string; up: string; mark?: string }

type Props = {
  days: readonly DayBar[]
  currency: string
  /** Names of the bars and, where days are marked too, of the marks, such as "Spent" and "Money in". */
  names: { up: string; mark?: string }
}

const width = 640
const height = 124
const base = 112
const gap = 0.28

/** The share of the chart's height for the other days when one day is far above them: a list of 200 payments must not flatten the rest. */
const shareOfOthers = 0.75

/** Where a bar is cut: above the other days, if their highest is less than a third of it. The amounts stand in words. */
const scaleOf = (amounts: readonly number[]): { most: number; cut: number } => {
  const [highest = 0] = [...amounts].sort((a, b) => b - a)
  const usual = Math.max(0, ...amounts.filter((amount) => amount < highest / 3))
  const far = amounts.filter((amount) => amount >= highest / 3).length
  const isCut = usual > 0 && far <= Math.max(1, amounts.length / 10)
  return { most: Math.max(1, isCut ? usual / shareOfOthers : highest), cut: isCut ? usual : Number.POSITIVE_INFINITY }
}

/** How high a bar is: an amount above zero is at least visible. */
const barHeight = (minor: string, most: number): number =>
  minor === '0' ? 0 : Math.min(base - 2, Math.max(2, (Number(minor) / most) * (base - 2)))

/** Days as bars on a scale of their own, and the same numbers as a table. Marks say only on which days there was something. */
export const DayChart = ({ days, currency, names }: Props) => {
  const { most, cut } = scaleOf(days.map(({ up }) => Number(up)))
  const above = days.filter(({ up }) => Number(up) > cut)
  const step = width / days.length
  const barWidth = step * (1 - gap)
  const first = days[0]
  const last = days.at(-1)
  const wordsOf = ({ date, up, mark }: DayBar) =>
    `${dayLabel(date)}: ${names.up} ${moneyText(up, currency)}${names.mark ? `, ${names.mark} ${moneyText(mark ?? '0', currency)}` : ''}`
  return (
    <figure className="day-chart">
      <div className="day-chart-plot">
        <svg viewBox={`0 0 ${width} ${height}`} preserveAspectRatio="none" aria-hidden="true">
          <line x1="0" x2={width} y1={base} y2={base} className="chart-line" vectorEffect="non-scaling-stroke" />
          {days.map((day, index) => {
            const x = index * step + (step * gap) / 2
            const high = barHeight(day.up, most)
            return (
              <g key={day.date}>
                <title>{wordsOf(day)}</title>
                <rect className="chart-hit" x={index * step} y="0" width={step} height={height} />
                <rect className="chart-down" x={x} y={base - high} width={barWidth} height={high} />
                {Number(day.up) > cut && <rect className="chart-cut" x={x} y="14" width={barWidth} height="4" />}
                {names.mark && (day.mark ?? '0') !== '0' && (
                  <rect className="chart-up" x={x} y={base + 4} width={barWidth} height="6" />
                )}
              </g>
            )
          })}
        </svg>
        <span className="chart-scale" aria-hidden="true">
          {roundMoney(String(Math.round(most)))}
        </span>
      </div>
      <div className="row row-between faint small" aria-hidden="true">
        <span>{first && dayLabel(first.date)}</span>
        <span>{last && dayLabel(last.date)}</span>
      </div>
      {above.length > 0 && (
        <p className="faint small">
          Above the scale: {listWords(above.map(({ date, up }) => `${shortMoney(up, currency)} on ${dayLabel(date)}`))}
        </p>
      )}
      <details>
        <summary className="small quiet">Show as a table</summary>
        {/* biome-ignore lint/a11y/noNoninteractiveTabindex: it scrolls, so a keyboard has to reach it */}
        <section className="chart-table" tabIndex={0} aria-label="By day">
          <Table headings={['Day', { figures: names.up }, names.mark !== undefined && { figures: names.mark }]}>
            {[...days].reverse().map(({ date, up, mark }) => (
              <tr key={date}>
                <th scope="row">{dayLabel(date)}</th>
                <td className="figure">{moneyText(up, currency)}</td>
                {names.mark && <td className="figure">{moneyText(mark ?? '0', currency)}</td>}
              </tr>
            ))}
          </Table>
        </section>
      </details>
    </figure>
  )
}
