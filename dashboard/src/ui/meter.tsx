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

const size = 44
const width = 5
const radius = (size - width) / 2
const around = 2 * Math.PI * radius

/** How much of a limit is used, as a ring. */
export const Ring = (props: MeterProps) => {
  const part = share(props.used, props.limit)
  const tone = part >= 1 ? 'tone-bad' : part >= 0.8 ? 'tone-warn' : ''
  return (
    <span className={`ring ${tone}`} {...meterRole(props)}>
      <svg width={size} height={size} viewBox={`0 0 ${size} ${size}`} aria-hidden="true">
        <circle className="ring-all" cx={size / 2} cy={size / 2} r={radius} strokeWidth={width} />
        {part > 0 && (
          <circle
            className="ring-used"
            cx={size / 2}
            cy={size / 2}
            r={radius}
            strokeWidth={width}
            strokeDasharray={`${part * around} ${around}`}
            transform={`rotate(-90 ${size / 2} ${size / 2})`}
          />
        )}
      </svg>
      <span aria-hidden="true">{Math.round(part * 100)} %</span>
    </span>
  )
}
