import { moneyText, roundMoney } from '../lib/money.ts'
import { dayLabel } from '../lib/time.ts'

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

/** Where a bar starts and how high it is: an amount above zero is at least visible. */
const barHeight = (minor: string, most: number): number => (minor === '0' ? 0 : Math.max(2, (Number(minor) / most) * (base - 2)))

/** Days as bars on a scale of their own, and the same numbers as a table. Marks say only on which days there was something. */
export const DayChart = ({ days, currency, names }: Props) => {
  const most = Math.max(1, ...days.map(({ up }) => Number(up)))
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
                {names.mark && (day.mark ?? '0') !== '0' && (
                  <rect className="chart-up" x={x} y={base + 4} width={barWidth} height="6" />
                )}
              </g>
            )
          })}
        </svg>
        <span className="chart-scale" aria-hidden="true">
          {roundMoney(String(most))}
        </span>
      </div>
      <div className="row row-between faint small" aria-hidden="true">
        <span>{first && dayLabel(first.date)}</span>
        <span>{last && dayLabel(last.date)}</span>
      </div>
      <details>
        <summary className="small quiet">Show as a table</summary>
        {/* biome-ignore lint/a11y/noNoninteractiveTabindex: it scrolls, so a keyboard has to reach it */}
        <section className="chart-table table-scroll" tabIndex={0} aria-label="By day">
          <table className="table">
            <thead>
              <tr>
                <th scope="col">Day</th>
                <th scope="col" className="figure">
                  {names.up}
                </th>
                {names.mark && (
                  <th scope="col" className="figure">
                    {names.mark}
                  </th>
                )}
              </tr>
            </thead>
            <tbody>
              {[...days].reverse().map(({ date, up, mark }) => (
                <tr key={date}>
                  <th scope="row">{dayLabel(date)}</th>
                  <td className="figure">{moneyText(up, currency)}</td>
                  {names.mark && <td className="figure">{moneyText(mark ?? '0', currency)}</td>}
                </tr>
              ))}
            </tbody>
          </table>
        </section>
      </details>
    </figure>
  )
}
