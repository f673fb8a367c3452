import { cx } from '../lib/class-names.ts'
import { statusText } from '../lib/status-words.ts'
import type { Tone } from './layout.tsx'

const tones: Readonly<Record<string, Tone>> = {
  pending_approval: 'warn',
  pending: 'warn',
  processing: 'info',
  unknown: 'warn',
  succeeded: 'good',
  approved: 'good',
  active: 'good',
  failed: 'bad',
  rejected: 'bad',
  returned: 'warn',
  frozen: 'info',
  suspended: 'warn',
  invited: 'info',
}

export const StatusBadge = ({ status }: { status: string }) => <Badge tone={tones[status] ?? 'plain'}>{statusText(status)}</Badge>

export const Badge = ({ tone = 'plain', dot = true, children }: { tone?: Tone; dot?: boolean; children: string }) => (
  <span className={cx('badge', dot && 'badge-dot', tone !== 'plain' && `badge-${tone}`)}>{children}</span>
)
