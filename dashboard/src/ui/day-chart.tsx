import { moneyText, roundMoney } from '../lib/money.ts'
import { dayLabel } from '../lib/time.ts'

export type DayBar = { date: string; up: string; down: string }

type Props = {
  days: readonly DayBar[]
  currency: string
  /** Names of the bars above and below the line, such as "Money in" and "Money out". Without `down` there are no bars below. */
  names: { up: string; down?: string }
}

const width = 640
const gap = 0.28

const largest = (amounts: readonly string[]): number => Math.max(1, ...amounts.map(Number))

/** Where a bar starts and how high it is: an amount above zero is at least visible. */
const barHeight = (minor: string, perMinor: number): number => (minor === '0' ? 0 : Math.max(2, Number(minor) * perMinor))

/** Days as bars, and the same numbers as a table. */
export const DayChart = ({ days, currency, names }: Props) => {
  const both = names.down !== undefined
  const height = both ? 168 : 112
  const top = largest(days.map(({ up }) => up))
  const bottom = both ? largest(days.map(({ down }) => down)) : 0
  // One scale for both sides; the line stands where it leaves each side the room that it needs.
  const base = 2 + (height - 4) * (both ? Math.min(0.82, Math.max(0.18, top / (top + bottom))) : 1)
  const perMinor = Math.min((base - 2) / top, bottom === 0 ? Number.POSITIVE_INFINITY : (height - 2 - base) / bottom)
  const step = width / days.length
  const barWidth = step * (1 - gap)
  const first = days[0]
  const last = days.at(-1)
  return (
    <figure className="day-chart">
      <div className="day-chart-plot">
        <svg viewBox={`0 0 ${width} ${height}`} preserveAspectRatio="none" aria-hidden="true">
          <line x1="0" x2={width} y1={base} y2={base} className="chart-line" vectorEffect="non-scaling-stroke" />
          {days.map(({ date, up, down }, index) => {
            const x = index * step + (step * gap) / 2
            const above = barHeight(up, perMinor)
            const below = barHeight(down, perMinor)
            return (
              <g key={date}>
                <title>{`${dayLabel(date)}: ${names.up} ${moneyText(up, currency)}${both ? `, ${names.down} ${moneyText(down, currency)}` : ''}`}</title>
                <rect className="chart-hit" x={index * step} y="0" width={step} height={height} />
                <rect className={both ? 'chart-up' : 'chart-down'} x={x} y={base - above} width={barWidth} height={above} />
                {both && <rect className="chart-down" x={x} y={base} width={barWidth} height={below} />}
              </g>
            )
          })}
        </svg>
        <span className="chart-scale" aria-hidden="true">
          {roundMoney(String(top))}
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
                {both && (
                  <th scope="col" className="figure">
                    {names.down}
                  </th>
                )}
              </tr>
            </thead>
            <tbody>
              {[...days].reverse().map(({ date, up, down }) => (
                <tr key={date}>
                  <th scope="row">{dayLabel(date)}</th>
                  <td className="figure">{moneyText(up, currency)}</td>
                  {both && <td className="figure">{moneyText(down, currency)}</td>}
                </tr>
              ))}
            </tbody>
          </table>
        </section>
      </details>
    </figure>
  )
}
