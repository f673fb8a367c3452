import type { ReactNode } from 'react'
import { Link } from 'wouter'
import { ApiError, adviceFor, DeviceError, detailOf, hasCode, messageOf, pageFor } from '../api/error.ts'
import { cx } from '../lib/class-names.ts'
import { readableMessage } from '../lib/field-words.ts'
import { t } from '../lib/language.ts'
import { fullTime, remainingText, shortTime, useNow } from '../lib/time.ts'
import { useTitle } from '../lib/title.ts'
import { majorText, paymentTones, statusText } from '../lib/words.ts'
import { Button, LinkButton } from './button.tsx'
import { CopyText } from './copy.tsx'
import { Icon, type IconName } from './icon.tsx'

type PageHeaderProps = {
  title: string
  lead?: ReactNode
  actions?: ReactNode
  back?: { href: string; label: string }
  /** Hides the title, if the content repeats it in larger letters. */
  hidden?: boolean
}

export const PageHeader = ({ title, lead, actions, back, hidden = false }: PageHeaderProps) => {
  useTitle(title)
  return (
    <header className="page-header">
      <div className="grow">
        {back && (
          <Link href={back.href} className="page-back">
            <Icon name="back" size={16} />
            {back.label}
          </Link>
        )}
        <h1 className={hidden ? 'visually-hidden' : undefined}>{title}</h1>
        {lead && <p>{lead}</p>}
      </div>
      {actions && <div className="row no-print">{actions}</div>}
    </header>
  )
}

export const MaybeLink = ({ href, children }: { href: string | null; children: ReactNode }) =>
  href ? <Link href={href}>{children}</Link> : children

export const Page = ({ children, ...header }: PageHeaderProps & { children: ReactNode }) => (
  <div className="stack">
    <PageHeader {...header} />
    {children}
  </div>
)

type Tab = { href: string; label: string; current: boolean }

export const Tabs = ({ label, tabs }: { label: string; tabs: readonly Tab[] }) => (
  <nav className="tabs" aria-label={label}>
    {tabs.map((tab) => (
      <Link key={tab.href} href={tab.href} aria-current={tab.current ? 'page' : undefined}>
        {tab.label}
      </Link>
    ))}
  </nav>
)

export type CardProps = {
  title?: string
  note?: ReactNode
  actions?: ReactNode
  footer?: ReactNode
  children: ReactNode
  flush?: boolean
  /** Name for screen readers, if no visible text names the card. */
  label?: string
}

export const Card = ({ title, note, actions, footer, children, flush = false, label }: CardProps) => (
  <section className="card" aria-label={label}>
    {title && (
      <div className="row row-between card-header">
        <div>
          <h2>{title}</h2>
          {note && <p>{note}</p>}
        </div>
        {actions && <div className="row">{actions}</div>}
      </div>
    )}
    {flush ? children : <div className="card-body stack">{children}</div>}
    {footer && <div className="row row-end card-footer">{footer}</div>}
  </section>
)

export type Tone = 'plain' | 'good' | 'warn' | 'bad' | 'info'

const noticeIcons: Readonly<Record<Tone, IconName>> = { plain: 'info', good: 'check', warn: 'alert', bad: 'alert', info: 'info' }

type NoticeProps = { tone?: Tone; title?: ReactNode; children?: ReactNode; live?: boolean }

export const Notice = ({ tone = 'plain', title, children, live = false }: NoticeProps) => (
  <div className={`notice tone-${tone}`} role={live ? (tone === 'bad' ? 'alert' : 'status') : undefined}>
    <Icon name={noticeIcons[tone]} />
    <div className="notice-body">
      {title && <p className="strong">{title}</p>}
      {children}
    </div>
  </div>
)

export const TextNotice = ({ children, ...notice }: NoticeProps) => (
  <Notice {...notice}>
    <p className="muted">{children}</p>
  </Notice>
)

type EmptyProps = { icon: IconName; tone?: Tone; title: string; heading?: boolean; children?: ReactNode; actions?: ReactNode }

export const Empty = ({ icon, tone, title, heading = false, children, actions }: EmptyProps) => (
  <div className="empty">
    <span className={cx('avatar avatar-large', tone && `tone-${tone}`)}>
      <Icon name={icon} size={22} />
    </span>
    {heading ? <h2>{title}</h2> : <p className="empty-title strong">{title}</p>}
    {children && <p>{children}</p>}
    {actions && <div className="row">{actions}</div>}
  </div>
)

