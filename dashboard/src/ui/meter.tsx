import { cx } from '../lib/class-names.ts'
import { moneyText, share } from '../lib/money.ts'

export type MeterProps = { used: string; limit: string; currency: string; label: string }

/** What a screen reader says of how much of a limit is used. */
export const meterRole = ({ used, limit, currency, label }: MeterProps) =>
  ({
    role: 'meter',
    'aria-label': label,
    'aria-valuemin': 0,
    'aria-valuemax': 100,
    'aria-valuenow': Math.round(share(used, limit) * 100),
    'aria-valuetext': `${moneyText(used, currency)} of ${moneyText(limit, currency)}`,
  }) as const

/** How much of a limit is used. */
export const Meter = (props: MeterProps) => {
  const part = share(props.used, props.limit)
  return (
    <div className={cx('meter', part >= 1 ? 'tone-bad' : part >= 0.8 && 'tone-warn')} {...meterRole(props)}>
      <span style={{ width: `${part * 100}%` }} />
    </div>
  )
}
