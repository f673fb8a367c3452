import type { ReactNode } from 'react'
import { Link } from 'wouter'
import { cx } from '../lib/class-names.ts'
import { useTitle } from '../lib/title.ts'
import { Icon, type IconName } from './icon.tsx'

type PageHeaderProps = {
  title: string
  lead?: ReactNode
  actions?: ReactNode
  back?: { href: string; label: string }
  /** What follows says the same in larger letters. */
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

/** A link where there is a page to lead to. */
export const MaybeLink = ({ href, children }: { href: string | null; children: ReactNode }) =>
  href ? <Link href={href}>{children}</Link> : children

/** A page below its header. */
export const Page = ({ children, ...header }: PageHeaderProps & { children: ReactNode }) => (
  <div className="stack">
    <PageHeader {...header} />
    {children}
  </div>
)

type CardProps = {
  title?: string
  note?: ReactNode
  actions?: ReactNode
  footer?: ReactNode
  children: ReactNode
  flush?: boolean
  /** Its name for a screen reader, where nothing that is seen says it. */
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

/** A notice that is one sentence or two. */
export const TextNotice = ({ children, ...notice }: NoticeProps) => (
  <Notice {...notice}>
    <p className="quiet">{children}</p>
  </Notice>
)

type EmptyProps = { icon: IconName; tone?: Tone; title: string; heading?: boolean; children?: ReactNode; actions?: ReactNode }

/** What stands where nothing else does. */
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

/** Names and values; a name without a value is left out. */
export const Facts = ({ facts, stacked = false }: { facts: Readonly<Record<string, ReactNode>>; stacked?: boolean }) => (
  <dl className={cx('facts', stacked && 'facts-stacked')}>
    {Object.entries(facts)
      .filter(([, value]) => value !== null && value !== undefined && value !== '')
      .flatMap(([label, value]) => [<dt key={`${label}-name`}>{label}</dt>, <dd key={label}>{value}</dd>])}
  </dl>
)

/** Placeholders of loading rows, in the rows' height, so that nothing moves when they arrive. */
export const SkeletonRows = ({ rows = 4 }: { rows?: number }) => (
  <ul className="rows" aria-label="Loading">
    {Array.from({ length: rows }, (_, index) => (
      // biome-ignore lint/suspicious/noArrayIndexKey: places, not things
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
