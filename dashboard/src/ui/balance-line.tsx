import { moneyText, shortMoney } from '../lib/money.ts'
import { dayLabel } from '../lib/time.ts'

type Day = { date: string; in_minor: string; out_minor: string }

const width = 320
const height = 56

/** What the balance was at the end of each day: today's, less what came in after it, plus what left after it. */
const balances = (total: string, days: readonly Day[]): { date: string; minor: bigint }[] => {
  const line: { date: string; minor: bigint }[] = []
  let minor = BigInt(total)
  for (const { date, in_minor: came, out_minor: left } of [...days].reverse()) {
    line.unshift({ date, minor })
    minor += BigInt(left) - BigInt(came)
  }
  return line
}

const larger = (a: bigint, b: bigint): bigint => (a < b ? b : a)

/** The balance with what is held, over the last days, and its lowest day in words. */
export const BalanceLine = ({ total, days, currency }: { total: string; days: readonly Day[]; currency: string }) => {
  const line = balances(total, days)
  const most = line.map(({ minor }) => minor).reduce(larger, 1n)
  const least = line.reduce<(typeof line)[number] | undefined>(
    (low, day) => (!low || day.minor < low.minor ? day : low),
    undefined,
  )
  const at = ({ minor }: { minor: bigint }, index: number) =>
    `${(index / Math.max(1, line.length - 1)) * width},${height - 2 - Number((minor * BigInt(height - 6)) / most)}`
  const points = line.map(at).join(' ')
  return (
    <figure className="balance-line">
      <svg viewBox={`0 0 ${width} ${height}`} preserveAspectRatio="none" aria-hidden="true">
        <polygon points={`0,${height} ${points} ${width},${height}`} />
        <polyline points={points} vectorEffect="non-scaling-stroke" />
      </svg>
      {least && (
        <figcaption className="faint small" title={moneyText(least.minor.toString(), currency)}>
          Lowest in 30 days: {shortMoney(least.minor.toString(), currency)} on {dayLabel(least.date)}
        </figcaption>
      )}
    </figure>
  )
}
