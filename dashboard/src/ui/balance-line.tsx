import type { ReactNode } from 'react'
import { moneyText, shortMoney } from '../lib/money.ts'
import { dayLabel } from '../lib/time.ts'

type Day = { date: string; in_minor: string; out_minor: string }
type Point = { date: string; minor: bigint }

const width = 320
const height = 56

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
    `${(index / Math.max(1, line.length - 1)) * width},${height - 2 - Number((larger(minor, 0n) * BigInt(height - 6)) / most)}`
  const points = line.map(at).join(' ')
  return (
    <figure className="balance-line">
      <svg viewBox={`0 0 ${width} ${height}`} preserveAspectRatio="none" aria-hidden="true">
        <polygon points={`0,${height} ${points} ${width},${height}`} />
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
