import type { ReactNode } from 'react'
import { dayLabel } from '../lib/time.ts'
import { listWords, moneyText, roundMoney, share, shortMoney } from '../lib/words.ts'
import { cx } from './button.tsx'
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

type Day = { date: string; in_minor: string; out_minor: string }
type Point = { date: string; minor: bigint }

const lineWidth = 320
const lineHeight = 56

/** What the balance was at the end of each day: today's, less what came in after it, plus what left after it. */
const balances = (total: string, days: readonly Day[]): Point[] => {
  const line: Point[] = []
  let minor = BigInt(total)
  for (const { date, in_minor: came, out_minor: left } of [...days].reverse()) {
    line.unshift({ date, minor })
    minor += BigInt(left) - BigInt(came)
  }
  return line
}

const larger = (a: bigint, b: bigint): bigint => (a < b ? b : a)

/** A balance over days, with what it says in words. Below nothing it lies on the ground. */
export const BalanceFigure = ({ line, children }: { line: readonly Point[]; children: ReactNode }) => {
  const most = line.map(({ minor }) => minor).reduce(larger, 1n)
  const at = ({ minor }: Point, index: number) =>
    `${(index / Math.max(1, line.length - 1)) * lineWidth},${lineHeight - 2 - Number((larger(minor, 0n) * BigInt(lineHeight - 6)) / most)}`
  const points = line.map(at).join(' ')
  return (
    <figure className="balance-line">
      <svg viewBox={`0 0 ${lineWidth} ${lineHeight}`} preserveAspectRatio="none" aria-hidden="true">
        <polygon points={`0,${lineHeight} ${points} ${lineWidth},${lineHeight}`} />
        <polyline points={points} vectorEffect="non-scaling-stroke" />
      </svg>
      <figcaption className="faint small">{children}</figcaption>
    </figure>
  )
}

/** The balance with what is held, over the last days, and its lowest day in words. */
export const BalanceLine = ({ total, days, currency }: { total: string; days: readonly Day[]; currency: string }) => {
  const line = balances(total, days)
  const [first, ...others] = line
  if (!first) return null
  const least = others.reduce((low, day) => (day.minor < low.minor ? day : low), first)
  return (
    <BalanceFigure line={line}>
      <span title={moneyText(least.minor.toString(), currency)}>
        Lowest in 30 days: {shortMoney(least.minor.toString(), currency)} on {dayLabel(least.date)}
      </span>
    </BalanceFigure>
  )
}

export type MeterProps = { used: string; limit: string; currency: string; label: string }

export const meterRole = ({ used, limit, currency, label }: MeterProps) =>
  ({
    role: 'meter',
    'aria-label': label,
    'aria-valuemin': 0,
    'aria-valuemax': 100,
    'aria-valuenow': Math.round(share(used, limit) * 100),
    'aria-valuetext': `${moneyText(used, currency)} of ${moneyText(limit, currency)}`,
  }) as const

export const Meter = (props: MeterProps) => {
  const part = share(props.used, props.limit)
  return (
    <div className={cx('meter', toneOf(part))} {...meterRole(props)}>
      <span style={{ width: `${part * 100}%` }} />
    </div>
  )
}

/** A part of a whole, as an arc from the top. */
export const Arc = ({ part, size, line, radius }: { part: number; size: number; line: number; radius: number }) => {
  const around = 2 * Math.PI * radius
  const circle = { cx: size / 2, cy: size / 2, r: radius, strokeWidth: line }
  return (
    <svg width={size} height={size} viewBox={`0 0 ${size} ${size}`} aria-hidden="true">
      <circle className="ring-all" {...circle} />
      {part > 0 && (
        <circle
          className="ring-used"
          {...circle}
          strokeDasharray={`${part * around} ${around}`}
          transform={`rotate(-90 ${size / 2} ${size / 2})`}
        />
      )}
    </svg>
  )
}

const toneOf = (part: number) => (part >= 1 ? 'tone-bad' : part >= 0.8 && 'tone-warn')

export const Ring = (props: MeterProps) => {
  const part = share(props.used, props.limit)
  return (
    <span className={cx('ring', toneOf(part))} {...meterRole(props)}>
      <Arc part={part} size={44} line={5} radius={19.5} />
      <span aria-hidden="true">{Math.round(part * 100)} %</span>
    </span>
  )
}
