import { share } from '../lib/money.ts'
import { type MeterProps, meterRole } from './meter.tsx'

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
