import { cx } from '../lib/class-names.ts'
import { t } from '../lib/language.ts'
import { moneyText, share } from '../lib/words.ts'

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
