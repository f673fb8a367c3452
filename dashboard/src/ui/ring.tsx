import { moneyText, share } from '../lib/money.ts'

const size = 44
const width = 5
const radius = (size - width) / 2
const around = 2 * Math.PI * radius

type Props = { used: string; limit: string; currency: string; label: string }

/** How much of a limit is used, as a ring. */
export const Ring = ({ used, limit, currency, label }: Props) => {
  const part = share(used, limit)
  const tone = part >= 1 ? 'ring-bad' : part >= 0.8 ? 'ring-warn' : ''
  return (
    // biome-ignore lint/a11y/useSemanticElements: the browser's own can't be drawn as a ring
    <span
      className={`ring ${tone}`}
      role="meter"
      aria-label={label}
      aria-valuemin={0}
      aria-valuemax={100}
      aria-valuenow={Math.round(part * 100)}
      aria-valuetext={`${moneyText(used, currency)} of ${moneyText(limit, currency)}`}
    >
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
