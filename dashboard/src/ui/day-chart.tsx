import { type ReactNode, useState } from 'react'
import { cx } from '../lib/class-names.ts'
import { t } from '../lib/language.ts'
import { dayLabel } from '../lib/time.ts'
import { listWords, moneyText, roundMoney, share, shortMoney } from '../lib/words.ts'
import { Table } from './listing.tsx'

export type DayBar = { date: string; up: string; mark?: string }

type Props = {
  days: readonly DayBar[]
  currency: string
  /** Names of the bars and, if days have marks, of the marks, such as "Spent" and "Money in". */
  names: { up: string; mark?: string }
}

const width = 640
const height = 124
const base = 112
const gap = 0.28

/** Share of the height for ordinary days beside a few far above them: a batch of 200 payments must not flatten the rest. */
const shareOfOthers = 0.75

/** Cuts the bars of a few days, one or a tenth, if all others are below a third of the highest. A text gives the amounts. */
const scaleOf = (amounts: readonly number[]): { most: number; cut: number } => {
  const [highest = 0] = [...amounts].sort((a, b) => b - a)
  const usual = Math.max(0, ...amounts.filter((amount) => amount < highest / 3))
  const far = amounts.filter((amount) => amount >= highest / 3).length
  const isCut = usual > 0 && far <= Math.max(1, amounts.length / 10)
  return { most: Math.max(1, isCut ? usual / shareOfOthers : highest), cut: isCut ? usual : Number.POSITIVE_INFINITY }
}

/** Height of a bar. Any amount above zero is visible. */
const barHeight = (minor: string, most: number): number =>
  minor === '0' ? 0 : Math.min(base - 2, Math.max(2, (Number(minor) / most) * (base - 2)))

type PlotProps = { most: number; days: readonly { date: string }[]; children: ReactNode }

/** A chart over days, with a scale (top, half, zero) beside it, and the first and last day below. */
const Plot = ({ most, days: [first, ...others], children }: PlotProps) => (
  <div aria-hidden="true">
    <div className="chart-plot">
      <span className="chart-scale">
        {[...new Set([most, most / 2, 0].map((minor) => roundMoney(String(Math.round(minor)))))].map((amount) => (
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
export const DayChart = ({ days, currency, names }: Props) => {
  const { most, cut } = scaleOf(days.map(({ up }) => Number(up)))
  const above = days.filter(({ up }) => Number(up) > cut)
  const step = width / days.length
  const barWidth = step * (1 - gap)
  const wordsOf = ({ date, up, mark }: DayBar) =>
    `${dayLabel(date)}: ${names.up} ${moneyText(up, currency)}${names.mark ? `, ${names.mark} ${moneyText(mark ?? '0', currency)}` : ''}`
  return (
    <figure className="day-chart">
      <Plot most={most} days={days}>
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
      </Plot>
      {above.length > 0 && (
        <p className="faint small">
          {t('chart.above', {
            names: listWords(
              above.map(({ date, up }) => t('chart.amount_on', { amount: shortMoney(up, currency), dayLabel: dayLabel(date) })),
            ),
          })}
        </p>
      )}
      <details>
        <summary className="small muted">{t('chart.table')}</summary>
        {/* biome-ignore lint/a11y/noNoninteractiveTabindex: the table scrolls, so the keyboard has to reach it */}
        <section className="chart-table" tabIndex={0} aria-label={t('chart.by_day')}>
          <Table headings={[t('day'), { figures: names.up }, names.mark !== undefined && { figures: names.mark }]}>
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

type Point = { date: string; minor: bigint }

const lineWidth = 320
const lineHeight = 56

const larger = (a: bigint, b: bigint): bigint => (a < b ? b : a)

const amountOn = ({ date, minor }: Point, currency: string): string =>
  t('chart.amount_on', { amount: shortMoney(minor.toString(), currency), dayLabel: dayLabel(date) })

type FigureProps = { line: readonly Point[]; currency: string; children: ReactNode }

/** A balance over days, with a caption. Negative balances are drawn as zero. */
export const BalanceFigure = ({ line, currency, children }: FigureProps) => {
  const [pointed, setPointed] = useState<string | null>(null)
  const step = lineWidth / Math.max(1, line.length - 1)
  const most = line.map(({ minor }) => minor).reduce(larger, 1n)
  const at = ({ minor }: Point, index: number) =>
    `${index * step},${lineHeight - 2 - Number((larger(minor, 0n) * BigInt(lineHeight - 6)) / most)}`
  const points = line.map(at).join(' ')
  return (
    <figure className="balance-line">
      <Plot most={Number(most)} days={line}>
        <svg viewBox={`0 0 ${lineWidth} ${lineHeight}`} preserveAspectRatio="none" aria-hidden="true">
          {line.map((day, index) => (
            <rect
              key={day.date}
              className="chart-hit"
              x={(index - 0.5) * step}
              y="0"
              width={step}
              height={lineHeight}
              onPointerEnter={() => setPointed(day.date)}
            >
              {pointed === day.date && <title>{amountOn(day, currency)}</title>}
            </rect>
          ))}
          <polygon points={`0,${lineHeight} ${points} ${lineWidth},${lineHeight}`} />
          <polyline points={points} vectorEffect="non-scaling-stroke" />
        </svg>
      </Plot>
      <figcaption className="faint small">{children}</figcaption>
    </figure>
  )
}

type Day = { date: string; available_minor: string | null }

/** Balance at the end of each of the last days and now, with the lowest day in words. */
export const BalanceLine = ({ available, days, currency }: { available: string; days: readonly Day[]; currency: string }) => {
  const line = days.map(({ date, available_minor }, index) => ({
    date,
    minor: BigInt(index === days.length - 1 ? available : (available_minor ?? available)),
  }))
  const [first, ...others] = line
  // A line at zero would show nothing.
  if (!first || line.every(({ minor }) => minor === 0n)) return null
  const least = others.reduce((low, day) => (day.minor < low.minor ? day : low), first)
  return (
    <BalanceFigure line={line} currency={currency}>
      <span title={moneyText(least.minor.toString(), currency)}>
        {t('chart.lowest', { amount: shortMoney(least.minor.toString(), currency), dayLabel: dayLabel(least.date) })}
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
    'aria-valuetext': t('chart.part', { amount: moneyText(used, currency), amount2: moneyText(limit, currency) }),
  }) as const

export const Meter = (props: MeterProps) => {
  const part = share(props.used, props.limit)
  return (
    <div className={cx('meter', toneOf(part))} {...meterRole(props)}>
      <span style={{ width: `${part * 100}%` }} />
    </div>
  )
}

/** A share of a whole, as an arc from the top. */
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
