import { cx } from '../lib/class-names.ts'
import { type PaymentStatus, statusText } from '../lib/status-words.ts'
import type { Tone } from './layout.tsx'

const paymentTones: Readonly<Record<PaymentStatus, Tone>> = {
  scheduled: 'info',
  pending_approval: 'warn',
  processing: 'info',
  succeeded: 'good',
  failed: 'bad',
  unknown: 'warn',
  rejected: 'bad',
  cancelled: 'plain',
  expired: 'plain',
  returned: 'warn',
}

const tones: Readonly<Record<string, Tone>> = {
  ...paymentTones,
  pending: 'warn',
  approved: 'good',
  completed: 'good',
  active: 'good',
  frozen: 'info',
  suspended: 'warn',
  invited: 'info',
}

export const StatusBadge = ({ status }: { status: string }) => <Badge tone={tones[status] ?? 'plain'}>{statusText(status)}</Badge>

export const Badge = ({ tone = 'plain', dot = true, children }: { tone?: Tone; dot?: boolean; children: string }) => (
  <span className={cx('badge', dot && 'badge-dot', `tone-${tone}`)}>{children}</span>
)
