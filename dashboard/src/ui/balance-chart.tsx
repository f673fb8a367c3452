import { type ReactNode, useState } from 'react'
import { t } from '../lib/language.ts'
import { dayLabel } from '../lib/time.ts'
import { moneyText, shortMoney } from '../lib/words.ts'
import { Plot } from './day-chart.tsx'

type Point = { date: string; minor: bigint }
const lineWidth = 320
const lineHeight = 56
const larger = (a: bigint, b: bigint): bigint => (a < b ? b : a)
const amountOn = ({ date, minor }: Point, currency: string): string =>
  t('chart.amount_on', { amount: shortMoney(minor.toString(), currency), day: dayLabel(date) })
type FigureProps = { line: readonly Point[]; currency: string; children: ReactNode }

/** A balance over days, with a caption. Negative balances are drawn as zero. */

export const BalanceFigure = ({ line, currency, children }: FigureProps) => {
  const [pointed, setPointed] = useState<string | null>(null)
  const step = lineWidth / Math.max(1, line.length - 1)
  const max = line.map(({ minor }) => minor).reduce(larger, 1n)
  const at = ({ minor }: Point, index: number) =>
    `${index * step},${lineHeight - 2 - Number((larger(minor, 0n) * BigInt(lineHeight - 6)) / max)}`
  const points = line.map(at).join(' ')
  return (
    <figure className="balance-line">
      <Plot max={Number(max)} days={line}>
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
        {t('chart.lowest', { amount: shortMoney(least.minor.toString(), currency), day: dayLabel(least.date) })}
      </span>
    </BalanceFigure>
  )
}
