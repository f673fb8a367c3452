import type { ReactNode } from 'react'
import { Icon, type IconName } from './button.tsx'

export type Step = {
  key: string
  tone: 'good' | 'warn' | 'bad' | 'now' | 'later'
  icon: IconName
  title: ReactNode
  note?: ReactNode
  /** Beside the title: when it was, or what can be done about it. */
  side?: ReactNode
  below?: ReactNode
}

/** What happened, one after the other. What is still to come has an empty mark. */
export const Steps = ({ steps, label }: { steps: readonly Step[]; label: string }) => (
  <ol className="timeline" aria-label={label}>
    {steps.map(({ key, tone, icon, title, note, side, below }) => (
      <li key={key}>
        <span className={`timeline-mark tone-${tone}`}>{tone !== 'later' && <Icon name={icon} size={14} />}</span>
        <div>
          <div className="row row-between row-tight">
            <span>{title}</span>
            {side && <span className="faint small">{side}</span>}
          </div>
          {note && <p className="quiet small">{note}</p>}
          {below && <p className="faint small">{below}</p>}
        </div>
      </li>
    ))}
  </ol>
)
