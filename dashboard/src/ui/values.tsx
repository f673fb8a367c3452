import { cx } from '../lib/class-names.ts'
import { useNow } from '../lib/clock.ts'
import { majorText } from '../lib/money.ts'
import { type PaymentStatus, statusText } from '../lib/status-words.ts'
import { fullTime, remainingText, shortTime } from '../lib/time.ts'
import type { Tone } from './layout.tsx'

type AmountProps = {
  minor: string
  currency: string
  size?: 'normal' | 'medium' | 'big' | 'hero'
  /** A change of a balance: shown with its sign. */
  signed?: boolean
  /** In the colour of income. Money that is only returned is not income. */
  gain?: boolean
}

/** An amount never stands without its currency. */
export const Amount = ({ minor, currency, size = 'normal', signed = false, gain = signed }: AmountProps) => {
  const plus = signed && !minor.startsWith('-') && minor !== '0'
  return (
    <span className={cx('amount', size !== 'normal' && `amount-${size}`, plus && gain && 'good-text')}>
      <span className="amount-currency">{currency}</span>
      {plus && '+'}
      {majorText(minor)}
    </span>
  )
}

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

type TimeProps = {
  at: string | null | undefined
  /** What is said before it. */
  before?: string
  /** What is said where there is none. */
  none?: string
}

/** Near times in words, kept current; the exact one on hover. */
export const Time = ({ at, before, none }: TimeProps) => {
  useNow(30_000)
  if (!at) return none
  return (
    <>
      {before}
      <time dateTime={at} title={fullTime(at)} className="nowrap">
        {shortTime(at)}
      </time>
    </>
  )
}

export const ExactTime = ({ at }: { at: string }) => <time dateTime={at}>{fullTime(at)}</time>

/** Counts down in place. It is not a live region, so a screen reader does not announce every second. */
export const Countdown = ({ to, over = 'Expired', suffix = '' }: { to: string; over?: string; suffix?: string }) => {
  const time = useNow(1000)
  const left = Date.parse(to) - time
  return (
    <time dateTime={to} title={fullTime(to)} className="nowrap">
      {left > 0 ? remainingText(left) + suffix : over}
    </time>
  )
}
