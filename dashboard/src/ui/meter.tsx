import { cx } from '../lib/class-names.ts'
import { moneyText, share } from '../lib/money.ts'

/** How much of a limit is used. */
export const Meter = ({ used, limit, currency, label }: { used: string; limit: string; currency: string; label: string }) => {
  const part = share(used, limit)
  return (
    // biome-ignore lint/a11y/useSemanticElements: the browser's own can't be drawn the same everywhere
    <div
      className={cx('meter', part >= 1 ? 'meter-bad' : part >= 0.8 && 'meter-warn')}
      role="meter"
      aria-label={label}
      aria-valuemin={0}
      aria-valuemax={100}
      aria-valuenow={Math.round(part * 100)}
      aria-valuetext={`${moneyText(used, currency)} of ${moneyText(limit, currency)}`}
    >
      <span style={{ width: `${part * 100}%` }} />
    </div>
  )
}