export const EmptyCard = (props: EmptyProps) => (
  <div className="card">
    <Empty {...props} />
  </div>
)

/** Names and values. A name without a value is left out. The name '' is for a value that needs no name, such as a button. */
export const Facts = ({ facts, stacked = false }: { facts: Readonly<Record<string, ReactNode>>; stacked?: boolean }) => (
  <dl className={cx('facts', stacked && 'facts-stacked')}>
    {Object.entries(facts)
      .filter(([, value]) => value !== null && value !== undefined && value !== '')
      .flatMap(([label, value]) => [<dt key={`${label}-name`}>{label}</dt>, <dd key={label}>{value}</dd>])}
  </dl>
)

/** Placeholders with the height of the rows, so that nothing moves when the rows arrive. */
export const SkeletonRows = ({ rows = 4 }: { rows?: number }) => (
  <ul className="rows" aria-label={t('loading')}>
    {Array.from({ length: rows }, (_, index) => (
      // biome-ignore lint/suspicious/noArrayIndexKey: the rows are placeholders without an ID
      <li key={index}>
        <div className="item" aria-hidden="true">
          <span className="avatar" />
          <div className="item-main stack-s">
            <span className="skeleton" style={{ width: `${52 - (index % 3) * 9}%` }} />
            <span className="skeleton" style={{ width: `${30 - (index % 3) * 5}%`, height: '10px' }} />
          </div>
          <span className="skeleton" style={{ width: '84px' }} />
        </div>
      </li>
    ))}
  </ul>
)

export const SkeletonCard = ({ rows }: { rows: number }) => (
  <div className="card">
    <SkeletonRows rows={rows} />
  </div>
)

export const SkeletonText = ({ width = '60%', height = 14 }: { width?: string; height?: number }) => (
  <span
    className="skeleton"
    aria-hidden="true"
    style={{ width, height: `${height}px`, display: 'inline-block', verticalAlign: 'middle' }}
  />
)

/** The error, what to do about it, and the request ID for support. */
export const Failure = ({ error, onRetry }: { error: unknown; onRetry?: () => void }) => {
  if (!error) return null
  const requestId = error instanceof ApiError ? error.requestId : null
  const page = pageFor(error)
  const detail = detailOf(error)
  return (
    <Notice tone="bad" title={readableMessage(messageOf(error))} live>
      {detail && (
        <p className="muted" lang="en">
          {readableMessage(detail)}
        </p>
      )}
      {!(error instanceof DeviceError) && (
        <p className="muted">
          {adviceFor(error)} {page && <Link href={page.path}>{page.label}</Link>}
        </p>
      )}
      {requestId && (
        <p className="small muted">
          <CopyText value={requestId} text={t('copy_request_id')} label={t('request_id')} />
        </p>
      )}
      {onRetry && (
        <p style={{ marginTop: '8px' }}>
          {hasCode(error, 'not_found') ? (
            <LinkButton size="small" href="/">
              {t('go_to_overview')}
            </LinkButton>
          ) : (
            <Button size="small" onClick={onRetry}>
              {t('try_again')}
            </Button>
          )}
        </p>
      )}
    </Notice>
  )
}

/** Message about one field, from an error that names fields. */
export const fieldError = (error: unknown, path: string): string | undefined =>
  sentenceOf(
    error instanceof ApiError
      ? error.fields.find((field) => field.path === path || field.path.startsWith(`${path}.`))?.message
      : undefined,
  )

/** "must not be more than daily_limit_minor" → "Must not be more than the daily limit". */
const sentenceOf = (message: string | undefined): string | undefined => message && readableMessage(message)

type AmountProps = {
  minor: string
  currency: string
  size?: 'normal' | 'medium' | 'big' | 'hero'
  /** A change of a balance, shown with its sign. */
  signed?: boolean
  /** Uses the colour of income. Returned money is not income. */
  gain?: boolean
}

/** An amount, always with its currency. */
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
  before?: string
  none?: string
}

/** A recent time in words, kept current. Hovering shows the exact time. */
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

/** Counts down in place. Not a live region, so a screen reader does not announce every second. */
export const Countdown = ({ to, over = t('status.expired'), bare = false }: { to: string; over?: string; bare?: boolean }) => {
  const time = useNow(1000)
  const left = Date.parse(to) - time
  return (
    <time dateTime={to} title={fullTime(to)} className="nowrap">
      {left > 0 ? (bare ? remainingText(left) : t('time_left', { time: remainingText(left) })) : over}
    </time>
  )
}
