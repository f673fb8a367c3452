import { cx } from '../lib/class-names.ts'
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

const words: Readonly<Record<string, string>> = {
  pending_approval: 'Needs approval',
  unknown: 'Checking',
  exhausted: 'Used up',
  admin: 'Administrator',
}

export const statusText = (status: string): string =>
  words[status] ?? status.charAt(0).toUpperCase() + status.slice(1).replaceAll('_', ' ')

export const StatusBadge = ({ status }: { status: string }) => <Badge tone={tones[status] ?? 'plain'}>{statusText(status)}</Badge>

export const Badge = ({ tone = 'plain', dot = true, children }: { tone?: Tone; dot?: boolean; children: string }) => (
  <span className={cx('badge', dot && 'badge-dot', tone !== 'plain' && `badge-${tone}`)}>{children}</span>
)
